"""Is every policy one value: as text, in Python, as JSON, in a pickle? And does a policy from outside the package get all of it?"""

import ast
import copy
import json
import math
import pickle
from dataclasses import MISSING, FrozenInstanceError, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from positions import after_pick, of_seat_to_move

import kdenv
from kdenv import policies
from kdenv.compiler.random import uniform
from kdenv.core.errors import BadOption, KdenvError
from kdenv.core.view import View
from kdenv.games import find_game, names
from kdenv.policies import (
    Expectimax,
    FlatDeals,
    Function,
    Ims,
    Mce,
    Oracle,
    Pimc,
    Playout,
    Policy,
    Ppo,
    Random,
    SelectionRule,
    Star1,
    Star2,
    Thompson,
    Ucb1,
    Uct,
    listing,
    named,
    param,
    policy,
)
from kdenv.policies.learned import shipped_models
from kdenv.policies.players import rule_class, rule_names
from kdenv.policies.text import value
from kdenv.policies.text.parameter import Parameter
from kdenv.policies.text.value import Value, classes, rows

FullGreedy: Any = policies.FullGreedy

# What games check themselves, as their players do not list what a word may be.
WORDS = {
    ("full_greedy", "variant"): ["fixed", "paper"],
    ("greedy", "weights"): ["final", "intuitive"],
    ("single_witch", "variant"): ["thesis", "dominiate"],
    ("double_witch", "variant"): ["thesis", "dominiate"],
    ("rollout", "remodel"): ["dearest", "random", "cheapest"],
    ("gprd", "opening"): ["crowns", "random"],
    ("ppo", "model"): list(shipped_models()),
    ("learned", "model"): list(shipped_models()),
}


def some(cls: type[Value]) -> st.SearchStrategy[Any]:
    """Any value of this class: each parameter left out, or any value that its bounds and choices allow."""
    parameters = {name: some_of(cls, p) for name, p in cls.parameters().items()}
    required = {name: parameters.pop(name) for name, p in cls.parameters().items() if p.default is MISSING}
    return st.fixed_dictionaries(required, optional=parameters).map(lambda values: attempt(cls, values)).filter(bool)


def some_of(cls: type[Value], p: Parameter) -> st.SearchStrategy[Any]:
    least, most = max(p.least, -1e6), min(p.most, 1e12)
    if (cls.kind, p.name) in WORDS:
        found: st.SearchStrategy[Any] = st.sampled_from(WORDS[cls.kind, p.name])
    elif p.choices:
        found = st.sampled_from(p.choices)
    elif p.type is bool:
        found = st.booleans()
    elif p.type is int:
        found = st.integers(int(least), int(most))
        found = found | st.lists(found, min_size=1) if p.each else found
    elif p.type is float:
        found = st.floats(0 if cls.kind == "rollout" else least, 1 if cls.kind == "rollout" else most)
    elif p.type is str:
        found = st.text()
    else:
        found = st.deferred(lambda: any_of(p.type))  # a playout may be made of other playouts
    return found | st.sampled_from(sorted(p.words.values(), key=str)) if p.words else found


@cache
def any_of(family: type[Value]) -> st.SearchStrategy[Any]:
    """A value of any class of the family."""
    found = [*classes(family), *(map(rule_class, rule_names()) if issubclass(Playout, family) else ())]
    return st.one_of([some(cls) for cls in found if not getattr(cls, "learns", False)])


def attempt(cls: type[Value], values: dict[str, Any]) -> Value | None:
    """The value, with the first budget only; None if its parameters contradict each other."""
    budgets = [name for name in ("playouts", "seconds", "nodes", "turn_seconds", "game_seconds") if values.get(name) is not None]
    values = {name: value for name, value in values.items() if name not in budgets[1:]}
    if values.get("leaf") is None:
        values = {name: value for name, value in values.items() if name != "turns" and (name, value) != ("score", "goal")}
    elif "score" in cls.parameters():
        values["score"] = "goal"
    if not budgets and "playouts" in cls.parameters() and not cls.usual:
        values["playouts"] = 10
    try:
        return cls(**values)
    except BadOption:
        return None


EVERYTHING = [*classes(Value), *(rule_class(name) for name in rule_names())]
IN_PYTHON = {cls.__name__: getattr(policies, cls.__name__) for cls in EVERYTHING} | {"inf": math.inf}
POLICIES = [cls for cls in EVERYTHING if issubclass(cls, Policy)]


