"""Checks the bounds that a game declares: `max_legal`, `max_turns`, `max_chances` and the like. Kernels trust them.

Kernels write lists into buffers of the declared length and check nothing. A game that lists more writes into memory of something else.
So `check_at_first_use` plays one random game with guard words behind every buffer when a process first uses a game. This
takes a millisecond, and compiles only what tables need anyway. `check_game` (core/check_game.py) plays many games with the same guards.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numba
import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng, derive_seed, make_rng
from kdenv.core import verbs
from kdenv.core.errors import BadGame
from kdenv.core.events import run_chance
from kdenv.core.turns import SCRATCH, list_turns
from kdenv.core.verbs import CHANCE, OVER

if TYPE_CHECKING:
    from kdenv.core.game import Game, Variant

_EVENTS = 500  # the most events of the game at first use
_TURNS_LISTED = 60  # the decisions of this game at which all turns are listed; this takes longest
_N_GUARDS = 4096
_GUARD = -0x6B64656E76  # no game writes this number


class Guarded:
    """A buffer of the declared size with guard words behind it. guards: the least number of guard words, if _N_GUARDS is too few."""

    def __init__(self, size: int, kind: Any = np.int64, guards: int = 0) -> None:
        self.size = size
        self.whole: NDArray[Any] = np.empty(size + max(guards, _N_GUARDS), kind)
        self.whole[size:] = _GUARD
        self.array = self.whole[:size]  # the part that kernels get

    def n_written(self) -> int:
        """Return the place after the last guard word that was overwritten; the size if none was."""
        overwritten = np.flatnonzero(self.whole[self.size :] != self.whole.dtype.type(_GUARD))
        return self.size if not len(overwritten) else self.size + int(overwritten[-1]) + 1


class Findings:
    """The faults of a game: one sentence for each kind. Of several of a kind, the first one of the largest size is kept."""

    def __init__(self, game: str) -> None:
        self.game = game
        self._found: dict[str, tuple[int, str, int]] = {}  # kind -> size, sentence, count

    def note(self, kind: str, sentence: str, size: int = 0) -> None:
        """Note a fault of this kind. The sentence follows the name of the game."""
        old_size, old, n = self._found.get(kind, (-1, "", 0))
        self._found[kind] = (size, sentence, n + 1) if size > old_size else (old_size, old, n + 1)

    def __contains__(self, kind: str) -> bool:
        return kind in self._found

    def __bool__(self) -> bool:
        return bool(self._found)

    def sentences(self) -> list[str]:
        """Return one sentence for each kind of fault, in the order in which they were found."""
        return [f"{self.game}: {text}" + (f" (the first of {n:,})" if n > 1 else "") for _, text, n in self._found.values()]


class Lists:
    """Buffers for what the verbs of a game list, and the checks of their lengths."""

    def __init__(self, game: Game, players: int, variant: Variant, findings: Findings) -> None:
        self.game, self.findings = game, findings
        self.n_actions = int(game.n_actions(players, variant))
        self.legal = Guarded(game.max_legal, guards=self.n_actions)
        self.outcomes, self.weights = Guarded(game.max_chances), Guarded(game.max_chances)
        self.turns, self.points = Guarded(game.max_turns), Guarded(players)
        self._scratch = np.zeros(1 + SCRATCH, game.state_dtype)

    def legal_in(self, states: Any, k: int, where: Any) -> list[int]:
        """Return the legal actions in states[k]. Faults in their number or in an action are noted; `where` is the place in words."""
        n = self._counted("legal", "max_legal", "actions", verbs.legal_at(states, k, self.legal.array), self.legal, where)
        actions: list[int] = self.legal.whole[:n].tolist()
        for action in actions:
            if not 0 <= action < self.n_actions:
                right = f"actions are 0 to n_actions - 1, and n_actions is {self.n_actions}"
                self.findings.note("actions", f"legal lists action {action} {where}, but {right}")
        return actions

    def chances_in(self, states: Any, k: int, where: Any) -> tuple[list[int], list[int]]:
        """Return the outcomes of chance in states[k], and their odds. Faults in their number are noted."""
        n = verbs.chances_at(states, k, self.outcomes.array, self.weights.array)
        n = self._counted("chances", "max_chances", "outcomes", n, self.outcomes, where)
        return self.outcomes.whole[:n].tolist(), self.weights.whole[:n].tolist()

    def turns_in(self, states: Any, k: int, where: Any) -> list[int]:
        """Return the packed turns that are possible in states[k]. It is noted if there are too many."""
        self._scratch[0] = states[k]
        n = int(list_turns(self._scratch, 0, self.game.most_decisions, len(self.legal.whole), self.turns.whole))
        if n > self.turns.size:
            many = f"{n:,} or more" if n == len(self.turns.whole) else f"{n:,}"
            self.findings.note("max_turns", _too_small("a seat", f"has {many} turns", "max_turns", self.turns.size, n, where), n)
        turns: list[int] = self.turns.whole[:n].tolist()
        return turns

    def points_of(self, verb: Any, states: Any, k: int) -> list[int]:
        """Return the numbers that scores_at or standings_at writes for states[k]."""
        verb(states, k, self.points.array)
        return self.points.array.tolist()  # type: ignore[no-any-return]

    def check_guards(self) -> None:
        """Note every buffer whose guard words were overwritten."""
        for kind, verb, bound, buffer in (
            ("max_legal", "legal", "max_legal", self.legal),
            ("max_chances", "chances", "max_chances", self.outcomes),
            ("max_chances", "chances", "max_chances", self.weights),
            ("points", "scores or standings", "the number of players", self.points),
        ):
            if (n := buffer.n_written()) > buffer.size and kind not in self.findings:
                wrote = f"{verb} writes to place {n - 1} of a list that has {buffer.size} places"
                self.findings.note(kind, f"{wrote}, numbered from 0, as many as {bound}; write to no place behind them")

    def _counted(self, verb: str, bound: str, what: str, n: Any, buffer: Guarded, where: Any) -> int:
        """Return the length of a list. It is noted if the list is longer than the game declares, or empty."""
        if n > buffer.size:
            self.findings.note(bound, _too_small(verb, f"lists {n:,} {what}", bound, buffer.size, n, where), int(n))
        elif n < 1:
            self.findings.note(f"no {what}", f"{verb} lists {n} {what} {where}, and must list one at least")
        return max(0, min(int(n), len(buffer.whole)))


def _too_small(who: str, does: str, bound: str, size: int, n: int, where: Any) -> str:
    return f"{who} {does} {where}, but {bound} is {size:,}; declare {bound}={n} or more"


class Where:
    """A position in words. It is only written when it is needed, because the notation of the game may have faults."""

    def __init__(self, game: Game, states: Any, k: int, more: str = "") -> None:
        self._game, self._states, self._k, self._more = game, states, k, more

    def __str__(self) -> str:
        try:
            text = f"in the position {self._game.notation.position_text(self._states, self._k)!r}"
        except Exception as error:
            text = f"in a position that position_text cannot write ({type(error).__name__})"
        return text + self._more


def advance(states: Any, k: int, rng: Rng) -> None:
    """Carry out one outcome of chance. The kernel of tables does it, because it is compiled anyway; it stops when its log is full."""
    run_chance(states, k, rng, np.zeros((2, 1), np.int32), 0)


_checked: WeakSet[Game] = WeakSet()


def check_at_first_use(game: Game, players: int, variant: Variant) -> None:
    """Play one random game with guards if this process has not used the game before. Raise BadGame if a bound does not hold.

    Without the compiler nothing is checked, because numpy then checks every index.
    """
    if game in _checked or numba.config.DISABLE_JIT:
        return
    findings = Findings(game.name)
    _play(game, players, variant, findings)
    if findings:
        raise BadGame(findings.sentences())
    _checked.add(game)


def _play(game: Game, players: int, variant: Variant, findings: Findings) -> None:
    """Play one random game and note what is wrong with its bounds."""
    states, rng = np.zeros(1, game.state_dtype), make_rng(derive_seed("bounds"))
    dice = random.Random(game.name)  # draws in Python, so that no process loads one more kernel
    lists, where = Lists(game, players, variant, findings), Where(game, states, 0)
    n_decisions = 0
    verbs.begin_at(states, 0, players, variant)
    for _ in range(_EVENTS):
        now = verbs.phase_at(states, 0)
        if now == OVER:
            break
        listed: Sequence[int]
        if now == CHANCE:
            listed, _odds = lists.chances_in(states, 0, where)
            advance(states, 0, rng)
            continue
        listed = lists.legal_in(states, 0, where)
        check_seat(game, int(verbs.seat_at(states, 0)), players, findings, where)
        if not listed or "actions" in findings or "seat" in findings:
            break
        if n_decisions < _TURNS_LISTED:
            lists.turns_in(states, 0, where)
        n_decisions += 1
        verbs.apply_at(states, 0, dice.choice(listed))
    lists.points_of(verbs.scores_at, states, 0)
    lists.points_of(verbs.standings_at, states, 0)
    lists.check_guards()


def check_seat(game: Game, seat: int, players: int, findings: Findings, where: Any) -> None:
    """Note a seat that does not exist."""
    if not 0 <= seat < players:
        findings.note("seat", f"seat returns {seat} {where}, and the seats of {players} players are 0 to {players - 1}")


def trust(game: Game) -> None:
    """Count this game as checked. check_game calls this, because it has checked the bounds."""
    _checked.add(game)
