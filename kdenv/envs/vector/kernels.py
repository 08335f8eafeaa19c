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
from kdenv.core.turns import MAX_DECISIONS
from kdenv.core.verbs import CHANCE, DECIDE, legal, phase, scores, seat, standings, truncated
from kdenv.envs.opponents import draw_place
from kdenv.envs.rewards import GAINS, NO_REWARD, add_gains, settle, write_forfeit
from kdenv.envs.seeds import CHANCE as FOR_CHANCE
from kdenv.envs.seeds import DICE, POOL, SEAT, seed_of
from kdenv.envs.step_kernel import NO_ACTION, NOBODY, turn_of

RANDOM_SEAT, NEXT_SEAT, ALL_SEATS = -1, -2, -3  # World.learner, if it is not a seat
MOST_DEALS = 1000  # games in a row in which the learner has nothing to decide
TOO_MANY_DEALS = -1

DEAL, STEP, ANSWER = range(3)  # the calls of play_games
OPENING, BEFORE_LEARNER, UNDER_WAY = range(3)  # GameArrays.stage
NOTHING, LONGER_LOG = -1, -2  # GameArrays.waits_for, if it is not the place of a policy
WAITS = -2  # in place of the seat that decides: a policy in Python decides, or the log is full


class World(NamedTuple):
    """The values that are the same for all games of a batch."""

    start: NDArray[Any]  # one state: the position before anything has happened
    players: int
    learner: int  # the seat that learns; or RANDOM_SEAT, NEXT_SEAT or ALL_SEATS
    drawn_from: int  # the number of players from which opponents are drawn for every game; 0 if they are fixed
    limits: NDArray[np.float64]  # the weights of these players, as draw_place has them
    reward: int  # its number in envs/rewards.py
    teams: int
    scale: float
    asks: NDArray[np.bool_]  # by place in the opponents: whether Python asks this policy, which has no compiled form
    keeps_logs: bool  # whether the events of games are logged, for policies that are given a View
    skips_forced: bool  # whether learners are not asked where only one action is legal
    deals_at_once: bool  # whether the next game is dealt in the step in which one ends (SAME_STEP)


class GameArrays(NamedTuple):
    """The games of a batch and the results of the last call. Every array has a row for each game.

    The fields after `ended` belong to the game that ended, in rows in which one did. All others belong to the next game there, once it
    has been dealt.
    """

    states: NDArray[Any]
    keys: NDArray[np.uint64]  # the seeds: see envs/seeds.py
    numbers: NDArray[np.int64]
    chance: NDArray[np.uint64]  # the generators
    dice: NDArray[np.uint64]
    places: NDArray[np.int64]  # by seat: the index of its player in the opponents, see Seated.which
    logs: NDArray[np.int32]  # the events, as run_chance writes them; no rows if they are not kept
    n_logged: NDArray[np.int64]  # the lengths of the logs
    stage: NDArray[np.int8]  # OPENING until the first decision, then BEFORE_LEARNER, and UNDER_WAY after an action of a learner
    n_deals: NDArray[np.int64]  # games that have begun since a learner last decided
    waits_for: NDArray[np.int64]  # the place of the policy in Python that is to decide; or LONGER_LOG; or NOTHING
    waiting_seat: NDArray[np.int64]  # the seat of this policy
    learner: NDArray[np.int64]  # the seat that learns, or ALL_SEATS
    seat: NDArray[np.int64]  # the seat that decides or, where the game is over, that was the last to decide
    mask: NDArray[np.int8]  # its legal actions; all ones where the game is over
    over: NDArray[np.bool_]  # whether the game is over and the next one has not been dealt
    before: NDArray[np.int64]  # with reward="gains": the points of each seat when gains were last given
    ended: NDArray[np.bool_]  # whether a game ended in the last call
    cut_off: NDArray[np.bool_]  # whether a limit ended it
    illegal: NDArray[np.bool_]  # whether an illegal action ended it
    last: NDArray[Any]  # the last position; an illegal action was chosen there
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
def play_games(world, opponents, games, room, call, actions, results, first, last):
    """Play the games from `first` to `last` (exclusive) until a learner decides in each, or a policy in Python.

    With the call DEAL a new game is dealt in every row where actions[i] is not 0. With STEP, actions[i] is the learner's: an illegal one
    ends its game as a loss. Where a game ends, its last observation is written to results.finals, and the next game is dealt now or in the
    next step (World.deals_at_once), which ignores its action. With ANSWER, actions[i] is the one of the policy for which row i waits.

    A row that waits for such a policy has games.waits_for[i] set, and its results are not written yet. ANSWER changes no other rows.
    Return 0, or TOO_MANY_DEALS. The calls are one kernel so that the opponents are compiled once.
    """
    for i in range(first, last):
        if call == ANSWER:
            if games.waits_for[i] == NOTHING:
                continue
            mover = _resume(world, opponents, games, room, i, actions[i])
        else:
            games.illegal[i], games.ended[i], games.n_deals[i], games.waits_for[i] = False, False, 0, NOTHING
            games.rewards[i, :] = 0.0
            if games.over[i] if call == STEP else actions[i] != 0:
                mover = _begin(world, opponents, games, room, i)
            elif call == STEP:
                mover = _carry_out(world, opponents, games, room, i, actions[i])
            else:
                mover = games.seat[i]
        while mover == NOBODY:
            if games.stage[i] == UNDER_WAY:
                _write_end(world, games, room, results.finals, i)
                if not world.deals_at_once:
                    games.over[i] = True
                    break
            if games.n_deals[i] == MOST_DEALS:
                return TOO_MANY_DEALS
            mover = _begin(world, opponents, games, room, i)
        if mover != WAITS:
            _write_results(world, games, room, call, results, i, mover)
    return 0


