"""Do policies mean what their text says, and is a text that means nothing refused in one sentence?"""

from types import SimpleNamespace
from typing import Any

import pytest
import three_shells
from hypothesis import given
from hypothesis import strategies as st
from positions import after_pick, of_seat_to_move, shells

from kdenv.core.errors import BadOption, KdenvError, NotSupported
from kdenv.core.questions import Knowledge
from kdenv.games import find_game
from kdenv.policies import listing, policy
from kdenv.policies.listing import GROUPS
from kdenv.policies.text.grammar import Term, parse


@pytest.fixture(autouse=True)
def with_three_shells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three Shells is known by its name, here only."""
    monkeypatch.setattr("kdenv.games._from_outside", {"three_shells": three_shells.GAME})


TEXTS = [
    "random",
    "bold",
    "bold(shell=1)",
    "full_greedy",
    "full_greedy(variant=paper)",
    "mce(playouts=100)",
    "mce(seconds=0.5)",
    "mce(playout=full_greedy(variant=paper), score=wdl, playouts=7)",
    "mce(playout=epsilon_greedy(epsilon=0.25), score=points, seconds=1)",
    "mce-fg/p",
    "uct-tr(seconds=1)",
    "ismcts(score=margin)",
    "expectimax",
    "expectimax(depth=3)",
    "star2.5(k=2, nodes=500)",
    "ppo(kingdomino-ppo)",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_policy_is_written_as_it_was_read(text: str) -> None:
    assert str(policy(text)) == policy(text).text == text


@pytest.mark.parametrize(
    "text, shortest",
    [
        ("mce(random, margin, playouts=200)", "mce(score=margin, playouts=200)"),
        ("mce(playouts=200, score=margin, playout=random)", "mce(score=margin, playouts=200)"),
        ("full_greedy(variant=fixed)", "full_greedy"),
        ("uct(rave=no, fpu=none, select=ucb1(c=0.70), seconds=1.0)", "uct(seconds=1)"),
        ("pimc(beta=1/3, playouts=50)", "pimc"),
        ("uct-tr(playouts=1000)", "uct-tr"),
    ],
)
def test_what_is_usual_is_not_written(text: str, shortest: str) -> None:
    assert str(policy(text)) == shortest
    assert policy(text) == policy(shortest)


@pytest.mark.parametrize("text", ["mce( playout = bold(shell=1) ,playouts=7 )", "\tmce(playout=bold(shell=1),\n playouts=7,)"])
def test_spaces_do_not_matter(text: str) -> None:
    assert str(policy(text)) == "mce(playout=bold(shell=1), playouts=7)"


words = st.text("abcxyz_0129.-/", min_size=1, max_size=6)
terms = st.recursive(
    words.map(lambda word: Term(word, [], {})),
    lambda inner: st.builds(Term, words, st.lists(inner, max_size=2), st.dictionaries(words, inner, max_size=2)),
    max_leaves=8,
)


@given(terms)
def test_any_term_is_read_as_it_was_written(term: Term) -> None:
    assert parse(str(term)) == term


@given(st.text("mce(),= random5.", max_size=30) | st.text(max_size=20))
def test_no_text_is_worse_than_refused(text: str) -> None:
    try:
        policy(text)
    except KdenvError as error:
        assert "\n" not in str(error).replace(text, "")


@pytest.mark.parametrize("game", ["three_shells", "kingdomino"])
def test_every_policy_listed_can_be_read(game: str) -> None:
    entries = listing(find_game(game))
    assert [entry.name for entry in entries if not entry.meaning or entry.group not in GROUPS] == []
    for entry in entries:
        if not set("<|") & set(entry.usage):  # else it shows choices, not one text
            assert policy(entry.usage).kind == policy(entry.name).kind


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "policy '': a name is missing; write name(parameter=value, ...)"),
        ("(3)", "policy '(3)': a name is missing before '('; write name(parameter=value, ...)"),
        ("mce(", "policy 'mce(': a name is missing; "),
        ("mce(playouts=", "policy 'mce(playouts=': a name is missing; "),
        ("mce(=3)", "policy 'mce(=3)': a name is missing before '='; "),
        ("mce(playouts=5", "policy 'mce(playouts=5': a closing bracket is missing"),
        ("mce(playouts=5 7)", "policy 'mce(playouts=5 7)': a closing bracket is missing"),
        ("mce(playouts=5))", "policy 'mce(playouts=5))': ')' is too much; write name(parameter=value, ...)"),
        ("random random", "policy 'random random': 'random' is too much; "),
        ("mce(playouts=5, playouts=6)", "policy 'mce(playouts=5, playouts=6)': playouts is given twice"),
        ("mce(playouts=5, random)", "policy 'mce(playouts=5, random)': random comes after parameters with names; write name=value"),
        ("mce(playouts(3)=5)", "policy 'mce(playouts(3)=5)': playouts(3) is no name of a parameter"),
        ("radnom", "there is no policy radnom (did you mean random?); 'kdenv policies <game>' lists them"),
        ("full_gredy", "there is no policy full_gredy (did you mean full_greedy?); "),
        ("random(3)", "random(3): random has no parameters"),
        ("random(seed=3)", "random has no parameter seed; it has none"),
        ("bold(2)", "bold(2): parameters are written name=value, as in bold(shell=2)"),
        ("bold(shel=2)", "bold has no parameter shel (did you mean shell?); its parameters are shell"),
        ("bold(shell=random(x=3))", "shell=random(x=3) is not possible: random(x=3) is not a number or word"),
        ("full_greedy(variant=papre)", "variant=papre is not possible"),
        ("mce", "mce: give one budget: playouts=<number> or seconds=<number> for a decision, or turn_seconds=<number> for a turn, or "),
        ("mce(playouts=5, seconds=1)", "mce(playouts=5, seconds=1): give one budget: "),
        ("mce(playout=5, playouts=5)", "there is no playout 5; a playout is random, player_greedy, "),
        ("mce(playout=mce(playouts=3), playouts=5)", "mce is no playout but a policy; a playout is random, player_greedy, "),
        ("mce(playots=5)", "mce has no parameter playots (did you mean playouts?); its parameters are playout, score, sampling, "),
        ("mce(playouts=0)", "playouts=0 is not possible; playouts is a whole number from 1 on"),
        ("mce(playouts=1.5)", "playouts=1.5 is not possible; playouts is a whole number from 1 on"),
        ("mce(playouts=many)", "playouts=many is not possible; playouts is a whole number from 1 on"),
        ("mce(playouts=yes)", "playouts=yes is not possible; playouts is a whole number from 1 on"),
        ("mce(playouts=inf)", "playouts=inf is not possible; playouts is a whole number from 1 on"),
        ("mce(playouts=nan)", "playouts=nan is not possible; playouts is a whole number from 1 on"),
        ("mce(seconds=0)", "seconds=0 is not possible; seconds is a number from 0.001 on"),
        ("mce(seconds=nan)", "seconds=nan is not possible; seconds is a number from 0.001 on"),
        ("mce(seconds=inf)", "seconds=inf is not possible; seconds is a number from 0.001 on"),
        ("mce(score=best, playouts=5)", "score=best is not possible; score may be wdl, "),
        ("mce(playout=epsilon_greedy(epsilon=2), playouts=5)", "epsilon=2 is not possible; epsilon is a number from 0 to 1"),
        (
            "mce(playout=epsilon_greedy(0.5), playouts=5)",
            "epsilon_greedy(0.5): parameters are written name=value, as in epsilon_greedy(epsilon=0.75)",
        ),
        ("mce(playout=random(3), playouts=5)", "random(3): "),
        ("mce(random, margin, 5)", "mce(random, margin, 5): parameters after score are written name=value, as in mce(playout=random, "),
        ("mce(random, playout=bold, playouts=5)", "mce(random, playout=bold, playouts=5): playout is given twice, once without its name"),
        ("mce(score=relativ, playouts=5)", "score=relativ is not possible (did you mean relative?); score may be wdl, "),
        ("player_greedy", "player_greedy is no policy but a playout; 'kdenv policies <game>' lists them"),
        ("uct(select=ucb2, playouts=5)", "there is no selection rule ucb2 (did you mean ucb1?); a selection rule is ucb1, ucb_ratio, "),
        ("uct(threads=10000000, playouts=5)", "threads=10000000 is not possible; threads is a whole number from 1 to 256"),
        ("uct(trees=10000000, playouts=5)", "trees=10000000 is not possible; trees is a whole number from 1 to 256"),
        ("ims(beta=2000)", "beta=2000 is not possible; beta is a number from 0 to 10"),
        ("ims(alpha=-inf)", "alpha=-inf is not possible; alpha is a number from 1 to 1000"),
        ("uct(rave=-1, playouts=5)", "rave=-1 is not possible; rave is a number from 0 on, or no"),
        ("uct(fpu=some, playouts=5)", "fpu=some is not possible; fpu is a number from -1e+09 to 1e+09, or none"),
        (f"mce(playouts={'9' * 5000})", "playouts=99999999999999999999"),
        (f"mce(seconds=0.{'9' * 5000}e9999)", "seconds=0.9999999999999999"),
        (f"mce(seconds=1/{'0' * 5000})", "seconds=1/00000000000000"),
        ("mce(playout=" * 500 + "random" + ")" * 500, "policy 'mce(playout=mce("),
        ('ppo("a b)', "policy 'ppo(\"a b)': a closing quotation mark is missing"),
        ('ppo("a\\x")', '"a\\x" is not a word in quotation marks as JSON has them'),
        ("ppo", "ppo: model is missing; write ppo(<model>, sample=no|yes)"),
    ],
)
def test_a_bad_text_is_refused_in_one_sentence(text: str, message: str) -> None:
    with pytest.raises(BadOption) as error:
        policy(text)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 600


def test_a_player_of_another_game_is_not_supported() -> None:
    with pytest.raises(NotSupported) as error:
        policy("full_greedy").act(shells(1, 2).view(1))
    assert str(error.value) == "full_greedy plays kingdomino, not three_shells, whose rule-based players are bold"


def test_playouts_by_a_player_of_another_game_are_not_supported() -> None:
    with pytest.raises(NotSupported, match=r"^bold plays three_shells, not kingdomino, whose rule-based players are full_greedy, gprd"):
        policy("mce(playout=bold, playouts=5)").act(of_seat_to_move(after_pick()))


@pytest.mark.parametrize("playout", ["player_greedy", "epsilon_greedy(epsilon=0.5)"])
def test_greedy_playouts_need_a_game_with_a_greedy_player(playout: str) -> None:
    searching: Any = policy(f"mce(playout={playout}, playouts=5)")
    game: Any = SimpleNamespace(name="lame", knowledge=Knowledge(), variant=lambda players: (2, []))
    with pytest.raises(NotSupported) as error:
        searching.check(game)
    assert str(error.value) == f"{playout} needs a greedy player, which lame does not have; use playout=random"
