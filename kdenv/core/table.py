"""`Table`: one game in progress, as a Python object around an array of one state.

Notebooks, the arena, the environments and tests use it. It checks actions and outcomes of chance, which kernels do not.
"""

from __future__ import annotations

import contextlib
import copy
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import int32, int64, uint64
from numpy.typing import NDArray

from kdenv.compiler.kernel import compile_together
from kdenv.compiler.random import Rng, as_rng
from kdenv.core import verbs
from kdenv.core.bounds import check_at_first_use
from kdenv.core.encoding import Vector
from kdenv.core.errors import BadRecord, IllegalAction, shown
from kdenv.core.events import Event, Log, decide, run_chance
from kdenv.core.game import Game, States
from kdenv.core.protocols import LastTurn
from kdenv.core.turns import list_turns
from kdenv.core.verbs import CHANCE, DECIDE, OVER
from kdenv.core.view import View, as_seen_by

# Python calls these at every table, or a search calls them for every decision.
compile_together(
    "table",
    verbs.begin_at,
    verbs.phase_at,
    verbs.seat_at,
    verbs.legal_at,
    verbs.chances_at,
    verbs.apply_at,
    verbs.scores_at,
    verbs.standings_at,
    verbs.resample_hidden_at,
    verbs.truncated_at,
    run_chance,
    decide,
    list_turns,
    **dict.fromkeys(("k", "players", "seat", "action", "n", "most_decisions", "max_legal"), int64),
    **dict.fromkeys(("out", "weights", "turns", "variant"), int64[::1]),
    rng=uint64[::1],
    log=int32[:, ::1],
)