@pytest.mark.parametrize("cls", POLICIES, ids=lambda cls: cls.kind)
@settings(max_examples=100)  # of each; more than a thousand of all
@given(st.data())
def test_text_and_python_and_json_are_one_value(cls: type[Policy], data: st.DataObject) -> None:
    made = data.draw(some(cls))
    assert policy(str(made)) == made
    assert str(policy(str(made))) == str(made)
    assert policy(json.loads(json.dumps(made.to_json(), allow_nan=False))) == made
    assert eval(repr(made), IN_PYTHON) == made
    assert hash(policy(str(made))) == hash(made)


@pytest.mark.parametrize("cls", EVERYTHING, ids=lambda cls: cls.kind)
def test_every_parameter_is_explained(cls: type[Value]) -> None:
    if issubclass(cls, policies.players.RulePolicy):  # type: ignore[attr-defined]
        return  # a game explains its players in one line
    assert cls.meaning()
    assert [name for name, p in cls.parameters().items() if not p.meaning] == []


@pytest.mark.parametrize("name", [name for name, _ in rows(Policy)])
def test_the_row_of_a_paper_is_a_value(name: str) -> None:
    row = policy(name)
    written_out = type(row)(**{each: getattr(row, each) for each in row.parameters()})
    assert row == written_out == policy(str(written_out)) == policy(row.to_json())
    assert hash(row) == hash(written_out)
    assert str(row) == str(copy.copy(row)) == str(pickle.loads(pickle.dumps(row))) == name
    assert str(written_out) != name


def test_a_budget_given_takes_the_place_of_a_papers() -> None:
    assert policy("uct-tr(seconds=1)") == policy("uct-tr").with_parameters(seconds=1)
    assert policy("uct-tr(seconds=1)").playouts is None  # type: ignore[attr-defined]
    assert policy("ismcts") == Uct(score="wdl", chance="information_sets", choice="visits", playouts=2000)
    assert str(policy("uct-tr").with_parameters(seconds=1)) == "uct-tr(seconds=1)"


def test_the_constructor_and_the_text_make_the_same() -> None:
    assert Uct(playout=FullGreedy(), seconds=1) == policy("uct(playout=full_greedy, seconds=1)")
    assert Uct(playout="full_greedy", seconds=1) == Uct(playout=FullGreedy(), seconds=1.0)  # type: ignore[arg-type]
    assert str(Uct(select=Ucb1(c=2), playouts=7)) == "uct(select=ucb1(c=2), playouts=7)"
    assert repr(Uct(select=Ucb1(c=2), playouts=7)) == "Uct(select=Ucb1(c=2.0), playouts=7)"
    assert Mce(Random(), "margin", playouts=3) == policy("mce(random, margin, playouts=3)")
    assert Star1() != Star2() != Expectimax()
    assert len({Uct(seconds=1), policy("uct(seconds=1)"), policy("uct(seconds=1.0)")}) == 1


def test_a_list_gives_a_number_for_each_round() -> None:
    listed = policy("uct-tr(playouts=[30, 20,10], least=2)")
    assert listed.playouts == (30, 20, 10)  # type: ignore[attr-defined]
    assert str(listed) == "uct-tr(least=2, playouts=[30, 20, 10])"
    assert listed.to_json()["playouts"] == [30, 20, 10]
    assert Mce(playouts=[7]) == Mce(playouts=(7,)) == policy("mce(playouts=[7])") != Mce(playouts=7)  # type: ignore[arg-type]
    assert repr(Mce(playouts=(7, 8))) == "Mce(playouts=(7, 8))"


@pytest.mark.parametrize("text", ["[]", "[ ]", "[3, 0]", "[3, a]", "[1.5]", "[3,]", "[3, -1]", "[inf]", "[yes]"])
def test_a_list_with_a_wrong_number_is_refused(text: str) -> None:
    with pytest.raises(BadOption) as error:
        policy(f"mce(playouts={text})")
    may_be = "is a whole number from 1 on, or a list of such numbers, one for each round: [30, 20, 10]"
    assert str(error.value) == f"playouts={text} is not possible; playouts {may_be}"


