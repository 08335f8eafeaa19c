"""A clock for tests of time budgets that stands still while other programs have the processor."""

import time
from types import SimpleNamespace

import pytest


def by_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let searches measure their seconds by processor time. It counts all threads of the process, so this is for searches in one thread."""
    for room in ("policies.expectimax", "policies.flat", "policies.playout_search", "policies.searching", "search.budget"):
        monkeypatch.setattr(f"kdenv.{room}.time", SimpleNamespace(perf_counter=time.process_time))
