"""Does `kdenv reproduce` keep games through kills and in fresh clones, give each row deals of its own, and say who played them?"""

import csv
import gzip
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from baselines.papers import matches, page, saved_games, tables
from kdenv.arena import Match, Result
from kdenv.cli import main
from kdenv.core.errors import BadOption, BadRecord

ROOT = Path(__file__).parents[2]
ROUND = "dominoes; mode=round; greedy v random v greedy v random"
OTHER = "dominoes; mode=round; random v greedy v random v greedy"
HEADER = "table,row,measure,value,n,half,source,how,quick,default,full,why\n"
ROWS = [("match " + ROUND, "one"), ("match " + OTHER, "two"), ("seats " + ROUND, "three"), ("match " + ROUND + " ", "one again")]


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two rows of one paper and a third with the match of the first. The games of rule players are worth keeping."""
    (tmp_path / "expected").mkdir()
    lines = [f"T,one,wins,50,100,,here,match {ROUND},4,8,8,\n", f"T,two,wins,50,100,,here,match {OTHER},4,8,8,\n"]
    lines += [f"U,three,margin,50,100,,here,match {ROUND},4,8,8,\n", "U,four,count,1,,,here,call team_0_wins,yes,yes,yes,\n"]
    for paper in tables.PAPERS:
        (tmp_path / "expected" / f"{paper}.csv").write_text(HEADER + "".join(lines if paper == "dominai2016" else []), encoding="utf-8")
    shutil.copy(tables.ROOM / "expected" / "captions.csv", tmp_path / "expected")
    monkeypatch.setattr(tables, "ROOM", tmp_path)
    monkeypatch.setattr(saved_games, "_WORTH", 0.0)
    monkeypatch.setattr(saved_games, "commit_here", lambda: "first")
    monkeypatch.setattr("baselines.papers.dominai2016._ROUNDS", 200)
    return tmp_path


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the games that are played during a test."""
    numbers: list[int] = []
    real = saved_games.KeptGames.add

    def add(games: saved_games.KeptGames, result: Result, commit: str) -> Result:
        numbers.append(result.number)
        return real(games, result, commit)

    monkeypatch.setattr(saved_games.KeptGames, "add", add)
    return numbers


def reproduce(*words: str) -> list[tables.Line]:
    assert main(["reproduce", "dominai2016", *words]) == 0
    return tables.results_of("dominai2016")


def numbers(games: matches.Games) -> list[tuple[int, list[int]]]:
    return [(result.number, result.scores) for result in games.results]


# Kills and fresh clones

KILLED = """
import os, signal, sys
from pathlib import Path
from baselines.papers import matches, saved_games

class Killer:
    left = 3
    def step(self):
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)

saved_games._WORTH = 0.0
matches.Matches(Path(sys.argv[1]), lambda n, what: Killer(), commit="killed").play("match", sys.argv[2], 6)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
@pytest.mark.parametrize("half", [b"", b'{"number":15,"deal":3,"sco'], ids=["between games", "within a write"])
def test_a_run_that_was_killed_goes_on_after_its_last_game(half: bytes, tmp_path: Path, played: list[int]) -> None:
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "games"), ROUND], cwd=ROOT, timeout=600)
    assert ended.returncode == -signal.SIGKILL
    [journal] = (tmp_path / "games").glob("*.jsonl")
    with journal.open("ab") as file:
        file.write(half)
    games = matches.Matches(tmp_path / "games", commit="later").play("match", ROUND, 6)
    assert len(played) == 3
    assert numbers(games) == numbers(matches.Matches(tmp_path / "other").play("match", ROUND, 6))
    assert games.commits == ["killed", "later"]
    played.clear()
    assert numbers(matches.Matches(tmp_path / "games").play("match", ROUND, 6)) == numbers(games) and played == []


def test_a_fresh_clone_goes_on_from_the_packed_games(tmp_path: Path, played: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_games, "_WORTH", 0.0)
    first = matches.Matches(tmp_path / "first", commit="a").play("match", ROUND, 4)
    assert [path.suffix for path in (tmp_path / "first").iterdir()] == [".gz"], "only what git has is there"
    shutil.copytree(tmp_path / "first", tmp_path / "clone")
    played.clear()
    same = matches.Matches(tmp_path / "clone").play("match", ROUND, 4)
    assert (numbers(same), same.commits, played) == (numbers(first), ["a"], [])
    more = matches.Matches(tmp_path / "clone", commit="b").play("match", ROUND, 7)
    assert (numbers(more)[:4], more.commits, len(played)) == (numbers(first), ["a", "b"], 3)
    fewer = matches.Matches(tmp_path / "clone").play("match", ROUND, 2)
    assert (numbers(fewer), fewer.commits, len(played)) == (numbers(first)[:2], ["a"], 3)


def test_what_is_measured_is_the_same_in_a_run_that_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also times, which are kept with four digits."""
    monkeypatch.setattr(saved_games, "_WORTH", 0.0)
    words = "dominoes; mode=round; ismcts(playouts=5) v random v ismcts(playouts=5) v random"
    first, again = (matches.Matches(tmp_path).play("match", words, 4) for _ in range(2))
    assert first.results[0].seconds is not None and first.results[0].pace is not None
    assert again.results == first.results
    times = [*first.results[0].seconds, *(seconds for mine in first.results[0].pace for seconds, _ in mine)]
    assert times == [float(f"{seconds:.4g}") for seconds in times]