@pytest.mark.parametrize("text", ["mce(seconds=[1, 2])", "mce(playouts=5, threads=[1])", "mce(score=[1], playouts=3)"])
def test_a_list_is_refused_where_one_number_or_word_is_meant(text: str) -> None:
    with pytest.raises(BadOption, match=r"is not possible|has no parameter"):
        policy(text)


def test_lists_are_refused_in_a_game_that_does_not_tell_its_round() -> None:
    kingdomino = find_game("kingdomino")
    Mce(playouts=(3, 2)).check(kingdomino)
    with pytest.raises(KdenvError, match="has playouts for each round, but kingdomino does not define rounds; give one number"):
        Mce(playouts=(3, 2)).check(replace(kingdomino, details=None))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Uct(seconds=1, threads=10_000_000), "threads=10000000 is not possible; threads is a whole number from 1 to 256"),
        (lambda: Uct(seconds=math.nan), "seconds=nan is not possible; seconds is a number from 0.001 on"),
        (lambda: Uct(seconds=math.inf), "seconds=inf is not possible; seconds is a number from 0.001 on"),
        (lambda: Uct(seconds=-1), "seconds=-1 is not possible; seconds is a number from 0.001 on"),
        (lambda: Uct(playouts=10**5000), "playouts=a number of about 5,001 digits is not possible; playouts is a whole number from 1 on"),
        (lambda: Uct(playouts=True), "playouts=True is not possible; playouts is a whole number from 1 on"),
        (lambda: Uct(playouts="5"), "playouts=5 is not possible; playouts is a whole number from 1 on"),  # type: ignore[arg-type]
        (lambda: Uct(playouts=5, reflex=1), "reflex=1 is not possible; reflex may be True or False"),  # type: ignore[arg-type]
        (lambda: Uct(playouts=5, score="relativ"), "score=relativ is not possible (did you mean relative?); score may be wdl, "),
        (lambda: Uct(playouts=5, playout=Uct(playouts=5)), "uct(playouts=5) is no playout but a policy; "),  # type: ignore[arg-type]
        (lambda: Uct(playouts=5, playout=Random), "Random is a class; write Random(...) for a playout"),  # type: ignore[arg-type]
        (lambda: Uct(playouts=5, select=None), "None is no selection rule; a selection rule is ucb1, "),  # type: ignore[arg-type]
        (lambda: Uct(playouts=5, nodes=5), "uct(playouts=5, nodes=5): give one budget: playouts=<number> or seconds=<number> or nodes="),
        (lambda: Uct(), "uct: give one budget: "),
        (lambda: Ims(beta=2000), "beta=2000 is not possible; beta is a number from 0 to 10"),
        (lambda: FullGreedy(variant="papre"), "variant=papre is not possible"),
        (lambda: policy(3), "3 is no policy; 'kdenv policies <game>' lists them"),
        (lambda: policy(Random), "Random is a class; write Random(...) for a policy"),
        (lambda: policy({"seconds": 1}), "{'seconds': 1} is no policy; in JSON one is an object with its name as 'kind'"),
        (lambda: policy({"kind": "uct", "second": 1}), "uct has no parameter second (did you mean seconds?); "),
        (lambda: policy({"kind": "ppo"}), "ppo: model is missing; write ppo(<model>, sample=no|yes)"),
    ],
)
def test_a_bad_value_is_refused_in_one_sentence_in_python_too(make: Any, message: str) -> None:
    with pytest.raises(BadOption) as error:
        make()
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_parameters_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Uct(seconds=1).seconds = 2.0  # type: ignore[misc]
    assert replace(Uct(seconds=1), seconds=2) == Uct(seconds=2)


# Memory


def test_equal_policies_remember_only_their_own_games() -> None:
    one, two = Mce(playouts=20), Mce(playouts=20)
    view = of_seat_to_move(after_pick())
    one.act(view)
    assert (one.n_playouts, two.n_playouts) == (20, 0)
    assert one == two
    assert not np.shares_memory(one.rng, two.rng)


def test_a_copy_and_a_pickle_carry_the_parameters_only() -> None:
    played = Mce(playouts=20)
    played.act(of_seat_to_move(after_pick()))
    for other in (policy(played), copy.copy(played), copy.deepcopy(played), pickle.loads(pickle.dumps(played))):
        assert other == played
        assert other.n_playouts == 0
    assert len(pickle.dumps(played)) < 1000


