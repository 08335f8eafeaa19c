"""Networks as parameters of searches: those in files (learned.py), and one of your own that is given to search_many as a function."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.core.errors import NotSupported
from kdenv.core.game import Game
from kdenv.core.view import View
from kdenv.networks.players import Goal
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import Value, named


class PriorNetwork(Value):
    """A network that gives the turns of a tree their priors."""

    family = "network"
    remedy = "give learned(<model>) or ppo(<model>)"

    @abstractmethod
    def priors(self, view: View, temperature: float | None) -> Any:
        """The compiled source of priors for the turns of a tree, with its own buffers."""


class ValueNetwork(PriorNetwork):
    """A network that values positions."""

    family = "network of values"
    remedy = "give learned(<model>)"

    @property
    @abstractmethod
    def unit(self) -> str:
        """The unit of the network's values, such as margin/50."""

    @abstractmethod
    def player(self, view: View) -> Any:
        """The compiled evaluator, which is a player, too."""

    @abstractmethod
    def compiled(self, game: Game, players: int) -> Any:
        """The compiled evaluator, with its own buffers."""

    @abstractmethod
    def worths(self, view: View, turns: NDArray[np.int64]) -> NDArray[np.float64]:
        """The network's value, for the seat, of the position right after each turn. `turns` must be all open turns."""


def unit_of_goal(scale: float | None, win: float) -> str:
    """The unit of values that mix the margin, divided by the scale, and winning."""
    by_margin = "margin" if scale is None else f"margin/{scale:g}"
    return by_margin if win == 0 else f"{1 - win:g} {by_margin} + {win:g} win"


@named("network")
class GivenNetwork(ValueNetwork):
    """The network that search_many is given as a function. Its values are (1 - win) * margin / scale + win * (1, 0 or -1)."""

    scale: float | None = param(
        "the margin whose value is 1; if not given, the margin_scale of the game, as in the reward margin", default=None, least=0.001
    )
    win: float = param("the share of winning in the values; the rest is the margin", default=0.0, least=0, most=1)

    def goal(self, game: Game, players: int) -> Goal:
        """The value of finished games, which the network predicts."""
        return Goal(game.teams(players), float(game.margin_scale) if self.scale is None else self.scale, self.win)

    @property
    def unit(self) -> str:
        """The unit of the network's values."""
        return unit_of_goal(self.scale, self.win)

    def priors(self, view: View, temperature: float | None) -> Any:
        """Refuse to be compiled."""
        raise self._refusal()

    def player(self, view: View) -> Any:
        """Refuse to be compiled."""
        raise self._refusal()

    def compiled(self, game: Game, players: int) -> Any:
        """Refuse to be compiled."""
        raise self._refusal()

    def worths(self, view: View, turns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Refuse to be asked outside of search_many."""
        raise self._refusal()

    def _refusal(self) -> NotSupported:
        return NotSupported(
            f"{self} is the function that search_many is given, and this search has none; write learned(<model>), or derive a policy "
            "from kdenv.author.NetworkPolicy"
        )
