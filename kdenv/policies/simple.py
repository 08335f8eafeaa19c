"""Policies without search: random, and the rule-based players of each game."""

from __future__ import annotations

from typing import Any, NamedTuple

from kdenv.core.errors import NotSupported
from kdenv.core.game import Game
from kdenv.core.questions import choose_at
from kdenv.core.random import below, make_rng
from kdenv.core.view import View
from kdenv.policies.base import Policy, TurnPolicy
from kdenv.search.playout import Uniform
from kdenv.search.turns import SCRATCH


class RandomPolicy(Policy):
    """Every legal action alike."""

    def act(self, view: View) -> int:
        """Any of them."""
        legal = view.legal()
        return legal[int(below(self.rng, len(legal)))]

    def compiled(self, game: Game) -> Uniform:
        """The same inside kernels."""
        return Uniform()


class RulePolicy(TurnPolicy):
    """A rule-based player of one game (or several that have one of this name)."""

    def __init__(self, text: str, players: dict[str, NamedTuple]) -> None:
        """players: by game, the compiled player to ask."""
        super().__init__(text)
        self._players = players

    def choose_turn(self, view: View) -> int:
        """What the player decides."""
        return int(choose_at(self.player_of(view), view.scratch(1 + SCRATCH), 0, view.game.buffer(), self.rng))

    def prepare(self, view: View) -> None:
        """Compile the player for this game, deciding once on a generator of its own."""
        choose_at(self.player_of(view), view.scratch(1 + SCRATCH), 0, view.game.buffer(), make_rng(0))

    def player_of(self, view: View) -> Any:
        """The compiled player for the game of this view."""
        return self.compiled(view.game)

    def compiled(self, game: Game) -> Any:
        """The compiled player for this game."""
        if game.name not in self._players:
            raise NotSupported(
                f"{self.text} plays {' and '.join(self._players)}, not {game.name}, "
                f"whose rule-based players are {', '.join(game.knowledge.players) or 'none'}"
            )
        return self._players[game.name]
