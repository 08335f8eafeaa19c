"""A notice for people who wait for the first run of a kernel, which is compiled, or loaded from disk."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from numba.core import event

_AFTER = 0.5  # seconds until the notice that something is compiled
_AFTER_LOADING = 1.5  # seconds until the notice that something is loaded, if nothing is compiled
_LOOK = 0.05  # seconds between two looks


class _Compilations(event.Listener):  # type: ignore[misc]
    """Notes that numba compiles a kernel. Machine code that is read from disk does not count."""

    def __init__(self) -> None:
        self.began = False

    def on_start(self, event: Any) -> None:
        """Numba calls this before it compiles."""
        self.began = True

    def on_end(self, event: Any) -> None:
        """Numba calls this after it has compiled."""


@contextlib.contextmanager
def compiling(what: str) -> Iterator[None]:
    """A context for the first run of `what`. If the run takes long, it prints on stderr that `what` is compiled or loaded."""
    done, found = threading.Event(), _Compilations()
    notice = threading.Thread(target=_watch, args=(what, done, found), daemon=True)
    with event.install_listener("numba:compile", found):
        notice.start()
        try:
            yield
        finally:
            done.set()
            notice.join()


def _watch(what: str, done: threading.Event, found: _Compilations) -> None:
    """Print the notice when it is due, and again if something is compiled after a notice about loading."""
    start, is_loading_shown = time.monotonic(), False
    if done.wait(_AFTER):
        return
    while not found.began:
        if not is_loading_shown and time.monotonic() - start > _AFTER_LOADING:
            print(f"loading {what} ...", file=sys.stderr, flush=True)
            is_loading_shown = True
        if done.wait(_LOOK):
            return
    print(f"compiling {what} (once, then it is kept on disk) ...", file=sys.stderr, flush=True)
