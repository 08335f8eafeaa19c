"""The budgets of searches as parameters: playouts, seconds or nodes for a decision, or seconds for a turn or for a whole game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.game import Game, Variant
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import Value
from kdenv.search.budget import Budget

_PER_DECISION = "for a decision"
_BUDGETS = {
    "playouts": _PER_DECISION,
    "seconds": _PER_DECISION,
    "nodes": _PER_DECISION,
    "turn_seconds": "for a turn",
    "game_seconds": "for a whole game",
}

# Each budget is declared once. A class that has it takes it over: `seconds: float | None = SECONDS`.
PLAYOUTS: Any = param(
    "the budget: playouts for each decision. A list such as [30, 20, 10] has a number for each round of the game; "
    "the last number is also for all later rounds",
    default=None,
    least=1,
    each="round",
)
SECONDS: Any = param("the budget: seconds for each decision", default=None, least=0.001)
TURN_SECONDS: Any = param(
    "the budget: seconds for all decisions of a turn; a decision gets the seconds left divided by the decisions of the turn that are left",
    default=None,
    least=0.001,
)
NODES: Any = param("the budget: nodes for each decision", default=None, least=1)
GAME_SECONDS: Any = param(
    "the budget: seconds for all decisions of a game; a decision gets the seconds left divided by the decisions left",
    default=None,
    least=0.001,
)


@dataclass(frozen=True, kw_only=True, repr=False)
class Budgeted(Value):
    """A policy with a budget: one of those that its class declares. If none is given, it is the one in `usual`."""

    alternatives: ClassVar[tuple[str, ...]] = tuple(_BUDGETS)

    def __post_init__(self) -> None:
        """Refuse more than one budget, and also no budget if there is no usual one."""
        super().__post_init__()
        given = [name for name in _BUDGETS if getattr(self, name, None) is not None]
        if len(given) > 1 or not (given or self.usual):
            raise BadOption(f"{self}: give one budget: {self._choice_of_budgets()}")

    def needs(self, game: Game, players: int, variant: Variant) -> None:
        """Refuse playouts by round in a game that does not define rounds."""
        super().needs(game, players, variant)
        if isinstance(getattr(self, "playouts", None), tuple) and (game.details is None or game.details.round_of is None):
            raise NotSupported(f"{self} has playouts for each round, but {game.name} does not define rounds; give one number")

    def budget(self) -> Budget:
        """The budget in the form that searches take."""
        given = {name: getattr(self, name, None) for name in _BUDGETS}
        if isinstance(given["playouts"], tuple):
            given |= {"playouts": None, "by_round": given["playouts"]}
        return Budget(**given)

    def _choice_of_budgets(self) -> str:
        mine = {name: span for name, span in _BUDGETS.items() if name in self.parameters()}
        spans = dict.fromkeys(mine.values())
        return ", or ".join(" or ".join(f"{name}=<number>" for name in mine if mine[name] == span) + f" {span}" for span in spans)


@dataclass(frozen=True, kw_only=True, repr=False)
class PlayoutBudget(Budgeted):
    """The budgets of a search that counts playouts."""

    playouts: int | tuple[int, ...] | None = PLAYOUTS
    seconds: float | None = SECONDS
    turn_seconds: float | None = TURN_SECONDS
    game_seconds: float | None = GAME_SECONDS


@dataclass(frozen=True, kw_only=True, repr=False)
class TreeBudget(Budgeted):
    """The budgets of a search that counts playouts and the nodes of its trees."""

    playouts: int | tuple[int, ...] | None = PLAYOUTS
    seconds: float | None = SECONDS
    turn_seconds: float | None = TURN_SECONDS
    nodes: int | None = NODES
    game_seconds: float | None = GAME_SECONDS
