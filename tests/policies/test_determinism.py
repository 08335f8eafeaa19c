"""Is a game the same game for the same seed: today, in another process, and as it was when it was last read?

The files in tests/golden were made by

    PYTHONPATH=.:tests/support python tests/policies/test_determinism.py

which writes them anew; read the difference before committing it. A change of rules, of the generator, of a notation or of a
policy's decisions shows here.
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kdenv.compiler.random import derive_seed, make_rng
from kdenv.core.record import replay
from kdenv.core.table import Table
from kdenv.games import find_game, names
from kdenv.policies import policy

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parents[1] / "golden"


def game_of(name: str, texts: list[str], seed: int, **options: object) -> Table:
    """A whole game between these policies, one per seat."""
    table, rng = Table(find_game(name), len(texts), **options), make_rng(seed)
    seats = [policy(text) for text in texts]
    for seat, deciding in enumerate(seats):
        deciding.reset(derive_seed("policy", seed, seat))
    table.run_chance(rng)
    while not table.over:
        assert table.seat is not None
        table.decide(int(seats[table.seat].act(table.view(table.seat))), rng)
    return table


def playthrough(table: Table) -> str:
    """The record of a finished game with, wherever a seat decides, the position, the points and what is legal."""
    first, *lines, last = table.record().splitlines()
    text = [first]
    for line, now in zip(["", *lines], replay(table.record(), find_game), strict=False):
        text += [line] if line else []
        if now.seat is not None:
            text += [f"  {now.position()}", f"  points {' '.join(map(str, now.scores()))}"]
            text += [f"  seat {now.seat} may {', '.join(map(now.name, now.legal()))}"]
    return "\n".join([*text, last, ""])


def golden_texts() -> dict[str, str]:
    """What the files should hold."""
    four = game_of("kingdomino", ["full_greedy", "gprd", "mce(playout=player_greedy, playouts=50)", "random"], 1)
    two = game_of("kingdomino", ["random", "random"], 2, size=3, dominoes=8)
    return {"kingdomino_four_policies.txt": four.record(), "kingdomino_3x3_playthrough.txt": playthrough(two)}


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return golden_texts()


@pytest.mark.parametrize("name", ["kingdomino_four_policies.txt", "kingdomino_3x3_playthrough.txt"])
def test_the_game_is_the_golden_one(name: str, texts: dict[str, str]) -> None:
    assert texts[name] == (GOLDEN / name).read_text()


def test_every_golden_file_is_tested(texts: dict[str, str]) -> None:
    assert {path.name for path in GOLDEN.glob("kingdomino_*")} == texts.keys()


def test_another_seed_is_another_game(texts: dict[str, str]) -> None:
    assert playthrough(game_of("kingdomino", ["random", "random"], 3, size=3, dominoes=8)) != texts["kingdomino_3x3_playthrough.txt"]


def fingerprints() -> dict[str, str]:
    """A hash of the record of a game of every kind."""
    made = {}
    for name in names():
        game = find_game(name)
        players = game.players[0]
        for text in ["random", *game.knowledge.players][:3]:
            record = game_of(name, [text] * players, 5).record()
            made[f"{name} {text}"] = hashlib.sha256(record.encode()).hexdigest()
    record = game_of("kingdomino", ["mce(playouts=40)"] * 2, 5, size=3, dominoes=12).record()
    return {**made, "kingdomino mce": hashlib.sha256(record.encode()).hexdigest()}


def fingerprints_of_a_process(hash_seed: str) -> dict[str, str]:
    paths = [".", "tests/support", "tests/policies"]
    code = f"import sys, json; sys.path[:0] = {paths}; import test_determinism as here; print(json.dumps(here.fingerprints()))"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.cold
def test_games_are_the_same_in_processes_that_hash_differently() -> None:
    """Python orders sets of strings by PYTHONHASHSEED: whoever iterates over one is found out here."""
    first, second = fingerprints_of_a_process("1"), fingerprints_of_a_process("2")
    assert first == second == fingerprints()


def test_a_process_that_hashes_differently_orders_sets_differently() -> None:
    """What the test above is worth."""
    orders = {
        subprocess.run(
            [sys.executable, "-c", "print(list(set('abcdefgh')))"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in "12"
    }
    assert len(orders) == 2


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name, text in golden_texts().items():
        (GOLDEN / name).write_text(text)
