"""Do files that an earlier kdenv has written still load, do they still say the same, and does work that they hold still go on?

Each folder in tests/fixtures has a file of every kind that is written and read again: models, records, results, leagues, trainings, the
database of a server. `tests/fixtures/make.py` wrote them, and wrote in answers.json what the functions below read in them at that time;
about.json says with which version. A fixture is never written anew. If a format changes, the old file must still be read.
"""

import csv
import json
import shlex
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kdenv
from kdenv.arena import Match, ResultsFile, read
from kdenv.bench.run import read_run
from kdenv.cli import main
from kdenv.core.events import Event
from kdenv.core.table import Table
from kdenv.training import Trainer, TrainingSettings
from kdenv.training.curve import read_curve

FIXTURES = Path(__file__).parents[1] / "fixtures"
SETS = sorted(path.parent for path in FIXTURES.glob("*/about.json"))
WHOLE = [path for path in SETS if (path / "commands.json").exists()]  # other sets have only what was new or had another format
Answers = dict[str, Any]  # flat, so that numbers can be compared with a tolerance

pytestmark = [pytest.mark.cold, pytest.mark.filterwarnings("ignore:loading .* unpickles it")]


def answers(path: Path) -> dict[str, Answers]:
    """What was read from the files of a set when they were written, by kind."""
    return dict(json.loads((path / "answers.json").read_text(encoding="utf-8")))


