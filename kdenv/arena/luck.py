"""Luck: how much better than expected chance was to each seat of a game, by a network of values. Subtracting it makes results less noisy.

A chance event is all chance between two decisions: a deal, the draw of a row of dominoes, a hand. Its luck is the value of the position
after it minus the mean value over redraws from the position before it. The redraws are drawn by a generator of their own, so they are
independent of the game. So the expected luck of every event is 0, given all that happened before, for any network and any number of
redraws. Results minus any fixed multiple of luck have the same mean. These are the control variates of Zinkevich et al. 2006 and White and
Bowling 2009. AIVAT (Burch et al. 2018) adds the random decisions of known players, which is not done here.

The multiple is chosen in statistics.py. Redraws need the whole position, so only the arena computes luck, after the game.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.arena.match import Match, Result
from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import Rng, derive_seed, make_rng
from kdenv.core.game import Game
from kdenv.core.questions import choose, estimate
from kdenv.core.table import Table
from kdenv.core.turns import play_turn
from kdenv.core.verbs import CHANCE, OVER, apply, apply_chance, chances, phase, sample_chance, seat
from kdenv.games import find_game
from kdenv.policies import policy

REDRAWS = 8  # of each chance event; the luck of an event with at most as many outcomes is computed from all of them

_NOW, _BEFORE, _AFTER = 0, 1, 2  # states: the game as played, before the present event, after it; the states after _AFTER are scratch
_SCRATCH = 8


class LuckRoom(NamedTuple):
    """The parts that value positions, and working memory."""

    player: Any  # answers choose
    evaluator: Any  # answers estimate
    redraws: int
    start: NDArray[Any]  # one state: the position before anything has happened
    states: NDArray[Any]
    out: NDArray[np.int64]
    outcomes: NDArray[np.int64]
    weights: NDArray[np.int64]
    numbers: NDArray[np.int64]  # one for each seat
    values: NDArray[np.float64]  # likewise
    is_valued: NDArray[np.bool_]  # likewise


def luck_room(game: Game, table: Table, player: Any, evaluator: Any, redraws: int = REDRAWS) -> LuckRoom:
    """Make working memory for games that begin like this table."""
    n = table.players
    return LuckRoom(
        player=player,
        evaluator=evaluator,
        redraws=redraws,
        start=table.states.copy(),
        states=np.zeros(_AFTER + 1 + _SCRATCH, game.state_dtype),
        out=game.buffer(),
        outcomes=np.zeros(game.max_chances, np.int64),
        weights=np.zeros(game.max_chances, np.int64),
        numbers=np.zeros(n, np.int64),
        values=np.zeros(n),
        is_valued=np.zeros(n, np.bool_),
    )


class Luck:
    """Computes the luck of the games of a match that measures it."""

    def __init__(self, match: Match) -> None:
        game, n = find_game(match.game), len(match.line_up)
        table = Table(game, n, **match.options)
        values = policy(match.luck)
        values.needs(game, n, table.variant)
        network = values.compiled(game, n)
        self._match, self._room = match, luck_room(game, table, network, network)

    def of(self, result: Result) -> list[float]:
        """The luck of the team of each place of the line-up minus that of its rivals, in the unit of the network."""
        match, n = self._match, len(self._match.line_up)
        rng = make_rng(derive_seed("luck", match.seed, result.number))
        found = np.zeros(n)
        luck_of_events(self._room, np.array(result.events(), np.int32), rng, found)
        _, rotation, _ = match.find(result.number)
        teams, seats = find_game(match.game).teams(n), np.arange(n)
        is_rival = (seats[:, None] - seats) % teams != 0
        by_place = np.zeros(n)
        for at, place in enumerate(match.seats(rotation)):
            rivals = is_rival[at]
            by_place[place] = found[~rivals].mean() - (found[rivals].mean() if rivals.any() else 0.0)
        return [round(each, 9) for each in by_place.tolist()]


@kernel
def luck_of_events(room: LuckRoom, events: NDArray[np.int32], rng: Rng, found: NDArray[np.float64]) -> None:
    """Add the luck of each seat in a game to `found`. Its events are those of its log: an outcome of chance is ~outcome."""
    states = room.states
    states[_NOW] = room.start[0]
    at = 0
    while at < events.shape[0]:
        if phase(states[_NOW]) != CHANCE:
            apply(states[_NOW], int(events[at]))
            at += 1
            continue
        states[_BEFORE] = states[_NOW]
        while at < events.shape[0] and phase(states[_NOW]) == CHANCE:
            apply_chance(states[_NOW], ~int(events[at]))
            at += 1
        states[_AFTER] = states[_NOW]
        _add_value(room, 1.0, rng, found)
        n_outcomes = _outcomes_if_few(room)
        if n_outcomes == 0:
            for _ in range(room.redraws):
                states[_AFTER] = states[_BEFORE]
                _run_chance(room, rng)
                _add_value(room, -1.0 / room.redraws, rng, found)
        total = 0
        for i in range(n_outcomes):
            total += room.weights[i]
        for i in range(n_outcomes):
            states[_AFTER] = states[_BEFORE]
            apply_chance(states[_AFTER], room.outcomes[i])
            _add_value(room, -float(room.weights[i]) / total, rng, found)


@kernel
def _outcomes_if_few(room):
    """List the outcomes of the event if they are at most as many as redraws, and each of them ends the event; else return 0."""
    states = room.states
    n = chances(states[_BEFORE], room.outcomes, room.weights)
    if n > room.redraws:
        return 0
    for i in range(n):
        states[_AFTER] = states[_BEFORE]
        apply_chance(states[_AFTER], room.outcomes[i])
        if phase(states[_AFTER]) == CHANCE:
            return 0
    return n


@kernel
def _run_chance(room, rng):
    """Draw and carry out the chance of states[_AFTER] until a seat decides or the game is over."""
    while phase(room.states[_AFTER]) == CHANCE:
        apply_chance(room.states[_AFTER], sample_chance(room.states[_AFTER], rng))


@kernel
def _add_value(room, factor, rng, found):
    """Add the value of states[_AFTER] to each seat, times the factor.

    Networks are trained on positions right after a turn of the observer. So as many turns as there are seats are played, and the value
    of a seat is that after its last turn. If the game ends before, it is that of the end.
    """
    states, values, n = room.states, room.values, room.values.shape[0]
    for each in range(n):
        room.is_valued[each] = False
    for _ in range(n):
        _run_chance(room, rng)
        if phase(states[_AFTER]) == OVER:
            break
        mover = seat(states[_AFTER])
        play_turn(states[_AFTER], choose(room.player, states, _AFTER, room.out, rng))
        values[mover] = estimate(room.evaluator, states, _AFTER, mover, room.numbers)
        room.is_valued[mover] = True
    is_over = phase(states[_AFTER]) == OVER
    for each in range(n):
        if is_over or not room.is_valued[each]:
            values[each] = estimate(room.evaluator, states, _AFTER, each, room.numbers)
        found[each] += factor * values[each]
