"""How many functions lead from the arena, or from an environment, to the kernels that choose a turn? ARCHITECTURE.md draws the path."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

import pytest
from positions import after_pick, of_seat_to_move

from kdenv.arena.match import GameFailed, Match, play_game, ready
from kdenv.compiler.random import make_rng
from kdenv.core.table import Table
from kdenv.envs.single_agent import SeatEnv
from kdenv.games import find_game
from kdenv.policies import policy
from kdenv.search.kernels import expectimax, flat, ims, pimc, uct

MOST = 5


@pytest.mark.parametrize(
    ("game", "text", "kernels", "kernel"),
    [
        ("kingdomino", "mce(playouts=2)", flat, "sample_in_rotation"),
        ("kingdomino", "bandit(playouts=2)", flat, "sample_by_urgency"),
        ("kingdomino", "uct(playouts=2)", uct, "grow"),
        ("dominoes", "ismcts(playouts=2)", uct, "grow"),
        ("dominoes", "pimc(playouts=1, alpha=1)", pimc, "solve_deals"),
        ("dominoes", "flat_deals(playouts=1)", pimc, "solve_deals"),
        ("dominoes", "ims(alpha=1)", ims, "go_on"),
        ("carcassonne", "star2(depth=1)", expectimax, "go_on"),
        ("carcassonne", "star2(nodes=1000)", expectimax, "go_on"),
    ],
)
def test_five_functions_at_most_lead_from_a_game_to_the_kernel_of_a_search(
    game: str, text: str, kernels: ModuleType, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = Match(game, [text] * find_game(game).players[0], 1)
    players = ready(match)
    path: list[str] = []

    def stop(*_: Any) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_name != "play_game":
            path.append(frame.f_code.co_name)
            frame = frame.f_back
        raise KeyError(kernel)

    monkeypatch.setattr(kernels, kernel, stop)
    with pytest.raises(GameFailed, match=kernel):
        play_game(match, 0, players)
    assert path[-2:] == ["act", "_decide"]
    assert len(path) <= MOST, path


def python_calls(work: Callable[[], object]) -> int:
    """How many functions of the policies, the environments and the budget are called, comprehensions and generators included."""
    n = 0

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal n
        file = frame.f_code.co_filename
        n += event == "call" and ("/kdenv/policies/" in file or "/kdenv/envs/" in file or file.endswith("/search/budget.py"))

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return n


@pytest.mark.parametrize(
    ("game", "text", "most"),
    [("kingdomino", "full_greedy", 3), ("kingdomino", "mce(playouts=200)", 30), ("dominoes", "ismcts(playouts=1)", 35)],
)
def test_a_decision_calls_few_functions(game: str, text: str, most: int) -> None:
    table = Table(find_game(game))
    table.run_chance(make_rng(1))
    view = of_seat_to_move(after_pick()) if game == "kingdomino" else table.view(table.seat or 0)
    player = policy(text)
    player.act(view)
    player.reset(1)
    assert python_calls(lambda: player.act(view)) <= most


def test_a_step_against_compiled_players_calls_few_functions() -> None:
    env = SeatEnv("kingdomino", "full_greedy")
    env.reset(seed=1)
    env.step(int(env.action_masks().argmax()))
    action = int(env.action_masks().argmax())
    assert python_calls(lambda: env.step(action)) <= 12
