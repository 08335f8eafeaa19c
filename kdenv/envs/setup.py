"""`Setup` and `SeatSetup`: the parameters of an environment, checked in one place.

Each environment has a signature and a docstring for users. It makes a setup of its parameters, which raises BadOption for a value that is
not possible. Episodes and batches then read the setup.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import numpy as np
from gymnasium.vector import AutoresetMode

from kdenv.core.encoding import Observer
from kdenv.core.errors import BadOption, did_you_mean, shown
from kdenv.core.fields import Field, check_fields, refused
from kdenv.core.game import Game
from kdenv.core.table import Table
from kdenv.envs.opponents import Lineup, Opponent, Pool
from kdenv.envs.rendering import MODES
from kdenv.envs.rewards import ArrayReward, Reward, RewardFunction, reward_number
from kdenv.games import find_game

_CHECKED = {
    field.name: field
    for field in (
        Field("illegal", choices=("raise", "terminate")),
        Field("skip_forced", type=bool),
        Field("observation", choices=("vector", "dict", "parts")),  # see spaces.py
        Field("render_mode", choices=MODES, optional=True),
        Field("num_envs", type=int, least=1, most=1 << 24),
        Field("threads", type=int, least=1, most=256),
    )
}

_AUTORESET = Field("autoreset_mode", choices=tuple(mode.value for mode in AutoresetMode))


class UnexpectedKeyword(BadOption, TypeError):
    """A parameter that an environment does not have. It is a TypeError like that of Python, which TorchRL and others look for."""


class TableParameters(TypedDict, total=False):
    """The parameters of TableEnv that do not depend on the game, as types for editors and type checkers."""

    observation: Literal["dict", "vector", "parts"]
    reward: Literal["win", "rank", "margin", "score", "gains"] | RewardFunction | ArrayReward
    illegal: Literal["raise", "terminate"]
    encoding: str | None
    skip_forced: bool
    render_mode: Literal["human", "ansi", "svg", "rgb_array"] | None


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The parameters of an environment in which all seats learn. A parameter that the environment does not have keeps its default.

    Args:
        empty: A table of the game with its players and options, before anything has happened; see empty_table.
        reward: One of REWARDS (rewards.py), or a function of the table.
        illegal: The effect of an illegal action, "raise" or "terminate".
        encoding: The name of one of the game's encodings; None is the first of them.
        skip_forced: Whether the environment carries out the only legal action itself.
        observation: The form of an observation, "vector", "dict" or "parts" (spaces.py).
        render_mode: One of MODES (rendering.py), or None.
        autoreset_mode: When a batch deals the game that follows one that ended.
        num_envs: The number of games of a batch, up to 2^24.
        threads: The number of threads that share these games, up to 256.

    """

    empty: Table
    reward: Reward
    illegal: str
    encoding: str | None
    skip_forced: bool
    observation: str = "vector"
    render_mode: str | None = None
    autoreset_mode: AutoresetMode = AutoresetMode.SAME_STEP
    num_envs: int = 1
    threads: int = 1

    def __post_init__(self) -> None:
        check_fields(self, _CHECKED)
        reward_number(self.reward)

    def observer(self) -> Observer:
        """Return the encoding of this game. Raises BadOption for a name that is none of its encodings."""
        return self.empty.game.observer(self.empty.players, self.empty.variant, self.encoding)


@dataclass(frozen=True, kw_only=True)
class SeatSetup(Setup):
    """The parameters of an environment in which one seat learns. They are those of Setup and four more.

    Args:
        critic_encoding: The name of a second encoding, for a critic; None if there is none.
        seat: The seat of the learner, "random" or "rotate".
        opponents: The policy of all other seats, or a list of one for each; "random" if neither this nor `pool` is given.
        pool: The policies from which each of the other seats draws one for every game.

    """

    seat: int | str
    opponents: Opponent | Sequence[Opponent] | None
    pool: Pool | None
    critic_encoding: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        seat, players = self.seat, self.empty.players
        is_seat = isinstance(seat, (int, np.integer)) and not isinstance(seat, bool) and 0 <= seat < players
        if not is_seat and seat not in ("random", "rotate"):
            raise refused("seat", seat, f"may be 0 to {players - 1}, random or rotate")

    def critic_observer(self) -> Observer | None:
        """Return the second encoding, if there is one. Raises BadOption for a name that is none of the game's encodings."""
        empty = self.empty
        return None if self.critic_encoding is None else empty.game.observer(empty.players, empty.variant, self.critic_encoding)

    def lineup(self) -> Lineup:
        """Make the players of the other seats."""
        return Lineup(self.empty, "random" if self.opponents is None and self.pool is None else self.opponents, self.pool)


def autoreset_mode_of(value: str | AutoresetMode) -> AutoresetMode:
    """Return the mode with this value, such as "NextStep". Raises BadOption for another text."""
    return value if isinstance(value, AutoresetMode) else AutoresetMode(_AUTORESET.check(value))


def empty_table(game: str | Game, players: int | None, options: dict[str, Any], environment: type) -> Table:
    """Make a table of a game, or of the game of this name, before anything has happened.

    Raises UnexpectedKeyword for an option that the game does not have. `environment` is the class whose parameters are suggested, too.
    """
    found = game if isinstance(game, Game) else find_game(game)
    names = [option.name for option in found.options]
    unknown = next((name for name in options if name not in names), None)
    if unknown is not None:
        parameters = [each.name for each in inspect.signature(environment).parameters.values() if each.kind is not each.VAR_KEYWORD]
        raise UnexpectedKeyword(
            f"unexpected keyword argument {shown(unknown)!r}{did_you_mean(unknown, parameters + names)}: "
            f"it is no parameter of {environment.__name__} and no option of {found.name}, whose options are {', '.join(names)}"
        )
    return Table(found, players, **options)
