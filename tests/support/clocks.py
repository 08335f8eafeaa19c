"""Clocks for tests: of time budgets, that stand still while other programs have the processor, and of trainings, that tests move."""

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest


def by_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let searches measure their seconds by processor time. It counts all threads of the process, so this is for searches in one thread."""
    for room in ("policies.expectimax", "policies.flat", "policies.playout_search", "policies.searching", "search.budget"):
        monkeypatch.setattr(f"kdenv.{room}.time", SimpleNamespace(perf_counter=time.process_time))


class Clock:
    """A clock of CPU time that a test moves."""

    now = 5.0

    def compile_first(self, calls: list[float]) -> None:
        """Take 500 seconds at the first call, and one second at each later one."""
        self.spend(1 if calls else 500)
        calls.append(self.now)

    def spend(self, seconds: float, result: Any = None) -> Any:
        """Something that takes this long."""
        self.now += seconds
        return result


class Unending:
    """Two games that never end."""

    num_envs, n_observed = 2, 3

    def __init__(self, listed: Any = lambda: None) -> None:
        self._listed = listed

    def reset(self, seed: int) -> Any:
        return self.step(None)

    def step(self, actions: Any) -> Any:
        return SimpleNamespace(seat=np.zeros(2, int), terminated=np.zeros(2, bool), rewards=None)

    def afterstates(self) -> Any:
        self._listed()
        rows = SimpleNamespace(observations=np.zeros((2, 3), np.float32), actions=np.zeros(2, int))
        rows.sample = lambda logits, rng: np.arange(2)
        return rows
