"""The notice for people who wait for the first run of a kernel (kdenv/compiler/notice.py)."""

import time
from collections.abc import Callable

import pytest
from numba.core import event

from kdenv.compiler import notice


def compile_something() -> None:
    """What numba does around a compilation."""
    with event.trigger_event("numba:compile", data={}):
        time.sleep(0.05)


def nothing() -> None:
    """Read machine code from disk: numba triggers no event."""


@pytest.fixture
def waited(monkeypatch, capsys) -> Callable[..., str]:
    """What is printed on stderr if `work` runs for so many seconds. Notices come a hundred times sooner than for people."""
    monkeypatch.setattr(notice, "_AFTER", 0.005)
    monkeypatch.setattr(notice, "_AFTER_LOADING", 0.015)
    monkeypatch.setattr(notice, "_LOOK", 0.001)

    def run(*work: Callable[[], None], seconds: float = 0.0) -> str:
        with notice.compiling("uct for kingdomino"):
            for each in work:
                each()
                time.sleep(seconds)
        return str(capsys.readouterr().err)

    return run


COMPILING = "compiling uct for kingdomino (once, then it is kept on disk) ...\n"
LOADING = "loading uct for kingdomino ...\n"


def test_what_is_compiled_is_said_to_be_compiled(waited) -> None:
    assert waited(compile_something) == COMPILING


def test_what_is_on_disk_is_said_to_be_loaded(waited) -> None:
    assert waited(nothing, seconds=0.3) == LOADING


def test_what_is_compiled_after_loading_has_both_notices(waited) -> None:
    assert waited(nothing, compile_something, seconds=0.3) == LOADING + COMPILING


def test_what_is_quick_has_no_notice(monkeypatch, waited) -> None:
    monkeypatch.setattr(notice, "_AFTER", 60.0)
    assert waited(nothing, compile_something) == ""


def test_an_error_ends_the_wait(monkeypatch, capsys) -> None:
    monkeypatch.setattr(notice, "_AFTER", 0.05)
    with pytest.raises(ZeroDivisionError), notice.compiling("uct for kingdomino"):
        raise ZeroDivisionError
    time.sleep(0.1)
    assert capsys.readouterr().err == ""
