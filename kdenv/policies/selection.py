"""Selection rules, which choose the turn that a search tries next, as parameters. Their formulas are in search/select.py."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from kdenv.core.errors import BadOption
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import Value, named
from kdenv.search import select
from kdenv.search.score import OUTCOMES


class SelectionRule(Value, ABC):
    """A rule that chooses the turn to try next, given the results of each turn so far."""

    family = "selection rule"
    needs_priors: ClassVar[bool] = False
    is_for_outcomes: ClassVar[bool] = False  # whether it needs scores between 0 and 1 that count wins

    def check_score(self, score: str) -> None:
        """Raise BadOption if this rule cannot choose by such a score."""
        if self.is_for_outcomes and score not in OUTCOMES:
            raise BadOption(f"select={self} is not possible with score={score}; it counts wins: score may be {', '.join(OUTCOMES)}")

    @abstractmethod
    def compiled(self) -> Any:
        """The NamedTuple that answers `urgency` in kernels (search/select.py)."""


@named("ucb1", "Auer et al. 2002; Kocsis and Szepesvári 2006")
class Ucb1(SelectionRule):
    """UCB1: the mean plus c * sqrt(ln(N) / n), where n counts the visits of the turn and N those of all turns."""

    c: float = param("the weight of exploration: greater values prefer turns with few visits", default=0.7, least=0)

    def compiled(self) -> Any:
        return select.UCB1(self.c)


@named("ucb_ratio", "Jansen and Tollisen 2014, modified UCB")
class UcbRatio(SelectionRule):
    """Modified UCB: the mean plus c * sqrt(ln(N / n)), where n counts the visits of the turn and N those of all turns."""

    c: float = param("the weight of exploration: greater values prefer turns with few visits", default=0.7, least=0)

    def compiled(self) -> Any:
        return select.UCBRatio(self.c)


@named("ucb1_tuned", "Auer et al. 2002")
class Ucb1Tuned(SelectionRule):
    """UCB1 whose bonus depends on the observed variance, for scores between 0 and 1."""

    c: float = param("the factor of the bonus", default=1.0, least=0)

    def compiled(self) -> Any:
        return select.UCB1Tuned(self.c)


@named("thompson")
class Thompson(SelectionRule):
    """Thompson sampling: tries the turn with the greatest random draw, from a normal distribution around its mean."""

    spread: float = param("the assumed standard deviation of the scores of a turn before its first playout", default=0.5, least=0)

    def compiled(self) -> Any:
        return select.ThompsonRule(self.spread)


@named("thompson_beta", "Thompson 1933; Jansen and Tollisen 2014, eq. 5")
class ThompsonBeta(SelectionRule):
    """Thompson sampling for wins and losses: tries the turn with the greatest random draw from its beta distribution."""

    is_for_outcomes = True
    wins: float = param("the wins that each turn is credited with before its first playout", default=1.0, least=1)
    losses: float = param("the losses that each turn is credited with before its first playout", default=1.0, least=1)

    def compiled(self) -> Any:
        return select.ThompsonBetaRule(self.wins, self.losses)


@named("puct", "Rosin 2011; Silver et al. 2017")
class Puct(SelectionRule):
    """PUCT: the mean plus c * prior * sqrt(N) / (n + 1), also for the next turn not tried yet. It needs priors, so it is only for trees."""

    needs_priors = True
    c: float = param("the weight of exploration: greater values prefer turns with great priors and few visits", default=1.0, least=0)

    def compiled(self) -> Any:
        return select.PuctRule(self.c)
