"""`View`: what one seat sees, and all a policy gets. It holds no hidden truth, so none can leak.

The position in a view has passed through resample_hidden: what its seat cannot know is already a draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kdenv.core import protocol
from kdenv.core.encoding import Vector
from kdenv.core.events import Event
from kdenv.core.game import States
from kdenv.core.random import make_rng

if TYPE_CHECKING:
    from kdenv.core.table import Table


class View:
    """A seat's view of a table at one moment."""

    oracle = False  # whether this view shows what is hidden

    def __init__(self, table: Table, seat: int) -> None:
        self.game = table.game
        self.players = table.players
        self.variant = table.variant
        self.seat = seat
        self.states: States = table.states.copy()
        if not self.oracle:
            protocol.resample_hidden_at(self.states, 0, int(seat), make_rng(0))
        self.log = table.log.copy() if self.oracle else table.log.seen_by(seat)
        self._origin = f"{table.game.name} {table.players} {table.variant.tolist()} {seat} {table.start}".encode()
        self._buffer = np.empty(self.game.max_legal, np.int64)

    def events(self) -> list[Event]:
        """Everything that has happened, in order; outcomes of chance that this seat did not see have no number."""
        return self.log.events()

    def key(self, *actions: int) -> bytes:
        """What this seat knows has happened at this table, actions to come included, as bytes to compare."""
        return self._origin + self.log.key(*actions)

    @property
    def phase(self) -> int:
        """CHANCE, DECIDE or OVER."""
        return int(protocol.phase_at(self.states, 0))

    @property
    def to_move(self) -> bool:
        """Whether it is this seat that decides."""
        return self.phase == protocol.DECIDE and int(protocol.seat_at(self.states, 0)) == self.seat

    def legal(self) -> list[int]:
        """The legal actions of this seat, ascending; empty if it does not decide."""
        if not self.to_move:
            return []
        n = protocol.legal_at(self.states, 0, self._buffer)
        return self._buffer[:n].tolist()  # type: ignore[no-any-return]

    @property
    def mask(self) -> NDArray[np.int8]:
        """One per action: 1 if legal."""
        mask = np.zeros(self.game.n_actions(self.players, self.variant), np.int8)
        mask[self.legal()] = 1
        return mask

    def observation(self, encoding: str | None = None) -> Vector:
        """The observation vector, by the default encoding or the one of this name."""
        return self.game.observer(self.players, self.variant, encoding).vector(self.states, 0, int(self.seat))

    def scores(self) -> list[int]:
        """The points of each seat now, as this seat can know them."""
        out = np.zeros(self.players, np.int64)
        protocol.scores_at(self.states, 0, out)
        return out.tolist()

    def name(self, action: int) -> str:
        """The action in words."""
        return str(self.game.notation.action_text(self.states, 0, int(action)))

    def scratch(self, n: int) -> States:
        """An array of n states for a search to work in; the first is a position that this seat holds possible.

        The search resamples what is hidden in it as often as it likes (resample_hidden).
        """
        states = np.zeros(n, self.game.state_dtype)
        states[0] = self.states[0]
        return states

    def __str__(self) -> str:
        return str(self.game.drawing.ansi(self.states, 0, seat=int(self.seat)))


class OracleView(View):
    """A view of everything. Only the arena and tests make one, for policies that say they are oracles."""

    oracle = True
