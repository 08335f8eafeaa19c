"""What a search found out about a position: every turn open to the seat, how often it was tried and what it is worth."""

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
from kdenv.core.questions import first_action, rest_of
from kdenv.core.view import View

if TYPE_CHECKING:
    from kdenv.policies.tree_view import Node


@dataclass(frozen=True)
class Candidate:
    """One turn open to the seat."""

    turn: int  # packed, see core.questions
    words: str
    visits: int  # playouts, simulations or nodes spent on it
    mean: float  # in the unit of the search: see SearchResult.unit
    half: float = math.nan  # of the 95 % interval; nan where a search has none
    line: str = ""  # how the search expects the game to go on


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The result of a search: what is known of every turn, the best turn, the tree if there is one. Printed, it is a table.

    The arrays have one place per turn, in the order in which the search lists them; `candidates` has the best first.

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

    view: View  # what was searched
    turns: NDArray[np.int64]  # packed, see core.questions
    visits: NDArray[np.int64]  # playouts, simulations or nodes spent on each turn
    means: NDArray[np.float64]  # in the unit of the search; nan where a turn has not been tried
    halves: Sequence[float] | NDArray[np.float64]  # of the 95 % intervals; nan where a search has none
    best: int  # the place of the turn to take
    unit: str  # what the means are: "win probability", "points" ...
    playouts: int  # in all; of searches without playouts, nodes
    cost: dict[str, float]  # playouts, nodes, seconds ...
    lines: Sequence[str] = ()  # how the game is expected to go on after each turn, if the search can tell
    by_visits: bool = False  # whether the turn with the most visits is the best, not the one with the best mean
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
        """The turns in words: the best first, then the others by what decides."""

        def place(i: int) -> Any:
            return i != self.best, math.isnan(self.means[i]), -self.visits[i] if self.by_visits else 0, -self.means[i]

        lines = self.lines or [""] * len(self.turns)
        return [
            Candidate(turn, turn_words(self.view, turn), int(self.visits[i]), float(self.means[i]), float(self.halves[i]), lines[i])
            for i, turn in sorted(enumerate(self.turns.tolist()), key=lambda one: place(one[0]))
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
        """The table in words: a heading, and a row for every turn."""
        rows = [("turn", "visits", self.unit, "goes on with")]
        for candidate in self.candidates:
            mean = f"{candidate.mean:.3f}" + ("" if math.isnan(candidate.half) else f" ± {candidate.half:.3f}")
            if math.isnan(candidate.mean):  # what is forced is not searched
                mean = "not tried" if len(self.candidates) > 1 else "forced"
            rows.append((candidate.words, f"{candidate.visits:,}", mean, candidate.line))
        return rows

    def _cost(self) -> str:
        return ", ".join(f"{value:,.6g} {name}" for name, value in self.cost.items())


def half_interval(visits: float, total: float, squares: float) -> float:
    """Half of the 95 % interval of the mean of this many numbers of this sum and sum of squares; nan where one number tells nothing."""
    if visits < 2:
        return math.nan
    mean = total / visits
    return 1.96 * math.sqrt(max(0.0, squares / visits - mean * mean) / (visits - 1))


def carry_out(states: Any, turn: int) -> None:
    """Carry out a packed turn in states[0]: by the verbs, which a table has compiled, not by a kernel more."""
    while turn:
        verbs.apply_at(states, 0, int(first_action(turn)))
        turn = int(rest_of(turn))


def turn_words(view: View, turn: int) -> str:
    """A packed turn in the words of the game."""
    return play_in_words(view, view.scratch(1), turn)


def play_in_words(view: View, states: Any, turn: int) -> str:
    """Carry out a packed turn in states[0], and say what it is."""
    words = []
    while turn:
        action = int(first_action(turn))
        words.append(str(view.game.notation.action_text(states, 0, action)))
        verbs.apply_at(states, 0, action)
        turn = int(rest_of(turn))
    return ", ".join(words)
