"""Does the training of baselines/rl/ppo.py learn with both heads, stop in time, go on and leave what it says?"""

import csv
import json
import math
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import kdenv
from baselines.rl import learners, ppo
from kdenv.cli import main

pytestmark = pytest.mark.cold

TINY = ppo.Settings(
    game="dominoes",
    options={"mode": "round"},
    encoding="ends",
    past=1,
    envs=8,
    steps=12,
    batch=48,
    epochs=1,
    layers=(8,),
    refresh=1,
    check=0,
    evaluate=1000,
    games=40,
)
HEADS = pytest.mark.parametrize("head", [ppo.TURNS, ppo.ACTIONS])


def test_all_seats_learn_in_self_play(tmp_path: Path) -> None:
    run = ppo.Run(replace(TINY, head=ppo.TURNS, self_play=True), tmp_path)
    run.train(0.005)
    assert run.learner.decisions > 0 and run.pool.files == []
    assert {"model.npz", "results.csv", "checkpoint.pt"} <= {file.name for file in tmp_path.iterdir()}
    assert ppo.OF_HEAD[ppo.TURNS]["self_play"] and "self_play" not in ppo.OF_HEAD[ppo.ACTIONS]


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@HEADS
def test_a_run_leaves_a_model_and_goes_on_where_it_stopped(head: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = replace(TINY, head=head)
    first = ppo.Run(settings, tmp_path)
    first.train(0.02)
    assert first.learner.decisions > 0 and 1.2 <= first.learner.seconds < 12
    found = {file.name for file in tmp_path.iterdir()}
    checkpoint = "checkpoint.zip" if head == ppo.ACTIONS else "checkpoint.pt"
    assert {checkpoint, "model.npz", "past-0.npz", "state.json", "results.csv"} <= found
    assert ("the environment took" in capsys.readouterr().out) == ("progress.csv" in found) == (head == ppo.ACTIONS)
    kdenv.policy(f'ppo("{tmp_path / "model.npz"}")').check(kdenv.game("dominoes"), 4, {"mode": "round"})
    again = ppo.Run(settings, tmp_path)
    assert (again.learner.decisions, again.learner.games) == (first.learner.decisions, first.learner.games)
    assert again.learner.seconds == pytest.approx(first.learner.seconds)
    again.train(0.02 + first.learner.seconds / 60)
    assert again.learner.decisions > first.learner.decisions
    told = rows(tmp_path / "results.csv")
    assert [int(row["decisions"]) for row in told] == [first.learner.decisions, again.learner.decisions]
    assert all((row["opponent"], row["evaluated"], row["head"], row["seed"]) == ("random", "40", head, "1") for row in told)
    assert all(0 < float(row["margin_interval"]) < 40 and 0 <= float(row["wins"]) <= 1 for row in told)
    assert [int(row["games"]) for row in told] == [first.learner.games, again.learner.games]
    assert 0 < first.learner.games < again.learner.games < again.learner.decisions
    assert main(["trainings", str(tmp_path / "results.csv"), "--draw", str(tmp_path / "curve.svg")]) == 0
    drawn = (tmp_path / "curve.svg").read_text(encoding="utf-8")
    assert "results against random" in drawn and drawn.count("<circle") == 2
    assert json.loads((tmp_path / "state.json").read_text(encoding="utf-8"))["next"] >= 2  # past selves have been replaced
    ppo.Run(settings, tmp_path).train(0.001)  # the run has had more time than that
    assert rows(tmp_path / "results.csv") == told


@HEADS
def test_past_selves_are_replaced_in_turn(head: str, tmp_path: Path) -> None:
    run = ppo.Run(replace(TINY, head=head, past=2), tmp_path)
    before = [file.stat().st_mtime_ns for file in run.pool.files]
    for expected in ([True, False], [True, True]):
        run.pool.refresh(run.learner)
        assert [file.stat().st_mtime_ns != then for file, then in zip(run.pool.files, before, strict=True)] == expected
    run.learner.close()


def test_both_heads_learn_in_the_same_games(tmp_path: Path) -> None:
    by_head = {}
    for head, kind in ppo.LEARNERS.items():
        settings = replace(TINY, head=head)
        (tmp_path / head).mkdir()
        learner = kind(settings, tmp_path / head, learners.Pool(settings, tmp_path / head))
        by_head[head] = learner._env.trained_for
        learner.close()
    assert by_head[ppo.TURNS] == by_head[ppo.ACTIONS]


def test_the_settings_of_a_run_survive_json() -> None:
    again = ppo.Settings(**json.loads(json.dumps(asdict(TINY))))
    assert list(again.layers) == list(TINY.layers) and again.options == TINY.options and list(again.against) == list(TINY.against)


def test_the_settings_of_every_game_and_head_are_possible() -> None:
    for game, of_game in ppo.OF_GAME.items():
        for head, of_head in ppo.OF_HEAD.items():
            settings = ppo.Settings(**{**of_game, **of_head, "game": game, "head": head})
            kdenv.game(game).encoding(settings.encoding or None)
            for text in settings.against:
                kdenv.policy(text).check(kdenv.game(game), None, settings.options)


def test_the_table_has_the_last_strength_of_each_seed_and_its_interval_over_seeds() -> None:
    def row(head: str, seed: int, margin: float, wins: float) -> dict[str, str]:
        return {"head": head, "opponent": "greedy", "seed": str(seed), "margin": str(margin), "wins": str(wins)}

    told = [
        row("turns", 1, -9, 0),
        *(row("turns", seed, margin, 0.5) for seed, margin in ((1, 1), (2, 2), (3, 6))),
        row("actions", 1, 4, 1),
    ]
    half = 4.303 * np.std([1, 2, 6], ddof=1) / math.sqrt(3)
    assert ppo.table(told).splitlines() == [
        f"turns against greedy: margin +3.0 ± {half:.1f}, wins 50.0 ± 0.0 %; seeds: 3",
        "actions against greedy: margin +4.0 ± nan, wins 100.0 ± nan %; seeds: 1",
    ]


def run(words: list[str], out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "baselines.rl.ppo", *words, "--minutes", "0.01", "--out", str(out)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=Path(__file__).parents[2])


def test_one_command_makes_the_table_and_the_curves_of_both_heads(tmp_path: Path) -> None:
    text = "dominoes --head turns actions --seeds 1 2 --past 1 --envs 8 --steps 12 --batch 48 --layers 8 --games 40"
    words = text.split()
    told = run(words, tmp_path)
    assert told.returncode == 0, told.stderr
    found = rows(tmp_path / "results.csv")
    runs = {(row["head"], row["seed"]) for row in found}
    assert runs == {("turns", "1"), ("turns", "2"), ("actions", "1"), ("actions", "2")}
    assert list(found[0]) == list(ppo.COLUMNS)
    *_, a, b, c, d, last = told.stdout.splitlines()
    assert a.startswith("turns against greedy: margin ") and b.startswith("turns against random: ") and c.endswith("seeds: 2")
    assert d.startswith("actions against random") and last.startswith(f"the results are {tmp_path / 'results.csv'}")
    other = run([*words, "--batch", "24"], tmp_path)
    assert other.returncode == 1
    sentence = f"{tmp_path / 'turns-1'} has a run with another batch; choose another --out, or give the settings of that run"
    assert other.stderr.splitlines()[-1] == sentence


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nogame"], "there is no game nogame; the games are"),
        (["kingdomino", "--option", "size"], "--option size is not NAME=VALUE; write for example --option size=5"),
        (["kingdomino", "--against", "nobody"], "there is no policy nobody"),
    ],
)
def test_a_mistake_is_one_sentence(words: list[str], sentence: str, tmp_path: Path) -> None:
    told = run(words, tmp_path / "run")
    assert told.returncode == 1 and told.stderr.startswith(sentence) and told.stderr.count("\n") == 1
