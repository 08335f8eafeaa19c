"""Does check_game find each fault that is planted in a game, and nothing in games that have none?"""

import pickle
import re
from typing import Any

import faulty_shells
import numba
import numpy as np
import pytest
import three_shells
from faulty_shells import game as shells
from faulty_shells import is_said

from kdenv.cli import main
from kdenv.core import checks
from kdenv.core.check_game import check_game
from kdenv.core.errors import BadGame, BadOption
from kdenv.core.game import Game, Option
from kdenv.core.without_compiler import difference
from kdenv.games import find_game, names

pytestmark = [
    pytest.mark.cold,
    pytest.mark.skipif(numba.config.DISABLE_JIT, reason="then numpy checks every index, and nothing is compared"),
]


def findings(game: Game, **how: Any) -> list[str]:
    """What is wrong with a game, a sentence each."""
    try:
        check_game(game, **{"games": 4, "say": lambda line: None, **how})
    except BadGame as error:
        return list(error.findings)
    return []


def shifted(states: Any, k: int, text: str) -> int:
    return (three_shells.action_from(states, k, text) + 1) % 7


def without_stake(text: str, states: Any, k: int) -> None:
    three_shells.position_from(re.sub(r"stake=\d", "stake=0", text), states, k)


def with_key_error(states: Any, k: int, text: str) -> int:
    return {three_shells.action_text(states, k, action): action for action in range(7)}[text]


STAKES = Option("most", 3, "the most that may be staked", type=int, least=1, most=4)  # position_from reads stakes up to 3
PLANTED = [  # a game, and the sentence about its fault without its name and the place
    (shells(max_legal=3), "legal lists 4 actions ..., but max_legal is 3; declare max_legal=4 or more"),
    (shells(max_turns=3), "a seat has 4 turns ..., but max_turns is 3; declare max_turns=4 or more"),
    (shells(max_chances=2), "chances lists 3 outcomes ..., but max_chances is 2; declare max_chances=3 or more"),
    (shells("an action too many"), "legal lists action 7 ..., but actions are 0 to n_actions - 1, and n_actions is 7"),
    (shells("a seat too many"), "seat returns 2 ..., and the seats of 2 players are 0 to 1"),
    (shells("points for a third seat"), "scores or standings writes to place 2 of a list that has 2 places, numbered from 0, ..."),
    (shells("begin leaves a field"), "begin leaves the field count as before ...; it must set every field"),
    (shells("no end"), "a random game is not over after 200 events ...; let it end: playouts wait for the end of a game"),
    (shells("legal descends"), "legal lists [1, 0, 2] ...; actions must be ascending, each once"),
    (shells("legal lists one twice"), "legal lists [0, 0, 2] ...; actions must be ascending, each once"),
    (shells("legal counts"), "legal changes the position ...; it may only look"),
    (shells("two actions alike"), "actions 0 and 1 lead to the same position ...; legal must list one of them"),
    (shells("odds of 0"), "chances gives the odds [0, 2, 3] ...; list what cannot happen nowhere: odds are whole numbers above 0"),
    (shells("an outcome twice"), "chances lists [0, 0, 2] ...; each outcome may be listed once"),
    (shells("sample is even"), "sample_chance draws outcome 0 ... times of 10000 ...; by the odds of chances it would be about 1667 times"),
    (shells("scores of one seat"), "scores does not write the number of every seat ...; out has a place for each of 2 seats"),
    (shells("nothing is drawn anew"), "the view of seat 1 tells what chance did, which it does not see ..."),
    (shells("all see the pea"), "witnesses lets seat 1 see what chance does, but its view is the same after outcomes 0 and 1 ..."),
    (shells("nobody sees the coin"), "witnesses leaves out seat 0, which sees a different position after each outcome of chance ..."),
    (shells("the draw tells"), "what resample_hidden draws for seat 1 depends on what was hidden ...; views would tell the truth"),
    (shells("the encoding peeks"), "the encoding shells shows seat 1 something that resample_hidden draws anew for it ...; write only ..."),
    (shells("the encoding is too long"), "the encoding shells writes 10 numbers, and its layout has 9 ...; lay out all that ..."),
    (shells("the encoding leaves a number"), "the encoding shells does not write number 8 of its vector ...; it must write all"),
    (shells("the player cheats"), "the player player chooses action 6 ...; legal lists [0, 1, 2]"),
    (shells(open_information=True), "witnesses returns 1 in a game with open_information ...; all seats must see all outcomes"),
    (shells(notation={"action_from": shifted}), "action_from reads 'stake 1' as 1 ...; action_text writes it for 0"),
    (shells(notation={"position_from": without_stake}), "position_from reads a position whose text is then 'stage=2 ... stake=0 ..."),
    (shells(options=(STAKES, *shells().options[1:])), "position_from raises BadRecord: stake=4 is not a number from 0 to 3 ..."),
    (shells(notation={"action_from": with_key_error}), "action_from of '' raises KeyError: '' (test_check_game.py:...) ..."),
    (shells(notation={"chance_text": lambda states, k, n: f"pea, {n}"}), "chance_text(0) is 'pea, 0' ...; records need one line ..."),
    (shells(notation={"svg": lambda states, k, seat=None: "<svg>"}), "svg of seat 0 is no SVG (no element found: line 1, column 5) ..."),
    (shells(n_actions=lambda players, variant: 70_000), "n_actions is 70000 for 2 players; it must be a whole number from 1 to 65,534"),
    (
        shells("a number wraps around"),
        "without the compiler the game breaks off with RuntimeWarning: overflow encountered in scalar add ...",
    ),
]


