"""The parameters that searches share: what a decision may cost, and what playouts are and count. Each is declared here, once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kdenv.core.errors import BadOption
from kdenv.policies.playouts import Playout, Random
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import Value
from kdenv.search.budget import Budget
from kdenv.search.score import SCORES

_BUDGETS = {
    "playouts": "for a decision",
    "seconds": "for a decision",
    "nodes": "for a decision",
    "game_seconds": "for a whole game",
}
MOST_WORKERS = 256  # searches that work at once


@dataclass(frozen=True, kw_only=True, repr=False)
class Budgeted(Value):
    """A search that is given one budget, of those that its class has; `usual` says which if none is given."""

    alternatives: ClassVar[tuple[str, ...]] = tuple(_BUDGETS)

    def __post_init__(self) -> None:
        """Refuse two budgets, or none."""
        super().__post_init__()
        given = [name for name in _BUDGETS if getattr(self, name, None) is not None]
        if len(given) > 1 or not (given or self.usual):
            raise BadOption(f"{self}: give one budget: {self._choice_of_budgets()}")

    def budget(self) -> Budget:
        """The budget of a decision."""
        return Budget(**{name: getattr(self, name, None) for name in _BUDGETS})

    def _choice_of_budgets(self) -> str:
        mine = {name: span for name, span in _BUDGETS.items() if name in self.parameters()}
        spans = dict.fromkeys(mine.values())
        return ", or ".join(" or ".join(f"{name}=<number>" for name in mine if mine[name] == span) + f" {span}" for span in spans)


@dataclass(frozen=True, kw_only=True, repr=False)
class BySeconds(Budgeted):
    """A budget of seconds for a decision."""

    seconds: float | None = param("seconds for a decision", default=None, least=0.001)


@dataclass(frozen=True, kw_only=True, repr=False)
class ByPlayouts(Budgeted):
    """A budget of playouts for a decision."""

    playouts: int | None = param("playouts for a decision", default=None, least=1)


@dataclass(frozen=True, kw_only=True, repr=False)
class ByNodes(Budgeted):
    """A budget of nodes for a decision."""

    nodes: int | None = param("nodes for a decision", default=None, least=1)


@dataclass(frozen=True, kw_only=True, repr=False)
class ByGame(Budgeted):
    """A budget of seconds for all decisions of a game."""

    game_seconds: float | None = param(
        "seconds for all decisions of a game: each has those left divided by the decisions left", default=None, least=0.001
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class Played(Value):
    """A search that plays positions to their ends."""

    is_tree: ClassVar[bool] = False  # whether it can tell playouts what was played

    playout: Playout = param("how playouts are played", default=Random(), kw_only=False)  # noqa: RUF009  (a Random is never changed)
    score: str = param("what the end of a playout is worth", default="relative", choices=SCORES, kw_only=False)

    def __post_init__(self) -> None:
        """Refuse playouts that learn where nothing is told to them."""
        super().__post_init__()
        if self.playout.learns and not self.is_tree:
            raise BadOption(f"playout={self.playout} is not possible here; it learns from a tree: uct(playout={self.playout}, ...)")


@dataclass(frozen=True, kw_only=True, repr=False)
class Decided(Value):
    """A search that tries the turns open to its seat and takes the best."""

    least = 1  # visits that every turn gets, so that more of them tell nothing

    choice: str = param("the turn taken: the one with the best mean, or with the most visits", default="mean", choices=("mean", "visits"))
    reflex: bool = param("whether what the game's papers do without thinking goes before the search", default=False)
    threads: int = param("how many threads search at the same time", default=1, least=1, most=MOST_WORKERS)

    @property
    def workers(self) -> int:
        """How many searches work on their own; their counts are added up."""
        return self.threads
