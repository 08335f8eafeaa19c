"""Ends commands that are stopped from outside, by Ctrl-C or by the system.

Python handles a signal between two instructions, so it does not notice one while compiled code runs, perhaps for minutes. Such work
runs in a thread. The main thread waits for it, and can end the command at any time.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")

_NAMES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
_last = int(signal.SIGINT)  # the signal that has asked this process to end
_NAME = "kdenv works"  # the name of every thread that runs compiled code


class Ended(KeyboardInterrupt):
    """A signal other than Ctrl-C has asked this process to end. It is handled where Ctrl-C is handled."""

    def __init__(self, number: int) -> None:
        global _last
        super().__init__()
        self.number = _last = number


def name_of(end: KeyboardInterrupt) -> str:
    """The word for a message: interrupted, terminated or ended."""
    return _NAMES.get(signal.Signals(_number(end)), "ended")


def exit_code(end: KeyboardInterrupt) -> int:
    """The exit code that a shell expects of a program which was ended like this: 130 for Ctrl-C."""
    return 128 + _number(end)


def print_end(after: str, out: Path | None) -> int:
    """Print that a command was ended from outside after this work, and how to resume it. Return the exit code."""
    kept = f"; the same command goes on from {out}" if out is not None else ""
    print(f"kdenv: {_NAMES.get(signal.Signals(_last), 'ended')} after {after}{kept}", file=sys.stderr)
    return 128 + _last


def _number(end: KeyboardInterrupt) -> int:
    return end.number if isinstance(end, Ended) else int(signal.SIGINT)


@contextmanager
def all_signals() -> Iterator[None]:
    """In this block, raise Ended when the system or a closed terminal ends the program, so that `finally` blocks are carried out.

    A signal that is ignored stays so, as that of a closed terminal under nohup.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: Any) -> NoReturn:
        raise Ended(number)

    numbers = [number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None]
    before = {number: signal.signal(number, end) for number in numbers if signal.getsignal(number) is not signal.SIG_IGN}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def interruptible(work: Callable[[], T]) -> T:
    """Do this work in a thread. Return what it returns, or raise what it raises.

    Ctrl-C ends the wait at once; the thread then works until the process ends.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def do() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=do, name=_NAME, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.2)  # without a time limit Windows would not notice Ctrl-C
    if errors:
        raise errors[0]
    return results[0]


def is_still_working() -> bool:
    """True if a thread is still working after an interrupt has ended the wait for it."""
    return any(thread.name == _NAME for thread in threading.enumerate())
