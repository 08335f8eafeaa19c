"""What a search found out about a position: every candidate turn, how often it was tried and what it is worth."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from kdenv.core import verbs
from kdenv.core.questions import first_action, rest_of
from kdenv.core.view import View


@dataclass(frozen=True)
class Candidate:
    """One turn open to the seat."""

    turn: int  # packed, see core.questions
    words: str
    visits: int  # playouts, simulations or nodes spent on it
    mean: float  # in the unit of the search: see Analysis.unit
    half: float = math.nan  # of the 95 % interval; nan where a search has none
    line: str = ""  # how the search expects the game to go on


@dataclass(frozen=True)
class Analysis:
    """All candidates, the best first, and what finding out has cost."""

    candidates: list[Candidate]
    unit: str  # what mean is: "win probability", "points" ...
    cost: dict[str, float] = field(default_factory=dict)  # playouts, nodes, seconds ...

    def __str__(self) -> str:
        """A table for a terminal."""
        rows = [("turn", "visits", self.unit, "goes on with")]
        for candidate in self.candidates:
            mean = f"{candidate.mean:.3f}" + ("" if math.isnan(candidate.half) else f" ± {candidate.half:.3f}")
            if math.isnan(candidate.mean):  # what is forced is not searched
                mean = "not tried" if len(self.candidates) > 1 else "forced"
            rows.append((candidate.words, f"{candidate.visits:,}", mean, candidate.line))
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        lines = [f"{a.ljust(widths[0])}  {b.rjust(widths[1])}  {c.rjust(widths[2])}  {d}".rstrip() for a, b, c, d in rows]
        lines.append(", ".join(f"{value:,.6g} {name}" for name, value in self.cost.items()))
        return "\n".join(lines)


def half_interval(visits: float, total: float, squares: float) -> float:
    """Half of the 95 % interval of the mean of so many numbers of this sum and sum of squares; nan where one number tells nothing."""
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