def test_doubles_of_two_dice_cannot_have_the_odds_of_other_rolls() -> None:
    assert checks._SAMPLES * checks._divergence(1 / 36, 1 / 21) > checks._SURE


@pytest.mark.parametrize("game, sentence", PLANTED, ids=[sentence[:40] for _, sentence in PLANTED])
def test_a_planted_fault_is_found(game: Game, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kdenv.core.check_game._LONGEST", 200)
    said = findings(game)
    assert [each for each in said if is_said(sentence, each)] != [], "\n".join(said)


def test_a_game_without_a_fault_has_no_findings(capsys: pytest.CaptureFixture[str]) -> None:
    check_game(shells(), games=4)
    assert capsys.readouterr().out.splitlines() == [
        "faulty_shells: 4 games, 20 positions, no fault",
        "faulty_shells: 3 games without the compiler, the same numbers",
    ]


SHORT = {"kingdomino": {"size": 3, "dominoes": 24}, "dominion": {"max_turns": 12}, "dominoes": {"mode": "round"}, "carcassonne": {}}


@pytest.mark.parametrize("name", names())
def test_the_games_of_the_package_have_no_fault(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their numbers without the compiler are compared by tests/compiler/test_no_jit.py."""
    monkeypatch.setattr("kdenv.core.check_game._compare", lambda *rest: None)
    assert findings(find_game(name), games=1, players=2 + 2 * (name == "dominoes"), options=SHORT[name]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_many_games_of_the_package_have_no_fault(name: str) -> None:
    assert findings(find_game(name), games=5, seed=1) == []


def test_an_encoding_that_another_process_does_not_know_is_not_compared() -> None:
    shown = ("what the encoding mine shows seat 0", np.zeros(2))
    compiled = [("the state", b"a"), shown, ("phase", 0)]
    assert difference(compiled, [("the state", b"a"), ("phase", 0)]) == ""
    assert difference(compiled, [("the state", b"a"), ("phase", 1)]).startswith("phase is 0 compiled and 1 without the compiler")
    assert difference(compiled, [("the state", b"a"), (shown[0], np.ones(2)), ("phase", 0)]).startswith(shown[0])


def test_all_faults_are_told_at_once() -> None:
    said = findings(shells("legal descends", max_legal=3, max_chances=2))
    assert len([sentence for sentence in said if "max_legal" in sentence or "max_chances" in sentence or "ascending" in sentence]) == 3


def test_a_number_of_players_and_options_may_be_given() -> None:
    game = shells(max_legal=3, max_turns=3)
    assert "most=1" in findings(game, players=2, options={"most": 1})[0]
    with pytest.raises(BadOption, match=r"^faulty_shells cannot be played by 3 players; players may be 2$"):
        findings(game, players=3)
    with pytest.raises(BadOption, match=r"^games=0 is not possible; at least one game is played$"):
        findings(game, games=0)


def test_the_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(BadGame(["one", "two"])))
    assert error.findings == ("one", "two")
    assert str(error) == "one\ntwo"


# The command


def test_the_command_checks_a_game_of_a_module(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-game", "faulty_shells:GAME", "--games", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "faulty_shells: no fault found"


def test_the_command_ends_with_1_if_there_are_faults(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faulty_shells, "GAME", shells(max_legal=3, max_chances=2))
    assert main(["check-game", "faulty_shells:GAME", "--games", "2", "--option", "most=2"]) == 1
    out = capsys.readouterr().out
    assert "declare max_legal=4 or more" in out and "declare max_chances=3 or more" in out


WRONG = [
    ("faulty_shells", "there is no game faulty_shells; "),
    ("faulty_shells:GAM", "faulty_shells has no GAM (did you mean GAME?); write module:Name"),
    ("faulty_shells:STATE", "faulty_shells:STATE is of type "),
    ("no_such_module:GAME", "no_such_module:GAME: the module no_such_module cannot be imported "),
]


@pytest.mark.parametrize("text, sentence", WRONG)
def test_what_is_no_game_is_told_in_a_sentence(text: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-game", text]) == 2
    assert capsys.readouterr().err.startswith(f"kdenv: {sentence}")
