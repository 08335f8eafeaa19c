"""The rewards of environments: `reward="win"`, `"rank"`, `"margin"`, `"score"`, `"gains"`, or a function of the table.

Let T be the number of teams (in a game without teams each seat is a team). The seats of a team get the same. Points are
`table.scores()`, places are those of `table.ranks()`, and S is the game's `margin_scale`.

- "win": 1 for a sole winner, negative for losers, zero-sum over the teams. With w teams in the first place, each of these gets
  (T / w - 1) / (T - 1), and each other team -1 / (T - 1). A tie of all teams is 0.
- "rank": The place, in equal steps from 1 for the sole first place to -1 for the sole last one. It is
  (teams behind - teams before) / (T - 1), so teams that tie get the mean of the places they share.
- "margin": The points of a seat at the end minus those of the best seat of another team (0 if there is none), divided by S.
- "score": The points of a seat at the end, divided by S.
- "gains": The change of a seat's points since the last decision, divided by S. It is given after each decision and the chance after it.
  A learner of SeatEnv gets the sum of all changes up to its next decision. Its first sum includes the decisions of others before its
  own first one. So the rewards of a game add up to its final points minus those at its beginning, divided by S.

A function gets the table at the end of a game, and returns one number per seat. An ArrayReward is a function that gets the ends of many
games at once, as arrays. Batches of games take both; they call a function of the table for one game after the other, whose table has no
history.

The rewards "win" and "rank" add up to 0 over the teams, and are 0 in a game with one team. A game that a limit ended (truncated) is
undecided: all rewards but gains are 0, and a function is not called. Gains are given for every decision, also for the last one of such a
game. An illegal action that ends a game gives -1 to the team of its seat and 1 / (T - 1) to each other team, with every kind of reward.

The kernels `settle`, `add_gains` and `write_forfeit` are these definitions. Single games and batches call them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.core.errors import BadOption, shown
from kdenv.core.fields import refused
from kdenv.core.game import States
from kdenv.core.margins import best_rival
from kdenv.core.table import Table
from kdenv.core.verbs import truncated_at

RewardFunction: TypeAlias = Callable[[Table], Sequence[float]]


class GameEnds(NamedTuple):
    """The ends of games that were played to the end by the rules, as arrays with a row for each game."""

    scores: NDArray[np.int64]  # of each seat (games x players)
    standings: NDArray[np.int64]  # higher is better by the rules, equal is a tie (games x players)
    ranks: NDArray[np.int64]  # the place of each seat, 1 for the best (games x players)
    positions: States  # the last positions


@dataclass(frozen=True)
class ArrayReward:
    """A reward that is computed for many games by one call. It can mark a function: `@ArrayReward`.

    Args:
        function: It takes the GameEnds of games that ended in the same step, and returns an array of finite numbers (games x players).

    >>> from kdenv.envs import ArrayReward, SelfPlay
    >>> @ArrayReward
    ... def share_of_points(ends):
    ...     return ends.scores / ends.scores.sum(axis=1, keepdims=True).clip(1)
    >>> games = SelfPlay("kingdomino", num_envs=64, reward=share_of_points)
    """

    function: Callable[[GameEnds], Any]

    def __call__(self, ends: GameEnds) -> NDArray[np.float64]:
        """Return the rewards. Raises BadOption if the function does not return a finite number for each seat of each game."""
        players = ends.scores.shape[1]
        try:
            rewards: NDArray[np.float64] = np.asarray(self.function(ends), np.float64)
        except (TypeError, ValueError) as error:
            raise BadOption(f"the function given as reward= failed, or returned no array of numbers: {error}") from error
        if rewards.shape != ends.scores.shape or not np.isfinite(rewards).all():
            what = "numbers that are not finite" if rewards.shape == ends.scores.shape else f"an array of shape {rewards.shape}"
            raise BadOption(f"the function given as reward= returned {what}; it must return {len(ends.scores)} x {players} finite numbers")
        return rewards


Reward: TypeAlias = str | RewardFunction | ArrayReward

REWARDS = ("win", "rank", "margin", "score", "gains")  # the place of a name is its number inside kernels
WIN, RANK, MARGIN, SCORE, GAINS = range(len(REWARDS))
NO_REWARD = -1  # the number of a reward that no kernel computes: a function of the table


@kernel
def settle(kind, points, standings, teams, scale, out):
    """Write the reward of each seat to out (float64), for a finished game that no limit ended. The kind is any but GAINS.

    `points` and `standings` (int64) are what the verbs `scores` and `standings` wrote for the final position.
    """
    for seat in range(out.shape[0]):
        if kind == WIN:
            out[seat] = _win(standings, seat, teams)
        elif kind == RANK:
            out[seat] = _rank(standings, seat, teams)
        elif kind == MARGIN:
            out[seat] = (points[seat] - best_rival(points, seat, teams)) / scale
        else:
            out[seat] = points[seat] / scale


@kernel
def add_gains(points, before, scale, out):
    """Add the gains of each seat since the points in `before` to out. Then set `before` to the current points."""
    for seat in range(out.shape[0]):
        out[seat] += (points[seat] - before[seat]) / scale
        before[seat] = points[seat]


@kernel
def _win(standings, seat, teams):
    if teams == 1:
        return 0.0
    best, n_best = standings[0], 0
    for team in range(teams):
        if standings[team] > best:
            best, n_best = standings[team], 0
        if standings[team] == best:
            n_best += 1
    share = teams / n_best if standings[seat] == best else 0.0
    return (share - 1.0) / (teams - 1)


@kernel
def _rank(standings, seat, teams):
    if teams == 1:
        return 0.0
    behind_minus_before = 0
    for team in range(teams):
        if standings[team] < standings[seat]:
            behind_minus_before += 1
        elif standings[team] > standings[seat]:
            behind_minus_before -= 1
    return behind_minus_before / (teams - 1)


@kernel
def write_forfeit(seat, teams, out):
    """Write the reward of each seat after an illegal action of this seat to out, for every kind of reward."""
    for other in range(out.shape[0]):
        out[other] = -1.0 if other % teams == seat % teams else 1.0 / (teams - 1)


def forfeit(table: Table, seat: int) -> list[float]:
    """Return the reward of each seat after an illegal action of this seat."""
    out = np.zeros(table.players)
    write_forfeit(seat, table.game.teams(table.players), out)
    return out.tolist()


def is_truncated(table: Table) -> bool:
    """Return whether a limit, and not the rules, ended this game, which must be over."""
    return bool(truncated_at(table.states, 0))


def reward_number(reward: Reward) -> int:
    """Return the number of a reward inside kernels; NO_REWARD for a function. Raises BadOption for an unknown name."""
    if callable(reward):
        return NO_REWARD
    if reward not in REWARDS:
        raise refused("reward", reward, f"may be {', '.join(REWARDS)} or a function of the table", REWARDS)
    return REWARDS.index(reward)


class Payer:
    """Computes the rewards of one environment, game after game."""

    def __init__(self, reward: Reward) -> None:
        self.kind = reward_number(reward)
        self.pays_gains = self.kind == GAINS  # whether there are rewards before the end of a game
        self._function = reward if callable(reward) else None
        self._before = np.zeros(0, np.int64)  # the points of each seat when gains were last given

    def begin(self, table: Table) -> None:
        """Begin a game, whose first decision is next."""
        if self.pays_gains:
            self._before = np.array(table.scores(), np.int64)

    def gains(self, table: Table) -> list[float]:
        """Return the gains of each seat since the last call of this function, or since the beginning of the game."""
        out = np.zeros(table.players)
        add_gains(np.array(table.scores(), np.int64), self._before, table.game.margin_scale, out)
        return out.tolist()

    def at_end(self, table: Table) -> list[float]:
        """Return the reward of each seat at the end of a game."""
        if self.pays_gains:
            return self.gains(table)
        if is_truncated(table):
            return [0.0] * table.players
        points, standings = np.array(table.scores(), np.int64), np.array(table.standings(), np.int64)
        if isinstance(self._function, ArrayReward):
            ranks = np.array(table.ranks(), np.int64)
            return self._function(GameEnds(points[None], standings[None], ranks[None], table.states[:1].copy()))[0].tolist()  # type: ignore[no-any-return]
        if self._function is not None:
            return _checked(self._function(table), table.players)
        out = np.zeros(table.players)
        settle(self.kind, points, standings, table.game.teams(table.players), table.game.margin_scale, out)
        return out.tolist()


def function_rewards(function: RewardFunction | ArrayReward, empty: Table, ends: GameEnds) -> NDArray[np.float64]:
    """Return the rewards of a function for these ends of games (games x players). `empty` is a table of the game."""
    if isinstance(function, ArrayReward):
        return function(ends)
    table, rewards = empty.clone(), np.zeros(ends.scores.shape)
    for row in range(len(rewards)):
        table.states[0] = ends.positions[row]
        rewards[row] = _checked(function(table), empty.players)
    return rewards


def _checked(rewards: Sequence[float], players: int) -> list[float]:
    """Return the rewards of a function as floats. Raises BadOption if they are not a finite number for each seat."""
    try:
        numbers = [float(reward) for reward in rewards]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) != players or not all(map(math.isfinite, numbers)):
        raise BadOption(f"the function given as reward= returned {shown(rewards)}; it must return {players} finite numbers, one per seat")
    return numbers
