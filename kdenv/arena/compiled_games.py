"""Plays a whole game in one call of a kernel, if every policy has a compiled form (Policy.compiled) and none searches.

The game draws from the same generators as `play_game`, which plays decision by decision, and has the same result and record. Only its
time is not measured. So some deals of every match are played decision by decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.arena.luck import Luck
from kdenv.arena.match import Deciding, Events, Match, Result, chance_of, play_game, policy_seeds, ready, result_of_game
from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import Rng
from kdenv.core.errors import NotSupported
from kdenv.core.events import run_chance
from kdenv.core.game import Variant
from kdenv.core.questions import choose
from kdenv.core.table import Table
from kdenv.core.turns import ILLEGAL, MAX_DECISIONS, log_turn
from kdenv.core.verbs import DECIDE, OVER, phase, resample_hidden, scores, seat, standings
from kdenv.core.view import rng_of_views
from kdenv.games import find_game
from kdenv.policies import Policy
from kdenv.policies.base import rng_of
from kdenv.policies.compiled_opponents import first_use, seated_policies
from kdenv.policies.searching import SearchPolicy

BATCH = 128  # the largest number of games that a process is given at a time
_TIMED = 128  # the first deals, whose time is measured; after them it is measured in one deal of _TIMED_OF
_TIMED_OF = 256
_WORTH_IT = 1000  # compile only if at least this many games remain after the first deals: it takes seconds
_LOG = 512  # the initial capacity of the log, in events
_FULL, _NOT_LEGAL = -1, -2  # returned by _play_to_the_end: the log is full, an action is not legal
_NOBODY = -1


def first_compiled(match: Match) -> int:
    """The number of the first game whose time need not be measured. The kernel of whole games is compiled before it."""
    return _TIMED * match.games_of_a_deal


class CompiledGames:
    """Plays the games of a match in one process, compiled where that is possible."""

    def __init__(self, match: Match, deciding: Deciding | None = None, *, by_decision: bool = False) -> None:
        """Compile and load everything except the kernel of whole games, because a match may end before the first of them.

        With `by_decision` every game is played decision by decision, so that `deciding` is called for each decision.
        """
        self._match, self._deciding = match, deciding
        self._players = ready(match, deciding)
        self._luck = Luck(match) if match.luck else None
        self._compiled_match: _CompiledMatch | None = None
        if not by_decision and match.games >= first_compiled(match) + _WORTH_IT:
            self._compiled_match = _compiled_match(match, self._players)

    @property
    def batch(self) -> int:
        """The number of games to give to this process at a time."""
        return BATCH if self._compiled_match is not None else 1

    def play(self, number: int) -> Result:
        """Play the game of this number."""
        deal = self._match.find(number)[0]
        result = self._compiled_match.play(number) if self._compiled_match is not None and deal >= _TIMED and deal % _TIMED_OF else None
        if result is None:
            result = play_game(self._match, number, self._players, self._deciding)
        if self._luck is not None:
            result.luck = self._luck.of(result)
        return result


def _compiled_match(match: Match, players: Sequence[Policy]) -> _CompiledMatch | None:
    """The match for the kernel; None if a policy has no compiled form or searches, or if there are too many policies."""
    game = find_game(match.game)
    if any(player.is_oracle or isinstance(player, SearchPolicy) for player in players):
        return None  # the playouts of searches are counted decision by decision
    try:
        return _CompiledMatch(match, seated_policies(players, game, len(match.line_up)))
    except NotSupported:
        return None


class _Room(NamedTuple):
    """Working memory and results of the kernel. Arrays with a row or number for each seat are in the order of the seats."""

    start: NDArray[Any]  # one state: the position before anything has happened
    states: NDArray[Any]
    work: NDArray[Any]
    out: NDArray[np.int64]
    dice: NDArray[np.uint64]  # the generator of the policy of each seat
    chance: Rng
    sight: Rng
    log: NDArray[np.int32]
    turns: NDArray[np.int64]
    scores: NDArray[np.int64]
    standings: NDArray[np.int64]


class _CompiledMatch:
    """Plays whole games of a match by a player made of the policies of both line-ups."""

    def __init__(self, match: Match, player: Any) -> None:
        game, n = find_game(match.game), len(match.line_up)
        table = Table(game, n, **match.options)
        self._match, self._player = match, player
        self._is_compiled = False
        self._variant: Variant = table.variant
        self._sight = rng_of_views()[0]
        self._room = _Room(
            start=table.states,
            states=table.states.copy(),
            work=np.zeros(2, game.state_dtype),
            out=game.buffer(),
            dice=np.zeros((n, 1), np.uint64),
            chance=np.zeros(1, np.uint64),
            sight=np.zeros(1, np.uint64),
            log=np.zeros((2, _LOG), np.int32),
            turns=np.zeros(n, np.int64),
            scores=np.zeros(n, np.int64),
            standings=np.zeros(n, np.int64),
        )

    def play(self, number: int) -> Result | None:
        """The result of this game; None if a policy chooses an illegal action, for which play_game raises the error."""
        if not self._is_compiled:
            self._is_compiled = True
            with first_use(self._player, find_game(self._match.game), "whole games"):
                return self.play(number)
        match, room, n = self._match, self._room, len(self._match.line_up)
        deal, rotation, which = match.find(number)
        seeds, seats = policy_seeds(match, deal, rotation), match.seats(rotation)
        generators = [rng_of(seeds[place])[0] for place in seats]
        self._player.which[:] = which * n + np.array(seats)
        length = _FULL
        while length == _FULL:
            room.chance[:] = chance_of(match, deal)
            room.dice[:, 0] = generators
            length = int(_play_to_the_end(self._player, room, self._sight))
            if length == _FULL:
                room = self._room = room._replace(log=np.zeros((2, 2 * room.log.shape[1]), np.int32))
        if length == _NOT_LEGAL:
            return None
        events = Events(match.game, n, self._variant.tobytes(), room.log[0, :length].tobytes())
        points, places, turns = room.scores.tolist(), room.standings.tolist(), room.turns.tolist()
        return result_of_game(match, number, points, places, turns, [0] * n, None, events)


@kernel
def _play_to_the_end(player, room, seed_of_sight):
    """Play a game from room.start to its end, and write what happened to the room. Return the length of the log, _FULL or _NOT_LEGAL."""
    states = room.states
    states[0] = room.start[0]
    room.turns[:] = 0
    n = run_chance(states, 0, room.chance, room.log, 0)
    last = _NOBODY  # the seat of the present turn, which ends with chance or another seat
    while phase(states[0]) == DECIDE and n + MAX_DECISIONS <= room.log.shape[1]:
        mover = seat(states[0])
        if mover != last:
            room.turns[mover] += 1
        n = log_turn(states, 0, _choose(player, room, mover, seed_of_sight), True, room.out, room.chance, room.log, n)
        if n == ILLEGAL:
            return _NOT_LEGAL
        last = mover if room.log[0, n - 1] >= 0 else _NOBODY  # outcomes of chance are negative
    if phase(states[0]) != OVER:
        return _FULL
    scores(states[0], room.scores)
    standings(states[0], room.standings)
    return n


@kernel
def _choose(player, room, mover, seed_of_sight):
    """Return the turn that the player of this seat chooses. It sees the same position as a View shows."""
    room.work[0] = room.states[0]
    room.sight[0] = seed_of_sight
    resample_hidden(room.work[0], mover, room.sight)
    return choose(player, room.work, 0, room.out, room.dice[mover])
