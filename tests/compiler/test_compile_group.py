"""Kernels that are compiled together: one piece of machine code, one file, and the same results as apart."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import int64
from numba.core import event

from kdenv.compiler import kernel as compiler
from kdenv.compiler.errors import KernelError
from kdenv.compiler.kernel import compile_together, kernel
from kdenv.core import events, turns, verbs
from kdenv.core.table import Table
from kdenv.games import find_game

pytestmark = pytest.mark.skipif(compiler.IS_PLAIN or compiler.numba.config.DISABLE_JIT, reason="numba compiles each kernel apart")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("KDENV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path / "cache"


def new_pair() -> tuple[Any, Any]:
    """Two kernels that call a third, and are compiled together."""

    @kernel
    def step(numbers, k, n):
        for i in range(n):
            numbers[k] = numbers[k] * 3 + i

    @kernel
    def once(numbers, k):
        step(numbers, k, 1)
        return numbers[k]

    @kernel
    def often(numbers, k, n):
        step(numbers, k, n)
        return numbers[k]

    compile_together("pair", once, often, k=int64, n=int64)
    return once, often


def results(once: Any, often: Any) -> list[int]:
    numbers = np.ones(2, np.int64)
    return [int(once(numbers, 0)), int(often(numbers, 1, 4)), *numbers.tolist()]


def files(cache: Path) -> list[str]:
    return sorted(path.name.partition("-")[0] for path in cache.rglob("*.machinecode"))


def test_a_call_of_one_compiles_all_into_one_file(cache: Path) -> None:
    once, often = new_pair()
    assert once(np.ones(1, np.int64), 0) == 3
    assert len(often.overloads) == 1
    assert files(cache) == ["pair"]
    assert results(once, often) == results(once.py_func, often.py_func)


def test_what_another_process_has_compiled_is_read_from_the_file() -> None:
    first = results(*new_pair())
    with event.install_recorder("numba:compile") as compiled:
        assert results(*new_pair()) == first
    assert compiled.buffer == []


def test_a_call_with_other_types_compiles_that_kernel_apart(cache: Path) -> None:
    once, often = new_pair()
    assert once(np.ones(1, np.int64), 0) == 3
    assert often(np.ones(1, np.int64), np.int32(0), 4) == 99  # 1, 3, 10, 32, 99
    assert files(cache) == ["new_pair.locals.often", "pair"]


def test_a_kernel_with_an_error_is_the_only_one_that_raises_it(cache: Path) -> None:
    @kernel
    def good(numbers, k):
        return numbers[k]

    @kernel
    def bad(numbers, k):
        return numbers.nothing_of_this_name

    compile_together("two", good, bad, k=int64)
    assert good(np.ones(1, np.int64), 0) == 1
    with pytest.raises(KernelError, match="nothing_of_this_name"):
        bad(np.ones(1, np.int64), 0)
    assert files(cache) == ["test_a_kernel_with_an_error_is_the_only_one_that_raises_it.locals.good"[-60:]]


def test_a_new_table_compiles_what_every_table_needs_at_once() -> None:
    table = Table(find_game("dominoes"))
    states = compiler.numba.typeof(table.states)
    members = [verbs.begin_at, verbs.legal_at, verbs.apply_at, verbs.scores_at, events.run_chance, turns.list_turns]
    libraries = [result.library for member in members for args, result in member.overloads.items() if args[0] == states]
    assert len(set(libraries)) == 1
    assert len(libraries) >= len(members)
