"""Flat Monte Carlo with a small budget as a compiled player, so that it can play in batches of games without calling Python."""

from typing import Any, NamedTuple

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below
from kdenv.core.questions import plays
from kdenv.core.turns import play_turn, write_turns
from kdenv.core.verbs import scores, seat
from kdenv.search.kernels.flat import Luck, Tally, sample_at_random, sample_in_rotation, sample_with_common_luck

IN_ROTATION, AT_RANDOM, WITH_COMMON_LUCK = range(3)  # FlatPlayer.sampling
BY_GAINS, BY_CHANCE, BY_ORDER = range(3)  # FlatPlayer.ties


class FlatPlayer(NamedTuple):
    """Makes n_playouts for the legal turns and chooses the turn with the best mean. The fields from `states` on are scratch."""

    playouts: Any  # answers play_on
    n_playouts: int
    sampling: int
    ties: int  # the turn to take of several with the best mean: the one that gains most points at once, a random one, or the first
    most_decisions: int  # of a turn
    states: Any  # enough for write_turns and for a playout
    turns: np.ndarray
    actions: np.ndarray
    n_actions: np.ndarray
    at_action: np.ndarray
    tally: Tally
    luck: Luck
    points: np.ndarray  # one number for each seat


@plays(FlatPlayer)
@kernel
def _choose_by_playouts(player, states, k, out, rng):
    player.states[0] = states[k]
    n = write_turns(player.states, 0, player.most_decisions, player.actions, player.n_actions, player.at_action, player.turns)
    if n == 1:
        return player.turns[0]
    mover, turns = seat(states[k]), player.turns[:n]
    for i in range(n):
        player.tally.visits[i] = 0
        player.tally.sums[i] = 0.0
        player.tally.squares[i] = 0.0
    if player.sampling == WITH_COMMON_LUCK:
        sample_with_common_luck(player.states, mover, turns, player.n_playouts, 0, player.playouts, rng, player.luck, player.tally)
    elif player.sampling == AT_RANDOM:
        sample_at_random(player.states, mover, turns, player.n_playouts, player.playouts, rng, player.tally)
    else:
        sample_in_rotation(player.states, mover, turns, player.n_playouts, 0, player.playouts, rng, player.tally)
    return turns[_best(player, mover, n, rng)]


@kernel
def _best(player, mover, n, rng):
    """Return the index of the best turn, as PlayoutSearcher._best chooses it; move the turns between which it draws to the front."""
    best_mean, best_gain, n_best = -np.inf, 0, 0
    for i in range(n):
        if player.tally.visits[i] > 0:
            best_mean = max(best_mean, player.tally.sums[i] / player.tally.visits[i])
    for i in range(n):
        if player.tally.visits[i] > 0 and player.tally.sums[i] / player.tally.visits[i] == best_mean:
            gain = _points_after(player, mover, player.turns[i]) if player.ties == BY_GAINS else 0
            if n_best > 0 and gain < best_gain:
                continue
            if n_best == 0 or gain > best_gain:
                best_gain, n_best = gain, 0
            player.turns[n_best], player.turns[i] = player.turns[i], player.turns[n_best]
            n_best += 1
    return below(rng, n_best) if n_best > 1 and player.ties != BY_ORDER else 0


@kernel
def _points_after(player, mover, turn):
    """Return the points of the mover after a turn."""
    player.states[1] = player.states[0]
    play_turn(player.states[1], turn)
    scores(player.states[1], player.points)
    return player.points[mover]
