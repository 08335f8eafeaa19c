"""Measures search_many: playouts a second with a network that costs nothing, beside the compiled search with the smallest network."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kdenv.bench.measuring import BenchRow, Effort, times
from kdenv.core.game import Game
from kdenv.policies import policy, search_many
from kdenv.policies.model_file import VALUE, StoredNetwork, write_network

N_GAMES = 256
_ENCODINGS = {"dominoes": "ends", "kingdomino": "prospects"}  # of the games that are measured: those for small networks
_SHARE_OF_COMPILED = 0.5  # the floor that issue 25 sets
_SKIPPED = 8  # decisions before the searches, so that there is something to choose
_FLAT = "mce(leaf={0}, score=goal, turns=4, sampling=halving, playouts=64)"
_TREE = "uct(leaf={0}, priors={0}, score=goal, select=puct, chance={1}, playouts=64)"


def rows_of(game: Game, effort: Effort) -> Iterator[BenchRow]:
    """Measure one game, by processor time. The compiled search has a network with one hidden unit."""
    from kdenv.envs.vector import SelfPlay

    if game.name not in _ENCODINGS:
        return
    batch = SelfPlay(game.name, N_GAMES, encoding=_ENCODINGS[game.name], skip_forced=True)
    now = batch.reset(seed=1)
    for _ in range(_SKIPPED):
        now = batch.step(now.action_mask.argmax(axis=1))
    views = [(table := batch.table(i)).view(table.seat or 0) for i in range(0, N_GAMES, 32)]
    with tempfile.TemporaryDirectory() as folder:
        n, file = batch.n_observed, Path(folder) / "smallest.npz"
        layers = [(np.zeros((1, n), np.float32), np.zeros(1, np.float32)), (np.zeros((1, 1), np.float32), np.zeros(1, np.float32))]
        made_for, players, options = batch.trained_for["made_for"], batch.players, batch.trained_for["options"]
        write_network(file, StoredNetwork(layers, "relu", VALUE, made_for, players, options, float(game.margin_scale), 0.0))
        # Where nothing is hidden, chance=sampled is the compiled search whose nodes distinguish the outcomes of chance.
        chance = "sampled" if game.open_information else "information_sets"
        for what, text in (("flat, halving", _FLAT), ("tree, priors", _TREE)):
            many, best, calls = text.format("network", "information_sets"), 0.0, 0
            compiled, alone = policy(text.format(f"learned({file})", chance)), 0.0
            search_many(many, batch, _nothing, encoding=_ENCODINGS[game.name])  # compiles
            for view in views:
                compiled.search(view, thorough=False)
            for _ in range(effort.runs):
                start = time.process_time()
                found = search_many(many, batch, _nothing, encoding=_ENCODINGS[game.name])
                best = max(best, found.visits.sum() / (time.process_time() - start))
                calls = found.calls
                start = time.process_time()
                made = sum(compiled.search(view, thorough=False).playouts for view in views)
                alone = max(alone, made / (time.process_time() - start))
            name = f"{game.name}, search_many of {N_GAMES} games, {what}: "
            yield BenchRow(name + "a free network", best, "playouts/s")
            yield BenchRow(name + "rows a call", found.rows / calls, "rows", N_GAMES / 2)
            yield BenchRow(name + "... playouts/s by those of the compiled search", times(best, alone), "x", _SHARE_OF_COMPILED)


def _nothing(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """A network that costs nothing."""
    return np.zeros(len(rows))
