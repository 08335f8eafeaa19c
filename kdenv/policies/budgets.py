"""The parameters that searches share: budgets, playouts, and how the final turn is chosen. Each is declared once, here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.game import Game, Variant
from kdenv.policies.learned import Learned
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
MOST_WORKERS = 256  # threads, or trees
GOAL = "goal"  # the score that a network of values predicts
MEANING_OF_SCORE = (
    "what the end of a game is worth: wins (wdl, win, half, lead), points (points, relative, margin), both (windiff), "
    "or, if there is a leaf, what its network predicts (goal)"
)


@dataclass(frozen=True, kw_only=True, repr=False)
class Budgeted(Value):
    """A search with a budget: one of the budgets that its class has. If none is given, the budget is `usual`."""

    alternatives: ClassVar[tuple[str, ...]] = tuple(_BUDGETS)

    def __post_init__(self) -> None:
        """Refuse more than one budget, and also no budget if there is no usual one."""
        super().__post_init__()
        given = [name for name in _BUDGETS if getattr(self, name, None) is not None]
        if len(given) > 1 or not (given or self.usual):
            raise BadOption(f"{self}: give one budget: {self._choice_of_budgets()}")

    def budget(self) -> Budget:
        """The budget as the search takes it."""
        given = {name: getattr(self, name, None) for name in _BUDGETS}
        if isinstance(given["playouts"], tuple):
            given |= {"playouts": None, "by_round": given["playouts"]}
        return Budget(**given)

    def _choice_of_budgets(self) -> str:
        mine = {name: span for name, span in _BUDGETS.items() if name in self.parameters()}
        spans = dict.fromkeys(mine.values())
        return ", or ".join(" or ".join(f"{name}=<number>" for name in mine if mine[name] == span) + f" {span}" for span in spans)


@dataclass(frozen=True, kw_only=True, repr=False)
class BySeconds(Budgeted):
    """A search that can be given seconds for each decision."""

    seconds: float | None = param("the budget: how many seconds each decision takes", default=None, least=0.001)


@dataclass(frozen=True, kw_only=True, repr=False)
class ByPlayouts(Budgeted):
    """A search that can be given playouts for each decision: a number, or a number for each round of the game."""

    playouts: int | tuple[int, ...] | None = param(
        "the budget: how many playouts are made for each decision; a list such as [30, 20, 10] has a number for each round of the game, "
        "the last one also for all later rounds",
        default=None,
        least=1,
        each="round",
    )

    def needs(self, game: Game, players: int, variant: Variant) -> None:
        """Refuse playouts by round in a game that does not tell its round."""
        super().needs(game, players, variant)
        if isinstance(self.playouts, tuple) and (game.details is None or game.details.round_of is None):
            raise NotSupported(f"{self} has playouts for each round, but {game.name} does not tell which round it is; give one number")


@dataclass(frozen=True, kw_only=True, repr=False)
class ByNodes(Budgeted):
    """A search that can be given nodes for each decision."""

    nodes: int | None = param("the budget: how many nodes are searched for each decision", default=None, least=1)


@dataclass(frozen=True, kw_only=True, repr=False)
class ByGame(Budgeted):
    """A search that can be given seconds for all decisions of a game."""

    game_seconds: float | None = param(
        "the budget: seconds for all decisions of a game; a decision gets the seconds left divided by the decisions left",
        default=None,
        least=0.001,
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class Played(Value):
    """A search that makes playouts: it plays positions to the end of the game, or breaks off and asks a network."""

    is_tree: ClassVar[bool] = False  # whether the search has a tree, from which playouts can learn

    playout: Playout = param("the player that plays the playouts", default=Random(), kw_only=False)  # noqa: RUF009  (a Random is never changed)
    score: str = param(
        MEANING_OF_SCORE,
        default="relative",
        choices=(*SCORES, GOAL),
        kw_only=False,
    )
    leaf: Learned | None = param(  # noqa: RUF009  (as above)
        "a network of values, which says what a position is worth where a playout is broken off; if not given, playouts go to the end",
        default=None,
    )
    turns: int = param("after how many turns a playout is broken off if there is a leaf; 0 for none", default=0, least=0, most=1000)

    @cached_property
    def valued(self) -> Learned | None:
        """The network of values in whose unit the search counts; None if it has none."""
        return self.leaf

    def __post_init__(self) -> None:
        """Refuse playouts that learn from a tree if the search has none, and ends in another unit than that of the network."""
        super().__post_init__()
        if self.valued is not None and self.score != GOAL:
            what = "a leaf" if self.valued is self.leaf else "a prior"
            raise BadOption(
                f"score={self.score} is not possible with {what}, because an end must be worth what the network predicts; write score=goal"
            )
        if self.valued is None and self.score == GOAL:
            raise BadOption("score=goal needs a network that says what a position is worth; give leaf=learned(<model>)")
        if self.leaf is None and self.turns:
            raise BadOption(f"turns={self.turns} needs a network that says what a position is worth; give leaf=learned(<model>)")
        if self.playout.learns and not self.is_tree:
            raise BadOption(f"playout={self.playout} is not possible here; it learns from a tree: uct(playout={self.playout}, ...)")


@dataclass(frozen=True, kw_only=True, repr=False)
class Decided(Value):
    """A search that keeps statistics for the turns that are open now, and takes the best of them."""

    least = 1  # visits that every turn gets, so that more of them tell nothing

    choice: str = param(
        "which turn is taken in the end: the one with the best mean, or with the most visits", default="mean", choices=("mean", "visits")
    )
    ties: str = param(
        "which of equally good turns is taken in the end: the one that gains the most points at once, or any (random)",
        default="gains",
        choices=("gains", "random"),
    )
    reflex: bool = param("whether obvious turns are made without a search, by the rules that the papers on the game give", default=False)
    threads: int = param("how many threads search at the same time", default=1, least=1, most=MOST_WORKERS)

    whole: bool = param("whether every thread and tree has the whole budget of playouts or nodes; if not, they share it", default=False)

    @property
    def workers(self) -> int:
        """How many independent searches there are; their statistics are added up."""
        return self.threads
