"""Do the same kernels give the same numbers without the compiler, and break no bounds when bounds are checked?

Run as plain Python they are coverage, debugger and detector of overflows in one: numpy warns of what wraps around silently in
machine code, and a warning is an error here.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import three_shells
from contract import play_in_lock_step
from models import random_model
from mutants import look_at_everything, mutants
from naive.kingdomino import Kingdomino
from positions import shells
from random_games import KINGDOMINO_VARIANTS, random_game

from kdenv.arena import Match
from kdenv.arena.compiled_games import CompiledGames, first_compiled
from kdenv.compiler.random import below, make_rng, uniform
from kdenv.core.errors import KdenvError
from kdenv.core.questions import choose_at
from kdenv.core.table import Table
from kdenv.games import find_game, names
from kdenv.policies import policy
from kdenv.search import perft
from kdenv.search.playout import EpsilonGreedyPlayer, Split, Uniform, play_games
from kdenv.training import Trainer, TrainingSettings

pytestmark = pytest.mark.cold

ROOT = Path(__file__).parents[2]


def numbers() -> dict[str, Any]:
    """A little of everything that is computed by kernels, as JSON can hold it."""
    rng = make_rng(1)
    told: dict[str, Any] = {"random": [int(below(rng, 1000)) for _ in range(50)] + [float(uniform(rng)) for _ in range(50)]}
    for name in names():
        game = find_game(name)
        for players in sorted(game.players):
            told[f"{name} {players} records"] = [random_game(game, seed, players).record() for seed in range(2)]
            told[f"{name} {players} playouts"] = playouts(Table(game, players), Uniform(), 3)
            table = random_game(game, 4, players, 10)
            told[f"{name} {players} view"] = looks(table)
    for variant, (players, options) in enumerate(KINGDOMINO_VARIANTS):
        told[f"variant {variant}"] = random_game(find_game("kingdomino"), 7, players, **options).record()
    return {**told, **kingdomino_numbers(), **learned_numbers(), **network_numbers(), **reading_numbers(), **whole_games()}


def whole_games() -> dict[str, Any]:
    """Games of a match in which one kernel call plays a game."""
    told: dict[str, Any] = {}
    line_ups = {"kingdomino": (["full_greedy", "random"], {"size": 3}), "dominoes": (["greedy", "random"] * 2, {"mode": "round"})}
    for name, (line_up, options) in line_ups.items():
        match = Match(name, line_up, games=10**6, seed=1, options=options)
        games = CompiledGames(match)
        results = [games.play(first_compiled(match) + number) for number in range(3)]
        told[f"{name} whole games"] = [[result.seconds, result.scores, result.turns, result.record] for result in results]
    return told


def learned_numbers() -> dict[str, Any]:
    """The weights of networks after some games of learning."""
    told: dict[str, Any] = {}
    for name, options, games in (("dominoes", {"mode": "round"}, 6), ("kingdomino", {"size": 3}, 2)):
        trainer = Trainer(TrainingSettings(game=name, options=options, hidden=8, games=games, seed=1), Path("nothing is written"))
        trainer.learn()
        told[f"{name} learned"] = trainer.player.network.weights.astype(float).tolist()
    return told


def playouts(table: Table, player: Any, n: int) -> list[int]:
    """The turns and the points of some playouts from here."""
    states, totals = np.zeros(4, table.states.dtype), np.zeros(table.players, np.int64)
    states[0] = table.states[0]
    return [int(play_games(player, states, n, table.game.buffer(), make_rng(3), totals)), *totals.tolist()]


def looks(table: Table) -> list[Any]:
    """What the seats see, and the table as it is drawn."""
    views = [table.view(seat) for seat in range(table.players)]
    return [str(table), table.svg(), *(str(view) for view in views), *(view.observation().tolist() for view in views)]


def kingdomino_numbers() -> dict[str, Any]:
    """What FULL GREEDY, GPRD and the search decide in the middle and at the end of a game; and a perft."""
    game = find_game("kingdomino")
    told: dict[str, Any] = {}
    for decisions in (4, 30, 80):
        table = random_game(game, decisions, 4, decisions)
        table.run_chance(make_rng(2))
        for name, rule in game.knowledge.players.items():
            states = np.zeros(3, table.states.dtype)
            states[0] = table.states[0]
            told[f"{name} {decisions}"] = [int(choose_at(rule.make(), states, 0, game.buffer(), make_rng(seed))) for seed in range(3)]
    end = random_game(game, 5, 4, 90)
    fg = game.knowledge.players["full_greedy"].make()
    told["split"] = playouts(end, Split(1, fg, Uniform()), 2)
    told["epsilon"] = playouts(end, EpsilonGreedyPlayer(fg, 0.5), 2)
    told["mce"] = int(policy("mce(playouts=20)").act(end.view(end.seat))) if end.seat is not None else -1
    told["perft"] = perft.count(end.states, 3, game.max_legal, game.max_chances).tolist()
    return told


def reading_numbers() -> dict[str, Any]:
    """The visits and sums of searches by the readings of papers, in the middle of a game of Dominion, and with calls in dominoes."""
    told: dict[str, Any] = {}
    dominion = random_game(find_game("dominion"), 4, 2, 30)
    dominion.run_chance(make_rng(2))
    dominoes = random_game(find_game("dominoes"), 4, 4, 0, calls=True, mode="round", lead="drawn")
    dominoes.run_chance(make_rng(2))
    while len(dominoes.log) < 29 + 12:
        dominoes.play(dominoes.legal()[0])
    for table, searches in (
        (
            dominion,
            (
                "uct(score=windiff, chance=frozen, update=own, total=parent, equals=last, backup=max, playouts=60)",
                "uct(score=half, chance=frozen, least=3, least_below=2, trees=2, whole=yes, playouts=30)",
                "bandit(score=lead, select=thompson_beta, ties=random, playouts=60)",
            ),
        ),
        (dominoes, ("pimc(alpha=3, playouts=8)", "ims(alpha=3, belief=paper_tiles)", "ismcts(playouts=60)")),
    ):
        for text in searches:
            search = policy(text)
            search.reset(3)
            found = search.search(table.view(table.seat), thorough=False)
            told[text] = [found.visits.tolist(), [f"{mean:.9g}" for mean in found.means.tolist()], found.best]
    return told


def network_numbers() -> dict[str, Any]:
    """The visits of searches in Three Shells in which a network says what positions are worth, and which turns come first."""
    told: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = random_model(Path(folder) / "model.npz", three_shells.GAME)
        for search in (
            "mce(leaf=learned({0}), score=goal, sampling=halving, playouts=40)",
            "mce(prior=learned({0}), trust=3, score=goal, sampling=halving, widest=3, common=yes, playouts=40)",
            "mce(base=learned({0}), common=yes, score=margin, playouts=40)",
            "uct(leaf=learned({0}), score=goal, chance=open, select=puct, priors=learned({0}), playouts=60)",
            "uct(playout=learned({0}), score=points, select=puct(c=3), priors=learned({0}), widening=0.5, playouts=60)",
        ):
            for seat, table in enumerate((shells(1), shells(1, 2))):
                told[f"{search} {seat}"] = policy(search.format(file)).search(table.view(seat)).visits.tolist()
    player, states = policy("mce(common=yes, playouts=12)").compiled(three_shells.GAME, 2), shells(1, 2).states.repeat(2)
    told["flat player"] = [int(choose_at(player, states, 0, three_shells.GAME.buffer(), make_rng(seed))) for seed in range(5)]
    return told


def told_by_a_process(code: str, **environment: str) -> str:
    """What this code prints in a process where any warning of numpy is an error."""
    start = "import sys, json; sys.path[:0] = ['.', 'tests/support', 'tests/compiler', 'examples']; import test_no_jit as here; "
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", start + code]
    done = subprocess.run(command, cwd=ROOT, env={**clean, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_plain_python_gives_the_same_numbers() -> None:
    plain = json.loads(told_by_a_process("print(json.dumps(here.numbers()))", NUMBA_DISABLE_JIT="1"))
    compiled = json.loads(json.dumps(numbers()))
    assert plain.keys() == compiled.keys()
    assert [name for name in compiled if plain[name] != compiled[name]] == []


def test_nothing_is_compiled_in_plain_python() -> None:
    """So that the test above compares what it says it compares."""
    assert told_by_a_process("print(type(here.play_games).__name__)", NUMBA_DISABLE_JIT="1").strip() == "function"
    assert type(play_games).__name__ == "CompiledKernel"


def test_an_overflow_is_noticed_in_plain_python() -> None:
    code = "import numpy as np; s = np.zeros(1, np.uint64); print(np.uint64(2**63) * np.uint64(2))"
    assert "overflow" in failure(code, NUMBA_DISABLE_JIT="1")


def failure(code: str, **environment: str) -> str:
    """How such a process failed."""
    try:
        told_by_a_process(code, **environment)
    except AssertionError as error:
        return str(error)
    raise AssertionError(f"{code} did not fail")


# --- Bounds ---


def play_within_bounds() -> None:
    """The contract, and mutated positions played on: as in their own tests, but shorter."""
    game = find_game("kingdomino")
    for seed, (players, options) in enumerate(KINGDOMINO_VARIANTS):
        play_in_lock_step("kingdomino", Kingdomino(players, **options), seed, players, **options)
        for decisions in (0, 5, 20):
            text = random_game(game, seed, players, decisions, **options).position()
            for mutant in mutants(text, seed, 100):
                try:
                    table = Table(game, players, **options).at_position(mutant)
                except KdenvError:
                    continue
                look_at_everything(table)
                play_greedily(table)
    for name in names():
        look_at_everything(random_game(find_game(name), 1))


def play_greedily(table: Table) -> None:
    """To the end, by the best rule player and by chance in turn."""
    greedy, rng, dice = policy("full_greedy"), make_rng(1), random.Random(1)
    while not table.over:
        if table.seat is None:
            table.run_chance(rng)
        else:
            table.play(greedy.act(table.view(table.seat)) if dice.random() < 0.3 else dice.choice(table.legal()))


def test_no_kernel_leaves_its_arrays() -> None:
    assert told_by_a_process("here.play_within_bounds(); print('done')", NUMBA_BOUNDSCHECK="1") == "done\n"


def test_leaving_an_array_is_noticed() -> None:
    """What the test above is worth: one place too few for the legal actions."""
    code = """
from kdenv.core.verbs import legal_at
table = here.random_game(here.find_game('kingdomino'), 1, 4, 30)
table.run_chance(here.make_rng(1))
legal_at(table.states, 0, here.np.zeros(len(table.legal()) - 1, here.np.int64))
"""
    assert "IndexError" in failure(code, NUMBA_BOUNDSCHECK="1")