@kernel
def _begin(world, opponents, games, room, i):
    """Deal the next game of row i, and play until a learner decides; see _play_on."""
    games.numbers[i] += 1
    games.n_deals[i] += 1
    games.n_logged[i] = 0
    games.stage[i], games.over[i] = OPENING, False
    number = games.numbers[i]
    games.states[i] = world.start[0]
    games.chance[i] = seed_of(games.keys, i, number, FOR_CHANCE)
    games.dice[i] = seed_of(games.keys, i, number, DICE)
    _seat_players(world, games, i, number, room.spare)
    return _play_on(world, opponents, games, room, i, NO_ACTION)


@kernel
def _carry_out(world, opponents, games, room, i, action):
    """Carry out an action of the learner in row i, and play until a learner decides; see _play_on."""
    games.stage[i] = UNDER_WAY
    if action < 0 or action >= games.mask.shape[1] or games.mask[i, action] == 0:
        games.illegal[i] = True
        return NOBODY
    return _play_on(world, opponents, games, room, i, action)


@kernel
def _resume(world, opponents, games, room, i, action):
    """Play on in row i with the action of the policy for which it waits."""
    if games.waits_for[i] == LONGER_LOG:
        action = NO_ACTION
    games.waits_for[i] = NOTHING
    return _play_on(world, opponents, games, room, i, action)


@kernel
def _write_results(world, games, room, call, results, i, mover):
    """Write the results of row i, where `mover` is the learner that decides next, or NOBODY if the game is over."""
    if mover != NOBODY:
        games.seat[i] = mover
    if call != DEAL and world.reward == GAINS and not games.ended[i] and games.stage[i] == UNDER_WAY:
        scores(games.states[i], games.scores[i])
        add_gains(games.scores[i], games.before[i], world.scale, games.rewards[i])
    observe_by(room.encoding, games.states, i, games.seat[i], results.observations[i])
    games.reward[i] = games.rewards[i, games.last_seat[i] if games.ended[i] else games.seat[i]]
    for action in range(games.mask.shape[1]):
        results.masks[i, action] = games.mask[i, action]


@kernel
def _write_end(world, games, room, finals, i):
    """Write the results of the game that ended in row i."""
    me = games.seat[i]  # the last learner to decide
    games.ended[i], games.last_seat[i] = True, me
    games.last[i] = games.states[i]
    games.mask[i, :] = 1
    # After an illegal action the game is not over, so the verb truncated has no meaning for its position.
    games.cut_off[i] = not games.illegal[i] and truncated(games.states, i)
    standings(games.states[i], games.standings[i])
    _rank(games.standings[i], games.ranks[i])
    scores(games.states[i], games.scores[i])
    if games.illegal[i]:
        write_forfeit(me, world.teams, games.rewards[i])
    elif world.reward == GAINS:
        add_gains(games.scores[i], games.before[i], world.scale, games.rewards[i])
    elif not games.cut_off[i] and world.reward != NO_REWARD:
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
        place = after if world.drawn_from == 0 else draw_place(spare, world.drawn_from, world.limits)
        games.places[i, (games.learner[i] + 1 + after) % world.players] = place


@kernel
def _play_on(world, opponents, games, room, i, action):
    """Carry out an action, or NO_ACTION, then chance and the turns of opponents in row i until a learner decides.

    Write the mask of its legal actions. Return its seat, NOBODY at the end of the game, or WAITS if a policy in Python is to decide.
    """
    states, learner = games.states, games.learner[i]
    log = games.logs[i] if world.keeps_logs else room.log
    room.chance[0], room.dice[0] = games.chance[i], games.dice[i]
    n, mover = games.n_logged[i], WAITS
    if action != NO_ACTION:
        n = decide(states, i, action, room.chance, log, n)
    while True:
        if not world.keeps_logs:
            n = 0  # write over the events, which nobody reads
        elif n + MAX_DECISIONS >= log.shape[1]:
            games.waits_for[i], mover = LONGER_LOG, WAITS
            break
        now = phase(states[i])
        if now == CHANCE:
            n = run_chance(states, i, room.chance, log, n)
            continue
        if games.stage[i] == OPENING:
            # Gains are counted from here, so that they include those of opponents who decide before the learner.
            scores(states[i], games.before[i])
            games.stage[i] = BEFORE_LEARNER
        if now != DECIDE:
            mover = NOBODY
            break
        mover = seat(states[i])
        if mover == learner or world.learner == ALL_SEATS:
            n_legal = legal(states[i], room.out)
            if n_legal > 1 or not world.skips_forced:
                _write_mask(games.mask[i], room.out, n_legal)
                break
            n = decide(states, i, room.out[0], room.chance, log, n)
            continue
        place = games.places[i, mover]
        if world.asks[place]:
            games.waits_for[i], games.waiting_seat[i], mover = place, mover, WAITS
            break
        opponents.which[mover] = place
        n = turn_of(opponents, states, i, room.states, room.out, room.dice, room.chance, log, n)
    games.chance[i], games.dice[i], games.n_logged[i] = room.chance[0], room.dice[0], n
    return mover


@kernel
def _write_mask(mask, actions, n):
    """Set the mask to 1 for the first n of these actions, and to 0 for all others."""
    for action in range(mask.shape[0]):
        mask[action] = 0
    for place in range(n):
        mask[actions[place]] = 1


@kernel
def list_illegal(mask, over, actions, rows):
    """Write the rows of games under way whose action is not legal to `rows`; return how many there are."""
    n = 0
    for i in range(actions.shape[0]):
        if not over[i] and (actions[i] < 0 or actions[i] >= mask.shape[1] or mask[i, actions[i]] == 0):
            rows[n] = i
            n += 1
    return n
