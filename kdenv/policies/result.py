"""The result of a search: all turns open to the seat, with their visits and values. Also turns in words."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kdenv.core import verbs
from kdenv.core.columns import align
from kdenv.core.errors import NotSupported
from kdenv.core.turns import actions_of
from kdenv.core.view import View

if TYPE_CHECKING:
    from kdenv.policies.tree_view import Node


@dataclass(frozen=True)
class Candidate:
    """One turn open to the seat."""

    turn: int  # packed, see core.turns
    words: str
    visits: int  # playouts, simulations or nodes spent on it
    mean: float  # in the unit of the search: see SearchResult.unit
    half: float = math.nan  # of the 95 % interval; nan where a search has none
    line: str = ""  # the continuation that the search expects


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The result of a search: the statistics of each turn, the best turn, and the tree if there is one. It prints as a table.

    The arrays have one element per turn, in the order in which the search lists them. `candidates` is sorted, the best first.

    >>> import kdenv
    >>> from kdenv.author import make_rng
    >>> from kdenv.policies import Uct
    >>> table = kdenv.table("kingdomino", players=2, size=3)
    >>> table.run_chance(make_rng(1))
    >>> found = Uct(score="margin", playouts=2000).search(table.view(table.seat))
    >>> print(found)
    turn     visits          margin  goes on with
    pick 41   1,904   1.443 ± 0.371
    pick 15      94  -2.691 ± 1.851
    pick 19       1          -4.000
    pick 11       1          -6.000
    2,000 playouts, 2,001 nodes, ... seconds
    >>> max(found.tree.children, key=lambda node: node.visits).words
    'pick 41'
    """

    view: View  # the view that was searched
    turns: NDArray[np.int64]  # packed, see core.turns
    visits: NDArray[np.int64]  # playouts, simulations or nodes spent on each turn
    means: NDArray[np.float64]  # in the unit of the search; nan where a turn has not been tried
    halves: Sequence[float] | NDArray[np.float64]  # of the 95 % intervals; nan where a search has none
    best: int  # the index of the turn to take
    unit: str  # of the means: "win probability", "points" ...
    playouts: int  # in all; nodes, if a search makes no playouts
    cost: dict[str, float]  # playouts, nodes, seconds ...
    lines: Sequence[str] = ()  # the expected continuation after each turn, if the search gives one
    by_visits: bool = False  # whether the best turn is that with the most visits, not that with the best mean
    trees: Sequence[Node] = ()  # the roots of the trees, if the search grows any; several searches in parallel have one each

    @property
    def turn(self) -> int:
        """The turn to take, packed."""
        return int(self.turns[self.best])

    @property
    def intervals(self) -> list[tuple[float, float]]:
        """The 95 % interval of each mean."""
        return [(float(mean - half), float(mean + half)) for mean, half in zip(self.means, self.halves, strict=True)]

    @property
    def tree(self) -> Node:
        """The root of the (first) tree."""
        if not self.trees:
            raise NotSupported("this search has grown no tree; uct and ismcts grow one")
        return self.trees[0]

    @cached_property
    def candidates(self) -> list[Candidate]:
        """The turns in words: the best first, then the others by visits or mean, whichever decides."""

        def rank(i: int) -> Any:
            return i != self.best, math.isnan(self.means[i]), -self.visits[i] if self.by_visits else 0, -self.means[i]

        lines = self.lines or [""] * len(self.turns)
        return [
            Candidate(turn, turn_words(self.view, turn), int(self.visits[i]), float(self.means[i]), float(self.halves[i]), lines[i])
            for i, turn in sorted(enumerate(self.turns.tolist()), key=lambda one: rank(one[0]))
        ]

    def __str__(self) -> str:
        """A table for a terminal."""
        return "\n".join([*align(self._rows(), left=(0, 3)), self._cost()])

    def _repr_html_(self) -> str:
        """The same table for a notebook, beside the position that was searched."""
        rows = ["".join(f"<td style='text-align:left'>{html.escape(cell)}</td>" for cell in row) for row in self._rows()]
        table = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<div style='max-width:40em'>{self.view.svg()}</div><table>{table}</table><p>{html.escape(self._cost())}</p>"

    def _rows(self) -> list[tuple[str, str, str, str]]:
        """The cells of the table: a heading, and a row for each turn."""
        rows = [("turn", "visits", self.unit, "goes on with")]
        for candidate in self.candidates:
            mean = f"{candidate.mean:.3f}" + ("" if math.isnan(candidate.half) else f" ± {candidate.half:.3f}")
            if math.isnan(candidate.mean):  # a forced turn is not searched
                mean = "not tried" if len(self.candidates) > 1 else "forced"
            rows.append((candidate.words, f"{candidate.visits:,}", mean, candidate.line))
        return rows

    def _cost(self) -> str:
        return ", ".join(f"{value:,.6g} {name}" for name, value in self.cost.items())


def half_interval(visits: float, total: float, squares: float) -> float:
    """Half of the 95 % interval of a mean, given the count, the sum and the sum of squares; nan for fewer than two numbers."""
    if visits < 2:
        return math.nan
    mean = total / visits
    return 1.96 * math.sqrt(max(0.0, squares / visits - mean * mean) / (visits - 1))


def turn_words(view: View, turn: int) -> str:
    """A packed turn in the words of the game."""
    return play_in_words(view, view.scratch(1), turn)


def play_in_words(view: View, states: Any, turn: int) -> str:
    """Carry out a packed turn in states[0] and return its words."""
    words = []
    for action in actions_of(turn):
        words.append(str(view.game.notation.action_text(states, 0, action)))
        verbs.apply_at(states, 0, action)
    return ", ".join(words)
