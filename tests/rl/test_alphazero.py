"""Does the example fit the improved policies and the rewards, and does it play whole searches?"""

import sys

import numpy as np
import pytest
import torch

alphazero = pytest.importorskip("alphazero")


def test_learning_fits_the_policies_and_the_rewards() -> None:
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    network = alphazero.Network(6)
    optimizer = torch.optim.Adam(network.parameters(), 3e-3)
    done = []
    for n in (2, 3, 5) * 5:
        rows = rng.normal(size=(n, 6)).astype(np.float32)
        done.append((rows, np.eye(n)[n // 2], n - 1, float(rng.uniform(-1, 1))))
    first = alphazero.learn(network, optimizer, done)
    assert first[0] == pytest.approx(np.mean(np.log([2, 3, 5])), abs=0.1)  # all turns are about equally probable at first
    for _ in range(400):
        last = alphazero.learn(network, optimizer, done)
    assert last[0] < 0.05 and last[1] < 0.01
    for rows, policy, taken, reward in done:
        values, scores = network.evaluate(rows)
        assert scores.argmax() == policy.argmax()
        assert values[taken] == pytest.approx(reward, abs=0.3)


@pytest.mark.cold
def test_it_learns_from_searches_and_plays_a_match(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["alphazero.py", "--seconds", "2", "--games", "40"])
    alphazero.main()
    assert "learned_here minus greedy: " in capsys.readouterr().out
