"""The ladder: what its file says, the table of several games, a row that is played again, and who may enter."""

import csv
import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from kdenv.arena import (
    Estimate,
    Ladder,
    Match,
    check_entry,
    climb,
    ladder_checks,
    ladder_table,
    merge_ladders,
    play,
    read_entry,
    read_ladder,
    verify_row,
)
from kdenv.arena.ladder import Climbed, LadderGame, Rung
from kdenv.arena.league_games import known_tables
from kdenv.arena.resume import path_in
from kdenv.cli import main
from kdenv.core.errors import BadOption, BadRecord, KdenvError

FILE = """
title = "Two small games"
seed = 7
[games.kingdomino]
players = 2
deals = 12
options = { size = 3 }
[games.dominoes]
deals = 12
options = { mode = "round" }
[[rows]]
name = "greedy"
kind = "rule"
policy = { kingdomino = "full_greedy", dominoes = "greedy" }
[[rows]]
name = "random"
kind = "rule"
policy = { kingdomino = "random", dominoes = "random" }
[[rows]]
name = "flat Monte Carlo"
kind = "search"
budget = "0.1 ms"
policy = { kingdomino = "mce(playouts=3)" }
training = { kingdomino = 0.5 }
"""

CARD = """
who = "somebody"
what = "a player"
command = "none"
hardware = "one core"
[[rows]]
name = "mine"
kind = "rule"
policy = { kingdomino = "gprd" }
"""


