"""Is what authors need to be had from public names, and do baselines and examples use nothing else?

What is public is said in ARCHITECTURE.md; the site lists it (tests/docs/test_site.py).
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np
import public
import pytest
import three_shells

import kdenv
from kdenv import author
from kdenv.author import (
    Policy,
    Table,
    Uniform,
    View,
    answers,
    estimate,
    first_action,
    kernel,
    list_turns,
    make_rng,
    play_out,
    play_turn,
    reach,
    resample_hidden,
    scores,
    urgency,
)

ROOT = Path(__file__).parents[2]
PUBLIC = public.MODULES


def names_of(module: str) -> list[str]:
    return [*import_module(module).__all__, *(name.partition(".")[2] for name in public.ENVIRONMENTS if module == "kdenv")]


def private_names(source: str) -> Iterator[str]:
    """What a source takes of kdenv that is not public, with its line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "kdenv" and alias.name not in [*PUBLIC, *public.ENVIRONMENTS]:
                    yield f"line {node.lineno}: {alias.name}"
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "kdenv":
            for alias in node.names:
                if node.module not in PUBLIC or alias.name not in names_of(node.module):
                    yield f"line {node.lineno}: {alias.name} of {node.module}"
        elif isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            yield from [] if ast.unparse(node.value) in ("self", "cls") else [f"line {node.lineno}: {ast.unparse(node)}"]


TOOLS = ROOT / "baselines" / "tools"  # for developers of kdenv, who may use private names
SOURCES = [path for room in ("baselines", "examples") for path in sorted((ROOT / room).rglob("*.py")) if TOOLS not in path.parents]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_baselines_and_examples_use_public_names(path: Path) -> None:
    assert list(private_names(path.read_text())) == []


PRIVATE = [
    ("import kdenv.core.table", "line 1: kdenv.core.table"),
    ("from kdenv.core.game import Game", "line 1: Game of kdenv.core.game"),
    ("from kdenv.games.dominion.cards import Card", "line 1: Card of kdenv.games.dominion.cards"),
    ("from kdenv.games.dominion import rules", "line 1: rules of kdenv.games.dominion"),
    ("from kdenv.author import numba", "line 1: numba of kdenv.author"),
    ("import kdenv\ntable = kdenv.table('dominoes')\ntable._buffer", "line 3: table._buffer"),
]


@pytest.mark.parametrize("source, complaint", PRIVATE)
def test_a_private_name_is_found(source: str, complaint: str) -> None:
    assert list(private_names(source)) == [complaint]


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_there(module: str) -> None:
    for name in names_of(module):
        assert getattr(import_module(module), name) is not None


def test_every_name_for_authors_says_what_it_is() -> None:
    constants = {name for name in author.__all__ if name.isupper()}
    assert [name for name in author.__all__ if name not in constants and name != "Rng" and not getattr(author, name).__doc__] == []


def test_looking_for_an_environment_does_not_make_importing_kdenv_slow() -> None:
    code = "import kdenv, kdenv.envs, sys; assert 'numba' not in sys.modules; kdenv.envs.SeatEnv; assert 'numba' in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_an_unknown_environment_is_told() -> None:
    with pytest.raises(
        AttributeError, match=r"kdenv\.envs has no SeetEnv; it has .*, SeatEnv, SeatVecEnv, SeatVectorEnv, SelfPlay, TableEnv"
    ):
        kdenv.envs.SeetEnv  # noqa: B018


# A search, an evaluation and a selection rule, written with names for authors alone.


@kernel
def _best_turn(states, seat, turns, n_turns, n_playouts, out, numbers, rng):
    """The turn after which random playouts end best for the seat."""
    best, most = turns[0], -1000000
    for i in range(n_turns):
        total = 0
        for _ in range(n_playouts):
            states[1] = states[0]
            resample_hidden(states[1], seat, rng)
            play_turn(states[1], turns[i])
            play_out(Uniform(), states, 1, out, rng)
            scores(states[1], numbers)
            total += int(numbers[seat])
        if total > most:
            best, most = turns[i], total
    return best


class Flat(Policy):
    """A policy that searches with a kernel of its own."""

    def act(self, view: View) -> int:
        game, states = view.game, view.scratch(8)
        turns = np.zeros(game.max_turns, np.int64)
        n_turns = int(list_turns(states, 0, game.most_decisions, game.max_legal, turns))
        numbers = np.zeros(view.players, np.int64)
        return int(first_action(_best_turn(states, view.seat, turns, n_turns, 2000, game.buffer(), numbers, make_rng(1))))


def test_a_search_of_ones_own_finds_what_is_best() -> None:
    """Not seeing the pea, seat 1 of Three Shells does best to point at shell 2."""
    table = Table(three_shells.GAME)
    for happens in (0, 2):
        table.chance(happens) if table.at_chance else table.play(happens)
    assert table.name(Flat().act(table.view(1))) == "point 2"


class Stake(NamedTuple):
    """Thinks only of what is at stake."""


@answers(estimate, Stake)
@kernel
def _stake(evaluator, states, k, seat, numbers):
    return float(states[k].stake)


@answers(reach, Stake)
@kernel
def _most(evaluator, states, k, seat, numbers):
    return 3.0


class Never(NamedTuple):
    """Finds nothing urgent."""


@answers(urgency, Never)
@kernel
def _never(rule, visits, total, squares, gain, log_n, rng):
    return 0.0


@kernel
def _ask(evaluator, rule, states, numbers, rng):
    return estimate(evaluator, states, 0, 0, numbers) + reach(evaluator, states, 0, 0, numbers) + urgency(rule, 1, 1.0, 1.0, 0.0, 0.0, rng)


def test_an_evaluation_and_a_selection_rule_of_ones_own_are_asked() -> None:
    table = Table(three_shells.GAME)
    table.chance(1)
    table.play(1)
    assert _ask(Stake(), Never(), table.states, np.zeros(2, np.int64), make_rng(1)) == 5
