"""Is everything that a policy is given its own, or read-only? A policy that writes to all it can reach changes no later game."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import GeneratorType, ModuleType
from typing import Any

import numpy as np
import pytest
import three_shells
from random_games import random_game

from kdenv.arena import Match
from kdenv.arena.match import play_game
from kdenv.compiler.random import make_rng
from kdenv.core.errors import NotSupported, WrongOrder
from kdenv.core.game import Game
from kdenv.core.table import Table
from kdenv.core.view import OracleView, View
from kdenv.envs.aec import TableEnv
from kdenv.envs.single_agent import SeatEnv
from kdenv.games import find_game, names
from kdenv.policies import policy

GAMES = [*names(), "three_shells"]
VIEWS = {"view": View, "oracle": OracleView}


def the_game(name: str) -> Game:
    return three_shells.GAME if name == "three_shells" else find_game(name)


# Everything within reach, by attributes, properties, methods without arguments, and what is in containers


def within_reach(root: Any) -> dict[str, Any]:
    """Every array, list, dict and set that can be reached from here, by the path that leads to it."""
    found: dict[str, Any] = {}
    kept: dict[int, Any] = {}  # what has been met, so that no id is used twice
    todo = [("view", root)]
    while todo:
        path, value = todo.pop()
        if id(value) in kept or is_code(value) or isinstance(value, (str, bytes, int, float, type(None), np.dtype)):
            continue
        kept[id(value)] = value
        if isinstance(value, (np.ndarray, list, dict, set)):
            found[path] = value
        todo += inside(path, value)
    return found


def is_code(value: Any) -> bool:
    is_kernel = hasattr(value, "py_func")
    return is_kernel or inspect.isroutine(value) or isinstance(value, (type, partial, ModuleType, GeneratorType))


def inside(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, np.ndarray):
        yield f"{path}.base", value.base
    elif isinstance(value, Mapping):
        yield from ((f"{path}[{key!r}]", item) for key, item in value.items())
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from ((f"{path}[{i}]", item) for i, item in enumerate(value))
    elif not isinstance(value, np.generic):
        for name in dir(value):
            try:
                attribute = None if name.startswith("__") else getattr(value, name)
                is_asked = inspect.ismethod(attribute) and not name.startswith("_") and takes_nothing(attribute)
                told = attribute() if is_asked else None
            except (NotSupported, WrongOrder):  # such as the tree of a search that grows none, or the turns of a seat that does not decide
                continue
            if not inspect.ismethod(attribute):
                yield f"{path}.{name}", attribute
            elif is_asked and not isinstance(told, type(value)):  # a copy has a copy again, without end
                yield f"{path}.{name}()", told


def takes_nothing(method: Any) -> bool:
    return all(parameter.default is not parameter.empty for parameter in inspect.signature(method).parameters.values())


def is_writeable(value: Any) -> bool:
    return not isinstance(value, np.ndarray) or value.flags.writeable


def is_shared(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return bool(np.shares_memory(one, other))
    return one is other


def spoil(root: Any) -> int:
    """Write to everything within reach. Return how many things could be written to."""
    writeable = [value for value in within_reach(root).values() if is_writeable(value)]
    for value in writeable:  # all have been found before the first is written to, as kernels trust what they are given
        if isinstance(value, np.ndarray):
            value[...] = np.frombuffer(b"\xa5" * value.dtype.itemsize, value.dtype)[0]
        else:
            value.clear()
    return len(writeable)


def at_a_decision(name: str) -> Table:
    table = random_game(the_game(name), 1, decisions=1 if name == "three_shells" else 9)
    table.run_chance(make_rng(1))
    assert table.seat is not None
    return table


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("kind", VIEWS)
def test_two_views_share_nothing_that_can_be_written_to(name: str, kind: str) -> None:
    table = at_a_decision(name)
    one, other = (within_reach(VIEWS[kind](table, table.seat or 0)) for _ in range(2))
    others = [*filter(is_writeable, [*other.values(), table.states, table.variant, table.log.rows])]
    assert [path for path, value in one.items() if is_writeable(value) and any(is_shared(value, each) for each in others)] == []


# A game after one in which all was written to


def first(view: View) -> int:
    return view.legal()[0]


def first_and_spoil(view: View) -> int:
    """Decide as `first` does. Then write to everything."""
    action = first(view)
    assert spoil(view) > 4  # the position, its log, the variant, and what methods return
    return action


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("kind", VIEWS)
def test_a_table_and_the_games_after_it_do_not_notice(name: str, kind: str) -> None:
    tables = [at_a_decision(name) for _ in range(2)]
    first_and_spoil(VIEWS[kind](tables[0], tables[0].seat or 0))
    for table in (*tables, at_a_decision(name)):
        assert table.record() == tables[1].record()
        assert table.options == tables[1].options
        assert [table.observation(seat).tolist() for seat in range(table.players)] == [
            tables[1].observation(seat).tolist() for seat in range(table.players)
        ]
        assert table.view(table.seat or 0).legal() == tables[1].legal()


SMALL: dict[str, dict[str, Any]] = {"kingdomino": {"players": 2, "size": 3, "dominoes": 8}, "dominoes": {"players": 4, "mode": "round"}}


def records_of_a_match(name: str, policy: Callable[[View], int]) -> list[str]:
    options = {**SMALL[name]}
    match = Match(name, [policy] * options.pop("players"), games=4, seed=1, options=options)
    return [play_game(match, number).record for number in range(2)]


@pytest.mark.parametrize("name", SMALL)
def test_a_policy_that_writes_to_everything_changes_no_match(name: str) -> None:
    assert records_of_a_match(name, first_and_spoil) == records_of_a_match(name, first)


def game_of_a_learner(opponent: Callable[[View], int]) -> list[str]:
    """Two games of a learner, who writes to what it is given, too."""
    env, records = SeatEnv("kingdomino", opponents=opponent, observation="parts", **SMALL["kingdomino"]), []
    for seed in (1, 2):
        observation, info = env.reset(seed=seed)
        over = False
        while not over:
            action = info["action_mask"].argmax()
            spoil([observation, info, env.layout(), env.view()])
            observation, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        records.append(env.record())
    return records


def test_an_opponent_that_writes_to_everything_changes_no_environment() -> None:
    assert game_of_a_learner(first_and_spoil) == game_of_a_learner(first)
    assert len(set(game_of_a_learner(first))) == 2


def record_of_agents(name: str, *, spoils: bool) -> str:
    """A game of PettingZoo in which every agent writes to its observations and infos."""
    env = TableEnv(name, **SMALL[name])
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, _, terminated, truncated, info = env.last()
        action = None if terminated or truncated else int(info["action_mask"].argmax())
        if spoils:
            spoil([observation, info, env.view(agent), env.layout()])
        env.step(action)
    return env.record()


@pytest.mark.parametrize("name", SMALL)
def test_an_agent_that_writes_to_everything_changes_no_environment(name: str) -> None:
    assert record_of_agents(name, spoils=True) == record_of_agents(name, spoils=False)


SEARCHES = ["mce(playouts=24)", "uct(chance=open, playouts=24)"]


@pytest.mark.parametrize("text", SEARCHES)
def test_what_a_search_has_found_may_be_written_to(text: str) -> None:
    """The next search of the same policy finds what a new policy finds."""
    table, found = at_a_decision("three_shells"), []
    used, new = policy(text), policy(text)
    assert spoil(used.search(table.view(1))) > 4
    for asked in (used, new):
        asked.reset(1)
        found.append(asked.search(table.view(1)))
    assert [(each.visits.tolist(), each.means.tolist(), each.turns.tolist(), each.best) for each in found[:1]] == [
        (each.visits.tolist(), each.means.tolist(), each.turns.tolist(), each.best) for each in found[1:]
    ]


def test_writing_is_noticed() -> None:
    """So that the tests above can fail: a view that shares the position with the table, and dicts that are no copies."""
    table = at_a_decision("three_shells")
    view, shared = table.view(1), {"a": [1]}
    view.states, view.shared = table.states, shared  # type: ignore[attr-defined]
    before = table.position()
    spoil(view)
    assert table.position() != before
    assert shared == {}
