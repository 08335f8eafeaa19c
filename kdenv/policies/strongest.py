"""`strongest`: the policy that measured best in its game with this much time for a decision.

Each game has a table of such policies (Knowledge.strongest). The README of the game lists the matches that chose them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.game import Game, Variant
from kdenv.core.view import View
from kdenv.policies.base import Policy, policy
from kdenv.policies.budgets import SECONDS, Budgeted
from kdenv.policies.result import SearchResult
from kdenv.policies.text.value import named


@named("strongest")
class Strongest(Policy, Budgeted):
    """The policy that measured strongest in this game with this many seconds for a decision."""

    usual: ClassVar[Mapping[str, Any]] = {"seconds": 1.0}

    seconds: float | None = SECONDS

    @classmethod
    def why_not(cls, game: Game) -> str:
        """The obstacle is a game whose players have not been measured."""
        return "" if game.knowledge.strongest else f"stands for no policy of {game.name}, which names none (Knowledge.strongest)"

    @classmethod
    def stands_for(cls, game: Game) -> list[str]:
        """The policies that it plays as in this game, a line for each row of the table."""
        return [f"from {row.seconds:g} s a decision: {row.policy.format(seconds='S')}" for row in game.knowledge.strongest]

    def needs(self, game: Game, players: int, variant: Variant) -> None:
        """Refuse rules and numbers of players for which there is no policy."""
        super().needs(game, players, variant)
        self.best(game, players, variant)

    def best(self, game: Game, players: int, variant: Variant) -> Policy:
        """The policy that plays at such a table, with the budget of this one."""
        for row in self._rows(game):
            found = policy(row)
            try:
                found.needs(game, players, variant)
            except (BadOption, NotSupported):
                continue
            return found
        raise NotSupported(f"{self} has no policy for {players} players of {game.name} with these options; name a policy, such as mce")

    def _rows(self, game: Game) -> Iterator[str]:
        """The texts of policies for its budget. Those for the greatest budget up to its own come first."""
        assert self.seconds is not None
        for row in sorted(game.knowledge.strongest, key=lambda row: -row.seconds):
            if row.seconds <= self.seconds:
                yield row.policy.format(seconds=f"{self.seconds:g}")

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
