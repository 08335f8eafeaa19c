"""Do models play: the shipped one without torch, its original with it, the same actions both; and are wrong files told?"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kdenv.arena import Match, Result, play, table_of
from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.random import make_rng
from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.policies import policy

MODELS = Path(__file__).parents[1] / "baselines" / "rl" / "models"


def positions(n: int) -> list[Table]:
    """Positions from games of the shipped model."""
    found: list[Table] = []
    model = policy("ppo(kingdomino-4p)")
    while len(found) < n:
        table, rng = Table(find_game("kingdomino"), 4), make_rng(len(found))
        table.run_chance(rng)
        while not table.over:
            found.append(table.clone())
            table.play(model.act(table.view(table.seat)))
            table.run_chance(rng)
    return found[:n]


def test_the_shipped_model_beats_random_players() -> None:
    results: list[Result] = []
    assert play(Match("kingdomino", ["ppo(kingdomino-4p)", *["random"] * 3], games=80, seed=1), on_result=results.append, processes=1)
    row = table_of(Match("kingdomino", ["ppo(kingdomino-4p)", *["random"] * 3], games=80, seed=1), results)[0]
    assert row.wins.low > 0.5
    assert row.margin.low > 0


def test_exported_and_original_choose_alike() -> None:
    exported, original = policy("ppo(kingdomino-4p)"), policy(f"ppo({MODELS / 'kingdomino-4p.zip'})")
    tables = positions(200)
    same = sum(exported.act(table.view(table.seat)) == original.act(table.view(table.seat)) for table in tables)
    assert same >= 198  # half precision may turn a near tie


def test_sampling_varies_and_stays_legal() -> None:
    table = positions(60)[57]
    sampler = policy("ppo(kingdomino-4p, sample=yes)")
    chosen = {sampler.act(table.view(table.seat)) for _ in range(200)}
    assert chosen <= set(table.legal())
    sampler.reset(1)
    first = [sampler.act(table.view(table.seat)) for _ in range(20)]
    sampler.reset(1)
    assert first == [sampler.act(table.view(table.seat)) for _ in range(20)]


def test_exported_models_play_without_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None; sys.modules['stable_baselines3'] = None; sys.modules['sb3_contrib'] = None\n"
        "import kdenv; from kdenv.core.random import make_rng\n"
        "t = kdenv.table('kingdomino'); t.run_chance(make_rng(1)); print(kdenv.policy('ppo(kingdomino-4p)').act(t.view(t.seat)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=MODELS.parents[2])
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().isdigit()


def test_without_torch_a_zip_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import kdenv; from kdenv.core.random import make_rng\n"
        "t = kdenv.table('kingdomino'); t.run_chance(make_rng(1))\n"
        f"try: kdenv.policy('ppo({MODELS / 'kingdomino-4p.zip'})').act(t.view(t.seat))\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=MODELS.parents[2])
    assert "needs the extra 'rl': pip install 'kdenv[rl]'" in done.stdout


def test_a_model_of_another_game_is_refused() -> None:
    table = Table(find_game("kingdomino"), 3)
    table.run_chance(make_rng(1))
    with pytest.raises(NotSupported, match="takes 2494 numbers and knows 329 actions, but kingdomino with 3 players"):
        policy("ppo(kingdomino-4p)").act(table.view(table.seat))


def test_a_missing_model_is_told_at_once() -> None:
    with pytest.raises(BadOption, match=r"there is no model nowhere; .*kingdomino-4p"):
        policy("ppo(nowhere)")


@pytest.mark.parametrize("suffix", [".zip", ".npz"])
def test_a_file_that_is_no_model_is_told(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"model{suffix}"
    file.write_bytes(b"hello")
    table = Table(find_game("kingdomino"), 4)
    table.run_chance(make_rng(1))
    with pytest.raises(BadOption, match="is not a"):
        policy(f"ppo({file})").act(table.view(table.seat))


def test_an_array_file_of_something_else_is_told(tmp_path: Path) -> None:
    file = tmp_path / "model.npz"
    np.savez(file, x=np.zeros(3))
    table = Table(find_game("kingdomino"), 4)
    table.run_chance(make_rng(1))
    with pytest.raises(BadOption, match="is not a model exported"):
        policy(f"ppo({file})").act(table.view(table.seat))
