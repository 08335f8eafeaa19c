"""Selection rules: which turn a search tries next. The formulas are in kdenv.search.select."""

from __future__ import annotations

from typing import Any

from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import Value, named
from kdenv.search import select


class SelectionRule(Value):
    """Says which turn to try next, given how each has done."""

    called = "selection rule"

    def compiled(self) -> Any:
        """The NamedTuple that answers `urgency` (kdenv.search.select) in kernels."""
        raise NotImplementedError(f"{type(self).__name__} has no method compiled(self), which a selection rule needs")


@named("ucb1", "Auer et al. 2002; Kocsis and Szepesvári 2006")
class Ucb1(SelectionRule):
    """The mean, and c times the root of ln N / n."""

    c: float = param("how much a turn that was tried seldom is preferred", default=0.7, least=0)

    def compiled(self) -> Any:
        """As a part of a search."""
        return select.UCB1(self.c)


@named("ucb_ratio", "Jansen and Tollisen 2014, modified UCB")
class UcbRatio(SelectionRule):
    """The mean, and c times the root of ln(N / n)."""

    c: float = param("how much a turn that was tried seldom is preferred", default=0.7, least=0)

    def compiled(self) -> Any:
        """As a part of a search."""
        return select.UCBRatio(self.c)


@named("ucb1_tuned", "Auer et al. 2002")
class Ucb1Tuned(SelectionRule):
    """UCB1 with the variance seen in place of a constant, for scores between 0 and 1."""

    c: float = param("by what the bonus is multiplied", default=1.0, least=0)

    def compiled(self) -> Any:
        """As a part of a search."""
        return select.UCB1Tuned(self.c)


@named("thompson")
class Thompson(SelectionRule):
    """A draw from what the mean may be, which is taken for normal."""

    spread: float = param("the standard deviation of a turn's scores before any was seen", default=0.5, least=0)

    def compiled(self) -> Any:
        """As a part of a search."""
        return select.Thompson(self.spread)