class Table:
    """One game in progress. Its methods carry out chance and decisions one at a time, check them, and log them."""

    def __init__(self, game: Game, players: int | None = None, **options: Any) -> None:
        """Set up the first position, before chance or a decision."""
        self.game = game
        self.players, self.variant = game.variant(players, **options)
        check_at_first_use(game, self.players, self.variant)
        self.states: States = np.zeros(1, game.state_dtype)
        verbs.begin_at(self.states, 0, self.players, self.variant)
        self.log = Log()
        self.start: str | None = None  # if the game was set up from a position: the text of that position
        self.first: States | None = None  # the same position as a state, which is never written to
        self.changes = 0  # the number of calls that have changed this table, by which an environment notices changes from outside
        self._buffer = np.zeros(max(game.max_legal, game.max_chances), np.int64)

    # The position

    @property
    def phase(self) -> int:
        """The next step: CHANCE, DECIDE or OVER."""
        return int(verbs.phase_at(self.states, 0))

    @property
    def over(self) -> bool:
        """True if the game has ended."""
        return self.phase == OVER

    @property
    def at_chance(self) -> bool:
        return self.phase == CHANCE

    @property
    def seat(self) -> int | None:
        """The seat that decides; None if chance is next or the game is over."""
        return int(verbs.seat_at(self.states, 0)) if self.phase == DECIDE else None

    @property
    def options(self) -> dict[str, Any]:
        """The options this game is played with."""
        return self.game.options_of(self.variant)

    @property
    def n_actions(self) -> int:
        """The size of the action space."""
        return self.game.n_actions(self.players, self.variant)

    def legal(self) -> list[int]:
        """Return the legal actions, ascending; empty unless a seat decides."""
        if self.phase != DECIDE:
            return []
        n = verbs.legal_at(self.states, 0, self._buffer)
        return self._buffer[:n].tolist()  # type: ignore[no-any-return]

    def chances(self) -> list[tuple[int, float]]:
        """Return the possible outcomes of chance with their probabilities; empty unless chance is next."""
        if self.phase != CHANCE:
            return []
        weights = np.zeros_like(self._buffer)
        n = verbs.chances_at(self.states, 0, self._buffer, weights)
        total = int(weights[:n].sum())
        return [(int(o), int(w) / total) for o, w in zip(self._buffer[:n], weights[:n], strict=True)]

    def scores(self) -> list[int]:
        """Return the points of each seat now; higher is better."""
        out = np.zeros(self.players, np.int64)
        verbs.scores_at(self.states, 0, out)
        return out.tolist()

    def standings(self) -> list[int]:
        """Return one integer per seat that ranks the seats by the rules of this variant: higher is better, equal is a tie."""
        out = np.zeros(self.players, np.int64)
        verbs.standings_at(self.states, 0, out)
        return out.tolist()

    def ranks(self) -> list[int]:
        """Return the place of each seat, 1 for the best. Tied seats share the better place."""
        standings = self.standings()
        return [1 + sum(other > mine for other in standings) for mine in standings]

    # Playing

    def play(self, action: int) -> None:
        """Carry out an action of the seat that decides. Raises IllegalAction if it is not legal. Chance that follows is not carried out."""
        number = self.checked_action(action)
        self.changes += 1
        verbs.apply_at(self.states, 0, number)
        self.log.write_action(number)

    def checked_action(self, action: Any) -> int:
        """Return the action as an int. Raises IllegalAction if it is not legal, or not a whole number (of Python, NumPy or PyTorch)."""
        number = _whole(action)
        if number is None or number not in self.legal():
            raise self.illegal(action)
        return number

    def chance(self, outcome: int) -> None:
        """Carry out this outcome of chance. Raises IllegalAction if it is not possible."""
        possible = [o for o, _ in self.chances()]
        if outcome not in possible:
            names = [self.chance_name(o) for o in possible] if self.game.open_information else ["what chances() of the table lists"]
            raise IllegalAction(self._cannot(f"chance outcome {shown(outcome)}", names if possible else []))
        self.changes += 1
        seen_by = int(verbs.witnesses_at(self.states, 0))
        verbs.apply_chance_at(self.states, 0, int(outcome))
        self.log.write_chance(int(outcome), seen_by)

    def sample_chance(self, rng: np.random.Generator | Rng) -> int:
        """Draw the next outcome of chance, without carrying it out."""
        if self.phase != CHANCE:
            raise IllegalAction("there is no outcome to draw, because chance is not next in " + self._where())
        return int(verbs.sample_chance_at(self.states, 0, as_rng(rng)))

    def run_chance(self, rng: np.random.Generator | Rng) -> None:
        """Draw and carry out chance until a seat decides or the game is over."""
        dice = as_rng(rng)
        self.changes += 1
        self.log.run_chance(self.states, dice)

    def decide(self, action: int, rng: np.random.Generator | Rng) -> None:
        """Carry out a decision and the chance after it in one call of a kernel. This does not check that the decision is legal."""
        dice = as_rng(rng)
        self.changes += 1
        self.log.decide(self.states, action, dice)

    # Views, observations and text

    def view(self, seat: int) -> View:
        """Return the view of this seat, which policies take."""
        return View(self, self._checked(seat))

    def events(self) -> list[Event]:
        """Return everything that has happened, in order."""
        return self.log.events()

    def observation(self, seat: int, encoding: str | None = None) -> Vector:
        """Return the observation vector of this seat by the encoding of this name; None means the default encoding."""
        return self.game.observer(self.players, self.variant, encoding).vector(self.states, 0, self._checked(seat))

    def parts(self, seat: int, encoding: str | None = None) -> dict[str, NDArray[np.float32]]:
        """Return the observation vector of this seat, cut into its named parts."""
        return self.game.observer(self.players, self.variant, encoding).cut(self.observation(seat, encoding))

    def name(self, action: int) -> str:
        """Return the action in words, as this game writes it in this position."""
        return str(self.game.notation.action_text(self.states, 0, int(action)))

    def action(self, text: str) -> int:
        """Return the legal action that these words mean in this position. Raises IllegalAction or BadRecord if they mean none."""
        if not isinstance(text, str):
            raise self._not_legal(f"{shown(text)} (of type {type(text).__name__}, not a text)")
        action = self.game.notation.action_from(self.states, 0, text)
        if action not in self.legal():
            raise self._not_legal(shown(text))
        return int(action)

    def chance_name(self, outcome: int) -> str:
        """Return an outcome of chance in words, as this game writes it in this position."""
        return str(self.game.notation.chance_text(self.states, 0, int(outcome)))

    def position(self) -> str:
        """Return the position as one line of text, which at_position reads."""
        return str(self.game.notation.position_text(self.states, 0))

    def at_position(self, text: str) -> Table:
        """Set up the position that a text describes, with an empty log, and return the table."""
        states = np.zeros(1, self.game.state_dtype)
        verbs.begin_at(states, 0, self.players, self.variant)
        self.game.notation.position_from(text, states, 0)
        self.states, self.first, self.log = states, states.copy(), Log()
        self.start = " ".join(text.split())  # one line of a record
        self.changes += 1
        return self

    def __str__(self) -> str:
        return self.ansi()

    def ansi(self, seat: int | None = None) -> str:
        """Return the position as text for a terminal, as a seat sees it, or with everything face up if seat is None."""
        return self.game.ansi(self.states, 0, None if seat is None else self._checked(seat), self.last_turn())

    def _repr_svg_(self) -> str:
        """Return the picture for a notebook: the position with everything face up."""
        return self.svg()

    def svg(self, seat: int | None = None) -> str:
        """Return the position as an SVG drawing, as a seat sees it, or with everything face up if seat is None."""
        return self.game.svg(self.states, 0, None if seat is None else self._checked(seat), self.last_turn())

    def last_turn(self) -> LastTurn | None:
        """Return the last decisions of one seat; None before the first decision. The game is played again to find them."""
        states, events = np.zeros(1, self.game.state_dtype), self.log.rows[0, : self.log.n].tolist()
        if self.first is None:
            verbs.begin_at(states, 0, self.players, self.variant)
        else:
            states[:] = self.first
        last = None
        for event in events:
            if event < 0:
                verbs.apply_chance_at(states, 0, ~event)
                continue
            seat = int(verbs.seat_at(states, 0))
            last = LastTurn(seat, [*(last.actions if last is not None and last.seat == seat else []), event])
            verbs.apply_at(states, 0, event)
        return last

    def record(self) -> str:
        """Return the whole game so far as text, which kdenv.replay plays again."""
        from kdenv.core.record import write_record

        return write_record(self)

    def clone(self) -> Table:
        """Return an independent copy of this table, with the same position and history."""
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Table:
        twin = copy.copy(self)
        twin.states, twin.log, twin._buffer = self.states.copy(), self.log.copy(), self._buffer.copy()
        return twin

    # Errors

    def illegal(self, action: Any, reader: int | None = None) -> IllegalAction:
        """Make the error for an action that is not legal here. It names the action, the position and the legal actions.

        `reader` is the seat that gets the error, by default the seat that decides. In a game with hidden information the error has only
        what this seat may know.
        """
        named, number = shown(action), _whole(action)
        if number is None:
            named += f" (of type {type(action).__name__}, not a whole number)"
        elif 0 <= number < self.n_actions:
            with contextlib.suppress(BadRecord):  # some numbers have no name in this position
                named += f" ({self.name(number)})"
        return self._not_legal(named, reader)

    def _not_legal(self, named: str, reader: int | None = None) -> IllegalAction:
        """Make the error for an action that is described by `named`; see illegal."""
        if reader in (None, self.seat) or self.game.open_information:
            return IllegalAction(self._cannot(f"action {named}", [f"{a} ({self.name(a)})" for a in self.legal()]))
        return IllegalAction(f"action {named} is not legal for seat {self.seat} in {self._where(reader)}")

    def _checked(self, seat: Any) -> int:
        number = _whole(seat)
        if number is None or not 0 <= number < self.players:
            what = shown(seat) if number is not None else f"{shown(repr(seat))}, which is not a whole number"
            raise IllegalAction(f"there is no seat {what}; the seats are 0 to {self.players - 1}")
        return number

    def _where(self, reader: int | None = None) -> str:
        """Return the game and the position in words, as seat `reader` may know them; by default it is the seat that decides."""
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


def _whole(value: Any) -> int | None:
    """Return an action or a seat as a whole number; None if it is not one."""
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None
