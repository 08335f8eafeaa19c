"""Compares the speed of Dominion in kdenv and in pyminion (PyPI). Both are measured in one run on one core.

python examples/dominion_against_pyminion.py                # needs pip install pyminion

Both play whole two-player games of big money against itself. Big money buys the first of Province, Gold and Silver that it can pay for.
"""

from __future__ import annotations

import argparse
import importlib
import time
from typing import Any

import numpy as np

import kdenv
from kdenv.author import make_rng, play_games

BATCH = 20_000


def ours(seconds: float) -> float:
    """Games a second of big_money against itself, the opening deal included."""
    table = kdenv.table("dominion", kingdom="first_game")
    bot = table.game.knowledge.players["big_money"].make()
    states = np.zeros(4, table.game.state_dtype)
    states[0] = table.states[0]
    out, rng, totals = table.game.buffer(), make_rng(1), np.zeros(2, np.int64)
    play_games(bot, states, 10, out, rng, totals)  # compiles
    games, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        play_games(bot, states, BATCH, out, rng, totals)
        games += BATCH
    return games / (time.perf_counter() - start)


def theirs(seconds: float) -> float:
    """Games a second of pyminion's big money against itself, with its log switched off."""
    big_money: Any = importlib.import_module("pyminion.bots.examples").BigMoney
    game_of: Any = importlib.import_module("pyminion.game").Game
    base = importlib.import_module("pyminion.expansions.base")
    games, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        players = [big_money(player_id="a"), big_money(player_id="b")]
        game_of(players=players, expansions=[base.base_set], log_stdout=False).play()
        games += 1
    return games / (time.perf_counter() - start)


def main() -> None:
    """Print both speeds and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each of them plays")
    seconds = parser.parse_args().seconds
    try:
        importlib.import_module("pyminion")
    except ImportError:
        parser.error("pyminion is not installed; install it with: pip install pyminion")
    a, b = ours(seconds), theirs(seconds)
    print(f"kdenv {a:,.0f} games/s, pyminion {b:,.0f} games/s: {a / b:,.0f} times as fast")


if __name__ == "__main__":
    main()
