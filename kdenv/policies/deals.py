"""Policies for games that hide something. They draw what is hidden, weigh it by a belief, or see it (the oracle).

Here are the parameters; the searches are in policies/determinizing.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from kdenv.core.errors import BadOption, did_you_mean
from kdenv.core.game import Game, Variant
from kdenv.core.questions import Hidden
from kdenv.games import find_game, names
from kdenv.policies.budgets import GOAL, MEANING_OF_SCORE, ByGame, ByPlayouts, BySeconds, Played
from kdenv.policies.opponent_model import Infers
from kdenv.policies.searching import Searcher, SearchPolicy
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import Value, named
from kdenv.search.kernels.ims import PRUNINGS
from kdenv.search.score import SCORES

EXACT = "exact"  # the dealer that every game has: it draws by the rules


@dataclass(frozen=True, kw_only=True, repr=False)
class Solves(Value):
    """A search that needs the solver or the beliefs of the game (core/questions.py)."""

    @classmethod
    def why_not(cls, game: Game) -> str:
        """The obstacle is a game without a solver and beliefs."""
        if game.knowledge.hidden is not None:
            return ""
        having = [name for name in names() if find_game(name).knowledge.hidden is not None]
        return f"needs a game with a solver and beliefs, which {game.name} is not; {' and '.join(having)} is"

    def needs(self, game: Game, players: int, variant: Variant) -> None:
        """Check also that the game offers what the search needs, for these options of the rules."""
        super().needs(game, players, variant)
        assert game.knowledge.hidden is not None  # there is no obstacle
        self.needs_of(game.knowledge.hidden, game, variant)

    def needs_of(self, hidden: Hidden, game: Game, variant: Variant) -> None:
        """Raise NotSupported or BadOption if the game does not offer what the parameters name, for these options of the rules."""
        hidden.solver(variant)


def refuse_unless_offered(name: str, value: str, offered: Mapping[str, Any], game: Game) -> None:
    """Raise BadOption if the value of a parameter is not among the things that the game offers for it."""
    if value not in offered:
        hint = did_you_mean(value, offered)
        raise BadOption(f"{name}={value} is not possible{hint}; in {game.name} {name} may be {', '.join(offered)}")


@dataclass(frozen=True, kw_only=True, repr=False)
class Deepens(Value):
    """A search whose depth grows with the turns played: floor(alpha * 2 ** (beta * floor(n / 4))) after n turns."""

    alpha: float | None = param(
        "how many turns are looked ahead at the start of a round; if not given, to the end", default=None, least=1, most=1000
    )
    beta: float = param("how fast the depth grows during a round: it doubles in 4 / beta turns", default=1 / 3, least=0, most=10)


@dataclass(frozen=True, kw_only=True, repr=False)
class OnDeals(SearchPolicy, Infers, ByPlayouts, BySeconds, ByGame):
    """A search that tries every turn on random deals; its budget of playouts is the number of deals."""

    common: bool = param("whether all turns are tried on the same deals", default=True)


@named("pimc")
class Pimc(OnDeals, Solves, Deepens):
    """Perfect information Monte Carlo: draws random deals, solves each as if all were visible, and takes the turn with the best mean."""

    usual: ClassVar[Mapping[str, Any]] = {"playouts": 50}

    deals: str = param("how hidden things are drawn: exact (by the rules), or by a dealer of the game", default=EXACT)

    def __post_init__(self) -> None:
        """Refuse two ways to draw at once."""
        super().__post_init__()
        if self.rivals is not None and self.deals != EXACT:
            raise BadOption(f"deals={self.deals} is not possible with rivals, which say themselves how hidden things are drawn")

    def needs_of(self, hidden: Hidden, game: Game, variant: Variant) -> None:
        """Check also that the game has this dealer."""
        super().needs_of(hidden, game, variant)
        refuse_unless_offered("deals", self.deals, {EXACT: None, **hidden.dealers}, game)

    def start(self) -> Searcher:
        """Make the search that solves deals."""
        from kdenv.policies.determinizing import PimcSearcher

        return PimcSearcher(self)


@named("flat_deals")
class FlatDeals(OnDeals, Played):
    """Flat Monte Carlo on random deals: plays every turn out once on each deal, and takes the turn with the best mean."""

    usual: ClassVar[Mapping[str, Any]] = {"playouts": 100}

    score: str = param(
        MEANING_OF_SCORE,
        default="wdl",
        choices=(*SCORES, GOAL),
        kw_only=False,
    )

    def start(self) -> Searcher:
        """Make the search that plays deals out."""
        from kdenv.policies.determinizing import FlatDealsSearcher

        return FlatDealsSearcher(self)


@named("ims", "the dominoes paper, IMS (Algorithm 1)")
class Ims(SearchPolicy, Solves, Deepens):
    """Imperfect minimax search: negamax over what every seat may hold, with values weighted by its probability."""

    alpha: float = param("how many turns are looked ahead at the start of a round", default=5.0, least=1, most=1000)
    pruning: str = param(
        "how branches are cut: as in the paper, not at all, or without changing the result (sound)", default="paper", choices=PRUNINGS
    )
    belief: str = param("which belief of the game says how probable each holding is, and what a position is worth", default="paper")
    first: str = param(
        "whether the first turn of each seat after the deal is searched, too, or made by the greedy player of the game",
        default="search",
        choices=("search", "greedy"),
    )

    def needs_of(self, hidden: Hidden, game: Game, variant: Variant) -> None:
        """Check also that the game has this belief."""
        refuse_unless_offered("belief", self.belief, hidden.beliefs, game)
        hidden.beliefs[self.belief](variant)

    def start(self) -> Searcher:
        """Make the search over beliefs."""
        from kdenv.policies.determinizing import ImsSearcher

        return ImsSearcher(self)


@named("oracle", "the dominoes paper, negamax oracle")
class Oracle(SearchPolicy, Solves, Deepens):
    """Sees all hands and plays perfectly against perfect play; matches admit it only if they allow oracles."""

    is_oracle = True

    def start(self) -> Searcher:
        """Make the search that sees everything."""
        from kdenv.policies.determinizing import OracleSearcher

        return OracleSearcher(self)
