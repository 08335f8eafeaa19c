"""`View`: the game as one seat sees it. A policy gets nothing else.

The position in a view has passed through resample_hidden, so all that its seat cannot know is a random draw. A policy also learns
nothing from the log, the key, the seed (compiler/random.py) or the text of an error. tests/policies/test_no_peeking.py attacks all of
these.

This has two limits. A policy is Python code in the same process, so it can find the table if it searches the memory of the process or the
frames of its callers. And chance comes from a generator of 64 bits, so a policy that tries every seed of a small range finds the one that
deals its own hand. Against policies that you do not trust, use a large random seed that they do not know, and separate processes.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng, make_rng
from kdenv.core import verbs
from kdenv.core.afterstates import SEED_OF_VIEWS, AfterstateLister, Afterstates
from kdenv.core.encoding import Vector
from kdenv.core.errors import WrongOrder
from kdenv.core.events import Event
from kdenv.core.game import Game, States, Variant
from kdenv.core.turns import actions_of

if TYPE_CHECKING:
    from kdenv.core.table import Table


def rng_of_views() -> Rng:
    """Return a new generator for the draws of what is hidden in a view. Its seed is always the same."""
    return make_rng(SEED_OF_VIEWS)


def as_seen_by(states: States, seat: int) -> States:
    """Return a copy of states[0] in which all that the seat cannot know is replaced by a random draw. It does not depend on the truth."""
    seen = states[:1].copy()
    verbs.resample_hidden_at(seen, 0, int(seat), rng_of_views())
    return seen


ONLOOKER = -1  # in place of a seat: a spectator, who sees no hand


def as_seen_by_all(states: States, players: int) -> States:
    """Return a copy of states[0] in which all that some seat cannot know is replaced by a random draw. ONLOOKER sees none of it."""
    seen = states[:1].copy()
    for seat in range(players):
        seen = as_seen_by(seen, seat)
    return seen


class SeenPositions(NamedTuple):
    """Positions of one game, each as the seat that decides in it sees it. The seat is -1 where the game is over."""

    game: Game
    players: int
    variant: Variant
    states: States
    seats: NDArray[np.int64]
    encoding: str | None = None  # the name of the one in which a batch observes them


class View:
    """A seat's view of a table at one moment.

    It has `seat`, `players` (their number), `game` (the Game) and `variant` (the options as integers). `states[0]` is a position in which
    all that the seat cannot know has been drawn anew.
    """

    oracle = False  # True if this view shows what is hidden

    def __init__(self, table: Table, seat: int) -> None:
        self.game = table.game
        self.players = table.players
        self.variant = table.variant.copy()  # a copy, as are all arrays here: a policy may write to it
        self.seat = seat
        self.states: States = self._seen(table.states)
        self.log = table.log.copy() if self.oracle else table.log.seen_by(seat)
        origin = f"{table.game.name} {table.players} {table.variant.tolist()} {seat}".encode()
        if table.first is not None:
            origin += self._seen(table.first).tobytes()
        self._origin = hashlib.blake2b(origin, digest_size=16).digest()
        self._buffer = np.empty(self.game.max_legal, np.int64)

    def _seen(self, states: States) -> States:
        return states.copy() if self.oracle else as_seen_by(states, self.seat)

    def events(self) -> list[Event]:
        """Return everything that has happened, in order; outcomes of chance that this seat did not see have no number."""
        return self.log.events()

    def key(self, *actions: int) -> bytes:
        """Return the seat's information state as bytes to compare: its first position and all events, followed by these actions."""
        return self._origin + self.log.key(*actions)

    @property
    def phase(self) -> int:
        """The next step: CHANCE, DECIDE or OVER."""
        return int(verbs.phase_at(self.states, 0))

    @property
    def to_move(self) -> bool:
        """True if this seat decides now."""
        return self.phase == verbs.DECIDE and int(verbs.seat_at(self.states, 0)) == self.seat

    def legal(self) -> list[int]:
        """Return the legal actions of this seat, ascending; empty if it does not decide."""
        if not self.to_move:
            return []
        n = verbs.legal_at(self.states, 0, self._buffer)
        return self._buffer[:n].tolist()  # type: ignore[no-any-return]

    @property
    def mask(self) -> NDArray[np.int8]:
        """A new array with one number per action: 1 if it is legal for this seat now, else 0."""
        mask = np.zeros(self.game.n_actions(self.players, self.variant), np.int8)
        mask[self.legal()] = 1
        return mask

    def observation(self, encoding: str | None = None) -> Vector:
        """Return the observation vector of this seat by the encoding of this name; None means the default encoding."""
        return self.game.observer(self.players, self.variant, encoding).vector(self.states, 0, int(self.seat))

    def turns(self) -> list[tuple[int, ...]]:
        """Return the possible turns of this seat, each as a tuple of actions; empty if it does not decide.

        A turn is all decisions that the seat takes before chance or another seat comes, or the first four of them.
        """
        return [tuple(actions_of(turn)) for turn in self._afterstates(None, True).turns.tolist()] if self.to_move else []

    def afterstates(self, encoding: str | None = None, *, whole: bool = True) -> Afterstates:
        """Return what this seat would observe after each of its turns, before any chance. Raises WrongOrder if it does not decide.

        Args:
            encoding: The name of the encoding; None means the default encoding.
            whole: List whole turns; if False, single actions.

        """
        if not self.to_move:
            raise WrongOrder(f"seat {self.seat} does not decide here, so it has no turns; ask where view.to_move is true")
        return self._afterstates(encoding, whole)

    def _afterstates(self, encoding: str | None, whole: bool) -> Afterstates:
        observer = self.game.observer(self.players, self.variant, encoding)
        return AfterstateLister(self.game, observer).list(self.states, np.array([self.seat], np.int64), whole=whole)

    def scores(self) -> list[int]:
        """Return the points of each seat now, as far as this seat can know them."""
        out = np.zeros(self.players, np.int64)
        verbs.scores_at(self.states, 0, out)
        return out.tolist()

    def name(self, action: int) -> str:
        """Return the action in words, as this game writes it in this position."""
        return str(self.game.notation.action_text(self.states, 0, int(action)))

    def scratch(self, n: int) -> States:
        """Return a new array of n states for a search. The first is a position that agrees with all that this seat knows.

        The search may draw what is hidden in it again with resample_hidden.
        """
        states = np.zeros(n, self.game.state_dtype)
        states[0] = self.states[0]
        return states

    def svg(self) -> str:
        """Return the position as an SVG drawing, as this seat sees it."""
        return self.game.svg(self.states, 0, int(self.seat))

    def _repr_svg_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        return str(self.game.drawing.ansi(self.states, 0, seat=int(self.seat)))


class OracleView(View):
    """A view that shows everything, also what is hidden. It is made only for policies that are marked as oracles."""

    oracle = True
