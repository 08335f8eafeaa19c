"""How commands are ended from outside: by Ctrl-C, or by the system.

Python hands a signal on between two of its own steps, so compiled code that runs for minutes does not notice one. Such work is
done in a thread, and the main thread, which waits for it, is free to end the command.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")

_NAMES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
_NAME = "kdenv works"  # of the threads that run compiled code


class Ended(KeyboardInterrupt):
    """A signal other than Ctrl-C has asked this process to end; ends what Ctrl-C ends."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def name_of(end: KeyboardInterrupt) -> str:
    """What has happened, in a word."""
    return _NAMES.get(signal.Signals(_number(end)), "ended")


def exit_code(end: KeyboardInterrupt) -> int:
    """What a shell expects of a program that was ended like this: 130 for Ctrl-C."""
    return 128 + _number(end)


def _number(end: KeyboardInterrupt) -> int:
    return end.number if isinstance(end, Ended) else int(signal.SIGINT)


@contextmanager
def all_signals() -> Iterator[None]:
    """Let the signals by which a system or a closed terminal ends a program be raised as Ctrl-C is, so that `finally` is reached."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: Any) -> NoReturn:
        raise Ended(number)

    before = {number: signal.signal(number, end) for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def interruptible(work: Callable[[], T]) -> T:
    """What this work returns, or raises; Ctrl-C ends the waiting for it at once."""
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
        thread.join(0.2)  # without a limit Windows would not notice Ctrl-C
    if errors:
        raise errors[0]
    return results[0]


def is_still_working() -> bool:
    """Whether work goes on that an interrupt has left behind."""
    return any(thread.name == _NAME for thread in threading.enumerate())