# Games


@pytest.mark.parametrize(
    "asked, game, message",
    [
        (FullGreedy(), "dominion", "full_greedy plays kingdomino, not dominion, whose rule-based players are big_money, "),
        (Mce(FullGreedy(), playouts=5), "dominion", "full_greedy plays kingdomino, not dominion, "),
        (Expectimax(), "dominoes", "expectimax looks ahead where everybody sees everything, and dominoes hides something; "),
        (Pimc(), "kingdomino", "pimc needs a game with a solver and beliefs, which kingdomino is not; dominoes is"),
        (Oracle(), "kingdomino", "oracle needs a game with a solver and beliefs, which kingdomino is not; dominoes is"),
        (Pimc(deals="pape"), "dominoes", "deals=pape is not possible (did you mean paper?); in dominoes deals may be exact, paper"),
        (Ims(belief="best"), "dominoes", "belief=best is not possible; in dominoes belief may be paper, exact"),
        (Star1(evaluate="finl"), "carcassonne", "evaluate=finl is not possible (did you mean final?); for carcassonne it may be "),
    ],
)
def test_what_a_policy_cannot_play_is_told_before_it_plays(asked: Policy, game: str, message: str) -> None:
    with pytest.raises(KdenvError) as error:
        asked.check(find_game(game))
    assert str(error.value).startswith(message)


def test_a_check_knows_the_players_and_the_options() -> None:
    with pytest.raises(BadOption, match="kingdomino cannot be played by 9 players"):
        Random().check(find_game("kingdomino"), 9)
    Pimc().check(find_game("dominoes"), 4, {"calls": True})


@pytest.mark.parametrize("game", names())
def test_what_is_listed_passes_the_check(game: str) -> None:
    for entry in listing(find_game(game)):
        if entry.name not in ("ppo", "learned"):
            needed = "(playouts=1)" if "playouts" in entry.parameters else ""
            policy(entry.name + needed).check(find_game(game))


def test_a_listing_of_kingdomino_has_every_group() -> None:
    assert {entry.group for entry in listing(find_game("kingdomino"))} == {"players", "searches", "papers", "others", "elsewhere"}


# Policies, playouts and rules from outside the package


@named("hasty", "Nobody 2026")
class Hasty(Policy):
    """Takes the first legal action, mostly."""

    trust: float = param("how probable it is that the first action is taken", default=0.9, least=0, most=1)
    then: Playout = Random()

    def act(self, view: View) -> int:
        legal = view.legal()
        return legal[0] if uniform(self.rng) < self.trust else legal[-1]


@named("optimistic")
class Optimistic(SelectionRule):
    """A rule of one's own, made of one that is there."""

    spread: float = 0.3

    def compiled(self) -> Any:
        return Thompson(spread=self.spread).compiled()


KNOWN_HERE = {name: value._classes.pop(name) for name in ("hasty", "optimistic")}


