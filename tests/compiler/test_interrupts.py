"""Ctrl-C while kernels are compiled: it is never lost, and nobody has to wait for another process before it is handled."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import pytest
from filelock import FileLock
from numba.core.errors import TypingError

from kdenv.compiler import cache_folder
from kdenv.compiler.cache import LONGEST_WAIT
from kdenv.compiler.digest import questions
from kdenv.compiler.interrupts import delayed
from kdenv.compiler.kernel import compiler, kernel

pytestmark = [
    pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled"),
    pytest.mark.skipif(os.name == "nt", reason="needs signals that a process can send to itself"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class Object:
    """Ctrl-C is pressed while this is destroyed, as may happen to LLVM's objects."""

    def __del__(self) -> None:
        _press()
        time.sleep(0)


@pytest.fixture(autouse=True)
def listening() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt even if these tests run in the background, where it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, in place of the one that all tests share."""
    monkeypatch.setenv("KDENV_CACHE_DIR", str(tmp_path))
    return tmp_path


def _press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def _compiled_with(what_happens: Any) -> Any:
    """A kernel; this happens when it is compiled."""

    def question(x: int) -> int:
        return x

    @kernel
    def answer(x: int) -> int:
        return x + 1

    def kernel_for(first: Any) -> Any:
        what_happens()
        return answer

    compiler.resolve_by_type(question, kernel_for)
    questions[question] = SimpleNamespace(kernel_for=kernel_for)

    @kernel
    def asks(x: int) -> int:
        return question(x)

    return asks


def test_an_interrupt_that_a_destructor_would_swallow_ends_the_program_after_the_compilation() -> None:
    asks = _compiled_with(Object)
    with pytest.raises(KeyboardInterrupt):
        asks(1)
    assert asks(1) == 2


def test_a_kernel_that_does_not_compile_hides_no_interrupt() -> None:
    def fail() -> None:
        Object()
        raise TypingError("it does not compile")

    with pytest.raises(KeyboardInterrupt):
        _compiled_with(fail)(1)


def test_the_handlers_of_a_program_are_put_back_and_get_their_signal() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    mine = signal.getsignal(signal.SIGINT)
    try:
        with delayed():
            with delayed():
                _press()
            assert seen == []
        assert seen == [signal.SIGINT]
        assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_the_wait_for_another_process(cache: Path) -> None:
    assert _compiled_with(lambda: None)(1) == 2
    for path in cache.rglob(f"*{cache_folder.ENDING}"):
        path.unlink()
    locks = [FileLock(path) for path in cache.rglob("*.lock")]
    assert locks
    for lock in locks:
        lock.acquire()
    start = time.perf_counter()
    threading.Timer(0.5, _press).start()
    with pytest.raises(KeyboardInterrupt):
        _compiled_with(lambda: None)(1)
    assert time.perf_counter() - start < LONGEST_WAIT / 2
    for lock in locks:
        lock.release()