@pytest.fixture(params=WHOLE, ids=lambda path: path.name)
def written(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a set of fixtures, which is the working folder."""
    shutil.copytree(request.param, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# What the files say


def carry_out(table: Table, event: Event) -> None:
    assert event.number is not None
    if event.is_chance:
        table.chance(event.number)
    else:
        table.play(event.number)


def models() -> Answers:
    """What each network says of the turns of a position, and what it chooses in a game that others play."""
    found: Answers = {}
    for text, about in json.loads(Path("models/about.json").read_text(encoding="utf-8")).items():
        table, player, chosen = kdenv.table(about["game"], about["players"], **about["options"]), kdenv.policy(text), []
        player.reset(3)
        for event in kdenv.replay(Path(about["record"]).read_text(encoding="utf-8")).events():
            if table.seat is not None and len(table.legal()) > 1:
                view = table.view(table.seat)
                chosen.append(player.act(view))
                if text.startswith("learned") and len(chosen) == 1:
                    found |= {f"{text} {turn.words}": turn.mean for turn in player.search(view).candidates}
            carry_out(table, event)
        found[f"{text} chooses"] = " ".join(map(str, chosen))
    return found


def records() -> Answers:
    """The game, the points and the position at the end of each record; written again, each is the same text."""
    found: Answers = {}
    for path in sorted(Path("records").iterdir()):
        text = path.read_text(encoding="utf-8")
        table = kdenv.replay(text)
        assert table.record() == text
        found[f"{path.name} game"] = f"{table.game.name} {table.players} {len(table.events())}"
        found[f"{path.name} points"] = f"{table.over} {table.scores()}"
        found[f"{path.name} position"] = table.position()
    return found


def positions() -> Answers:
    """Who decides in positions that are written as text, and what is legal there."""
    found: Answers = {}
    for line in Path("positions.txt").read_text(encoding="utf-8").splitlines():
        game, players, options, text = line.split("\t")
        table = kdenv.table(game, int(players), **json.loads(options)).at_position(text)
        assert table.position() == text
        found[text] = f"{table.seat} {[table.name(action) for action in table.legal()]}"
    return found


def policies() -> Answers:
    """The texts of policies that were written as JSON."""
    return {text: str(kdenv.policy(data)) for text, data in json.loads(Path("policies.json").read_text(encoding="utf-8")).items()}


def results() -> Answers:
    """What each policy did in every file of results, of matches, comparisons, curves and leagues; records replay to the same points."""
    found: Answers = {}
    for path in sorted(path for folder in ("arena", "reproduced") for path in Path(folder).rglob("*.jsonl")):
        columns = read(path, records=True)
        for at, policy in enumerate(columns["policy"]):
            points = kdenv.replay(columns["record"][at]).scores()
            assert points[columns["seat"][at]] == columns["score"][at]
            for column in ("score", "margin", "win", "turns", "playouts"):
                key = f"{path.as_posix()} {columns['line_up'][at]} {columns['place'][at]} {policy} {column}"
                found[key] = found.get(key, 0.0) + float(columns[column][at])
    return found


def trainings() -> Answers:
    """How far each training is, and how strong it was."""
    found: Answers = {}
    for path in sorted(Path("training").glob("*/settings.json")):
        said = json.loads(path.read_text(encoding="utf-8"))
        trainer = Trainer(TrainingSettings(**said["settings"]), path.parent, said["against"], said["threads"], 2)
        found[f"{path.parent.name} games"] = trainer.games
        found[f"{path.parent.name} sum of weights"] = float(trainer.player.network.weights.sum())
        for curve in (trainer.curve, read_curve(path.parent / "curve.csv")):
            assert len(curve.points) == len(trainer.curve.points)
            found |= {f"{path.parent.name} {point.games} {point.opponent} margin": point.margin for point in curve.points}
    return found


def bench() -> Answers:
    """The figures of a run of `kdenv bench`."""
    return {row.what: row.figure for row in read_run(Path("bench.json")).rows}


def reproduced() -> Answers:
    """The lines of tables of papers."""
    from baselines.papers import tables

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "out", Path("reproduced"))
        lines = [line for paper in tables.PAPERS for line in tables.results_of(paper)]
    return {
        f"{line.table}, {line.row}, {line.measure}": f"{line.ours} [{line.low}, {line.high}] {line.games} {line.seed} {line.verdict}"
        for line in lines
    }


def served() -> Answers:
    """What a server that starts on the database tells of each game: to everybody, and to the seats whose tokens are known."""
    pytest.importorskip("starlette", reason="the extra serve is not installed")
    pytest.importorskip("uvicorn", reason="the extra serve is not installed")
    from served import Served

    found: Answers = {}
    tokens = json.loads(Path("server/tokens.json").read_text(encoding="utf-8"))
    _as_if_written_now(Path("server/games.sqlite"))
    with Served(Path("server/games.sqlite")) as server:
        for called, about in tokens.items():
            state = server.get(f"/games/{about['id']}")
            for name in ("game", "players", "options", "status", "step", "turn", "scores", "result"):
                found[f"{called} {name}"] = json.dumps(state[name])
            found[f"{called} events"] = json.dumps([event["words"] for event in server.get(f"/games/{about['id']}/events")["events"]])
            if state["status"] == "over":
                found[f"{called} record"] = server.get(f"/games/{about['id']}/record")
            for token in about["tokens"]:
                mine = server.get(f"/games/{about['id']}/seat", token)
                found[f"{called} seat {mine['seat']}"] = json.dumps([each["action"] for each in mine["legal"]])
        listed = server.get("/games?size=100")["games"]
        found["listed"] = len(listed)
        _decide_once(server, tokens["casual"])
    return found


def _as_if_written_now(database: Path) -> None:
    """Move the times in the database, so that no player has run out of time and no game has waited too long."""
    with sqlite3.connect(database) as db:
        (last,) = db.execute("SELECT max(updated) FROM games").fetchone()
        db.execute("UPDATE games SET created = created + ?1, updated = updated + ?1", (time.time() - last,))
    db.close()


def _decide_once(server: Any, about: dict[str, Any]) -> None:
    """The seat of the first token decides, and the program in another seat answers."""
    [token] = about["tokens"]
    before = server.get(f"/games/{about['id']}/seat", token)
    server.post(f"/games/{about['id']}/act", {"step": before["step"], "action": before["legal"][0]["action"]}, token)
    after = server.get(f"/games/{about['id']}?since={before['step'] + 1}&wait=25")
    assert after["step"] > before["step"] + 1


def kept_games() -> Answers:
    """The games of papers that are kept, packed and in a journal. If they were played again here, they would name no commit."""
    from baselines.papers.matches import Matches

    found: Answers = {}
    for folder in sorted(Path("kept").iterdir()):
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
        played = Matches(folder).play(about["kind"], about["words"], about["games"])
        found[f"{folder.name} commits"] = played.commits
        found[f"{folder.name} scores"] = [result.scores for result in played.results]
    return found


KINDS: list[Callable[[], Answers]] = [models, records, positions, policies, results, trainings, bench, reproduced, kept_games, served]
CASES = [pytest.param(path, kind, id=f"{path.name}-{kind.__name__}") for path in SETS for kind in KINDS if kind.__name__ in answers(path)]


@pytest.mark.parametrize("path, kind", CASES)
def test_old_files_say_what_they_said(path: Path, kind: Callable[[], Answers], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind is models:
        pytest.importorskip("sb3_contrib", reason="the extra rl is not installed")
    shutil.copytree(path, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    now, then = kind(), answers(path)[kind.__name__]
    assert list(now) == list(then)
    for name, value in then.items():
        assert now[name] == (pytest.approx(value, rel=1e-3, abs=1e-5) if isinstance(value, float) else value), name


def test_every_kind_is_in_some_set() -> None:
    assert {kind.__name__ for kind in KINDS} == {name for path in SETS for name in answers(path)}


# What was begun goes on


def as_of_now(folder: Path) -> None:
    """Let the first lines of files of results say this version of kdenv and of the rules, whose games are not counted with those of others.

    That is on purpose (arena/results.py). What is asked here is whether the rest of the file is understood.
    """
    for path in folder.rglob("*.jsonl"):
        first, rest = path.read_text(encoding="utf-8").split("\n", 1)
        said = json.loads(first)
        new = path.with_name("new")
        with ResultsFile(new, Match(**said["match"], games=1)):
            now = json.loads(new.read_text(encoding="utf-8"))
        new.unlink()
        new.with_name("new.lock").unlink(missing_ok=True)
        path.write_text(json.dumps({**said, "kdenv": now["kdenv"], "rules": now["rules"]}) + "\n" + rest, encoding="utf-8", newline="\n")


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*.jsonl"))}


def command(name: str) -> list[str]:
    """The command line with which something was begun, as words."""
    return shlex.split(json.loads(Path("commands.json").read_text(encoding="utf-8"))[name])


COMMANDS = ["match", "teams", "model", "compare", "curve", "league", "swiss"]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_was_carried_out_plays_nothing_again(name: str, written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    as_of_now(Path("arena"))
    before = bytes_of(Path("arena"))
    assert main(command(name)) == 0
    assert bytes_of(Path("arena")) == before
    capsys.readouterr()


def test_a_match_that_was_cut_short_goes_on(written: Path) -> None:
    as_of_now(Path("arena"))
    whole = Path("arena/match.jsonl").read_text(encoding="utf-8").splitlines()
    cut = Path("arena/cut.jsonl").read_bytes()
    assert not cut.endswith(b"\n")
    assert main(command("cut")) == 0
    mended = Path("arena/cut.jsonl").read_text(encoding="utf-8").splitlines()
    assert mended[: cut.count(b"\n")] == whole[: cut.count(b"\n")]

    def games(lines: list[str]) -> list[Any]:
        """The games by number, without their times. Earlier versions did not write the luck of a game, which nobody asks for here."""
        read = ({"luck": None, **json.loads(line), "seconds": None, "pace": None} for line in lines[1:])
        return sorted(read, key=lambda game: game["number"])

    assert games(mended) == games(whole)


def test_a_training_goes_on(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = json.loads(Path("training/usual/settings.json").read_text(encoding="utf-8"))
    before = read_curve(Path("training/usual/curve.csv")).points
    games = said["settings"]["games"]
    assert main([*command("train"), "--games", str(games + 10)]) == 0
    assert f"going on in training/usual after {games} games" in capsys.readouterr().out
    after = read_curve(Path("training/usual/curve.csv")).points
    assert after[: len(before)] == before
    assert after[-1].games == games + 10


def test_a_run_of_ppo_goes_on(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sb3_contrib", reason="the extra rl is not installed")
    from baselines.rl import ppo

    folder = Path("ppo")
    told = next(folder / name for name in ("results.csv", "strength.csv") if (folder / name).exists())
    with told.open(encoding="utf-8") as stream:
        decisions = int(list(csv.DictReader(stream))[-1]["decisions"])
    settings = ppo.Settings(**json.loads((folder / "settings.json").read_text(encoding="utf-8")))
    run = ppo.Run(settings, folder)
    run.train(0.001)
    assert run.learner.decisions > decisions
