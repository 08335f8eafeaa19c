"""Measures matches of rule players in one process, in which most games are one call of a kernel."""

from __future__ import annotations

from collections.abc import Iterator

from kdenv.arena import Match, Summary
from kdenv.arena.compiled_games import CompiledGames, first_compiled
from kdenv.bench.measuring import BenchRow, Effort, per_second, times
from kdenv.core.game import Game

# Two rule players, each in half of the seats, and the floor of issue 14 in games a second: 20 times the rate before it.
_LINE_UPS = {"kingdomino": (["full_greedy", "gprd"], 6_000)}
_MANY = 10**9  # games, more than a measurement plays


def rows_of(game: Game, effort: Effort) -> Iterator[BenchRow]:
    """Measure a match of one game, with its statistics."""
    if game.name not in _LINE_UPS:
        return
    two, floor = _LINE_UPS[game.name]
    match = Match(game.name, two * (game.players[0] // len(two)), _MANY)
    name = f"{game.name}, {game.players[0]} players: "
    whole = _rate(match, CompiledGames(match), effort)
    yield BenchRow(f"{name}a match of {' and '.join(two)}, with statistics", whole, "games/s", floor)
    by_decision = _rate(match, CompiledGames(match, by_decision=True), effort)
    yield BenchRow(f"{name}... decision by decision", by_decision, "games/s")
    yield BenchRow(f"{name}... times as many in one call", times(whole, by_decision), "x")


def _rate(match: Match, games: CompiledGames, effort: Effort) -> float:
    """Games a second. The first deals, which are played decision by decision, are left out."""
    summary, number = Summary(match), first_compiled(match)

    def play(n: int) -> None:
        nonlocal number
        for _ in range(n):
            summary.add(games.play(number))
            number += 1

    return per_second(effort, play)
