"""Does the first use of a game in a process notice bounds that do not hold, with a sentence, and cost nothing but a game?"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import faulty_shells
import numba
import numpy as np
import pytest
from faulty_shells import game as shells
from faulty_shells import is_said

from kdenv.compiler.random import make_rng
from kdenv.core import bounds, verbs
from kdenv.core.errors import BadGame
from kdenv.core.table import Table

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="then numpy checks every index")


UNBOUND = [
    ({"max_legal": 3}, "legal lists 4 actions in the position 'stage=2 ...', but max_legal is 3; declare max_legal=4 or more"),
    ({"max_turns": 2}, "a seat has 4 turns in the position 'stage=2 ...', but max_turns is 2; declare max_turns=4 or more"),
    ({"max_chances": 2}, "chances lists 3 outcomes in the position 'stage=0 ...', but max_chances is 2; declare max_chances=3 or more"),
    ({"fault": "an action too many"}, "legal lists action 7 ..., but actions are 0 to n_actions - 1, and n_actions is 7"),
    ({"fault": "a seat too many"}, "seat returns 2 ..., and the seats of 2 players are 0 to 1"),
    ({"fault": "points for a third seat"}, "scores or standings writes to place 2 of a list that has 2 places, numbered from 0, ..."),
]


@pytest.mark.parametrize("changes, sentence", UNBOUND, ids=[sentence[:30] for _, sentence in UNBOUND])
def test_the_first_table_of_a_game_tells_bounds_that_do_not_hold(changes: dict[str, Any], sentence: str) -> None:
    game = shells(**changes)
    for _ in range(2):  # it is refused as long as it is wrong
        with pytest.raises(BadGame) as error:
            Table(game)
        assert any(is_said(sentence, said) for said in error.value.findings), error.value


def test_a_game_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    played = []
    monkeypatch.setattr(bounds, "_play", lambda game, *rest: played.append(game))
    game = shells()
    for _ in range(3):
        Table(game)
    assert played == [game]


def test_the_first_check_compiles_nothing_that_tables_do_not() -> None:
    code = """
import sys; sys.path[:0] = ["tests/support", "examples"]
import three_shells
from kdenv.core import table, verbs
before = {name for name, kernel in vars(verbs).items() if name.endswith("_at") and kernel.overloads}
made = table.Table(three_shells.GAME)
print(sorted(name for name, kernel in vars(verbs).items() if name.endswith("_at") and kernel.overloads and kernel.group is None))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stderr


def test_an_encoding_that_is_longer_than_its_layout_is_told_when_it_is_first_used() -> None:
    table = Table(shells("the encoding is too long"))
    with pytest.raises(BadGame) as error:
        table.observation(0)
    assert str(error.value) == (
        "faulty_shells: the encoding shells writes 10 numbers, and its layout has 9; lay out all that observe writes"
    )


NO_BOUNDS = [("max_legal", 0, "from 1 up"), ("max_chances", 2.5, "from 1 up"), ("most_decisions", 5, "from 1 to 4")]


@pytest.mark.parametrize("bound, number, right", NO_BOUNDS)
def test_a_bound_that_is_none_is_refused_when_the_game_is_made(bound: str, number: Any, right: str) -> None:
    with pytest.raises(TypeError, match=rf"^{bound} of faulty_shells is {number}; it must be a whole number {right}$"):
        shells(**{bound: number})


def test_the_game_that_is_played_first_uses_draws_of_its_own() -> None:
    """So that the check changes no game."""
    tables = []
    for _ in range(2):
        table = Table(shells())
        table.run_chance(make_rng(1))
        tables.append(table.states.tobytes())
    assert tables[0] == tables[1]
    assert verbs.phase_at(np.frombuffer(tables[0], faulty_shells.STATE), 0) == verbs.DECIDE