def test_games_without_a_change_leave_the_packed_file_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that git sees no change, whatever the compressor of this Python."""
    monkeypatch.setattr(saved_games, "_WORTH", 0.0)
    matches.Matches(tmp_path).play("match", ROUND, 4)
    [packed] = tmp_path.iterdir()
    other = gzip.compress(gzip.decompress(packed.read_bytes()), 1, mtime=5)
    packed.write_bytes(other)
    matches.Matches(tmp_path).play("match", ROUND, 4)
    assert [path.name for path in tmp_path.iterdir()] == [packed.name] and packed.read_bytes() == other


def test_packed_games_are_in_order_and_of_no_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte of a time would make another file of the same games."""
    monkeypatch.setattr(saved_games, "_WORTH", 0.0)
    games = matches.Matches(tmp_path / "other").play("match", ROUND, 4)
    with saved_games.KeptGames(tmp_path / "games", games.match) as file:
        for result in reversed(games.results):
            file.add(result, "commit")
    packed = tmp_path / "games.jsonl.gz"
    assert packed.read_bytes()[4:8] == bytes(4)
    first, *games = (json.loads(line) for line in gzip.decompress(packed.read_bytes()).splitlines())
    assert first["format"] == saved_games.FORMAT and first["match"]["line_up"] == ["greedy", "random"] * 2
    assert [game["number"] for game in games] == [0, 5, 10, 15]


def test_games_that_are_quick_to_play_are_not_packed(tmp_path: Path) -> None:
    folder = tmp_path / "games"
    run = matches.Matches(folder)
    run.play("match", ROUND, 4)
    assert [path.suffix for path in folder.iterdir()] == [".jsonl"]
    run.forget("match", ROUND, 3)  # as if a longer match had been interrupted
    assert folder.exists()
    run.forget("match", ROUND, 4)
    assert not folder.exists()


def test_two_runs_do_not_play_the_same_match_at_once(tmp_path: Path) -> None:
    match = Match("dominoes", ["greedy", "random"] * 2, 4, 1, {"mode": "round"})
    with (
        saved_games.KeptGames(tmp_path / "games", match),
        pytest.raises(BadOption, match=r"another run plays the match of .*games.jsonl; wait until it has ended"),
        saved_games.KeptGames(tmp_path / "games", match),
    ):
        pass


