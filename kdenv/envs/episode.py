"""`Episode`: one game of an environment: its start, its legal actions, and its steps.

TableEnv and SeatEnv use it. The mask of legal actions is private, and environments give out copies, because kernels do not check actions.
For the same reason an episode refuses further steps when the mask may not fit the table. That is so after an error in the middle of a step,
and after somebody else has changed the table.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng, make_rng
from kdenv.core.errors import BadOption, IllegalAction, KdenvError, WrongOrder, did_you_mean, shown
from kdenv.core.table import Table
from kdenv.envs import step_kernel
from kdenv.envs.setup import Setup
from kdenv.envs.step_kernel import NO_ACTION, NOBODY, WORK, Mask
from kdenv.envs.validation import check_options

_KNOWN = ("script", "position")  # keys of reset's options
_IGNORED = "options"  # a key that PettingZoo's api_test tries: reset(options={"options": 1})


class Script:
    """Outcomes of chance that are to happen in this order."""

    def __init__(self, entries: Sequence[int | str]) -> None:
        self._entries, self._n_done = entries, 0
        self.goes_on = len(entries) > 0  # whether an outcome is left

    def run(self, table: Table) -> None:
        """Carry out chance as the script says, until a seat decides, the game is over or the script ends."""
        while self.goes_on and table.at_chance:
            entry = self._entries[self._n_done]
            try:
                table.chance(table.game.notation.chance_from(table.states, 0, entry) if isinstance(entry, str) else entry)
            except KdenvError as error:
                what = repr(entry) if isinstance(entry, str) else shown(entry)
                raise BadOption(f"script[{self._n_done}]={what}: {error}") from None
            self._n_done += 1
            self.goes_on = self._n_done < len(self._entries)


class Episode:
    """A game in progress, the generator of its chance, and what is left of the script that fixes chance."""

    def __init__(self, setup: Setup) -> None:
        self._empty = empty = setup.empty  # every game starts as a copy of this
        self.n_actions = empty.n_actions
        self.observer = setup.observer()
        self._buffer = empty.game.buffer()
        self._work = np.zeros(WORK, empty.game.state_dtype)
        self.table = empty
        self.rng: Rng = make_rng(0)
        self.script = Script([])
        self.mask: Mask = np.zeros(self.n_actions, np.int8)
        self.mover = NOBODY
        self._changes = empty.changes  # table.changes after the last step; if it differs, somebody else has changed the table
        self._error = ""  # if the game was broken off: the reason

    def opening(self, options: Mapping[str, Any] | None) -> tuple[Table, Script]:
        """Return the table and the script for the options of reset. The script has been carried out as far as the first decision.

        This does not change the episode, so an error in the options leaves the current game as it is.
        """
        entries, position = _read(options)
        table, script = self._empty.clone(), Script(entries)
        if position is not None:
            table.at_position(position)
        script.run(table)
        if table.over:
            raise BadOption(f"the game is over at once: nobody has anything to decide at {table.position()}")
        return table, script

    def begin(self, opening: tuple[Table, Script], rng: Rng) -> None:
        """Begin a game that opening() returned. Its chance is drawn from rng."""
        table, script = opening
        mask = np.zeros(self.n_actions, np.int8)
        mover = step_kernel.start(table, rng, self._buffer, mask)
        if mover == NOBODY:
            raise BadOption(f"the game is over at once: nobody has anything to decide at {table.position()}")
        self.table, self.script, self.rng, self.mask, self.mover = table, script, rng, mask, mover
        self._changes, self._error = table.changes, ""

    def check(self) -> None:
        """Raise WrongOrder if the mask may not fit the table."""
        if self._error:
            raise WrongOrder(f"the game was broken off by {self._error}; call reset() to deal a new one")
        if self.table.changes != self._changes:
            raise WrongOrder("the table of this environment was changed from outside; call reset(), and change table.clone() instead")

    def break_off(self, what: str) -> None:
        """End the game because of an error that may have stopped it between two decisions. Steps are then refused with this reason."""
        self.stop()
        self._error = what

    def number(self, action: Any) -> int:
        """Return the action as an int; NO_ACTION if it is not legal, or not an action at all."""
        try:
            number = operator.index(action)
            return number if number >= 0 and self.mask[number] else NO_ACTION
        except (TypeError, IndexError, OverflowError):
            return NO_ACTION

    def illegal(self, action: Any, reader: int | None = None) -> IllegalAction:
        """Return the error for an action that is not legal. It shows only what seat `reader` may see; see Table.illegal."""
        return self.table.illegal(action, reader)

    def step(self, action: int) -> int:
        """Carry out a legal action and the chance after it. Return the seat that decides then, or NOBODY."""
        mask = np.zeros(self.n_actions, np.int8)
        try:
            if self.script.goes_on:
                self.table.play(action)
                self.script.run(self.table)
                mover = step_kernel.start(self.table, self.rng, self._buffer, mask)
                self._changes = self.table.changes
            else:
                mover = step_kernel.step(self.table, action, self.rng, self._buffer, mask)
        except BaseException as error:  # also Ctrl-C
            self.break_off(f"{article(error)} in a step")
            raise
        self.mask, self.mover = mask, mover
        return mover

    def step_with(self, opponents: step_kernel.CompiledOpponents, action: int, stops: int, dice: Rng) -> int:
        """Carry out an action, or NO_ACTION, and let compiled opponents decide for all seats but those in `stops`. No script may be left.

        `stops` has a bit for each seat. They draw from dice. Return the seat that decides then, which is one of these, or NOBODY.
        """
        mask = np.zeros(self.n_actions, np.int8)
        try:
            mover = step_kernel.step_with(opponents, self.table, action, stops, self._work, self._buffer, dice, self.rng, mask)
        except BaseException as error:
            self.break_off(f"{article(error)} in a step")
            raise
        self.mask, self.mover = mask, mover
        return mover

    def stop(self) -> None:
        """End the game here: no seat decides, and no action is legal."""
        self.mask, self.mover = np.zeros(self.n_actions, np.int8), NOBODY

    def observation(self, seat: int) -> NDArray[np.float32]:
        """Return the observation of this seat as a new vector."""
        return self.observer.vector(self.table.states, 0, seat)


def article(error: BaseException) -> str:
    """Return the name of an error with its article, as in "a KeyError" or "an IllegalAction"."""
    name = type(error).__name__
    return f"a{'n' * (name[0] in 'AEIOU')} {name}"


def _read(options: Mapping[str, Any] | None) -> tuple[list[int | str], str | None]:
    """Return the script and the position in the options of reset."""
    check_options(options, " and ".join(_KNOWN))
    for key in options or ():
        if key not in _KNOWN and key != _IGNORED:
            raise BadOption(f"reset has no option {shown(key)}{did_you_mean(str(key), _KNOWN)}; its options are {' and '.join(_KNOWN)}")
    script, position = (options or {}).get("script"), (options or {}).get("position")
    if position is not None and not isinstance(position, str):
        raise BadOption(f"position={shown(position)} is not a text as env.table.position() writes it")
    if script is None:
        return [], position
    if isinstance(script, str) or not isinstance(script, (Sequence, np.ndarray)):
        raise BadOption(f"script={shown(repr(script))} is not a list of outcomes of chance; write each as a number or a word")
    for i, entry in enumerate(script):
        if isinstance(entry, bool) or not isinstance(entry, (int, np.integer, str)):
            raise BadOption(f"script[{i}]={shown(entry)} is not an outcome of chance; write a number or a word of the game's notation")
    return [entry if isinstance(entry, str) else int(entry) for entry in script], position
