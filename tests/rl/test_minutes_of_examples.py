"""--minutes of the examples: CPU time of training, without compiling and evaluations, as for `kdenv train`."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from clocks import Clock, Unending

alphazero = pytest.importorskip("alphazero")
own_ppo = pytest.importorskip("own_ppo")
train_a_seat = pytest.importorskip("train_a_seat")
SelfPlay = own_ppo.SelfPlay


def test_alphazero_does_not_count_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, calls = Clock(), list[float]()
    monkeypatch.setattr(alphazero, "time", SimpleNamespace(process_time=lambda: clock.now))
    monkeypatch.setattr(alphazero, "SelfPlay", lambda *given, **named: Unending())
    monkeypatch.setattr(alphazero, "search_many", lambda *given, **named: clock.compile_first(calls) or SimpleNamespace(first=None))
    monkeypatch.setattr(alphazero.Decisions, "note", lambda *given: None)
    monkeypatch.setattr(alphazero, "strength", lambda *given: None)
    monkeypatch.setattr(sys, "argv", ["alphazero.py", "--seconds", "10"])
    alphazero.main()
    assert len(calls) == 1 + 10


def test_own_ppo_counts_games_and_learning_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    monkeypatch.setattr(own_ppo, "time", SimpleNamespace(process_time=lambda: clock.now))
    monkeypatch.setattr(own_ppo, "N_GAMES", 2)
    monkeypatch.setattr(own_ppo, "SelfPlay", lambda *given, **named: clock.spend(500, SelfPlay(*given, **named)))
    monkeypatch.setattr(own_ppo, "play", lambda network, batch, now: clock.spend(6, ([], now)))
    monkeypatch.setattr(own_ppo, "learn", lambda *given: clock.spend(4))
    monkeypatch.setattr(own_ppo, "strength", lambda *given: clock.spend(1000, 0.25))
    monkeypatch.setattr(sys, "argv", ["own_ppo.py", "--minutes", "1"])
    own_ppo.main()
    told = capsys.readouterr().out.splitlines()
    assert [line.partition(",")[0] for line in told] == ["30 s", "60 s"]
    assert told[-1] == f"60 s, {6 * 2 * own_ppo.N_STEPS:,} decisions: +0.250 against random"


def test_train_a_seat_leaves_out_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, evaluated = Clock(), list[float]()
    monkeypatch.setattr(train_a_seat, "time", SimpleNamespace(process_time=lambda: clock.now))

    def evaluate(*given: Any, **named: Any) -> Any:
        evaluated.append(clock.now)
        return clock.spend(1000, SimpleNamespace(rows=[]))

    monkeypatch.setattr(train_a_seat, "kdenv", SimpleNamespace(evaluate=evaluate))
    callback = train_a_seat.Strength("dominoes", ["random"], seconds=60, every=25)
    callback.model = None
    clock.spend(500)
    callback._on_training_start()
    steps = 0
    while callback._on_step():
        clock.spend(10)
        callback._on_rollout_end()
        steps += 1
    assert steps == 6
    assert evaluated == [505 + 30, 505 + 60 + 1000]