@pytest.fixture
def from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two are known by their names in the tests that ask for it only."""
    for name, cls in KNOWN_HERE.items():
        monkeypatch.setitem(value._classes, name, cls)


@pytest.mark.usefixtures("from_outside")
def test_a_policy_of_ones_own_has_text_and_json_and_bounds() -> None:
    assert policy("hasty(trust=1/2)") == Hasty(trust=0.5) == policy(Hasty(trust=0.5).to_json())
    assert str(Hasty()) == "hasty"
    assert str(Hasty(trust=1, then=FullGreedy())) == "hasty(trust=1, then=full_greedy)"
    assert pickle.loads(pickle.dumps(Hasty(trust=1))) == Hasty(trust=1)
    with pytest.raises(BadOption, match="trust=2 is not possible; trust is a number from 0 to 1"):
        policy("hasty(trust=2)")
    with pytest.raises(BadOption, match=r"there is no policy haste \(did you mean hasty\?\)"):
        policy("haste")
    [entry] = [entry for entry in listing(find_game("kingdomino")) if entry.name == "hasty"]
    assert entry.usage == "hasty(trust=0.9, then=random)"
    assert (entry.meaning, entry.source) == ("Takes the first legal action, mostly", "Nobody 2026")


@pytest.mark.usefixtures("from_outside")
def test_a_policy_of_ones_own_plays() -> None:
    view = of_seat_to_move(after_pick())
    assert kdenv.policy("hasty(trust=1)").act(view) == view.legal()[0]


@pytest.mark.usefixtures("from_outside")
def test_a_selection_rule_of_ones_own_is_read_in_a_search() -> None:
    assert policy("uct(select=optimistic(spread=1), playouts=5)") == Uct(select=Optimistic(spread=1), playouts=5)
    assert policy("uct(select=optimistic, playouts=5)").rule().spread == 0.3  # type: ignore[attr-defined]


def first(view: View) -> int:
    return view.legal()[0]


def test_a_function_of_a_view_is_a_policy() -> None:
    view = of_seat_to_move(after_pick())
    assert policy(first).act(view) == view.legal()[0]
    assert policy(first) == Function(first) != Function(len)  # type: ignore[arg-type]
    assert str(policy(first)) == "first"
    with pytest.raises(BadOption, match="first is a function, which cannot be written as JSON"):
        policy(first).to_json()


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: named("uct")(type("Other", (Policy,), {"__doc__": "Another one."})), "there already is a uct; choose another name"),
        (lambda: named("new")(type("New", (Policy,), {})), "New has no docstring"),
        (lambda: named("a(b)")(type("New", (Policy,), {"__doc__": "New."})), "'a\\(b\\)' is no name for New"),
        (
            lambda: named("new")(type("New", (Policy,), {"__doc__": "New.", "__annotations__": {"x": list}, "x": ()})),
            "parameter x is a <class 'list'>; it may be int, float, bool, str, a class of values",
        ),
        (
            lambda: named("new")(type("New", (Policy,), {"__doc__": "New.", "__annotations__": {"kind": str}, "kind": "x"})),
            "New has a parameter kind, which every value has already",
        ),
        (
            lambda: named("new")(type("New", (Policy,), {"__doc__": "New.", "__annotations__": {"search": int}, "search": 1})),
            "New has a parameter search, which would hide a method of Policy; choose another name",
        ),
        (
            lambda: kdenv.add_policy("new", type("New", (Policy,), {"__annotations__": {"n_playouts": int}, "act": lambda self, view: 0})),
            "New has a parameter n_playouts, which every value has already",
        ),
        (
            lambda: kdenv.add_policy("new", type("New", (Policy,), {"__annotations__": {"prepare": int}, "act": lambda self, view: 0})),
            "New has a parameter prepare, which would hide a method of Policy; choose another name",
        ),
    ],
)
def test_a_class_that_cannot_be_a_policy_is_refused_when_it_is_made(make: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make()


# Once


def test_flat_deals_plays_for_the_outcome_unless_told() -> None:
    assert FlatDeals().score == "wdl"
    assert str(FlatDeals(score="relative")) == "flat_deals(score=relative)"


def test_a_model_is_named_as_it_was_given() -> None:
    (name, *_) = shipped_models()
    assert str(Ppo(name)) == f"ppo({name})"
    assert Ppo(name) == policy(f"ppo(model={name})")


def test_reading_a_policy_takes_few_calls() -> None:
    """It was 888 calls, when every parameter was looked up in signatures; 190 leave room for a field or two more."""
    import sys

    text = "mce(playout=player_greedy, score=relative, playouts=200)"
    policy(text)
    calls = 0

    def count(frame: Any, event: str, arg: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        policy(text)
    finally:
        sys.setprofile(None)
    assert calls < 190


def test_every_default_stands_once() -> None:
    """No function and no tuple of policies has a default of its own for what is a parameter: the field alone has it."""
    parameters = {name for cls in EVERYTHING for name in cls.parameters()}
    repeated = []
    for path in sorted(Path(policies.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            defaults: list[str] = []
            if isinstance(node, ast.FunctionDef):
                defaults = [each.arg for each in node.args.args[len(node.args.args) - len(node.args.defaults) :]]
                defaults += [each.arg for each, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if default]
            if isinstance(node, ast.ClassDef) and "NamedTuple" in map(ast.unparse, node.bases):
                defaults = [ast.unparse(each.target) for each in node.body if isinstance(each, ast.AnnAssign) and each.value]
            repeated += [f"{path.name}: {name}" for name in defaults if name in parameters]
    assert set(repeated) == {"many.py: whole"}  # of search_many, as of afterstates; the parameter `whole` of trees is something else
