"""Policies for what is hidden: they draw it, weigh it, or (the oracle) see it. The searches are in policies.determinizing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from kdenv.core.errors import BadOption
from kdenv.core.game import Game, Variant, did_you_mean
from kdenv.core.questions import Hidden
from kdenv.games import find_game, names
from kdenv.policies.base import Searcher, SearchPolicy
from kdenv.policies.budgets import ByGame, ByPlayouts, BySeconds, Played
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import Value, named
from kdenv.search.kernels.ims import PRUNINGS
from kdenv.search.score import SCORES

EXACT = "exact"  # the way to deal that every game has


@dataclass(frozen=True, kw_only=True, repr=False)
class Solves(Value):
    """A search that needs the game's solver or beliefs (core.questions)."""

    @classmethod
    def obstacle(cls, game: Game) -> str:
        """It needs what few games offer."""
        if game.knowledge.hidden is not None:
            return ""
        having = [name for name in names() if find_game(name).knowledge.hidden is not None]
        return f"needs a game with a solver and beliefs, which {game.name} is not; {' and '.join(having)} is"

    def needs(self, game: Game, players: int, variant: Variant) -> None:
        """What it asks of the game must be there, and know these rules."""
        super().needs(game, players, variant)
        assert game.knowledge.hidden is not None  # there is no obstacle
        self.needs_of(game.knowledge.hidden, game, variant)

    def needs_of(self, hidden: Hidden, game: Game, variant: Variant) -> None:
        """Raise one sentence if the game does not offer what the parameters name, or not with these rules."""
        hidden.solver(variant)


def refuse_unless_offered(name: str, value: str, offered: Mapping[str, Any], game: Game) -> None:
    """Raise BadOption if a parameter names what this game does not offer."""
    if value not in offered:
        hint = did_you_mean(value, offered)
        raise BadOption(f"{name}={value} is not possible{hint}; in {game.name} {name} may be {', '.join(offered)}")


@dataclass(frozen=True, kw_only=True, repr=False)
class Deepens(Value):
    """A search whose depth grows with the turns played: floor(alpha * 2 ** (beta * floor(n / 4))) after n turns."""

    alpha: float | None = param("the turns looked ahead at the start of a round; to the end if not given", default=None, least=1, most=1000)
    beta: float = param("how fast the depth grows: it doubles in 4 / beta turns", default=1 / 3, least=0, most=10)


@dataclass(frozen=True, kw_only=True, repr=False)
class OnDeals(SearchPolicy, ByPlayouts, BySeconds, ByGame):
    """A search that tries every turn on deals drawn at random; its playouts are deals."""

    common: bool = param("whether all turns are tried on the same deals", default=True)


@named("pimc")
class Pimc(OnDeals, Solves, Deepens):
    """Perfect information Monte Carlo: deals are drawn and solved as if they were open; the best mean is taken."""

    usual: ClassVar[Mapping[str, Any]] = {"playouts": 50}

    deals: str = param("how what is hidden is drawn: exact, or a way that the game offers", default=EXACT)

    def needs_of(self, hidden: Hidden, game: Game, variant: Variant) -> None:
        """The dealer must be the game's."""
        super().needs_of(hidden, game, variant)
        refuse_unless_offered("deals", self.deals, {EXACT: None, **hidden.dealers}, game)

    def start(self) -> Searcher:
        """The search that solves deals."""
        from kdenv.policies.determinizing import PimcSearch

        return PimcSearch(self)


@named("flat_deals")
class FlatDeals(OnDeals, Played):
    """Flat Monte Carlo in which every turn is played out once on each deal drawn; the best mean is taken."""

    usual: ClassVar[Mapping[str, Any]] = {"playouts": 100}

    score: str = param("what the end of a playout is worth", default="wdl", choices=SCORES, kw_only=False)

    def start(self) -> Searcher:
        """The search that plays deals out."""
        from kdenv.policies.determinizing import FlatDealsSearch

        return FlatDealsSearch(self)


@named("ims", "the dominoes paper, IMS (Algorithm 1)")
class Ims(SearchPolicy, Solves, Deepens):
    """Negamax over what everybody may hold, weighted by how probable it is."""

    alpha: float = param("the turns looked ahead at the start of a round", default=5.0, least=1, most=1000)
    pruning: str = param("how branches are cut", default="paper", choices=PRUNINGS)
    belief: str = param("how probable the holdings are: a belief that the game offers", default="paper")

    def needs_of(self, hidden: Hidden, game: Game, variant: Variant) -> None:
        """The belief must be the game's."""
        refuse_unless_offered("belief", self.belief, hidden.beliefs, game)
        hidden.beliefs[self.belief](variant)

    def start(self) -> Searcher:
        """The search over beliefs."""
        from kdenv.policies.determinizing import ImsSearch

        return ImsSearch(self)


@named("oracle", "the dominoes paper, negamax oracle")
class Oracle(SearchPolicy, Solves, Deepens):
    """Sees all hands and plays perfectly against perfect play; it may sit only where the arena allows it."""

    is_oracle = True

    def start(self) -> Searcher:
        """The search that sees everything."""
        from kdenv.policies.determinizing import OracleSearch

        return OracleSearch(self)
