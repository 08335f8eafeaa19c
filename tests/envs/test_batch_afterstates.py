"""Afterstates, positions and opponents of batches of games."""

import pickle
from typing import Any

import numpy as np
import pytest

from kdenv.core.errors import WrongOrder
from kdenv.envs import SeatVectorEnv, SelfPlay
from kdenv.envs.sb3 import SeatVecEnv
from kdenv.games import names

ENCODINGS = {"kingdomino": "prospects", "dominion": "counts", "carcassonne": "compact", "dominoes": "ends"}


def own_encoding(game: str) -> str | None:
    """The encoding of the environments here. Only dominoes has another one than tests beside this one, because each compiles a batch."""
    return ENCODINGS[game] if game == "dominoes" else None


def step_by_first(env: Any, n: int) -> None:
    """Take the first legal action in all games, n times."""
    for _ in range(n):
        env.step(env.afterstates().actions[env.afterstates().starts[:-1]])


def made(kind: str, game: str) -> Any:
    """An environment of five games, some steps after a reset."""
    if kind == "SelfPlay":
        env: Any = SelfPlay(game, 5, encoding=own_encoding(game))
        env.reset(seed=3)
    elif kind == "SeatVectorEnv":
        env = SeatVectorEnv(game, num_envs=5, encoding=own_encoding(game), seat="random")
        env.reset(seed=3)
    else:
        env = SeatVecEnv(game, num_envs=5, encoding=own_encoding(game), seat="random")
        env.seed(3)
        env.reset()
    step_by_first(env, 4)
    return env


@pytest.mark.parametrize("game", names())
@pytest.mark.parametrize("kind", ["SelfPlay", "SeatVectorEnv", "SeatVecEnv"])
def test_the_rows_of_a_batch_are_those_of_the_views_of_its_games(kind: str, game: str) -> None:
    env = made(kind, game)
    for encoding, whole in ((None, True), (None, False), (ENCODINGS[game], True)):
        found = env.afterstates(encoding, whole=whole)
        assert found.starts[-1] == len(found) == len(found.observations)
        for i in range(5):
            table = env.table(i)
            wanted = table.view(table.seat).afterstates(encoding or own_encoding(game), whole=whole)
            mine = slice(found.starts[i], found.starts[i + 1])
            assert found.observations[mine].tobytes() == wanted.observations.tobytes()
            assert found.turns[mine].tolist() == wanted.turns.tolist()
            assert found.over[mine].tolist() == wanted.over.tolist()


def test_listing_turns_changes_no_game() -> None:
    plain, asked = SelfPlay("dominion", 4), SelfPlay("dominion", 4)
    now, same = plain.reset(seed=1), asked.reset(seed=1)
    for _ in range(30):
        asked.afterstates()
        asked.positions()
        assert now.observation.tobytes() == same.observation.tobytes()
        actions = now.action_mask.argmax(axis=1)
        now, same = plain.step(actions), asked.step(actions)


@pytest.mark.parametrize("game", names())
def test_positions_are_those_of_the_views_and_read_only(game: str) -> None:
    env = made("SelfPlay", game)
    positions = env.positions()
    for i in range(5):
        table = env.table(i)
        assert positions[i : i + 1].tobytes() == table.view(table.seat).states.tobytes()
    with pytest.raises(ValueError, match="read-only"):
        positions[0] = positions[1]


def test_opponents_are_the_places_of_their_policies_in_the_pool() -> None:
    env = SeatVectorEnv("kingdomino", num_envs=64, pool=["random", "full_greedy", "gprd"], seat="random")
    env.reset(seed=1)
    drawn = env.opponents()
    assert drawn.shape == (64, 4)
    _, infos = env.reset(seed=1)
    assert (drawn[np.arange(64), infos["seat"]] == -1).all() and (drawn == -1).sum() == 64
    assert sorted(set(drawn.ravel().tolist())) == [-1, 0, 1, 2]


def test_a_batch_without_games_has_no_turns() -> None:
    with pytest.raises(WrongOrder, match="there are no turns to list, and none has begun yet"):
        SelfPlay("dominoes", 2).afterstates()


def test_a_batch_that_listed_turns_can_be_pickled() -> None:
    env = made("SelfPlay", "dominoes")
    twin = pickle.loads(pickle.dumps(env))
    assert twin.afterstates().observations.tobytes() == env.afterstates().observations.tobytes()
