"""--minutes of the examples: CPU time of training, without compiling and evaluations, as for `kdenv train`."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

own_ppo = pytest.importorskip("own_ppo")
train_a_seat = pytest.importorskip("train_a_seat")
SelfPlay = own_ppo.SelfPlay


class Clock:
    """A clock of CPU time that a test moves."""

    now = 5.0

    def spend(self, seconds: float, result: Any = None) -> Any:
        """Something that takes this long."""
        self.now += seconds
        return result


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
