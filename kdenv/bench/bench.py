"""Measures what `kdenv bench` prints: figures for every game, each the best of several runs, with its floor if the design sets one.

Times on a shared machine are noisy, so other pages claim only ratios within one run.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kdenv.bench import batches, environments, matches, networks, peers, search_many, trainings
from kdenv.bench.measuring import QUICK, USUAL, BenchRow, Effort, per_second, times
from kdenv.compiler.random import make_rng
from kdenv.core.game import Game
from kdenv.core.table import Table
from kdenv.core.view import OracleView, View
from kdenv.policies import policy
from kdenv.search.playout import Split, Uniform, play_games, random_games

# The floors that the design page sets, for this project's machine of two cores.
_RANDOM_GAMES = {"kingdomino": 200_000, "dominoes": 400_000, "carcassonne": 40_000}
_GREEDY_GAMES = {"kingdomino": 1_000, "carcassonne": 400}
_GREEDY_V_RANDOM = {"kingdomino": 4_000}
_NODES = {"carcassonne": 800_000}
_TO_DEPTH_2 = {"carcassonne": 0.15}
_ISMCTS_ITERATIONS = {"dominoes": 300_000}
_ORACLE_MICROSECONDS = {"dominoes": 3_000}
_UCT_ITERATIONS = {"kingdomino": 80_000}
_UCB_ORIG_SECONDS = {"dominion": 0.3}
_SHARE_IN_SEARCH = 0.9  # the playouts of a search, divided by the playouts in the same time without a search
_TWO_THREADS = 1.8


def rows(games: Sequence[Game], effort: Effort = USUAL) -> Iterator[BenchRow]:
    """Measure and yield all figures, one after the other. The figures of a quick run have no floors."""
    for row in _rows(games, effort):
        yield row._replace(floor=None) if effort.seconds == QUICK.seconds else row


def _rows(games: Sequence[Game], effort: Effort) -> Iterator[BenchRow]:
    yield _import_time(effort)
    for game in games:
        yield from _of_game(game, effort)
    yield from peers.rows_of_peers(games, effort)


def _of_game(game: Game, effort: Effort) -> Iterator[BenchRow]:
    players, variant = game.variant(**_round_only(game))
    states, out, rng = np.zeros(8, game.state_dtype), game.buffer(), make_rng(1)
    name = f"{game.name}, {players} players: "
    yield BenchRow(
        name + "random games through the verbs",
        per_second(effort, lambda n: random_games(states, n, players, variant, out, np.zeros(players, np.int64), rng)),
        "games/s",
        _RANDOM_GAMES.get(game.name),
    )
    table = Table(game, **_round_only(game))
    if name_of_greedy := game.knowledge.greedy:
        states[0] = table.states[0]
        greedy = game.knowledge.players[name_of_greedy].make()
        everybody = per_second(effort, lambda n: play_games(greedy, states, n, out, rng, np.zeros(players, np.int64)))
        yield BenchRow(name + f"playouts of {name_of_greedy}", everybody, "games/s", _GREEDY_GAMES.get(game.name))
        split = Split(0, greedy, Uniform())
        alone = per_second(effort, lambda n: play_games(split, states, n, out, rng, np.zeros(players, np.int64)))
        yield BenchRow(
            name + f"playouts of {name_of_greedy} in one seat, random in others", alone, "games/s", _GREEDY_V_RANDOM.get(game.name)
        )
    bare = per_second(effort, lambda n: _playouts(table, n))
    yield BenchRow(name + "playouts of random turns", bare, "games/s")
    if game.knowledge.evaluators:
        rate, seconds = _lookahead(table, effort)
        yield BenchRow(name + "expectimax", rate, "nodes/s", _NODES.get(game.name))
        yield BenchRow(name + "expectimax to depth 2 from the start", seconds, "s", _TO_DEPTH_2.get(game.name))
    yield from _of_searches(game, table, name, bare, effort)
    if game.knowledge.hidden:
        iterations = _search_rate(effort, table, f"ismcts(seconds={effort.seconds})")
        yield BenchRow(name + "ISMCTS from the start, random playouts", iterations, "iterations/s", _ISMCTS_ITERATIONS.get(game.name))
        oracle = _oracle_microseconds(table, effort)
        yield BenchRow(name + "oracle, a decision from the first on", oracle, "µs", _ORACLE_MICROSECONDS.get(game.name))
    yield from networks.rows_of(game, effort)
    yield from environments.rows_of(game, effort)
    yield from batches.rows_of(game, effort)
    yield from search_many.rows_of(game, effort)
    yield from matches.rows_of(game, effort)
    yield from trainings.rows_of(game, effort, _round_only(game))


def _of_searches(game: Game, table: Table, name: str, bare: float, effort: Effort) -> Iterator[BenchRow]:
    """Measure playouts inside searches. `bare` is the number of playouts a second without a search."""
    flat = _search_rate(effort, table, f"mce(playout=random, score=relative, seconds={effort.seconds})")
    yield BenchRow(name + "flat Monte Carlo from the start, random playouts", flat, "playouts/s")
    yield BenchRow(name + "... as a share of playouts without a search", times(flat, bare), "x", _SHARE_IN_SEARCH)
    for chance in ("frozen", "sampled", "open"):
        text = f"uct(playout=random, score=wdl, chance={chance}, seconds={effort.seconds}"
        one = _search_rate(effort, table, text + ")")
        yield BenchRow(name + f"UCT from the start, chance {chance}", one, "playouts/s", _UCT_ITERATIONS.get(game.name))
        if effort.is_real_time:
            both = _search_rate(effort, table, text + ", threads=2)")
            yield BenchRow(name + "... two trees on two threads, times as many", times(both, one), "x", _TWO_THREADS)
    if game.name in _UCB_ORIG_SECONDS:
        searcher, view = policy("ucb_orig"), _first_view(table)
        searcher.prepare(view)
        seconds = 1 / per_second(effort, lambda n: [searcher.act(view) for _ in range(n)])
        yield BenchRow(name + "a first decision of ucb_orig, 10,000 rollouts", seconds, "s", _UCB_ORIG_SECONDS[game.name])


def _round_only(game: Game) -> dict[str, Any]:
    """The options that make a game end after one round, for games that have such an option."""
    return {"mode": "round"} if any(option.name == "mode" for option in game.options) else {}


def _playouts(table: Table, n: int) -> None:
    states = np.zeros(8, table.game.state_dtype)
    states[0] = table.states[0]
    play_games(Uniform(), states, n, table.game.buffer(), make_rng(1), np.zeros(table.players, np.int64))


def _first_view(table: Table) -> View:
    """The view of the first seat that can choose between two actions."""
    table, rng = table.clone(), make_rng(1)
    table.run_chance(rng)
    while len(table.legal()) == 1:
        table.decide(table.legal()[0], rng)
    seat = table.seat
    assert seat is not None
    return table.view(seat)


def _lookahead(table: Table, effort: Effort) -> tuple[float, float]:
    """Measure expectimax: nodes a second, and seconds to depth 2."""
    view = _first_view(table)
    deep, to_two = policy(f"expectimax(seconds={effort.seconds})"), policy("expectimax(depth=2)")
    for searcher in (deep, to_two):
        searcher.prepare(view)
    rate, seconds = 0.0, float("inf")
    for _ in range(effort.runs):
        deep.reset()
        start = effort.clock()
        deep.act(view)
        rate = max(rate, deep.n_playouts / (effort.clock() - start))
        to_two.reset()
        start = effort.clock()
        to_two.act(view)
        seconds = min(seconds, effort.clock() - start)
    return rate, seconds


def _search_rate(effort: Effort, table: Table, text: str) -> float:
    """Playouts a second of a search, in the best of several decisions. The first one is slower, because it gets memory from the system."""
    view, best = _first_view(table), 0.0
    searcher = policy(text)
    searcher.prepare(view)
    for _ in range(effort.runs):
        searcher.reset()
        start = effort.clock()
        searcher.act(view)
        best = max(best, searcher.n_playouts / (effort.clock() - start))
    return best


def _oracle_microseconds(table: Table, effort: Effort) -> float:
    """The mean microseconds of a decision, forced ones included, in whole rounds with an oracle in every seat."""
    oracle, seconds, decisions = policy("oracle"), 0.0, 0
    for seed in range(1, 1 + effort.rounds):
        deal = table.clone()
        deal.run_chance(make_rng(seed))
        while not deal.over:
            assert deal.seat is not None
            view = OracleView(deal, deal.seat)
            oracle.prepare(view)
            start = effort.clock()
            action = oracle.act(view)
            seconds += effort.clock() - start
            decisions += 1
            deal.play(action)
    return 1e6 * seconds / decisions


def _import_time(effort: Effort) -> BenchRow:
    code = "import time; t = time.perf_counter(); import kdenv; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    told = [subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout for _ in range(effort.runs)]
    return BenchRow("import kdenv", min(map(float, told)), "s", 0.3)
