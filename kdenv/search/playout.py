"""Playouts to the end of the game by any player that answers `choose`, a random player, and players made of other players."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import allocating_kernel, kernel
from kdenv.compiler.random import Rng, below, uniform
from kdenv.core.questions import choose, plays
from kdenv.core.turns import MAX_DECISIONS, first_action, packed, play_turn, rest_of, still_decides
from kdenv.core.verbs import CHANCE, OVER, apply, apply_chance, begin, legal, phase, sample_chance, scores, seat

PLACES = 1 << 12  # of players of one type, see Seated.places


class Uniform(NamedTuple):
    """A player that decides at random: all legal actions are equally probable."""


class EpsilonGreedyPlayer(NamedTuple):
    """A player that plays a random turn with probability epsilon, and otherwise the turn of the greedy player."""

    greedy: NamedTuple
    epsilon: float


class Split(NamedTuple):
    """Two players: `mine` decides for this seat, and `others` for all other seats."""

    seat: int
    mine: NamedTuple
    others: NamedTuple


class Seated(NamedTuple):
    """A player for each seat. The players are of up to four types, and those of each type are in a tuple of their own.

    policies/compiled_opponents.py makes it. It is not made of nested pairs, because a kernel that calls itself through its parts cannot
    be kept on disk.
    """

    which: NDArray[np.int64]  # by seat: the index of the player that decides. Kernels and Python write to it
    places: NDArray[np.int64]  # by this index: the type of the player times PLACES, plus its place among the players of its type
    first: tuple[Any, ...]
    second: tuple[Any, ...]
    third: tuple[Any, ...]
    fourth: tuple[Any, ...]


@plays(Uniform)
@kernel
def _choose_uniformly(player, states, k, out, rng):
    n = legal(states[k], out)
    return packed(out[below(rng, n)])


@plays(EpsilonGreedyPlayer)
@kernel
def _choose_epsilon_greedily(player, states, k, out, rng):
    if uniform(rng) < player.epsilon:
        return random_turn(states, k, out, rng)
    return choose(player.greedy, states, k, out, rng)


@plays(Split)
@kernel
def _choose_by_seat(player, states, k, out, rng):
    if seat(states[k]) == player.seat:
        return choose(player.mine, states, k, out, rng)
    return choose(player.others, states, k, out, rng)


@plays(Seated)
@kernel
def _choose_as_seated(player, states, k, out, rng):
    number = player.places[player.which[seat(states[k])]]
    kind, place = number // PLACES, number % PLACES
    if kind == 0:
        return choose(player.first[place], states, k, out, rng)
    if kind == 1:
        return choose(player.second[place], states, k, out, rng)
    if kind == 2:
        return choose(player.third[place], states, k, out, rng)
    return choose(player.fourth[place], states, k, out, rng)


@kernel
def random_turn(states, k, out, rng):
    """Return a whole turn of the seat to move in states[k], packed; every decision is random. states[k + 1] is scratch."""
    states[k + 1] = states[k]
    mover, turn, shift = seat(states[k]), 0, 0
    # Not by finish_turn: it asks players that call this kernel, and no kernel may reach itself.
    while shift < 16 * MAX_DECISIONS and still_decides(states[k + 1], mover):
        action = out[below(rng, legal(states[k + 1], out))]
        turn |= packed(action) << shift
        apply(states[k + 1], action)
        shift += 16
    return turn


@kernel
def play_out(player: Any, states: Any, k: int, out: Any, rng: Rng) -> Any:
    """Play states[k] to the end of the game; return the number of turns. states[k + 1] and out are scratch.

    >>> import kdenv
    >>> import numpy as np
    >>> from kdenv.author import OVER, Uniform, make_rng, phase, play_out
    >>> table = kdenv.table("kingdomino", players=2)
    >>> table.run_chance(make_rng(1))
    >>> states = np.zeros(8, table.states.dtype)
    >>> states[0] = table.states[0]
    >>> play_out(Uniform(), states, 0, np.zeros(400, np.int64), make_rng(1)) > 20, phase(states[0]) == OVER
    (True, True)
    """
    n_turns = 0
    while True:
        now = phase(states[k])
        if now == OVER:
            return n_turns
        if now == CHANCE:
            apply_chance(states[k], sample_chance(states[k], rng))
        else:
            play_turn(states[k], choose(player, states, k, out, rng))
            n_turns += 1


@kernel
def decisions_left(player, states, mover, most_decisions, n_games, out, rng):
    """Return the average number of decisions that the seat `mover` has left in states[0], in n_games playouts by this player.

    A decision is a whole turn. If most_decisions is 1, it is an action that is not forced. All other states and out are scratch.
    """
    n = 0
    for _ in range(n_games):
        states[1] = states[0]
        goes_on = False  # whether the next decision continues a turn of the mover
        turn = 0
        while phase(states[1]) != OVER:
            if phase(states[1]) == CHANCE:
                apply_chance(states[1], sample_chance(states[1], rng))
                goes_on = False
                continue
            is_mine = seat(states[1]) == mover
            if is_mine and (legal(states[1], out) > 1 if most_decisions == 1 else not goes_on):
                n += 1
            goes_on = is_mine
            turn = choose(player, states, 1, out, rng) if turn == 0 else turn
            apply(states[1], first_action(turn))
            turn = rest_of(turn)
    return n / n_games


@allocating_kernel
def play_games(player: Any, states: Any, n_games: int, out: Any, rng: Rng, totals: Any) -> Any:
    """Play n_games from states[0] to their ends and add the points of each seat to totals; return the number of turns played.

    The two states after states[0] and out, which has room for the legal actions, are scratch.

    >>> import kdenv
    >>> import numpy as np
    >>> from kdenv.author import Uniform, make_rng, play_games
    >>> table = kdenv.table("kingdomino", players=2)
    >>> table.run_chance(make_rng(1))
    >>> states = np.zeros(8, table.states.dtype)
    >>> states[0] = table.states[0]
    >>> points = np.zeros(2, np.int64)
    >>> n_turns = play_games(Uniform(), states, 100, np.zeros(400, np.int64), make_rng(1), points)
    >>> n_turns > 2000, bool((points > 0).all())
    (True, True)
    """
    n_turns = 0
    points = np.zeros(totals.shape[0], np.int64)
    for _ in range(n_games):
        states[1] = states[0]
        n_turns += play_out(player, states, 1, out, rng)
        _add_scores(states, 1, points, totals)
    return n_turns


@kernel
def _add_scores(states, k, points, totals):
    """Add the points of each seat in states[k] to totals."""
    scores(states[k], points)
    for i in range(totals.shape[0]):
        totals[i] += points[i]


@kernel
def random_games(states, n_games, players, variant, out, points, rng):
    """Play whole random games in states[1], from begin() to scores(), to measure the speed of the rules."""
    for _ in range(n_games):
        s = states[1]
        begin(s, players, variant)
        while True:
            now = phase(s)
            if now == OVER:
                break
            if now == CHANCE:
                apply_chance(s, sample_chance(s, rng))
            else:
                apply(s, out[below(rng, legal(s, out))])
        scores(s, points)
