"""Does the example in one file draw and weigh actions as kdenv.rl does, and does it learn?"""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from blocks import HOME, run_python

import kdenv

EXAMPLES = HOME / "examples"
ppo_turns = pytest.importorskip("ppo_turns")


def test_its_probabilities_are_those_of_kdenv_rl() -> None:
    from kdenv.rl import log_probabilities

    torch.manual_seed(1)
    agent = ppo_turns.Agent(5)
    rows, position = torch.randn(40, 5) * 30, torch.repeat_interleave(torch.arange(8), torch.arange(1, 9))[:36]
    with torch.no_grad():
        log_p = agent.get_log_probs(rows[:36], position, 8)
        assert torch.allclose(log_p, log_probabilities(agent.actor(rows[:36]).squeeze(1), position, 8))
    assert torch.allclose(torch.zeros(8).index_add(0, position, log_p.exp()), torch.ones(8), atol=1e-5)
    drawn = torch.stack([ppo_turns.draw(log_p, position, 8) for _ in range(4000)])
    assert (position[drawn] == torch.arange(8)).all()
    p, counts = log_p.exp().numpy(), np.bincount(drawn.numpy().ravel(), minlength=36)
    assert (np.abs(counts - 4000 * p) < 5.5 * np.sqrt(4000 * p * (1 - p)) + 1).all()


@pytest.mark.cold
def test_it_learns_to_beat_random_players(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "scores.npz"
    words = f"--game dominoes --encoding ends --opponent random --seconds 10 --num_envs 64 --out {out}"
    monkeypatch.setattr(sys, "argv", ["ppo_turns.py", *words.split()])
    ppo_turns.main()
    told = capsys.readouterr().out
    assert re.search(r"^\d+ s: [\d,]+ decisions, [\d,]+ a second, \d\.\d rows each, entropy", told, re.MULTILINE)
    row = kdenv.evaluate(out, "dominoes", against="random", deals=60)["random"]
    assert row.wins.low > 0.5 and row.margin.low > 0


@pytest.mark.cold
@pytest.mark.skipif(sys.platform == "win32", reason="the module resource is for Unix")
def test_256_games_of_kingdomino_need_less_than_2_gb() -> None:
    code = "import resource, ppo_turns; ppo_turns.main(); print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    done = run_python(["-c", code, "--seconds", "0.1"], EXAMPLES)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.splitlines()[-1]) * (1 if sys.platform == "darwin" else 1024) < 2e9
