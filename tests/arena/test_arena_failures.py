"""An error of a policy from outside: one sentence with the line that raised it, and the error itself as the cause."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from kdenv.arena import GameFailed, League, Match, league, play
from kdenv.arena.failures import Failure
from kdenv.arena.match import failed
from kdenv.cli import main
from kdenv.core.errors import NotSupported, describe_error
from kdenv.policies import Policy

BAD = """from kdenv.author import Policy


def helper(view):
    return 1 // 0


def act(view):
    return helper(view)


def leave(view):
    raise SystemExit(3)


class Resets(Policy):
    def reset(self, seed=0):
        raise RuntimeError("no seed\\nis right")

    def act(self, view):
        return view.legal()[0]
"""
SMALL = ("--option", "size=3")
SENTENCE = "cannot go on: ZeroDivisionError: integer division or modulo by zero (bad.py:5, in helper)"


@pytest.fixture
def bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bad.py").write_text(BAD)
    (tmp_path / "league.toml").write_text('game = "kingdomino"\npolicies = ["random", "bad:act"]\n[options]\nsize = 3\n')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("bad")
@pytest.mark.parametrize(
    "arguments",
    [
        ["match", "kingdomino", "random", "bad:act", *SMALL, "--processes", "1"],
        ["compare", "kingdomino", "random", "bad:act", *SMALL, "--processes", "1"],
        ["league", "league.toml", "--processes", "1"],
        ["curve", "kingdomino", "bad:act", *SMALL, "--processes", "1"],
        ["play", "kingdomino", "--against", "bad:act", *SMALL, "--seed", "2"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_every_command_that_plays_tells_the_line_that_failed(arguments: list[str], capsys, monkeypatch) -> None:
    monkeypatch.setattr("builtins.input", lambda prompt: "1")
    assert main(arguments) == 2
    describe_error = capsys.readouterr().err
    assert f"{SENTENCE} (--traceback shows where)\n" in describe_error
    assert "Traceback" not in describe_error
    assert main([*arguments, "--traceback"]) == 2
    describe_error = capsys.readouterr().err
    assert 'bad.py", line 9, in act\n' in describe_error
    assert describe_error.endswith(f"{SENTENCE}\n")


@pytest.mark.usefixtures("bad")
@pytest.mark.parametrize(
    "name, what",
    [
        ("Resets", "bad:Resets in seat 1 of the trial game .* cannot go on: RuntimeError: no seed .bad.py:18, in reset."),
        ("leave", "bad:leave in seat 1 of the trial game .* cannot go on: SystemExit: 3 .bad.py:13, in leave."),
    ],
)
def test_a_reset_that_fails_and_a_policy_that_leaves_are_told_too(name: str, what: str) -> None:
    with pytest.raises(GameFailed, match=f"^{what}$"):
        play(Match("kingdomino", ["random", f"bad:{name}"], 2), processes=1, on_result=lambda result: None)


class Gone(Exception):
    """It cannot be unpickled: what it is made of is not what it is given."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


class Failing(Policy):
    def act(self, view):
        raise OverflowError("too large")


@pytest.mark.parametrize("processes", [1, 2])
def test_what_a_policy_raised_is_the_cause_in_any_process(processes: int) -> None:
    with pytest.raises(GameFailed) as error:
        play(Match("kingdomino", ["random", Failing()], 4, options={"size": 3}), processes=processes, on_result=lambda result: None)
    assert isinstance(error.value.__cause__, OverflowError)
    assert str(error.value.__cause__) == "too large"


def test_a_league_has_the_cause_too() -> None:
    with pytest.raises(GameFailed) as error:
        league(League("kingdomino", ["random", Failing()], deals=1, options={"size": 3}), processes=1)
    assert isinstance(error.value.__cause__, OverflowError)


def sent(cause: BaseException) -> GameFailed:
    """The error of a policy as another process gets it."""
    try:
        raise failed("it", cause) from cause
    except GameFailed as error:
        found = pickle.loads(pickle.dumps(Failure.of(error))).raised()
    assert isinstance(found, GameFailed)
    return found


@pytest.mark.parametrize("cause", [Gone(1, 2), ValueError(lambda: 0)], ids=["cannot be unpickled", "cannot be pickled"])
def test_a_cause_that_cannot_travel_becomes_its_words(cause: BaseException) -> None:
    found = sent(cause)
    assert isinstance(found.__cause__, RuntimeError)
    assert str(found.__cause__) == describe_error(cause)
    assert "Traceback" in found.__notes__[0]


def test_a_sentence_of_kdenv_stays_as_it_is() -> None:
    found = sent(NotSupported("no more than nine"))
    assert str(found) == "it cannot go on: no more than nine"
    assert isinstance(found.__cause__, NotSupported)


def test_the_line_is_that_of_the_user_and_not_of_a_library() -> None:
    def invert() -> None:
        np.linalg.inv(np.zeros((2, 3)))

    with pytest.raises(np.linalg.LinAlgError) as error:
        invert()
    assert re.search(r"\(test_arena_failures\.py:\d+, in invert\)$", describe_error(error.value))