def written(folder: Path, text: str, name: str = "ladder.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Ladder:
    return read_ladder(written(tmp_path_factory.mktemp("plan"), FILE))


@pytest.fixture(scope="module")
def folder(plan: Ladder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the whole ladder, with its files."""
    found = tmp_path_factory.mktemp("whole")
    ladder_table.write(climb(plan, found), found)
    return found


def numbers(found: Climbed) -> object:
    """Everything but times, which are not the same twice."""
    rows = [(row.label, row.place, row.rating, row.wins, row.games) for game in found.standings for row in found.rows(game)]
    return json.loads(
        json.dumps([rows, [(row.label, rating) for row, rating in found.overall()]]), parse_float=lambda x: round(float(x), 6)
    )


def test_a_file_is_read(plan: Ladder) -> None:
    assert [row.label for row in plan.rows] == ["greedy", "random", "flat Monte Carlo, 0.1 ms"]
    assert plan.leagues["kingdomino"].names == ["greedy", "random", "flat Monte Carlo, 0.1 ms"]
    assert plan.leagues["dominoes"].texts == ["greedy", "random"]
    assert (plan.leagues["dominoes"].deals, plan.leagues["dominoes"].seed) == (12, 7)


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("seed = 7", "", "a ladder needs seed"),
        ("seed = 7", "seed = -1", "seed=-1 is not possible"),
        ("title =", "titel =", "titel is no key of a ladder"),
        ('kind = "search"', 'kind = "magic"', "row 3: kind=magic is not possible"),
        ('budget = "0.1 ms"', 'bugdet = "1 ms"', "row 3: bugdet is no key here"),
        ("deals = 12", "deals = 0", "games.kingdomino: deals=0 is not possible"),
        ('dominoes = "random"', 'chess = "random"', "random plays chess, and the games of this ladder are"),
        ('name = "random"', 'name = "greedy"', "two rows named greedy"),
        ("mce(playouts=3)", "mec(playouts=3)", "no policy mec"),
        ('{ kingdomino = "mce(playouts=3)" }', "{}", "plays no game"),
        ("seed = 7", 'seed = 7\nentries = "mine.toml"', "entries=mine.toml is no list of files"),
        ('budget = "0.1 ms"', 'budget = "0.1 ms"\ndeals = 0', "row 3: deals=0 is not possible"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in FILE
    with pytest.raises(KdenvError, match=words):
        read_ladder(written(tmp_path, FILE.replace(old, new, 1))).check()


def test_a_ladder_resumes_and_plays_nothing_twice(plan: Ladder, folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.rglob("*.jsonl")}
    assert len(before) == 4
    again = climb(plan, folder)
    assert {path.name: path.read_bytes() for path in folder.rglob("*.jsonl")} == before
    assert numbers(again) == numbers(climb(plan))
    assert sum(each.games for each in again.standings.values()) == 3 * 12 * 2 + 12 * 4


def test_an_entry_plays_its_own_tables_only(plan: Ladder, folder: Path, tmp_path: Path) -> None:
    """Also from a folder whose games another version of the rules has played, if they are the same games now."""
    shutil.copytree(folder, tmp_path / "games")
    before = {path: path.read_bytes() for path in (tmp_path / "games").rglob("*.jsonl")}
    for path, content in before.items():
        path.write_bytes(re.sub(b'"rules": "[^"]*"', b'"rules": "of yesterday"', content, count=1))
    (path, card) = written(tmp_path, FILE), written(tmp_path, CARD, "card.toml")
    assert merge_ladders(plan, tmp_path / "games", folder) == (0, sum(each.count(b"\n") - 1 for each in before.values()))
    games: list[int] = []
    found = climb(read_ladder(path, [card]), tmp_path / "games", on_result=lambda standings: games.append(standings.games))
    assert {path: path.read_bytes() for path in before} == before
    (mine,) = (row for row in found.rows("kingdomino") if row.label == "mine")
    assert len(list((tmp_path / "games").rglob("*.jsonl"))) == 4 + 3
    assert mine.games == 3 * 12 * 2
    path.write_text(FILE.replace("seed = 7", 'seed = 7\nentries = ["card.toml"]'), encoding="utf-8")
    assert numbers(climb(read_ladder(path, [card]), tmp_path / "games", plays=False)) == numbers(found)
    assert check_entry(read_ladder(path), read_entry(card))


def test_games_are_kept_without_records(folder: Path) -> None:
    for path in folder.rglob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines()[1:]:
            game = json.loads(line)
            assert (game["record"], game["pace"]) == ("", None)
            assert len(line) < 350


def test_two_machines_make_the_same_ladder(plan: Ladder, folder: Path, tmp_path: Path) -> None:
    parts = [tmp_path / "one", tmp_path / "two"]
    for number, part in enumerate(parts, 1):
        climb(plan, part, part=(number, 2))
    assert merge_ladders(plan, parts[0], parts[1]) == (60, 0)
    assert numbers(climb(plan, parts[0], plays=False)) == numbers(climb(plan, folder, plays=False))
    with pytest.raises(BadOption, match="has no games of this ladder"):
        merge_ladders(plan, parts[0], tmp_path)


def test_a_slow_row_has_fewer_deals(tmp_path: Path) -> None:
    found = climb(read_ladder(written(tmp_path, FILE + "deals = 5\n")))
    assert {row.label: row.games for row in found.rows("kingdomino")} == {
        "greedy": 2 * (12 + 5),
        "random": 2 * (12 + 5),
        "flat Monte Carlo, 0.1 ms": 2 * (5 + 5),
    }
    assert "12 deals a table (5 with slow policies)" in found.standings["kingdomino"].heading()
    assert "slow" not in found.standings["dominoes"].heading()
    assert found.standings["kingdomino"].expected == found.standings["kingdomino"].games


def test_each_game_has_the_same_weight() -> None:
    """Ratings are averaged, whatever the numbers of deals, and independent errors add up in squares."""
    rows = [Rung("a", "rule", {"kingdomino": "full_greedy", "dominoes": "greedy"}), Rung("b", "rule", {"kingdomino": "gprd"})]
    plan = Ladder(1, {"kingdomino": LadderGame(1), "dominoes": LadderGame(500)}, rows)

    class Played(Climbed):
        def rows(self, game: str) -> list:
            rating = {"kingdomino": Estimate(100.0, 70.0, 140.0), "dominoes": Estimate(-20.0, -60.0, math.inf)}[game]
            return [type("Row", (), {"label": "a", "rating": rating})]

    found = Played(plan, dict.fromkeys(plan.games))  # type: ignore[arg-type]
    ((row, rating),) = found.overall()
    assert row.name == "a"
    assert rating == Estimate(40.0, pytest.approx(40.0 - 25.0), math.inf)


def test_the_frontier_has_no_row_that_another_one_beats_in_strength_and_time(plan: Ladder, folder: Path) -> None:
    rows = climb(plan, folder, plays=False).rows("kingdomino")
    for row in rows:
        is_beaten = any(
            other.rating.mean > row.rating.mean and other.seconds_per_turn.mean <= row.seconds_per_turn.mean
            for other in rows
            if other is not row
        )
        assert row.on_frontier == (not is_beaten)
    assert any(row.on_frontier for row in rows)


def test_the_files_hold_the_table(plan: Ladder, folder: Path) -> None:
    found = climb(plan, folder, plays=False)
    with (folder / "results.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["game"], row["row"]) for row in rows] == [(game, row.label) for game in plan.games for row in found.rows(game)]
    first = found.rows("kingdomino")[0]
    assert float(rows[0]["rating"]) == pytest.approx(first.rating.mean, rel=1e-5)
    assert {row["training_hours"] for row in rows if row["row"].startswith("flat")} == {"0.5"}
    assert ladder_table.wins_in(folder / "results.csv", "greedy")["dominoes"].mean == pytest.approx(
        next(row.wins.mean for row in found.rows("dominoes") if row.label == "greedy"), rel=1e-5
    )
    drawn = (folder / "kingdomino.svg").read_text(encoding="utf-8")
    assert drawn.startswith("<svg")
    assert drawn.count("stroke-dasharray") == 1  # the frontier, in the grey of no row
    assert drawn.index("the frontier") < min(drawn.index(f">{name}<") for name in ("greedy", "random", "flat Monte Carlo"))
    assert "| flat Monte Carlo" in (folder / "table.md").read_text(encoding="utf-8")
    assert "All games, each with the same weight" in ladder_table.text(found)
    assert "Two small games" in ladder_table.page(found)
    said = ladder_table.as_json(found)
    json.dumps(said, allow_nan=False)
    assert [each["row"] for each in said["overall"]] == [row.label for row, _ in found.overall()]


def test_a_row_is_verified_on_fresh_deals(plan: Ladder, folder: Path) -> None:
    before = ladder_table.wins_in(folder / "results.csv", "greedy")
    found = verify_row(plan, "greedy", before, seed=99)
    assert [each.game for each in found] == ["kingdomino", "dominoes"]
    assert all(each.holds for each in found)
    assert found[0].now.mean != before["kingdomino"].mean
    wrong = {game: Estimate(0.02, 0.001, 0.05) for game in before}
    assert not any(each.holds for each in verify_row(plan, "greedy", wrong, seed=99))
    assert "DOES NOT HOLD" in str(verify_row(plan, "greedy", wrong, seed=99)[0])
    with pytest.raises(BadOption, match="no row nobody"):
        verify_row(plan, "nobody", before, seed=99)


def test_a_row_is_verified_at_its_own_tables(tmp_path: Path) -> None:
    """A row that entered later sits at other tables than if all rows had begun together. With the old seed it has the old result."""
    path, card = written(tmp_path, FILE.replace("players = 2", "players = 3")), written(tmp_path, CARD, "card.toml")
    climb(read_ladder(path, [card]), tmp_path)
    with card.open("a", encoding="utf-8") as file:
        file.write(CARD[CARD.index("[[rows]]") :].replace("mine", "other").replace("gprd", "mce(playouts=1)"))
    entered = read_ladder(path, [card])
    for row in climb(entered, tmp_path).rows("kingdomino"):
        if "kingdomino" in row.row.policy and "dominoes" not in row.row.policy:
            (found,) = verify_row(entered, row.label, {"kingdomino": row.wins}, seed=7, folder=tmp_path)
            assert found.now == found.before


def test_a_verification_that_is_interrupted_has_no_result(plan: Ladder, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    def interrupted(match: Match, *, on_result: object, **how: object) -> bool:
        return play(match, on_result=interrupt, **how)

    monkeypatch.setattr(ladder_checks, "play", interrupted)
    with pytest.raises(KeyboardInterrupt):
        verify_row(plan, "greedy", ladder_table.wins_in(folder / "results.csv", "greedy"), seed=99)


@pytest.mark.parametrize("checks", [1, 10])
def test_a_row_that_is_as_strong_seldom_fails(checks: int) -> None:
    """Two shares of 48 wins each, of policies that win 60 %: about 1 of 100 differs by more than is allowed, and 1 of 1,000 of ten."""
    import numpy as np

    from kdenv.arena import DealSums
    from kdenv.arena.ladder_checks import Verified

    rng, failed = np.random.default_rng(4), 0
    for _ in range(1000):
        shares = []
        for _ in range(2):
            sums = DealSums(1)
            for deal, won in enumerate(rng.random(48) < 0.6):
                sums.add(deal, [float(won)])
            shares.append(sums.share(0))
        failed += not Verified("kingdomino", "a", *shares, checks).holds
    assert failed <= 10 / checks + 4.9 * math.sqrt(10 / checks)


def test_an_entry_is_checked(plan: Ladder, tmp_path: Path) -> None:
    entry = read_entry(written(tmp_path, CARD))
    (line,) = check_entry(plan, entry)
    assert line.startswith("mine plays kingdomino: ")
    entered = read_ladder(written(tmp_path, FILE), [written(tmp_path, CARD, "card.toml")])
    assert entered.rows[-1] == replace(entry.rungs[0], by="somebody")


def test_an_entry_plays_at_tables_of_more_than_two(tmp_path: Path) -> None:
    plan = read_ladder(written(tmp_path, FILE.replace("players = 2", "players = 3")))
    (line,) = check_entry(plan, read_entry(written(tmp_path, CARD)))
    assert line.startswith("mine plays kingdomino: ")


@pytest.mark.parametrize(
    "old, new, words",
    [
        ('who = "somebody"', 'who = " "', "who is empty"),
        ('hardware = "one core"', "", "the key hardware is missing"),
        ('name = "mine"', 'name = "greedy"', "give yours another name"),
        ('kingdomino = "gprd"', 'dominion = "big_money"', "plays dominion, and the games of this ladder are"),
        ("gprd", "grpd", "no policy grpd"),
        ('kind = "rule"', "", "the key kind is missing"),
    ],
)
def test_a_mistake_in_an_entry_is_named(plan: Ladder, tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in CARD
    with pytest.raises(KdenvError, match=words):
        check_entry(plan, read_entry(written(tmp_path, CARD.replace(old, new))))


def test_a_model_must_be_the_file_that_was_frozen(plan: Ladder, tmp_path: Path) -> None:
    card = CARD.replace('kingdomino = "gprd"', 'dominoes = "ppo(dominoes-ppo)"')
    with pytest.raises(BadOption, match=r'not frozen; write models = \{ "dominoes-ppo" = "([0-9a-f]{12})" \}') as found:
        check_entry(plan, read_entry(written(tmp_path, card)))
    digest = str(found.value).split('"')[-2]
    frozen = card + f'models = {{ "dominoes-ppo" = "{digest}" }}\n'
    assert len(check_entry(plan, read_entry(written(tmp_path, frozen)))) == 1
    changed = frozen.replace(digest, "0" * 12)
    with pytest.raises(BadOption, match=f"has the digest {digest}, and the one that was frozen is 000000000000"):
        check_entry(plan, read_entry(written(tmp_path, changed)))


def test_code_must_be_the_file_that_was_frozen(plan: Ladder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    code = written(tmp_path, "def last(view):\n    return view.legal()[-1]\n", "code_of_an_entry.py")
    card = CARD.replace("gprd", "code_of_an_entry:last")
    with pytest.raises(BadOption, match=r'write models = \{ "code_of_an_entry" = "([0-9a-f]{12})" \}') as found:
        check_entry(plan, read_entry(written(tmp_path, card)))
    entry = read_entry(written(tmp_path, card + f'models = {{ code_of_an_entry = "{str(found.value).split(chr(34))[-2]}" }}\n'))
    assert check_entry(plan, entry)
    code.write_text(code.read_text(encoding="utf-8").replace("-1", "0"), encoding="utf-8")
    with pytest.raises(BadOption, match=r"mine: code_of_an_entry has the digest .*, and the one that was frozen is"):
        check_entry(plan, entry)


def test_results_of_something_else_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRecord, match="has not the columns of a ladder"):
        ladder_table.wins_in(written(tmp_path, "a,b\n1,2\n", "results.csv"), "greedy")


def test_the_template_of_an_entry_passes() -> None:
    root = Path(__file__).parents[2] / "baselines" / "ladder"
    assert read_entry(root / "entries" / "template.toml").rungs
    assert {row.kind for row in read_ladder(root / "ladder.toml").rows} >= {"rule", "paper", "search", "learned"}


def test_the_ladder_of_the_project_is_played() -> None:
    """Whoever enters it goes on from its games. Nothing is compared with the rules of today."""
    root = Path(__file__).parents[2] / "baselines" / "ladder"
    plan = read_ladder(root / "ladder.toml")
    entered = [row for row in plan.rows if row.by]
    assert entered
    for row in entered:
        row.check(plan.games)
    with (root / "results.csv").open(encoding="utf-8") as file:
        rows = {(row["game"], row["row"]): row["policy"] for row in csv.DictReader(file)}
    assert rows == {(game, row.label): text for row in plan.rows for game, text in row.policy.items()}
    for game, of_game in plan.leagues.items():
        known = known_tables(of_game, root / game)
        (tables,) = of_game.rounds_of_tables(known, list)
        assert known >= set(tables)
        for table in known:
            match = of_game.match(table)
            assert path_in(root / game, match).read_bytes().count(b"\n") == 1 + match.games


@pytest.mark.cold
def test_the_command_plays_verifies_and_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = written(tmp_path, FILE), tmp_path / "games"
    card = written(tmp_path, CARD, "card.toml")
    command = ["ladder", str(path), "--out", str(out)]
    assert main([*command, "--check", str(card)]) == 0
    assert "may enter" in capsys.readouterr().out
    assert main([*command, "--enter", str(card), "--report", str(tmp_path / "page.html")]) == 0
    shown = capsys.readouterr().out
    assert "mine" in shown and "All games" in shown
    assert main([*command, "--enter", str(card), "--verify", "mine", "--seed", "3"]) == 0
    assert "holds" in capsys.readouterr().out
    assert main([*command, "--only-rate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["finished"]
    assert main(["ladder", str(path), "--out", str(tmp_path / "empty"), "--verify", "greedy"]) == 2
