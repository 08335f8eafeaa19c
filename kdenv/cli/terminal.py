"""Prints only what the terminal or file can show: its letters, its colours, a progress bar, or nothing if it is closed."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from kdenv.core.errors import KdenvWarning

WIDTH = 100  # no line of a listing is longer
_PROGRESS = 78  # letters of a line that shows progress

_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_DIGITS = re.compile(r"\d{60,}(\.\.\.)?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_REFUSE = ("strict", "surrogateescape")  # the error handlers of Python for letters that an encoding lacks; the second in the locale C
# These are printed in place of letters that an encoding lacks. Letters that are not listed become question marks.
_INSTEAD = {
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╯╰", "+"),
    **dict.fromkeys("─━–—", "-"),
    **dict.fromkeys("│┃", "|"),
    "·": ".",
    "±": "+-",
    "×": "x",
    "µ": "u",
}


def prepare() -> None:
    """Set up the standard streams so that they can be written to, and no letter that is printed or typed raises an error."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before this process began, as by `>&-`
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (it is open as long as the process)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in _REFUSE:
            stream.reconfigure(errors="kdenv")
    if isinstance(sys.stdin, io.TextIOWrapper) and sys.stdin.errors in _REFUSE:
        sys.stdin.reconfigure(errors="replace")


def _similar(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(_INSTEAD.get(letter, "?") for letter in error.object[error.start : error.end]), error.end


codecs.register_error("kdenv", _similar)


def show(text: str) -> None:
    """Print a drawing, in colours on a terminal that has them, and without escape codes elsewhere."""
    print(text if has_colours(sys.stdout) else _COLOUR.sub("", text))


def answer(question: str) -> str | None:
    """The answer of the person at the terminal; None at the end of the input."""
    try:
        return input(question).strip()
    except EOFError:
        print()
        return None


def clear() -> None:
    """Empty the screen, so that the next person does not see what the last one saw. If there is no screen, print a line."""
    print("\x1b[2J\x1b[3J\x1b[H" if sys.stdout.isatty() and os.environ.get("TERM") != "dumb" else "-" * 40, flush=True)


def has_colours(stream: TextIO) -> bool:
    """True if colours are to be printed: never with NO_COLOR, else always with FORCE_COLOR, else on terminals that are not dumb."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def sentence(mistake: Exception | str) -> str:
    """A user's mistake as one line. Numbers of 60 and more digits are cut."""
    text = str(mistake)
    if isinstance(mistake, OSError) and mistake.filename is not None and mistake.strerror:
        text = f"{mistake.filename}: {mistake.strerror}"
    return _in_a_line(text)


def _in_a_line(text: str) -> str:
    return _DIGITS.sub(lambda digits: f"{digits[0][:20]}...", _CONTROL.sub(" ", text))


@contextlib.contextmanager
def warnings_as_sentences() -> Iterator[None]:
    """Print kdenv's own warnings as it prints mistakes, without the place in its source that gives them."""
    with warnings.catch_warnings():
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, KdenvWarning):
                print(f"kdenv: {_in_a_line(str(message))}", file=sys.stderr)
            else:
                others(message, category, *place, **more)

        warnings.showwarning = show
        yield


def nobody_reads() -> bool:
    """True if the program that reads our output has ended, as `head` does. All further output is then discarded."""
    for stream in (sys.stdout, sys.stderr):
        if stream.isatty():
            continue
        try:
            print(file=stream, flush=True)  # the failed text may be gone, so something must be written to find out
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # otherwise Python prints an error when it ends
            return True
    return False


class ProgressLine:
    """A line on a terminal that is written again and again. Elsewhere nothing is printed."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._shown = 0.0
        self._visible = sys.stderr.isatty()

    def is_due(self) -> bool:
        """True if the line should be written again: on a terminal, ten times a second."""
        return self._visible and time.monotonic() - self._shown > 0.1

    def write(self, text: str) -> None:
        """Write this text in place of the one before."""
        self._shown = time.monotonic()
        print(f"\r{text[:_PROGRESS]:{_PROGRESS}}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Remove the line from the terminal."""
        if self._visible and self._shown:
            print("\r" + " " * _PROGRESS + "\r", end="", file=sys.stderr, flush=True)


class Progress(ProgressLine):
    """A progress bar on a terminal, with the time left. Elsewhere nothing is printed."""

    def __init__(self, total: int, unit: str, done: int = 0) -> None:
        super().__init__()
        self.total, self.unit, self.done, self._before = total, unit, done, done

    def step(self) -> None:
        """Count one more unit as done, and show it."""
        self.done += 1
        if self.is_due() or (self._visible and self.done == self.total):
            left = (time.monotonic() - self._start) / (self.done - self._before) * (self.total - self.done)
            bar = "#" * (30 * self.done // self.total)
            self.write(f"[{bar:30}] {self.done}/{self.total} {self.unit}, {left:.0f} s left ")
