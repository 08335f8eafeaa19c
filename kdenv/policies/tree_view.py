"""The tree of a search, to walk, print and test: a copy of the arrays of kdenv.search.kernels.uct, with its turns in words.

The arrays hold no positions. The position of a node is found by playing the turns that lead to it, from a position that is possible for
the searching seat.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from kdenv.compiler.random import make_rng, next64
from kdenv.core import verbs
from kdenv.core.columns import align
from kdenv.core.turns import actions_of, first_action, packed
from kdenv.core.verbs import CHANCE, DECIDE
from kdenv.core.view import View
from kdenv.policies.result import play_in_words
from kdenv.search.kernels.fingerprint import fingerprint
from kdenv.search.kernels.uct import NODES, NONE, ROOT, Decisions, Positions, Tree

_MOST_WAYS = 1000  # outcomes of chances in a row that are listed
_DRAWS = 5000  # of hidden information, to find a deal in which a turn of the tree is possible


def turns_of(tree: Tree, chance: Any, node: int) -> Iterator[int]:
    """The numbers of the turns of a node, including those that have not been tried."""
    if isinstance(chance, Decisions):
        at = int(tree.counts["child"][node])
        while at:
            yield at
            at = int(tree.counts["next"][at])
    else:
        first = int(tree.nodes["first"][node])
        yield from range(first, first + int(tree.nodes["n_turns"][node]))


def child_of(tree: Tree, chance: Any, at: int) -> int:
    """A node that a turn led to; 0 if there is none."""
    return at if isinstance(chance, Decisions) else int(tree.counts["child"][at])


class _SharedTree:
    """The copy of a tree that its nodes share."""

    def __init__(self, tree: Tree, chance: Positions | Decisions, view: View) -> None:
        self.tree, self.chance, self.view = tree, chance, view
        self.samples = isinstance(chance, Positions) and bool(chance.sampled)
        self.shows_chance = isinstance(chance, Decisions) and bool(chance.information_sets)
        self.rng = make_rng(0)  # draws hidden information

    @cached_property
    def of_key(self) -> dict[int, int]:
        """The nodes of a tree of positions by their fingerprints."""
        return {key: number for number, key in enumerate(self.tree.nodes["key"].tolist()) if key}


def root_of(tree: Tree, chance: Any, view: View, states: Any) -> Node:
    """Copy a tree that was grown from the position in states[0], without the arrays that only its growth needs. Return the root."""
    n_nodes, n_turns = int(tree.used[NODES]) + 1, int(tree.used.max()) + 1
    arrays = {"nodes": tree.nodes[:n_nodes], "turns": tree.turns[:n_turns], "counts": tree.counts[:n_turns], "seed": tree.seed}
    arrays |= {"used": tree.used, "table": tree.table[:0], "slots": tree.slots[:0]}
    copied = Tree(**{name: array.copy() for name, array in arrays.items()})
    return Node(_SharedTree(copied, chance, view), ROOT, NONE, states[:1].copy())


class Node:
    """A node of a search tree and the turn, or the outcome of chance, that led to it. It prints as a picture of the levels below.

    A turn has visits, and a mean value for the seat that made it. The mean of the root and of an outcome of chance is nan.
    Trees of chance=open have no nodes for chance. Chance with more than 1000 outcomes has no nodes in this view.
    """

    def __init__(
        self, shared: _SharedTree, number: int, at: int, states: Any, words: str = "", seat: int = -1, outcomes: tuple[int, ...] = ()
    ) -> None:
        self._shared, self._number, self._at = shared, number, at
        self.states = states  # a position of this node, in an array of one; None if none was found
        self.words = words
        self.seat = seat  # the seat that made the turn; -1 at the root and after chance
        self.outcomes = outcomes  # the outcomes of chance that led here

    @property
    def turn(self) -> int:
        """The turn that led here, packed; 0 at the root and after chance."""
        return int(self._shared.tree.turns[self._at]) if self._at and not self.outcomes else 0

    @property
    def visits(self) -> int:
        """The number of times the turn was tried; at the root and after chance, the sum over the turns from there."""
        if self.turn:
            return int(self._shared.tree.counts["visits"][self._at])
        return sum(child.visits for child in self.children)

    @property
    def times_open(self) -> int:
        """In trees of decisions: the number of iterations in which the turn was possible."""
        return int(self._shared.tree.counts["times_open"][self._at]) if self.turn else 0

    @property
    def total(self) -> float:
        """The sum of the values of the turn's visits, for its seat."""
        return float(self._shared.tree.counts["sums"][self._at]) if self.turn else math.nan

    @property
    def squares(self) -> float:
        """The sum of the squares of these values."""
        return float(self._shared.tree.counts["squares"][self._at]) if self.turn else math.nan

    @property
    def mean(self) -> float:
        """The mean value of the turn for its seat."""
        return self.total / self.visits if self.turn and self.visits else math.nan

    @cached_property
    def children(self) -> tuple[Node, ...]:
        """The turns that were tried from here, in the order of the tree; or the outcomes of chance that occurred here."""
        if self.states is None:
            return ()
        return tuple(self._of_decisions() if isinstance(self._shared.chance, Decisions) else self._of_position())

    # Trees of positions

    def _of_position(self) -> Iterator[Node]:
        tree = self._shared.tree
        if self._number == NONE:
            return
        if verbs.phase_at(self.states, 0) == CHANCE:
            yield from self._sampled_outcomes() if self._shared.samples else self._frozen_outcome()
            return
        first = int(tree.nodes["first"][self._number])
        for at in range(first, first + int(tree.nodes["n_tried"][self._number])):
            states = self.states.copy()
            seat = int(verbs.seat_at(states, 0))
            words = self._play(states, int(tree.turns[at]))
            yield Node(self._shared, child_of(tree, self._shared.chance, at), at, states, words or "", seat)

    def _sampled_outcomes(self) -> Iterator[Node]:
        """The nodes that the tree has for the positions after chance; a position that several outcomes lead to is one node."""
        seen = set()
        for states, outcomes, words in self._ways():
            word = np.uint64 if states.dtype.itemsize % 8 == 0 else np.uint8
            number = self._shared.of_key.get(int(fingerprint(states.view(np.uint8).reshape(1, -1).view(word), 0, self._at)), NONE)
            if number and number not in seen:
                seen.add(number)
                yield Node(self._shared, number, self._at, states, words, outcomes=outcomes)

    def _ways(self) -> list[tuple[Any, tuple[int, ...], str]]:
        """All outcomes of the chances in a row here: positions, outcomes, words; empty if there are too many."""
        game = self._shared.view.game
        found: list[tuple[Any, tuple[int, ...], str]] = [(self.states, (), "")]
        done = 0
        while done < len(found) <= _MOST_WAYS:
            states, before, words = found[done]
            if verbs.phase_at(states, 0) != CHANCE:
                done += 1
                continue
            drawn, weights = np.zeros((2, game.max_chances), np.int64)
            n = int(verbs.chances_at(states, 0, drawn, weights))
            found[done : done + 1] = [self._after(states, int(outcome), before, words) for outcome in drawn[:n]]
        return found if len(found) <= _MOST_WAYS else []

    def _after(self, states: Any, outcome: int, before: tuple[int, ...], words: str) -> tuple[Any, tuple[int, ...], str]:
        states = states.copy()
        said = str(self._shared.view.game.notation.chance_text(states, 0, outcome))
        verbs.apply_chance_at(states, 0, outcome)
        return states, (*before, outcome), f"{words}, {said}" if words else said

    def _frozen_outcome(self) -> Iterator[Node]:
        """The one outcome that the tree keeps for this node. uct draws it from the tree's seed and the number of the node."""
        drawn = make_rng(0)
        drawn[0] = self._shared.tree.seed[0] ^ np.uint64(self._number)
        drawn[0] = next64(drawn) | np.uint64(1)
        way: tuple[Any, tuple[int, ...], str] = (self.states, (), "")
        while verbs.phase_at(way[0], 0) == CHANCE:
            way = self._after(way[0], int(verbs.sample_chance_at(way[0], 0, drawn)), *way[1:])
        yield Node(self._shared, self._number, self._at, way[0], way[2], outcomes=way[1])

    # Trees of decisions

    def _of_decisions(self) -> Iterator[Node]:
        tree = self._shared.tree
        for at in turns_of(tree, self._shared.chance, self._number):
            turn = int(tree.turns[at])
            if first_action(turn) < 0:  # an outcome of chance, see shown of kernels.uct
                yield self._seen_outcome(at, (turn >> 16) - 1)
            else:
                yield self._possible_turn(at, turn)

    def _possible_turn(self, at: int, turn: int) -> Node:
        for states in self._draws():
            if verbs.phase_at(states, 0) == DECIDE:
                seat = int(verbs.seat_at(states, 0))
                words = self._play(states, turn)
                if words is not None:
                    return Node(self._shared, at, at, states, words, seat)
        return Node(self._shared, at, at, None, f"turn {turn}")

    def _seen_outcome(self, at: int, outcome: int) -> Node:
        game = self._shared.view.game
        for states in self._draws():
            if verbs.phase_at(states, 0) == CHANCE:
                drawn, weights = np.zeros((2, game.max_chances), np.int64)
                if outcome in drawn[: int(verbs.chances_at(states, 0, drawn, weights))]:
                    after, outcomes, words = self._after(states, outcome, (), "")
                    return Node(self._shared, at, at, after, words, outcomes=outcomes)
        return Node(self._shared, at, at, None, f"outcome {outcome}", outcomes=(outcome,))

    def _draws(self) -> Iterator[Any]:
        """Positions of this node. In all but the first, hidden information is drawn again."""
        seat, rng = int(self._shared.view.seat), self._shared.rng
        for i in range(_DRAWS):
            states = self.states.copy()
            if i:
                verbs.resample_hidden_at(states, 0, seat, rng)
            while verbs.phase_at(states, 0) == CHANCE and not self._is_seen(states):
                verbs.apply_chance_at(states, 0, verbs.sample_chance_at(states, 0, rng))
            yield states

    def _is_seen(self, states: Any) -> bool:
        """True if the tree has nodes for the next outcome of chance."""
        return bool(self._shared.shows_chance and int(verbs.witnesses_at(states, 0)) >> int(self._shared.view.seat) & 1)

    def _play(self, states: Any, turn: int) -> str | None:
        """Make a packed turn in states[0] and return its words; None if it cannot be made there."""
        view, words = self._shared.view, []
        legal = np.zeros(view.game.max_legal, np.int64)
        for action in actions_of(turn):
            if action not in legal[: int(verbs.legal_at(states, 0, legal))]:
                return None
            words.append(play_in_words(view, states, int(packed(action))))
        return ", ".join(words)

    # Pictures

    def rows(self, levels: int = 2, most: int = 5) -> Iterator[tuple[int, Node | None, int]]:
        """The levels below, with the `most` most visited children of each node: level, node, 0; or level, None, the number left out."""
        yield from self._rows(0, levels, most)

    def _rows(self, level: int, levels: int, most: int) -> Iterator[tuple[int, Node | None, int]]:
        if level == levels:
            return
        ordered = sorted(self.children, key=lambda child: -child.visits)
        for child in ordered[:most]:
            yield level, child, 0
            yield from child._rows(level + 1, levels, most)
        if len(ordered) > most:
            yield level, None, len(ordered) - most

    def draw(self, levels: int = 2, most: int = 5) -> str:
        """The levels below as text: a line per node with its visits and its mean, the most visited first."""
        table = [("seat: turn", "visits", "mean")]
        for level, node, n_more in self.rows(levels, most):
            if node is None:
                row = f"... {n_more} more", "", ""
            elif node.turn:
                row = f"{node.seat}: {node.words}", f"{node.visits:,}", f"{node.mean:.3f}"
            else:
                row = f"({node.words})", f"{node.visits:,}" if node.visits else "", ""
            table.append(("  " * level + row[0], *row[1:]))
        return "\n".join(align(table))

    def _repr_svg_(self) -> str:
        """The picture of the upper levels for a notebook."""
        return self.svg()

    def svg(self, levels: int = 2, most: int = 5) -> str:
        """The same as an SVG picture: the bar behind each line is its share of all visits."""
        lines, nodes = self.draw(levels, most).split("\n"), [None, *(node for _, node, _ in self.rows(levels, most))]
        width, all_visits = 8 * max(map(len, lines)) + 16, max(1, self.visits)
        size = f'width="{width}" height="{20 * len(lines) + 8}"'
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="13">']
        for i, (line, node) in enumerate(zip(lines, nodes, strict=True)):
            share = node.visits / all_visits if node else 0.0
            parts.append(f'<rect x="0" y="{20 * i + 5}" width="{width * share:.1f}" height="18" fill="#cfe0f5"/>')
            parts.append(f'<text x="8" y="{20 * i + 19}" xml:space="preserve">{escape(line)}</text>')
        return "\n".join([*parts, "</svg>"])

    def __str__(self) -> str:
        return self.draw()
