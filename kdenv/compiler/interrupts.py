"""Delays Ctrl-C while kernels are compiled.

Python raises KeyboardInterrupt at any point of the main thread. LLVM's objects have many destructors, and if the main thread is in one,
Python prints the interrupt and ignores it. So while numba compiles, a signal is only remembered.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_NUMBERS = [number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None]

_handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}  # the handlers of the delayed signals; empty if none are delayed
_arrived: list[int] = []


@contextmanager
def delayed() -> Iterator[None]:
    """Delay the signals that have a handler in Python until the end of this block. Blocks may be nested.

    Only the main thread gets signals, so in other threads nothing is delayed.
    """
    if _handlers or threading.current_thread() is not threading.main_thread():
        yield
        return
    _handlers.update({number: handler for number in _NUMBERS if callable(handler := signal.getsignal(number))})
    try:
        for number in _handlers:
            signal.signal(number, lambda number, frame: _arrived.append(number))
        yield
    finally:
        handlers = dict(_handlers)
        _handlers.clear()
        for number, handler in handlers.items():
            signal.signal(number, handler)
        _handle(handlers)


def handle_delayed() -> None:
    """Handle a delayed signal now, where the main thread only waits."""
    if threading.current_thread() is threading.main_thread():
        _handle(_handlers)


def _handle(handlers: dict[int, Callable[[int, FrameType | None], Any]]) -> None:
    if _arrived:
        first = _arrived[0]
        _arrived.clear()
        handlers[first](first, None)
