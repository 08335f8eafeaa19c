"""A network of torch in forty lines: it learns from afterstates, sits in search_many, and plays a match and on the server by its name."""

import importlib
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra rl is not installed")
pytest.importorskip("starlette", reason="the extra serve is not installed")

from served import Served

import kdenv
from kdenv.arena import Match, Summary, play
from kdenv.policies import search_many

MODULE = "forty_lines_25"
PROGRAM = """
import numpy as np
import torch
from torch import nn
from kdenv.envs import SelfPlay
from kdenv.policies import NetworkPolicy

torch.set_num_threads(1)
games = SelfPlay("dominoes", 64, mode="round", reward="margin", encoding="ends", skip_forced=True)
net = nn.Sequential(nn.Linear(games.n_observed, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 1))

def evaluate(rows):
    with torch.no_grad():
        return net(torch.from_numpy(rows)).squeeze(1).numpy()

class Mine(NetworkPolicy):
    "A network of values."
    encoding = "ends"
    def evaluate(self, observations):
        return evaluate(observations)

def learn(n_steps):
    dice, adam, now = np.random.default_rng(1), torch.optim.Adam(net.parameters(), 2e-3), games.reset(seed=1)
    waiting, done, losses = [[] for _ in range(64)], [], []
    for _ in range(n_steps):
        after = games.afterstates()
        rows = after.sample(evaluate(after.observations) / 0.1, dice)
        for i, row in enumerate(rows):
            waiting[i].append((after.observations[row], now.seat[i]))
        now = games.step(after.actions[rows])
        for i in np.flatnonzero(now.terminated):
            done += [(row, now.rewards[i, seat]) for row, seat in waiting[i]]
            waiting[i] = []
        if len(done) > 500:
            seen, reward = (torch.tensor(np.array(part), dtype=torch.float32) for part in zip(*done))
            loss = nn.functional.mse_loss(net(seen).squeeze(1), reward)
            adam.zero_grad(), loss.backward(), adam.step()
            losses, done = [*losses, loss.item()], []
    return losses
"""


@pytest.mark.cold
def test_a_network_in_forty_lines_learns_searches_and_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    assert len([line for line in PROGRAM.splitlines() if line]) <= 40
    (tmp_path / f"{MODULE}.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    torch.manual_seed(1)
    mine = importlib.import_module(MODULE)
    try:
        losses = mine.learn(300)
        assert sum(losses[-10:]) < 0.8 * sum(losses[:10])

        search = "mce(leaf=network, score=goal, turns=2, sampling=halving, playouts=16)"
        found = search_many(search, mine.games, mine.evaluate, encoding="ends", seed=1)
        assert found.visits.sum() == 16 * (found.starts[1:] - found.starts[:-1] > 1).sum() and found.calls <= 18
        mine.games.step(found.first)

        text = f"{MODULE}:Mine(within={search})"
        for name in (f"{MODULE}:Mine", text):
            summary = Summary(Match("dominoes", [name, "random", name, "random"], games=40, seed=1, options={"mode": "round"}))
            play(summary.match, on_result=summary.add, processes=1)
            assert summary.rows()[0].policy == name
        assert (
            kdenv.evaluate(mine.net, "dominoes", against="random", encoding="ends", options={"mode": "round"}, deals=20).rows[0].games == 80
        )

        with Served(tmp_path / "games.sqlite", policies=tmp_path) as served:
            id = served.make("dominoes", [f"{MODULE}:Mine", "greedy", text, "greedy"], options={"mode": "round"})
            state = served.get(f"/games/{id}")
            while state["status"] != "over":
                state = served.get(f"/games/{id}?since={state['step']}&wait=20")
            assert [seat["left"] for seat in state["seats"]] == [None] * 4
    finally:
        sys.modules.pop(MODULE)
