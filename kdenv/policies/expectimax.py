"""Policies that look some turns ahead: Expectimax, Star1, Star2, Star2.5. The search is in policies.lookahead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from kdenv.core.errors import BadOption, did_you_mean
from kdenv.core.game import Game, Variant
from kdenv.policies.budgets import Budgeted, ByGame, ByNodes, BySeconds
from kdenv.policies.learned import Learned
from kdenv.policies.searching import Searcher, SearchPolicy
from kdenv.policies.text.grammar import parse
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import named

MOST_DEPTH = 12  # turns
MARGIN = "margin"  # the evaluator that every game has
LISTED = "0"  # the order that every game has, Heyden's order 0


@dataclass(frozen=True, kw_only=True, repr=False)
class LooksAhead(SearchPolicy, ByNodes, BySeconds, ByGame):
    """A search that deepens turn by turn until its depth or its budget is reached."""

    alternatives: ClassVar[tuple[str, ...]] = ("depth", *Budgeted.alternatives)
    usual: ClassVar[Mapping[str, Any]] = {"depth": 2}
    cuts: ClassVar[bool] = True  # whether bounds cut chances short

    depth: int | None = param("the turns looked ahead; 2 if neither a depth nor a budget is given", default=None, least=1, most=MOST_DEPTH)
    evaluate: str | None = param(
        "what a position is worth: an evaluator of the game, its usual one if none is given, margin, or learned(<model>)",
        default=None,
        terms=True,
    )
    order: str | None = param("in which order turns are tried: one of the game, its usual one if none is given, or 0", default=None)
    table: bool = param("whether positions met again are looked up", default=False)
    deepen: bool = param("whether depth 1 is searched first, then 2 ..., each beginning with the best turn so far", default=True)

    def __post_init__(self) -> None:
        """Refuse to search to a depth at once if there is none."""
        super().__post_init__()
        if self.evaluate is not None and self.evaluate.endswith(")"):
            Learned.from_term(parse(self.evaluate))
        if not self.deepen and self.depth is None:
            raise BadOption(f"{self}: deepen=no needs a depth, as only deepening can stop at a budget; give depth=<number>")

    @property
    def probes(self) -> int:
        """How many turns after every outcome are tried before the rest of the search."""
        return 0

    @property
    def network(self) -> Learned | None:
        """The network that evaluates positions; None if evaluate= is the name of an evaluator."""
        if self.evaluate is None or not self.evaluate.endswith(")"):
            return None
        found: Learned | None = self.memory.kept.get("network")
        if found is None:
            found = self.memory.kept["network"] = Learned.from_term(parse(self.evaluate))
        return found

    @classmethod
    def why_not(cls, game: Game) -> str:
        """The obstacle is a game that hides something, because a look-ahead must see the whole position."""
        if game.open_information:
            return ""
        return (
            f"looks ahead where everybody sees everything, and {game.name} hides something; "
            "use a policy that guesses what is hidden, such as mce"
        )

    def needs(self, game: Game, players: int, variant: Variant) -> None:
        """The evaluator and the order must be the game's."""
        super().needs(game, players, variant)
        for parameter, value, known, always in (
            ("evaluate", self.evaluate, game.knowledge.evaluators, MARGIN),
            ("order", self.order, game.knowledge.orders, LISTED),
        ):
            if parameter == "evaluate" and self.network is not None:
                self.network.needs(game, players, variant)
            elif value is not None and value != always and value not in known:
                every = [*known, always]
                hint = did_you_mean(value, every)
                raise BadOption(f"{parameter}={value} is not possible{hint}; for {game.name} it may be {', '.join(every)}")

    def start(self) -> Searcher:
        """Make the search that looks ahead."""
        from kdenv.policies.lookahead import LookaheadSearcher

        return LookaheadSearcher(self)


@named("expectimax", "Heyden 2009, Expectimax")
class Expectimax(LooksAhead):
    """Looks ahead some turns, deepening: chance by its odds, everybody else against this seat."""

    cuts = False


@named("star1", "Heyden 2009, Star1")
class Star1(LooksAhead):
    """The same as expectimax with fewer nodes: bounds cut chances short."""


@named("star2", "Heyden 2009, Star2")
class Star2(LooksAhead):
    """The same with fewer nodes still: the first turn after every outcome is tried first."""

    @property
    def probes(self) -> int:
        """One turn after every outcome."""
        return 1


@named("star2.5", "Heyden 2009, Star2.5")
class Star25(LooksAhead):
    """The same, with the first k turns after every outcome; her best player is star2.5(k=5, game_seconds=360)."""

    k: int = param("how many turns after every outcome are tried first", default=5, least=1, most=1000, kw_only=False)

    @property
    def probes(self) -> int:
        return self.k
