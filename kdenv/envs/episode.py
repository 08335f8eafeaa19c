"""`Episode`: one game as it is played in an environment. How it starts, what is legal, and what an action leads to.

Both kinds of environments stand on it. It keeps the mask of what is legal now to itself and hands out copies: kernels
do not check, so nobody else may write to it.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.core import stepping
from kdenv.core.errors import BadOption, IllegalAction, KdenvError
from kdenv.core.game import did_you_mean
from kdenv.core.random import Rng, make_rng
from kdenv.core.stepping import NO_ACTION, NOBODY, WORK, Mask
from kdenv.core.table import Table

_KNOWN = ("script", "position")  # keys of reset's options
_IGNORED = "options"  # a key that PettingZoo's api_test tries: reset(options={"options": 1})


class Episode:
    """A game in progress, the generator of its chance, and what is left of the script that fixes chance."""

    def __init__(self, empty: Table, encoding: str | None = None) -> None:
        """An episode at such a table, observed by the encoding of this name or the default; it is not begun yet."""
        self._empty = empty  # what every game starts as a copy of
        self.n_actions = empty.n_actions
        self.observer = empty.game.observer(empty.players, empty.variant, encoding)
        self._buffer = empty.game.buffer()
        self._work = np.zeros(WORK, empty.game.state_dtype)
        self.table = empty
        self.rng: Rng = make_rng(0)
        self.script: list[int | str] = []
        self._n_scripted = 0
        self.mask: Mask = np.zeros(self.n_actions, np.int8)
        self.mover = NOBODY

    def begin(self, generator: np.random.Generator, options: Mapping[str, Any] | None) -> None:
        """Start anew, as reset(options=...) says; chance is drawn by a generator that this one seeds."""
        script, position = _read(options)
        table = self._empty.clone()
        self.rng = make_rng(generator)
        if position is not None:
            table.at_position(position)
        self.table, self.script, self._n_scripted = table, script, 0
        self._run_script()
        self.mask = mask = np.zeros(self.n_actions, np.int8)
        self.mover = stepping.start(table, self.rng, self._buffer, mask)
        if self.mover == NOBODY:
            raise BadOption(f"the game is over at once: nobody has anything to decide at {table.position()}")

    def number(self, action: Any) -> int:
        """The action as an int, or NO_ACTION if it is not legal (or not an action at all)."""
        try:
            number = operator.index(action)
            return number if number >= 0 and self.mask[number] else NO_ACTION
        except (TypeError, IndexError):
            return NO_ACTION

    def illegal(self, action: Any) -> IllegalAction:
        """The error that says why not."""
        return self.table.illegal(action)

    def step(self, action: int) -> int:
        """Carry out a legal action and the chance after it; return who decides then, or NOBODY."""
        self.mask = mask = np.zeros(self.n_actions, np.int8)
        if self.script:
            self.table.play(action)
            self._run_script()
            self.mover = stepping.start(self.table, self.rng, self._buffer, mask)
        else:
            self.mover = stepping.step(self.table, action, self.rng, self._buffer, mask)
        return self.mover

    def step_with(self, player: Any, action: int, me: int, dice: Rng) -> int:
        """The same, and then let the compiled player decide for all other seats, drawing from dice; no script may be left."""
        self.mask = mask = np.zeros(self.n_actions, np.int8)
        self.mover = stepping.step_with(player, self.table, action, me, self._work, self._buffer, dice, self.rng, mask)
        return self.mover

    def stop(self) -> None:
        """Nobody decides any more."""
        self.mask, self.mover = np.zeros(self.n_actions, np.int8), NOBODY

    def observation(self, seat: int) -> NDArray[np.float32]:
        """What this seat observes, as a new array."""
        return self.observer.vector(self.table.states, 0, seat)

    def _run_script(self) -> None:
        """Carry out chance as scripted, as far as it is due and the script goes."""
        table = self.table
        while self.script and table.at_chance:
            entry = self.script.pop(0)
            try:
                table.chance(table.game.notation.chance_from(table.states, 0, entry) if isinstance(entry, str) else entry)
            except KdenvError as error:
                raise BadOption(f"script[{self._n_scripted}]={entry!r}: {error}") from None
            self._n_scripted += 1


def _read(options: Mapping[str, Any] | None) -> tuple[list[int | str], str | None]:
    """The script and the position of reset(options=...)."""
    for key in options or ():
        if key not in _KNOWN and key != _IGNORED:
            raise BadOption(f"reset has no option {key}{did_you_mean(str(key), _KNOWN)}; its options are {' and '.join(_KNOWN)}")
    script, position = (options or {}).get("script"), (options or {}).get("position")
    if position is not None and not isinstance(position, str):
        raise BadOption(f"position={position!r} is not a text as env.table.position() writes it")
    if script is None:
        return [], position
    if isinstance(script, str) or not isinstance(script, (Sequence, np.ndarray)):
        raise BadOption(f"script={script!r} is not a list of outcomes of chance, numbers or words")
    for i, entry in enumerate(script):
        if isinstance(entry, bool) or not isinstance(entry, (int, np.integer, str)):
            raise BadOption(f"script[{i}]={entry!r} is not an outcome of chance; write a number or a word of the game's notation")
    return [entry if isinstance(entry, str) else int(entry) for entry in script], position
