"""What a policy is, and the policies that decide whole turns at once and so must remember the rest of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from kdenv.core.errors import NotSupported
from kdenv.core.game import Game
from kdenv.core.questions import first_action, rest_of
from kdenv.core.random import Rng, derive_seed, make_rng
from kdenv.core.view import View
from kdenv.policies.analysis import Analysis


class Policy(ABC):
    """Chooses an action for the seat of a view."""

    is_oracle: ClassVar[bool] = False  # whether it must be given an OracleView

    def __init__(self, text: str) -> None:
        """A policy that is written as this text (see policies.text); its generator starts at seed 0."""
        self.text = text
        self.playouts = 0  # made in all decisions since reset, for those that make any
        self.rng: Rng = make_rng(derive_seed("policy", 0))

    def reset(self, seed: int = 0) -> None:
        """Forget everything, and start the generator anew."""
        self.rng = make_rng(derive_seed("policy", seed))
        self.playouts = 0

    @abstractmethod
    def act(self, view: View) -> int:
        """The action to take; the seat of the view is to move."""

    def prepare(self, view: View) -> None:  # noqa: B027  (most have nothing to prepare)
        """Compile or load what deciding in such a view will need, so that it is not done on the clock."""

    def compiled(self, game: Game) -> Any:
        """The player that kernels can ask in place of this policy, as core.questions has it, or None if there is none."""
        return None

    def analyse(self, view: View) -> Analysis:
        """What the policy thinks of every turn open now; only searches can tell."""
        raise NotSupported(f"{self.text} does not search and has nothing to tell about its choices")

    def __call__(self, view: View) -> int:
        """The same as act: a policy is a callable of a view, and any callable of a view can be one."""
        return self.act(view)

    @property
    def name(self) -> str:
        """The policy as text."""
        return self.text

    def __repr__(self) -> str:
        return self.text


class TurnPolicy(Policy):
    """A policy that chooses whole turns, packed (core.questions), and carries them out action by action."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._planned: tuple[bytes, int] = (b"", 0)  # what has happened when the rest of the turn is due, the rest

    def reset(self, seed: int = 0) -> None:
        """Forget the rest of the turn, too."""
        super().reset(seed)
        self._planned = (b"", 0)

    @abstractmethod
    def choose_turn(self, view: View) -> int:
        """The turn to take, or as much of it as is decided at once."""

    def act(self, view: View) -> int:
        """Go on with the turn decided on, if the game has come to the point expected; else decide on one."""
        expected, turn = self._planned
        if not turn or view.key() != expected:
            turn = self.choose_turn(view)
        action, rest = int(first_action(turn)), int(rest_of(turn))
        self._planned = (view.key(action), rest) if rest else (b"", 0)
        return action
