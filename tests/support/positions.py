"""Positions that several tests start from."""

from typing import Any

import three_shells
from random_games import random_game

from kdenv.compiler.random import make_rng
from kdenv.core.table import Table
from kdenv.core.view import View
from kdenv.games import find_game


def shells(pea: int = 2, stake: int = 0, guess: str = "", coin: int | None = None, **options: Any) -> Table:
    """Three Shells as far as told."""
    table = Table(three_shells.GAME, **options)
    table.chance(pea)
    if stake:
        table.play(stake - 1)
    if guess:
        table.play(table.action(guess))
    if coin is not None:
        table.chance(coin)
    return table


def after_pick(seed: int = 1, players: int = 4, **options: Any) -> Table:
    """Kingdomino in its third round: a domino is to be placed, then one picked."""
    table = random_game(find_game("kingdomino"), seed, players, 12, **options)
    table.run_chance(make_rng(seed))
    assert " stage=place " in table.position()
    return table


def of_seat_to_move(table: Table) -> View:
    """The view of the seat that decides."""
    assert table.seat is not None
    return table.view(table.seat)
