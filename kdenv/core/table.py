"""`Table`: one game in progress as a Python object, thin over an array of one state.

Notebooks, the arena, the environments and differential tests stand on it. It checks what kernels do not.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng, make_rng
from kdenv.core import verbs as protocol
from kdenv.core.encoding import Vector
from kdenv.core.errors import BadRecord, IllegalAction, shown
from kdenv.core.events import Event, Log
from kdenv.core.game import Game, States
from kdenv.core.verbs import CHANCE, DECIDE, OVER
from kdenv.core.view import View, as_seen_by


class Table:
    """A game at a table: chance and decisions one at a time, checked, recorded, and ready to be copied."""

    def __init__(self, game: Game, players: int | None = None, **options: Any) -> None:
        """The position before anything has happened."""
        self.game = game
        self.players, self.variant = game.variant(players, **options)
        self.states: States = np.zeros(1, game.state_dtype)
        protocol.begin_at(self.states, 0, self.players, self.variant)
        self.log = Log()
        self.start: str | None = None  # the text of the position that the game was set up from, if it was
        self.first: States | None = None  # that position itself; nobody writes to it
        self.changes = 0  # calls that changed this table, so that an environment notices those that are not its own
        self._buffer = np.zeros(max(game.max_legal, game.max_chances), np.int64)

    # What is so now

    @property
    def phase(self) -> int:
        """CHANCE, DECIDE or OVER."""
        return int(protocol.phase_at(self.states, 0))

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.phase == OVER

    @property
    def at_chance(self) -> bool:
        """Whether chance is next."""
        return self.phase == CHANCE

    @property
    def seat(self) -> int | None:
        """The seat that decides; None if chance is next or the game is over."""
        return int(protocol.seat_at(self.states, 0)) if self.phase == DECIDE else None

    @property
    def options(self) -> dict[str, Any]:
        """The options this game is played with."""
        return self.game.options_of(self.variant)

    @property
    def n_actions(self) -> int:
        """The size of the action space."""
        return self.game.n_actions(self.players, self.variant)

    def legal(self) -> list[int]:
        """The legal actions, ascending; empty unless somebody decides."""
        if self.phase != DECIDE:
            return []
        n = protocol.legal_at(self.states, 0, self._buffer)
        return self._buffer[:n].tolist()  # type: ignore[no-any-return]

    def chances(self) -> list[tuple[int, float]]:
        """What chance may bring next, with probabilities; empty unless chance is next."""
        if self.phase != CHANCE:
            return []
        weights = np.zeros_like(self._buffer)
        n = protocol.chances_at(self.states, 0, self._buffer, weights)
        total = int(weights[:n].sum())
        return [(int(o), int(w) / total) for o, w in zip(self._buffer[:n], weights[:n], strict=True)]

    def scores(self) -> list[int]:
        """The points of each seat now; higher is better."""
        out = np.zeros(self.players, np.int64)
        protocol.scores_at(self.states, 0, out)
        return out.tolist()

    def standings(self) -> list[int]:
        """An integer per seat that ranks the seats by the rules of this variant, ties included."""
        out = np.zeros(self.players, np.int64)
        protocol.standings_at(self.states, 0, out)
        return out.tolist()

    def ranks(self) -> list[int]:
        """The place of each seat, 1 for the best; equals share the better place."""
        standings = self.standings()
        return [1 + sum(other > mine for other in standings) for mine in standings]

    # What happens

    def play(self, action: int) -> None:
        """Carry out a decision of the seat to move."""
        if action not in self.legal():
            raise self.illegal(action)
        self.changes += 1
        protocol.apply_at(self.states, 0, int(action))
        self.log.write_action(int(action))

    def chance(self, outcome: int) -> None:
        """Carry out an outcome of chance."""
        possible = [o for o, _ in self.chances()]
        if outcome not in possible:
            names = [self.chance_name(o) for o in possible] if self.game.open_information else ["what chances() of the table lists"]
            raise IllegalAction(self._cannot(f"chance outcome {shown(outcome)}", names if possible else []))
        self.changes += 1
        seen_by = int(protocol.witnesses_at(self.states, 0))
        protocol.apply_chance_at(self.states, 0, int(outcome))
        self.log.write_chance(int(outcome), seen_by)

    def sample_chance(self, rng: np.random.Generator | Rng) -> int:
        """Draw what chance brings next, without carrying it out."""
        if self.phase != CHANCE:
            raise IllegalAction("chance is not next: " + self._where())
        return int(protocol.sample_chance_at(self.states, 0, _kernel_rng(rng)))

    def run_chance(self, rng: np.random.Generator | Rng) -> None:
        """Draw and carry out chance until somebody decides or the game is over."""
        self.changes += 1
        self.log.run_chance(self.states, _kernel_rng(rng))

    def decide(self, action: int, rng: Rng) -> None:
        """Carry out a decision and the chance after it, as fast as possible: whether the decision is legal is not checked."""
        self.changes += 1
        self.log.decide(self.states, action, rng)

    # What it looks like

    def view(self, seat: int) -> View:
        """What this seat sees, as a policy gets it."""
        return View(self, self._checked(seat))

    def events(self) -> list[Event]:
        """Everything that has happened, in order."""
        return self.log.events()

    def observation(self, seat: int, encoding: str | None = None) -> Vector:
        """The observation vector of this seat, by the default encoding or the one of this name."""
        return self.game.observer(self.players, self.variant, encoding).vector(self.states, 0, self._checked(seat))

    def parts(self, seat: int, encoding: str | None = None) -> dict[str, NDArray[np.float32]]:
        """The same cut into its named parts."""
        return self.game.observer(self.players, self.variant, encoding).cut(self.observation(seat, encoding))

    def name(self, action: int) -> str:
        """The action in words, as this game writes it in this position."""
        return str(self.game.notation.action_text(self.states, 0, int(action)))

    def action(self, text: str) -> int:
        """The legal action these words mean in this position."""
        action = self.game.notation.action_from(self.states, 0, text)
        if action not in self.legal():
            raise self.illegal(text)
        return int(action)

    def chance_name(self, outcome: int) -> str:
        """The outcome in words."""
        return str(self.game.notation.chance_text(self.states, 0, int(outcome)))

    def position(self) -> str:
        """The position as one line of text; see at_position."""
        return str(self.game.notation.position_text(self.states, 0))

    def at_position(self, text: str) -> Table:
        """Set this table up as the position says; the history before it is unknown. Returns the table."""
        states = np.zeros(1, self.game.state_dtype)
        protocol.begin_at(states, 0, self.players, self.variant)
        self.game.notation.position_from(text, states, 0)
        self.states, self.first, self.log = states, states.copy(), Log()
        self.start = " ".join(text.split())  # one line of a record
        self.changes += 1
        return self

    def __str__(self) -> str:
        return str(self.game.drawing.ansi(self.states, 0))

    def svg(self, seat: int | None = None) -> str:
        """The position as a drawing; seen by a seat, or with everything face up."""
        return str(self.game.drawing.svg(self.states, 0, seat=None if seat is None else self._checked(seat)))

    def record(self) -> str:
        """The whole game so far as text; kdenv.replay plays it again."""
        from kdenv.core.record import write_record

        return write_record(self)

    def clone(self) -> Table:
        """A table in the same position with the same history that goes its own way."""
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Table:
        twin = copy.copy(self)
        twin.states, twin.log, twin._buffer = self.states.copy(), self.log.copy(), self._buffer.copy()
        return twin

    # What is wrong

    def illegal(self, action: Any, reader: int | None = None) -> IllegalAction:
        """The error for an action that is not legal here. It names the action, the position and what is legal.

        In a game that hides something it tells only what the seat that decides may know or, if the error is for another seat, what that
        reader may know.
        """
        named = shown(action)
        if isinstance(action, (int, np.integer)) and 0 <= action < self.n_actions:
            with contextlib.suppress(BadRecord):  # some numbers have no name in this position
                named += f" ({self.name(int(action))})"
        if reader in (None, self.seat) or self.game.open_information:
            return IllegalAction(self._cannot(f"action {named}", [f"{a} ({self.name(a)})" for a in self.legal()]))
        return IllegalAction(f"action {named} is not legal for seat {self.seat} in {self._where(reader)}")

    def _checked(self, seat: int) -> int:
        if not 0 <= seat < self.players:
            raise IllegalAction(f"there is no seat {shown(seat)}; the seats are 0 to {self.players - 1}")
        return int(seat)

    def _where(self, reader: int | None = None) -> str:
        """The game and the position, as the reader or else the seat that decides may know it."""
        if self.game.open_information:
            return f"{self.game.name} position {self.position()}"
        seat = self.seat if reader is None else reader
        if seat is None:
            return self.game.name
        position = self.game.notation.position_text(as_seen_by(self.states, seat), 0)
        return f"{self.game.name} position {position} (what seat {seat} cannot see is drawn at random)"

    def _cannot(self, what: str, possible: Sequence[str]) -> str:
        listing = ", ".join(possible[:12]) + (f" and {len(possible) - 12} more" if len(possible) > 12 else "")
        if self.over:
            listing = "nothing, the game is over"
        elif not possible:
            listing = "nothing of the kind, " + ("chance is next" if self.at_chance else "a seat decides")
        return f"{what} is not legal in {self._where()}; legal: {listing}"


def _kernel_rng(rng: np.random.Generator | Rng) -> Rng:
    return make_rng(rng) if isinstance(rng, np.random.Generator) else rng
