"""Does flat Monte Carlo in kernels play as `mce` does at the table, turn by turn, and in batches of games?"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models import random_model
from random_games import random_game

from kdenv.compiler.random import make_rng
from kdenv.core.questions import choose_at
from kdenv.core.turns import first_action
from kdenv.envs.single_agent import SeatEnv
from kdenv.envs.vector import SeatVectorEnv
from kdenv.games import find_game, names
from kdenv.policies import policy

TEXTS = ["mce(playouts=30)", "mce(sampling=random, playouts=50)", "mce(common=yes, playouts=40)", "mce(playouts=2)"]
COLD = [pytest.mark.cold]  # they compile a player of their own, as do the other games
CASES = [
    *(pytest.param(name, TEXTS[2], marks=COLD * (name in ("carcassonne", "dominion"))) for name in names()),
    *(("kingdomino", text) for text in TEXTS),
    ("dominoes", "mce(score=wdl, playouts=40)"),
    ("kingdomino", "mce(score=wdl, ties=random, playouts=6)"),
    ("kingdomino", "mce(score=wdl, ties=first, playouts=30)"),
]


@pytest.mark.parametrize("name, text", CASES)
def test_from_the_same_stream_it_takes_the_same_turn(name: str, text: str) -> None:
    """Also where several turns are equal, and where what is hidden is drawn for every playout."""
    game, n_turns = find_game(name), 0
    player = policy(text).compiled(game, game.players[0])
    for seed in range(12):
        table = random_game(game, seed, decisions=3 + 3 * seed)
        table.run_chance(make_rng(seed))
        if table.over:
            continue
        view, asked = table.view(table.seat), policy(text)
        asked.reset(seed)
        same = policy("random")
        same.reset(seed)
        turn = int(choose_at(player, view.scratch(2), 0, game.buffer(), same.rng))
        assert first_action(turn) == asked.act(view)
        assert asked.rng.tolist() == same.rng.tolist()
        n_turns += len(view.legal()) > 1
    assert n_turns > 3


@pytest.mark.cold
@pytest.mark.parametrize("name, options", [("kingdomino", {"players": 2, "size": 3}), ("dominoes", {"mode": "round"})])
def test_as_an_opponent_in_a_batch_it_plays_the_games_of_seat_env(name: str, options: dict[str, Any]) -> None:
    keywords: dict[str, Any] = {"game": name, "opponents": "mce(playouts=12)", **options}
    batch, single = SeatVectorEnv(num_envs=3, **keywords), [SeatEnv(**keywords) for _ in range(3)]
    _, told = batch.reset(seed=6)
    for i, env in enumerate(single):
        env.reset(seed=6 + i)
    for _ in range(12):
        masks = np.stack([env.action_masks() for env in single])
        assert (told["action_mask"] == masks).all()
        actions = masks.argmax(axis=1)
        observations, rewards, ended, _, told = batch.step(actions)
        for i, env in enumerate(single):
            observation, reward, over, _, _ = env.step(int(actions[i]))
            assert (reward, over) == (rewards[i], ended[i])
            observation = env.reset()[0] if over else observation
            assert (observation == observations[i]).all()


@pytest.mark.cold
def test_it_takes_a_leaf_too(tmp_path: Path) -> None:
    file, game = random_model(tmp_path / "m.npz", "kingdomino"), find_game("kingdomino")
    text = f"mce(playout=full_greedy, leaf=learned({file}), turns=2, score=goal, playouts=60)"
    player = policy(text).compiled(game, 4)
    table = random_game(game, 4, decisions=30)
    table.run_chance(make_rng(4))
    asked, same = policy(text), policy("random")
    asked.reset(3)
    same.reset(3)
    turn = int(choose_at(player, table.view(table.seat).scratch(2), 0, game.buffer(), same.rng))
    assert first_action(turn) == asked.act(table.view(table.seat))


@pytest.mark.parametrize(
    "text",
    [
        "mce(seconds=0.1)",
        "mce(playouts=1001)",
        "mce(sampling=halving, playouts=9)",
        "mce(choice=visits, playouts=9)",
        "mce(reflex=yes, playouts=9)",
        "mce(threads=2, playouts=9)",
        "mce(playout=player_greedy, playouts=9)",
        "mce(prior=learned(kingdomino), score=goal, playouts=9)",
    ],
)
def test_what_only_python_carries_out_has_no_compiled_form(text: str) -> None:
    assert policy(text).compiled(find_game("kingdomino"), 4) is None