@pytest.mark.parametrize(
    "spoil, words",
    [
        (lambda data: data[: len(data) // 2], r"jsonl.gz is damaged \(.*\); remove it, and its games are played again"),
        (lambda data: b"nothing", r"jsonl.gz is damaged \(Not a gzipped file .*\); remove it"),
        (lambda data: gzip.compress(b"[]\n"), r"line 1 of .*jsonl.gz is damaged \(.*\); remove the file, and its games are played again"),
        (
            lambda data: gzip.compress(gzip.decompress(data) + b"{}\n"),
            r"line 6 of .*jsonl.gz is damaged \(its fields are not those of a game\); remove",
        ),
        (lambda data: gzip.compress(gzip.decompress(data).replace(b'"wins":[', b'"wins":[1.0,')), r"line 2 of .*\(wins has not 4 numbers"),
        (lambda data: gzip.compress(gzip.decompress(data).replace(b'"greedy"', b'"other"', 1)), "line 1 of .* begins with another match"),
    ],
    ids=["cut", "not packed", "a list", "no game", "five wins", "another match"],
)
def test_a_damaged_file_is_told(spoil: Callable[[bytes], bytes], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_games, "_WORTH", 0.0)
    matches.Matches(tmp_path).play("match", ROUND, 4)
    [packed] = tmp_path.iterdir()
    packed.write_bytes(spoil(packed.read_bytes()))
    with pytest.raises(BadRecord, match=words):
        matches.Matches(tmp_path).play("match", ROUND, 4)


def packed_of(path: Path, seconds: float, size: int) -> Path:
    """A packed file of this size, about, with so many seconds of games."""
    path.parent.mkdir(exist_ok=True)
    noise = bytes(i * i % 251 for i in range(size)).hex().encode()
    path.write_bytes(gzip.compress(json.dumps({"seconds": seconds}).encode() + b"\n" + noise, 0))
    return path


def test_if_there_are_too_many_games_those_that_are_quickest_to_play_go(tmp_path: Path) -> None:
    dear, long, cheap = (packed_of(tmp_path / name / f"{name}.jsonl.gz", *of) for name, of in
                         {"dear": (100.0, 500), "long": (100.0, 2000), "cheap": (1.0, 500)}.items())  # fmt: skip
    total = sum(path.stat().st_size for path in (dear, long, cheap))
    assert saved_games.trim(tmp_path, total) == []
    assert saved_games.trim(tmp_path, total - 1) == [cheap]
    assert saved_games.trim(tmp_path, 2000) == [long]
    assert dear.exists() and not cheap.exists() and not long.exists()
    dear.write_bytes(gzip.compress(b""))
    with pytest.raises(BadRecord, match=r"line 1 of .*dear.jsonl.gz is damaged; remove the file"):
        saved_games.trim(tmp_path, 0)


def test_git_has_packed_games_and_not_journals_and_they_are_not_too_many() -> None:
    folder = ROOT / "baselines" / "papers" / "games"
    assert sum(path.stat().st_size for path in folder.rglob("*.jsonl.gz")) <= saved_games.MOST == 20_000_000
    ignored = []
    for name in ("a.jsonl.gz", "a.jsonl", "a.lock", ".a.jsonl.gz.new"):
        told = subprocess.run(["git", "-C", str(ROOT), "check-ignore", "-q", f"baselines/papers/games/gedda2018/{name}"])
        if told.returncode not in (0, 1):
            pytest.skip("this is no checkout of git")
        ignored += [name] if told.returncode == 0 else []
    assert ignored == ["a.jsonl", "a.lock", ".a.jsonl.gz.new"]


# Seeds


def test_each_match_has_its_own_deals_from_the_seed_and_the_row(tmp_path: Path) -> None:
    def seeds(seed: int) -> list[int]:
        run = matches.Matches(tmp_path, rows=ROWS, seed=seed)
        return [run.match(*how.split(" ", 1), 4).seed for how, _ in ROWS]

    one, two, three, again = seeds(1)
    assert len({one, two, three}) == 3 and again == one
    assert seeds(1) == [one, two, three, again]
    assert not set(seeds(2)) & {one, two, three}
    renamed = matches.Matches(tmp_path, rows=[(ROWS[0][0], "another name")], seed=1)
    assert renamed.match("match", ROUND, 4).seed != one


def test_rows_of_one_match_share_its_games_also_across_runs_and_spellings(tmp_path: Path, played: list[int]) -> None:
    words = ["dominion; max_turns=9; uct_mod/t28(playouts=10) v bmfsm", "dominion; max_turns=9; uct_mod(least=1, playouts=10) v bmfsm"]
    rows = [(f"match {text}", f"row {i}") for i, text in enumerate(words)]
    first = matches.Matches(tmp_path, rows=rows).play("match", words[0], 2)
    played.clear()
    again = matches.Matches(tmp_path, rows=rows).play("match", words[1], 2)
    assert again.results == first.results and played == []


@pytest.mark.parametrize("paper", tables.PAPERS)
def test_no_two_matches_of_a_paper_have_the_same_deals(paper: str, tmp_path: Path) -> None:
    lines = [line for line in tables.expected_of(paper) if line.how.partition(" ")[0] in matches.KINDS]
    run = matches.Matches(tmp_path, rows=[(line.how, f"{paper}, {line.table}, {line.row}") for line in lines])
    seeds: dict[int, object] = {}
    for how in dict.fromkeys(line.how for line in lines):
        kind, _, words = how.partition(" ")
        assert seeds.setdefault(run.match(kind, words, 1).seed, matches.match_key(kind, words)) == matches.match_key(kind, words)
    assert len(seeds) == len(set(seeds.values()))


# Lines


def test_lines_say_seed_games_and_commit(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = reproduce("--games", "12", "--seed", "5")
    assert [(line.games, line.seed, line.commit, line.size) for line in lines] == [("12", "5", "first", "games")] * 3 + [
        ("", "5", "first", "games")
    ]
    seeds = [line.match_seed for line in lines]
    assert seeds[0] == seeds[2] != seeds[1] and seeds[3] == "" and "5" not in seeds
    assert ", 12 games, seed 5, commit first; paper 50" in capsys.readouterr().out
    files = sorted(path.relative_to(room / "games").as_posix()[:-18] for path in (room / "games").rglob("*.jsonl.gz"))
    assert files == ["dominai2016/t-one-5", "dominai2016/t-two-5"]
    assert "Games: seed 5, own deals, played by first." in (room / "RESULTS.md").read_text(encoding="utf-8")


def test_lines_are_made_again_for_another_seed_and_for_more_games_only(room: Path, played: list[int]) -> None:
    def of_all() -> tuple[set[str], set[str]]:
        lines = tables.results_of("dominai2016")
        return {line.seed for line in lines}, {line.games for line in lines if line.games}

    for words, games, seeds, has in (
        (["--quick"], 4 + 4, {"2026"}, {"4"}),
        (["--seed", "2026", "--quick"], 0, {"2026"}, {"4"}),
        (["--games", "3"], 0, {"2026"}, {"4"}),
        (["--games", "6"], 2 + 2, {"2026"}, {"6"}),
        (["--games", "5", "--seed", "7"], 6 + 6, {"7"}, {"6"}),  # no line is replaced by one of fewer games
        (["--quick", "--seed", "8"], 6 + 6, {"8"}, {"6"}),
        (["--games", "5"], 0, {"8"}, {"6"}),
        (["--games", "6", "--seed", "2026"], 0, {"2026"}, {"6"}),  # its games are still there
    ):
        played.clear()
        reproduce(*words)
        assert (len(played), *of_all()) == (games, seeds, has), words


def test_lines_of_shared_deals_stay_unless_a_seed_is_asked_for(room: Path, played: list[int]) -> None:
    """As the lines that are older than deals of their own."""
    lines = reproduce("--quick")
    path = room / "results" / "dominai2016.csv"
    old = [name for name in vars(lines[0]) if name not in ("match_seed", "commit")]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, old, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(vars(line) for line in lines)
    shutil.rmtree(room / "games")
    played.clear()
    assert [(line.seed, line.match_seed, line.commit) for line in reproduce("--quick")] == [("2026", "2026", "")] * 4
    assert played == []
    assert "Games: seed 2026, shared deals, played by a commit that is not known." in page.page()
    assert [line.match_seed != line.seed for line in reproduce("--quick", "--seed", "2026")] == [True] * 4
    assert len(played) == 8


def test_again_plays_what_another_commit_has_played(room: Path, played: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    reproduce("--quick")
    for commit, words, games, says in (
        ("first", ["--again", "--quick"], 0, "first"),
        ("second", ["--quick"], 0, "first"),
        ("second", ["--again", "--quick"], 8, "second"),
        ("third", ["--games", "6"], 4, "second third"),
        ("third", ["--again", "--games", "6"], 8, "third"),
        ("third+", ["--again", "--games", "6"], 12, "third+"),  # files have changed since, so it is not known what played
        ("third+", ["--again", "--games", "6"], 12, "third+"),
        ("", ["--again", "--games", "6"], 12, ""),  # this is no checkout
        ("", ["--again", "--games", "6"], 12, ""),
    ):
        monkeypatch.setattr(saved_games, "commit_here", lambda commit=commit: commit)
        played.clear()
        lines = reproduce(*words)
        assert (len(played), {line.commit for line in lines[:3]}) == (games, {says}), (commit, words)


def test_a_run_that_makes_rows_again_plays_no_game_of_its_own_again(tmp_path: Path, played: list[int]) -> None:
    """Lines of the same match may have different numbers of games."""
    run = matches.Matches(tmp_path, commit="changed+", again=True)
    run.play("match", ROUND, 2)
    run.play("match", ROUND, 4)
    assert len(played) == 4


def test_one_game_has_numbers_without_intervals(room: Path) -> None:
    expected = (
        f"T,one,{measure},5,,,here,match {ROUND},4,8,8,\n"
        for measure in (
            "wins first",
            "wins second",
            "deviation",
            "points = 0",
            "seconds",
            "seconds 1-2",
            "turns / open",
            "points 1",
            "least second",
        )
    )
    (room / "expected" / "dominai2016.csv").write_text(HEADER + "".join(expected), encoding="utf-8")
    lines = reproduce("--games", "1")
    assert [line.games for line in lines] == ["1"] * 9
    assert {line.verdict for line in lines} <= {"same match", "not comparable", "cannot tell", "not tried"}


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--games", "0"], "argument --games: 0 is not possible; it is a whole number from 1 to 1000000"),
        (["--games", "many"], "argument --games: many is not possible; it is a whole number from 1 to 1000000"),
        (["--seed", "-1"], "argument --seed: -1 is not possible; it is a whole number from 0 to 9223372036854775807"),
        (["--seed", "1.5"], "argument --seed: 1.5 is not possible; it is a whole number from 0 to 9223372036854775807"),
        (["--games", "5", "--quick"], "argument --quick: not allowed with argument --games"),
    ],
)
def test_a_wrong_number_is_told(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["reproduce", *words])
    told = capsys.readouterr().err
    assert sentence in told and told.count("\n") == 1


def test_a_file_that_has_no_results_is_told(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (room / "results").mkdir()
    (room / "results" / "dominai2016.csv").write_text("table,row\nT,one\n", encoding="utf-8")
    assert main(["reproduce", "dominai2016"]) == 2
    assert "dominai2016.csv is no file of results of kdenv reproduce" in capsys.readouterr().err


def test_every_committed_number_says_its_commit_and_every_game_its_seed() -> None:
    for paper in tables.PAPERS:
        for line in tables.results_of(paper):
            assert bool(line.commit) == bool(line.ours), line
            assert bool(line.seed) >= bool(line.games), line
            assert bool(line.seed) >= bool(line.match_seed), line


def test_the_commit_is_that_of_this_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: Any = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True, encoding="utf-8")
    if told.returncode:
        pytest.skip("this is no checkout of git")
    assert told.stdout.startswith(saved_games.commit_here().removesuffix("+")) and len(saved_games.commit_here()) >= 10
    monkeypatch.setattr(saved_games, "_ROOT", tmp_path)
    assert saved_games.commit_here() == ""
