"""`strongest`: the policy that measured best in its game with this much time for a decision.

Each game has a table of such policies (Knowledge.strongest). The README of the game lists the matches that chose them. The rows that need
no time are the anchors, against which other policies are evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from kdenv.core.errors import BadOption, NotSupported, shown
from kdenv.core.game import Game, Variant
from kdenv.core.questions import Measured
from kdenv.core.view import View
from kdenv.policies.base import Policy, policy
from kdenv.policies.budgets import SECONDS, TURN_SECONDS, Budgeted
from kdenv.policies.result import SearchResult
from kdenv.policies.text.value import named


def can_play(row: Measured, game: Game, players: int, variant: Variant) -> bool:
    """Return whether the policy of a row is for such a table and can play there."""
    options = game.options_of(variant)
    if any(options[name] != value for name, value in row.options.items()):
        return False
    try:
        policy(row.policy.format(seconds=1)).needs(game, players, variant)
    except (BadOption, NotSupported):
        return False
    return True


def anchors(game: Game, players: int, variant: Variant) -> list[str]:
    """Return the rule players and networks among the strongest policies of a game that can play at such a table, the weakest first.

    For a game that names none this is its greedy player, or the random player.
    """
    rows = [row for row in reversed(game.knowledge.strongest) if row.seconds == 0]
    return [row.policy for row in rows if can_play(row, game, players, variant)] or [game.knowledge.greedy or "random"]


def _told(row: Measured) -> str:
    """The options for which a row is, in words."""
    options = ", ".join(f"{name}={shown(value)}" for name, value in row.options.items())
    return f" with {options}" if options else ""


@named("strongest")
class Strongest(Policy, Budgeted):
    """The policy that measured strongest in this game with this time for a decision or a turn."""

    usual: ClassVar[Mapping[str, Any]] = {"seconds": 1.0}

    seconds: float | None = SECONDS
    turn_seconds: float | None = TURN_SECONDS

    @classmethod
    def why_not(cls, game: Game) -> str:
        """The obstacle is a game whose players have not been measured."""
        return "" if game.knowledge.strongest else f"stands for no policy of {game.name}, which names none (Knowledge.strongest)"

    @classmethod
    def stands_for(cls, game: Game) -> list[str]:
        """The policies that it plays as in this game, a line for each row of the table."""
        return [f"from {row.seconds:g} s a decision{_told(row)}: {row.policy.format(seconds='S')}" for row in game.knowledge.strongest]

    def needs(self, game: Game, players: int, variant: Variant) -> None:
        """Refuse rules and numbers of players for which there is no policy."""
        super().needs(game, players, variant)
        self.best(game, players, variant)

    def best(self, game: Game, players: int, variant: Variant) -> Policy:
        """The policy that plays at such a table, with the budget of this one."""
        seconds = self.turn_seconds if self.seconds is None else self.seconds
        assert seconds is not None
        # The rows for the greatest budget up to its own come first.
        for row in sorted(game.knowledge.strongest, key=lambda row: -row.seconds):
            if row.seconds <= seconds and can_play(row, game, players, variant):
                text = row.policy if self.turn_seconds is None else row.policy.replace("seconds=", "turn_seconds=")
                return policy(text.format(seconds=f"{seconds:g}"))
        raise NotSupported(f"{self} has no policy for {players} players of {game.name} with these options; name a policy, such as mce")

    def at(self, view: View) -> Policy:
        """The policy that plays at the table of this view. It is made once for each kind of table, and reset together with this one."""
        made = self.memory.kept.setdefault("players", {})
        key = view.game.name, view.players, view.variant.tobytes()
        if key not in made:
            made[key] = self.best(view.game, view.players, view.variant)
            made[key].reset(self.memory.kept.get("seed", 0))
        player: Policy = made[key]
        if self.memory.within is None:
            self.memory.within = player.memory
        elif self.memory.within is not player.memory:
            player.recall(self.memory.within)
        return player

    def reset(self, seed: int = 0) -> None:
        """Forget the game, and reset the policies that play with this seed."""
        super().reset(seed)
        self.memory.kept["seed"] = seed
        for player in self.memory.kept.get("players", {}).values():
            player.reset(seed)

    def prepare(self, view: View) -> None:
        """Prepare the policy that plays."""
        self.at(view).prepare(view)

    def act(self, view: View) -> int:
        """The action of the policy that plays."""
        player = self.at(view)
        action = player.act(view)
        self.memory.n_playouts = player.n_playouts
        return action

    def search(self, view: View, *, thorough: bool = True) -> SearchResult:
        """The search result of the policy that plays."""
        return self.at(view).search(view, thorough=thorough)
