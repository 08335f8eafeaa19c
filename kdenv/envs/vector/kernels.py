"""The kernels of a batch: games that each have a row in the same arrays.

One call deals games or carries out a decision in each of them, with the chance and the turns of compiled opponents that follow. It begins
a new game where one has ended, and writes observations, masks and rewards. A call works on a slice of the games and does not touch the
others, so several threads can each have a slice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import Rng, below
from kdenv.core.encoding import observe_by
from kdenv.core.events import decide, run_chance
from kdenv.core.verbs import CHANCE, DECIDE, legal, phase, scores, seat, standings, truncated
from kdenv.envs.rewards import GAINS, add_gains, settle, write_forfeit
from kdenv.envs.seeds import CHANCE as FOR_CHANCE
from kdenv.envs.seeds import DICE, POOL, SEAT, seed_of
from kdenv.envs.step_kernel import NOBODY, turn_of

RANDOM_SEAT, NEXT_SEAT, ALL_SEATS = -1, -2, -3  # World.learner, if it is not a seat
MOST_DEALS = 1000  # games in a row in which the learner has nothing to decide
TOO_MANY_DEALS = -1


class World(NamedTuple):
    """The values that are the same for all games of a batch."""

    start: NDArray[Any]  # one state: the position before anything has happened
    players: int
    learner: int  # the seat that learns; or RANDOM_SEAT, NEXT_SEAT or ALL_SEATS
    drawn_from: int  # the number of players from which opponents are drawn for every game; 0 if they are fixed
    reward: int  # its number in envs/rewards.py
    teams: int
    scale: float
    skips_forced: bool  # whether learners are not asked where only one action is legal


class GameArrays(NamedTuple):
    """The games of a batch and the results of the last call. Every array has a row for each game.

    The fields after `ended` belong to the game that ended, in rows in which one did. All others belong to the next game there.
    """

    states: NDArray[Any]
    keys: NDArray[np.uint64]  # the seeds: see envs/seeds.py
    numbers: NDArray[np.int64]
    chance: NDArray[np.uint64]  # the generators
    dice: NDArray[np.uint64]
    places: NDArray[np.int64]  # by seat: the index of its player in the opponents, see Seated.which
    learner: NDArray[np.int64]  # the seat that learns, or ALL_SEATS
    seat: NDArray[np.int64]  # the seat that decides
    mask: NDArray[np.int8]  # its legal actions
    before: NDArray[np.int64]  # with reward="gains": the points of each seat when gains were last given
    ended: NDArray[np.bool_]  # whether a game ended in the last call
    cut_off: NDArray[np.bool_]  # whether a limit ended it
    illegal: NDArray[np.bool_]  # whether an illegal action ended it
    wrong: NDArray[Any]  # the position in which an illegal action was chosen
    rewards: NDArray[np.float64]  # by seat
    reward: NDArray[np.float64]  # of the seat that decides or, where a game ended, that was the last to decide
    last_seat: NDArray[np.int64]
    scores: NDArray[np.int64]
    standings: NDArray[np.int64]
    ranks: NDArray[np.int64]


class Results(NamedTuple):
    """Arrays for one call, with a row for each game, that users may keep."""

    observations: NDArray[np.float32]
    finals: NDArray[np.float32]  # the last observations of games that have ended
    masks: NDArray[np.int8]


class Room(NamedTuple):
    """The working memory of one thread."""

    encoding: Any  # answers observe_by
    states: NDArray[Any]
    out: NDArray[np.int64]
    log: NDArray[np.int32]
    chance: Rng
    dice: Rng
    spare: Rng


@kernel
def play_games(world, opponents, games, room, dealing, actions, results, first, last):
    """Carry out actions[i] in the games from `first` to `last` (exclusive), and play until a learner decides in each.

    An illegal action ends its game as a loss. Where a game ends, its last observation is written to results.finals, and a new game is
    dealt. If `dealing` is true, no action is carried out: a new game is dealt in every row where actions[i] is not 0, and the others stay
    as they are. Return 0, or TOO_MANY_DEALS. Dealing and stepping are one kernel so that the opponents are compiled once.
    """
    for i in range(first, last):
        me = games.seat[i]  # the learner of this action; after _deal games.seat has the one of the next game
        games.illegal[i], games.ended[i] = False, False
        games.rewards[i, :] = 0.0
        is_new = dealing and actions[i] != 0
        if not dealing:
            _carry_out(world, opponents, games, room, i, actions[i])
            is_new = games.ended[i]
            if is_new:
                _write_end(world, games, room, results.finals, i, me)
            elif world.reward == GAINS:
                scores(games.states[i], games.scores[i])
                add_gains(games.scores[i], games.before[i], world.scale, games.rewards[i])
        if is_new and not _deal(world, opponents, games, room, i):
            return TOO_MANY_DEALS
        observe_by(room.encoding, games.states, i, games.seat[i], results.observations[i])
        games.reward[i] = games.rewards[i, games.last_seat[i] if games.ended[i] else games.seat[i]]
        for action in range(games.mask.shape[1]):
            results.masks[i, action] = games.mask[i, action]
    return 0


@kernel
def _carry_out(world, opponents, games, room, i, action):
    """Carry out an action in row i, and play until a learner decides; note whether the game ended."""
    if action < 0 or action >= games.mask.shape[1] or games.mask[i, action] == 0:
        games.illegal[i], games.ended[i] = True, True
        games.wrong[i] = games.states[i]
        return
    room.chance[0], room.dice[0] = games.chance[i], games.dice[i]
    decide(games.states, i, action, room.chance, room.log, 0)
    games.seat[i] = _play_on(world, opponents, games, room, i)
    games.chance[i], games.dice[i] = room.chance[0], room.dice[0]
    games.ended[i] = games.seat[i] == NOBODY


@kernel
def _write_end(world, games, room, finals, i, me):
    """Write the results of the game that ended in row i; `me` was the last learner to decide."""
    games.last_seat[i] = me
    # After an illegal action the game is not over, so the verb truncated has no meaning for its position.
    games.cut_off[i] = not games.illegal[i] and truncated(games.states, i)
    standings(games.states[i], games.standings[i])
    _rank(games.standings[i], games.ranks[i])
    scores(games.states[i], games.scores[i])
    if games.illegal[i]:
        write_forfeit(me, world.teams, games.rewards[i])
    elif world.reward == GAINS:
        add_gains(games.scores[i], games.before[i], world.scale, games.rewards[i])
    elif not games.cut_off[i]:
        settle(world.reward, games.scores[i], games.standings[i], world.teams, world.scale, games.rewards[i])
    observe_by(room.encoding, games.states, i, me, finals[i])


@kernel
def _rank(numbers, ranks):
    """Write the place of each seat, 1 for the best; equal seats share the better place."""
    for mine in range(numbers.shape[0]):
        ranks[mine] = 1
        for other in range(numbers.shape[0]):
            if numbers[other] > numbers[mine]:
                ranks[mine] += 1


@kernel
def _deal(world, opponents, games, room, i):
    """Begin games in row i until a learner decides in one; return whether there was one within MOST_DEALS games."""
    for _ in range(MOST_DEALS):
        games.numbers[i] += 1
        number = games.numbers[i]
        games.states[i] = world.start[0]
        room.chance[0] = seed_of(games.keys, i, number, FOR_CHANCE)
        room.dice[0] = seed_of(games.keys, i, number, DICE)
        _seat_players(world, games, i, number, room.spare)
        _draw(games, room, i)
        # Gains are counted from here, so that they include those of opponents who decide before the learner.
        scores(games.states[i], games.before[i])
        mover = _play_on(world, opponents, games, room, i)
        games.chance[i], games.dice[i] = room.chance[0], room.dice[0]
        if mover != NOBODY:
            games.seat[i] = mover
            return True
    return False


@kernel
def _seat_players(world, games, i, number, spare):
    """Choose the seat of the learner and the players of the others in row i."""
    games.learner[i] = world.learner
    if world.learner == ALL_SEATS:
        return
    if world.learner == NEXT_SEAT:
        games.learner[i] = number % world.players
    elif world.learner == RANDOM_SEAT:
        spare[0] = seed_of(games.keys, i, number, SEAT)
        games.learner[i] = below(spare, world.players)
    # The draws are in the order of the seats after the learner, as in Lineup.draw.
    spare[0] = seed_of(games.keys, i, number, POOL)
    for after in range(world.players - 1):
        place = after if world.drawn_from == 0 else below(spare, world.drawn_from)
        games.places[i, (games.learner[i] + 1 + after) % world.players] = place


@kernel
def _play_on(world, opponents, games, room, i):
    """Carry out chance and the turns of opponents in row i until a learner decides, and write the mask of its legal actions.

    Return its seat, or NOBODY at the end of the game.
    """
    states, learner = games.states, games.learner[i]
    while True:
        _draw(games, room, i)
        if phase(states[i]) != DECIDE:
            return NOBODY
        mover = seat(states[i])
        if mover == learner or world.learner == ALL_SEATS:
            n_legal = legal(states[i], room.out)
            if n_legal > 1 or not world.skips_forced:
                _write_mask(games.mask[i], room.out, n_legal)
                return mover
            decide(states, i, room.out[0], room.chance, room.log, 0)
            continue
        opponents.which[mover] = games.places[i, mover]
        turn_of(opponents, states, i, room.states, room.out, room.dice, room.chance, room.log, 0)


@kernel
def _draw(games, room, i):
    """Carry out the chance that is due in row i. It takes more than one call only if the log is too short for it."""
    while phase(games.states[i]) == CHANCE:
        run_chance(games.states, i, room.chance, room.log, 0)


@kernel
def _write_mask(mask, actions, n):
    """Set the mask to 1 for the first n of these actions, and to 0 for all others."""
    for action in range(mask.shape[0]):
        mask[action] = 0
    for place in range(n):
        mask[actions[place]] = 1


@kernel
def list_illegal(mask, actions, rows):
    """Write the rows whose action is not legal to `rows`; return how many there are."""
    n = 0
    for i in range(actions.shape[0]):
        if actions[i] < 0 or actions[i] >= mask.shape[1] or mask[i, actions[i]] == 0:
            rows[n] = i
            n += 1
    return n
