"""Does `kdenv reproduce` make the tables of the papers, go on where it stopped, and judge the numbers rightly?"""

import csv
import json
import math
import random
import re
import shutil
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from baselines.papers import claims, dominai2016, figures, gedda2018, heyden2009, jansen2014, matches, page, saved_games, tables, wong_kang
from kdenv.arena import Match, Result
from kdenv.cli import main, reproduce

HEADER = "table,row,measure,value,n,half,source,how,quick,default,full,why\n"
PAPERS = list(tables.PAPERS)


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the expected numbers of the papers, to which results are written."""
    (tmp_path / "expected").mkdir()
    for name in (*PAPERS, "captions"):
        (tmp_path / "expected" / f"{name}.csv").write_bytes((tables.ROOM / "expected" / f"{name}.csv").read_bytes())
    monkeypatch.setattr(tables, "ROOM", tmp_path)
    return tmp_path


@pytest.mark.parametrize("paper", PAPERS)
def test_every_line_can_be_made_or_says_why_not(paper: str, tmp_path: Path) -> None:
    module = {"gedda2018": gedda2018, "heyden2009": heyden2009, "jansen2014": jansen2014, "dominai2016": dominai2016}.get(paper)
    lines = tables.expected_of(paper)
    assert len({line.key for line in lines}) == len(lines), "two lines have the same name"
    for line in lines:
        kind, _, rest = line.how.partition(" ")
        assert line.source and (line.value or line.why), line
        if kind in ("match", "seats"):
            matches.Matches(tmp_path).match(kind, rest, 1)
            assert int(line.quick) <= int(line.default) and int(line.full) >= 0
        elif kind == "call" and module is not None:
            assert callable(getattr(module, rest.split()[0]))
        else:
            assert kind in ("", "call"), line


# How many numbers the tables of the papers print that can be played, counted or searched; of a figure its points, or 1 if it prints none.
# A table of configurations, or of games with people has one line that says why it is not made.
PRINTED: dict[str, dict[str, int]] = {
    "wong_kang": {"Section 2": 4, "Section 3": 1, "Section 4": 4, "Section 5": 5},
    "gedda2018": {
        "Table I": 3 * 3,
        "Section II.B": 3,
        "Table II": 4,
        "Table III": 1 + 16 * 10,
        "Figure 2": 3 * 13,
        "Figure 3": 3 * 13,
        "Figure 4": 4 * 13,
        "Figure 5": 1,
        "Figure 6": 1,
        "Figure 7": 62,
        "Figure 8": 4 * 7,
    },
    "jansen2014": dict.fromkeys((f"Table {n}" for n in range(1, 58)), 1)
    | {"Table 3": 6, "Table 4": 11, "Table 6": 8, "Table 8": 4, "Table 10": 8, "Table 12": 5, "Table 14": 11, "Table 16": 2, "Table 18": 4}
    | {"Table 20": 7, "Table 22": 5, "Table 25": 6 * 3, "Table 51": 2, "Figure 25": 1, "Figure 26": 1}
    | {"Table 53": 5 * 3, "Table 54": 4 * 3, "Table 55": 4 * 3, "Table 56": 4 * 3}
    | {f"Table {n}": 4 for n in (27, 29, 31, 36, 37, 39, 40, 43, 44, 45, 47, 48)},
    "heyden2009": {
        "Table 3.1": 2 * 27,
        "Section 3.2": 3,
        "Section 6.3.5": 1,
        **{f"Table 6.{n}": 1 + 6 + 4 * 4 for n in (1, 3, 8)},
        "Table 6.2": 7 * (1 + 2 * 3),
        "Table 6.4": 6 + 4,
        "Table 6.5": 1,
        "Table 6.6": 7 + 6,
        "Table 6.7": 3,
        "Figure 3.1": 7,
        "Figure 3.2": 1,
        "Figure 6.5": 101,
        "Figure 6.6": 1,
        "Section 6.5": 3,
        **{f"Figure 6.{n}": 1 for n in (1, 2, 3, 4, 7, 8)},
    },
    "dominai2016": {"Figure 1": 9, "Figure 2": 12, "Figure 3": 1, "Section IV.D": 4, "Section V.A": 3, "Section V.B": 3},
}


@pytest.mark.parametrize("paper", PAPERS)
def test_every_row_of_every_table_has_a_line(paper: str) -> None:
    lines = tables.expected_of(paper)
    short = {table: n for table, n in PRINTED[paper].items() if sum(line.table == table for line in lines) < n}
    assert short == {}
    made = {line.table for line in lines if line.how}
    assert made <= {table for name, table in tables.captions() if name == paper}, "tables without a caption"


@pytest.mark.parametrize("paper", PAPERS)
def test_the_committed_results_have_every_line_or_say_why_not(paper: str) -> None:
    results = {(line.table, line.row, line.measure): line for line in tables.results_of(paper)}
    assert [line.key for line in tables.expected_of(paper) if line.key not in results] == []
    assert [line for line in results.values() if not line.ours and not line.why] == []
    assert {line.verdict for line in results.values()} <= set(page.VERDICTS)


def test_the_committed_pages_and_figures_are_those_of_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "out", None)
    shutil.copytree(tables.ROOM / "results", tmp_path / "results")
    shutil.copy(tables.ROOM / "README.md", tmp_path)
    assert main(["reproduce", "--page", "--out", str(tmp_path)]) == 0
    made = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    committed = {name: (tables.ROOM / name).read_bytes() for name in made if (tables.ROOM / name).exists()}
    others = sorted(name for name in made if made[name] != committed.get(name))
    assert {"RESULTS.md", "CLAIMS.md", "results/claims.csv"} < made.keys()
    assert others == [], "these files are older than the results; run `kdenv reproduce --page` and commit what it writes"


def test_the_committed_kingdoms_are_the_best_that_are_known() -> None:
    """A result is kept as long as its line is the same, also if best_kingdoms.txt has a better kingdom since."""
    lines = [line for line in tables.results_of("wong_kang") if line.how.startswith("call most_points")]
    assert len(lines) == 6
    for each in lines:
        _, _, *arguments = each.how.split()
        assert float(each.ours) == wong_kang.most_points(*arguments), each.row


def test_a_line_of_a_match_that_is_not_played_says_with_which_size_it_is(room: Path) -> None:
    how = "match dominoes; mode=round; greedy v random v greedy v random"
    other = "match dominoes; mode=round; random v greedy v random v greedy"
    lines = [f"T,a,score,50,100,,here,{how},0,10,30,\n", f"T,b,score,50,100,,here,{other},0,0,30,it takes a minute\n"]
    (room / "expected" / "dominai2016.csv").write_text(HEADER + "".join(lines))
    tables.run("dominai2016", None, "quick", lambda *_: None)
    assert [(line.verdict, line.why) for line in tables.results_of("dominai2016")] == [
        ("not tried", "not tried in this size: the default plays 10 games"),
        ("not tried", "it takes a minute; not tried in this size: --full plays 30 games"),
    ]


def test_a_line_that_is_kept_is_judged_by_what_is_known_now(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    how = "match dominoes; mode=round; greedy v random v greedy v random"
    verdicts = []
    for n, why in ((1000, ""), (2, "a remark"), (1000, "not comparable: another remark")):
        (room / "expected" / "dominai2016.csv").write_text(HEADER + f"T,a,wins,5,{n},,here,{how},40,40,40,{why}\n")
        tables.run("dominai2016", None, "quick", lambda *_: None)
        [made] = tables.results_of("dominai2016")
        verdicts.append((made.verdict, made.why))
        monkeypatch.setattr(tables, "_line", lambda *_: pytest.fail("what was made is made again"))
    assert verdicts == [("differs", ""), ("cannot tell", "a remark"), ("not comparable", "not comparable: another remark")]


Judge = Callable[..., dict[str, tables.Line]]
A, B = (
    f"match dominoes; mode=round; {policies}" for policies in ("greedy v random v greedy v random", "random v greedy v random v greedy")
)


@pytest.fixture
def judge(room: Path) -> Judge:
    """A function of lines, which gives them with their verdicts, by row.

    A line has a row, a measure, the paper's value, its n and half width, how it is made, ours, its 95 % interval, games, source and remark.
    """

    def judged(*lines: tuple[Any, ...]) -> dict[str, tables.Line]:
        expected, made = [], {}
        for row, measure, value, n, half, how, ours, low, high, games, *more in lines:
            source, why = (*more, *("here", "")[len(more) :])
            expected.append(["T", row, measure, value, n, half, source, how, "1", "1", "1", why])
            texts = dict.fromkeys(tables.Line.__dataclass_fields__, "")
            numbers = {"ours": ours, "low": low, "high": high, "games": games, "paper": value}
            texts |= {"table": "T", "row": row, "measure": measure, "how": how, **{name: str(number) for name, number in numbers.items()}}
            made["T", row, measure] = tables.Line(**texts)
        with (room / "expected" / "dominai2016.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([HEADER.strip().split(","), *expected])
        return {f"{row}, {measure}": line for (_, row, measure), line in tables.judged("dominai2016", made).items()}

    return judged


@pytest.mark.parametrize(
    "paper, ours, verdict",
    [
        (("count", 21, "", ""), (21, "", ""), "agrees"),
        (("count", 21, "", ""), (22, "", ""), "differs"),
        (("about", "5e40", "", ""), (5.1e40, "", ""), "agrees"),
        (("about", "5e40", "", ""), (4e41, "", ""), "differs"),
        (("log10", 61.57, "", ""), (61.70, "", ""), "agrees"),
        (("log10", 61.57, "", ""), (62.57, "", ""), "differs"),
        (("open", 60, "", 1), (61, 60, 62), "agrees"),
        (("open", 60, "", 1), (70, 69, 71), "differs"),
        (("open", 60, "", 1), (63, 61, 65), "differs slightly"),
        (("open", 60, "", 1), (65, 55, 75), "cannot tell"),
        (("open", 60, "", ""), (60, 59, 61), "not comparable"),
        (("nodes", "", "", ""), (60, "", ""), "not comparable"),
        (("count", "5", "", ""), ("", "", ""), "not tried"),
    ],
)
def test_verdicts_of_numbers_that_are_not_of_a_match(judge: Judge, paper: tuple[Any, ...], ours: tuple[Any, ...], verdict: str) -> None:
    [line] = judge(("a", *paper, "call team_0_wins", *ours, "")).values()
    assert line.verdict == verdict


def test_a_match_has_one_verdict(judge: Judge) -> None:
    """Wins come before the margin, later rounds before earlier ones, and what can be compared before all."""
    lines = judge(
        ("a", "draws", 2, 200, "", A, 2, 1, 4, 200),
        ("a", "wins", 60, 200, "", A, 61, 54, 68, 200),
        ("a", "margin", 9, "", 0.1, A, -9, -9.1, -8.9, 200),
        ("b", "points 1", 9, "", 0.1, B, 9, 8.9, 9.1, 200),
        ("b", "points 2", 9, "", 0.1, B, 15, 14.9, 15.1, 200),
        ("b", "wins", 99, "", "", B, 1, 0, 2, 200),
    )
    assert {name: line.verdict for name, line in lines.items()} == {
        "a, draws": "same match",
        "a, wins": "agrees",
        "a, margin": "same match",
        "b, points 1": "same match",
        "b, points 2": "differs",
        "b, wins": "same match",
    }
    wins, points = lines["a, wins"], lines["b, points 2"]
    assert float(wins.difference) == 1 and float(wins.p) > 0.9 and 10 < float(wins.noticeable) < 12
    assert (float(points.difference), float(points.p)) == (6, 0) and 0 < float(points.noticeable) < 1
    assert 5.8 < float(points.difference_low) < 6 < float(points.difference_high) < 6.2


def test_a_difference_counts_after_correction_for_the_other_rows(judge: Judge) -> None:
    """63 of 100 and 77 of 100 have p = 0.044: alone they differ, among ten rows they do not."""
    wins = ("a", "wins", 63, 100, "", A, 77, 68, 84, 100)
    [alone] = judge(wins).values()
    others = [(f"b{i}", "open", 60, "", 1, "call team_0_wins", 60, 59, 61, "") for i in range(9)]
    among = judge(wins, *others)["a, wins"]
    assert (alone.verdict, among.verdict) == ("differs", "cannot tell")
    assert alone.p == among.p == "0.0444" and float(alone.noticeable) < float(among.noticeable)


def test_numbers_that_the_paper_does_not_have_are_not_counted(judge: Judge) -> None:
    lines = judge(
        ("a", "count", 5, "", "", "call team_0_wins", 5, "", "", "", "design page (not in the paper)"),
        ("b", "wins", 60, 100, "", A, 60, 50, 70, 100, "not in the paper"),
        ("c", "wins", 60, 100, "", B, 60, 50, 70, 100, "here", "not comparable: seconds"),
        ("d", "wins", 60, 100, "", "", "", "", "", "", "here", "people"),
    )
    assert [line.verdict for line in lines.values()] == ["our own number", "our own number", "not comparable", "nothing to play"]
    assert [line.row for line in lines.values() if tables.is_match(line)] == ["c"]
    assert list(tables.summary(list(lines.values()))) == ["   2 our own number", "   1 not comparable", "   1 nothing to play"]


def test_a_table_is_made_and_the_page_shows_it(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "wong_kang", "Section 2", "--quick"]) == 0
    out = capsys.readouterr().out
    assert re.search("tilings of 8 x 8, counted, count: 12988816(, commit .*)?; paper 12988816: agrees", out) and "8 agrees" in out
    assert "### Section 2" in (room / "RESULTS.md").read_text()
    assert [each.verdict for each in tables.results_of("wong_kang")] == ["agrees"] * 8


def test_another_folder_has_results_of_its_own(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = room / "elsewhere" / "mine"
    assert main(["reproduce", "wong_kang", "Section 2", "--quick", "--out", str(folder)]) == 0
    assert "tilings of 8 x 8" in (folder / "RESULTS.md").read_text() and (folder / "results" / "wong_kang.csv").exists()
    assert not (room / "results").exists()
    assert main(["reproduce", "--page"]) == 0
    assert "tilings" not in (room / "RESULTS.md").read_text()
    capsys.readouterr()


def test_it_goes_on_where_it_stopped_and_makes_again_what_has_too_few_games(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    how = "match dominoes; mode=round; greedy v random v greedy v random"
    lines = [f"T,{row},score,50,100,,here,{how} ,4,8,8,\n" for row in ("a", "b")]
    (room / "expected" / "dominai2016.csv").write_text(HEADER + lines[0] + lines[1].replace(" ,4", "  ,4"))
    made: list[str] = []
    real = tables._line

    def stopped(paper: str, expected: tables.Expected, *others: object) -> tables.Line:
        if expected.row == "b" and not made:
            made.append("stopped")
            raise KeyboardInterrupt
        made.append(expected.row)
        return real(paper, expected, *others)

    monkeypatch.setattr(tables, "_line", stopped)
    made.clear()
    with pytest.raises(KeyboardInterrupt):
        made_first = tables.run("dominai2016", None, "quick", lambda *_: made.clear())
        assert made_first is None
    assert [each.row for each in tables.results_of("dominai2016")] == ["a"]
    made[:] = ["go on"]
    tables.run("dominai2016", None, "quick", lambda *_: None)
    assert made == ["go on", "b"]
    made[:] = ["again"]
    tables.run("dominai2016", None, "quick", lambda *_: None)
    assert made == ["again"]
    tables.run("dominai2016", None, "default", lambda *_: None)
    assert made == ["again", "a", "b"]
    assert [each.games for each in tables.results_of("dominai2016")] == ["8", "8"]
    assert not any((room / "games").iterdir()), "games that are quick to play are kept although their numbers are known"


@pytest.mark.parametrize("what", ["dominai2016", "claims"])
def test_an_interrupted_run_writes_the_pages_of_what_it_has_made(what: str, room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So results that are committed after Ctrl-C have their pages."""
    how = "match dominoes; mode=round; greedy v random v greedy v random"
    (room / "expected" / "dominai2016.csv").write_text(
        HEADER + f"T,a,score,50,100,,here,{how},4,4,4,\nT,b,score,50,100,,here,{how},8,8,8,\n"
    )
    (room / "claims.csv").write_text(
        "paper,place,quote,condition,how,measure,expects,games,quick\n"
        + "".join(f"dominai2016,A,it wins,{name},{how},score,> 50,{games},{games}\n" for name, games in (("a", 4), ("b", 8)))
    )
    monkeypatch.setattr(claims, "FILE", room / "claims.csv")
    real = matches.play

    def stop_at_eight(match: Match, **more: Any) -> bool:
        if match.games == 4 * 8:
            raise KeyboardInterrupt
        return real(match, **more)

    monkeypatch.setattr(matches, "play", stop_at_eight)
    assert main(["reproduce", what]) == 130
    results, text = (room / "results" / f"{what}.csv").read_text(), (room / f"{'CLAIMS' if what == 'claims' else 'RESULTS'}.md").read_text()
    assert ",a," in results and ",b," not in results
    assert text == (claims if what == "claims" else page).page() and "| a | score |" in text


def counting(numbers: list[int]) -> Callable[..., Result]:
    """KeptGames.add, which notes the number of each game that is played."""
    real = saved_games.KeptGames.add

    def add(games: saved_games.KeptGames, result: Result, commit: str) -> Result:
        numbers.append(result.number)
        return real(games, result, commit)

    return add


def play(folder: Path, words: str, games: int, kind: str = "match") -> matches.Games:
    return matches.Matches(folder).play(kind, words, games)


def test_seats_go_round_or_stay_and_every_game_has_its_deal(tmp_path: Path) -> None:
    words = "dominoes; mode=round; greedy v random v greedy v random"
    for kind, rotations in (("match", [0, 1, 2, 3, 0]), ("seats", [0, 0, 0, 0, 0])):
        games = play(tmp_path, words, 5, kind)
        found = [games.match.find(result.number) for result in games.results]
        assert [deal for deal, _, _ in found] == [0, 1, 2, 3, 4]
        assert [rotation for _, rotation, _ in found] == rotations


def test_lines_of_one_match_share_its_games_however_its_policies_are_written(tmp_path: Path) -> None:
    played = matches.Matches(tmp_path)
    first = played.play("match", "dominion; max_turns=9; uct_mod/t28(playouts=10) v bmfsm", 2)
    assert played.play("match", "dominion; max_turns=9; uct_mod(least=1, playouts=10) v bmfsm", 2) is first
    assert played.play("match", "dominion; max_turns=9; uct_mod(least=2, playouts=10) v bmfsm", 2) is not first
    assert played.play("seats", "dominion; max_turns=9; uct_mod/t28(playouts=10) v bmfsm", 2) is not first


def test_an_interrupted_match_goes_on_after_a_shorter_one_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words, folder = "dominoes; mode=round; greedy v random v greedy v random", tmp_path / "games"
    whole = [(result.number, result.scores) for result in play(tmp_path / "other", words, 6).results]
    real, stopped = matches.play, []

    def stop_after_four(match: Match, *, on_result: Callable[[Result], None], **how: Any) -> bool:
        def add_or_stop(result: Result) -> None:
            stopped.append(result.number)
            on_result(result)
            if len(stopped) == 4:
                raise KeyboardInterrupt

        return real(match, on_result=add_or_stop, **how)

    with monkeypatch.context() as patch:
        patch.setattr(matches, "play", stop_after_four)
        with pytest.raises(KeyboardInterrupt):
            play(folder, words, 6)
    shorter = matches.Matches(folder)
    assert [result.number for result in shorter.play("match", words, 2).results] == [0, 5]
    shorter.forget("match", words, 2)
    again = matches.Matches(folder)
    new: list[int] = []
    monkeypatch.setattr(saved_games.KeptGames, "add", counting(new))
    assert sorted((result.number, result.scores) for result in again.play("match", words, 6).results) == whole
    assert len(new) == 2 and not set(new) & set(stopped)
    matches.Matches(folder).forget("match", words, 6)
    assert not folder.exists()


def test_points_by_round_and_what_the_game_adds_are_measured(tmp_path: Path) -> None:
    games = play(tmp_path, "kingdomino; ; full_greedy v random v random v random", 12)
    after = [matches.measured(games, f"points {number}").mean for number in (1, 7, 13)]
    assert after[0] == 10 < after[1] < after[2] == pytest.approx(matches.measured(games, "points").mean)
    discards = matches.measured(games, "discards")
    assert 0 <= discards.low <= discards.mean <= discards.high
    few = play(tmp_path, "kingdomino; ; random v random v random v random", 4)
    assert math.isnan(matches.measured(few, "margin").low)


def test_numbers_of_the_rival_and_by_who_began(tmp_path: Path) -> None:
    games = play(tmp_path, "dominion; max_turns=20; bmfsm v big_money", 40)
    wins = [matches.measured(games, measure).mean for measure in ("wins", "rival's wins")]
    mine = [result.wins[0] for result in games.results]
    assert wins == [pytest.approx(100 * mine.count(share) / 40) for share in (1.0, 0.0)] and 0 < wins[0] < wins[1]
    began = {result.number: result.number % 2 == 0 for result in games.results}  # seat 0 begins, and the seats go round
    for measure, place in (("wins first", 0), ("rival's wins first", 1)):
        of_mine = [result.wins[place] == 1 for result in games.results if began[result.number] == (place == 0)]
        assert len(of_mine) == 20 and matches.measured(games, measure).mean == pytest.approx(100 * sum(of_mine) / 20)
    for half, is_mine in (("first", True), ("second", False)):
        chosen = [result for result in games.results if began[result.number] == is_mine]
        for name, place, other in (("", 0, half), ("rival's ", 1, "second" if is_mine else "first")):
            shares = {"wins": {1.0}, "draws": {0.5}, "losses": {0.0}}
            for measure, is_so in shares.items():
                share = 100 * sum(result.wins[place] in is_so for result in chosen) / 20
                assert matches.measured(games, f"{name}{measure} {other}").mean == pytest.approx(share)
            points = [result.scores[place] for result in chosen]
            found = [matches.measured(games, f"{name}{measure} {other}").mean for measure in ("points", "least", "most")]
            assert found == [pytest.approx(sum(points) / 20), min(points), max(points)]
    rival = [result.scores[1] for result in games.results]
    assert matches.measured(games, "rival's points").mean == pytest.approx(sum(rival) / 40)
    assert matches.measured(games, "rival's most").mean == max(rival)


def test_deviations_shares_of_a_score_and_seconds_of_turns(tmp_path: Path) -> None:
    games = play(tmp_path, "dominion; kingdom=none max_turns=12; ucb_mod/t26(playouts=3)", 30)
    points = [result.scores[0] for result in games.results]
    deviation = matches.measured(games, "deviation")
    assert deviation.mean == pytest.approx(statistics.stdev(points)) and deviation.low < deviation.mean < deviation.high
    often = statistics.mode(points)
    assert matches.measured(games, f"points = {often}").mean == pytest.approx(100 * points.count(often) / 30)
    early, late, all_turns = (matches.measured(games, measure).mean for measure in ("seconds 1-4", "seconds 5-", "seconds"))
    turns = [result.pace[0] for result in games.results if result.pace is not None]
    assert [len(mine) for mine in turns] == [12] * 30
    assert early == pytest.approx(sum(seconds for mine in turns for seconds, _ in mine[:4]) / 120)
    assert all_turns == pytest.approx((4 * early + 8 * late) / 12)


def test_the_deviation_of_equal_numbers_is_0_and_its_interval_covers() -> None:
    assert matches._deviation([83.0] * 20) == (0, 0, 0)
    dice = random.Random("deviation")
    samples = [matches._deviation([dice.gauss(0, 2) for _ in range(200)]) for _ in range(400)]
    covered = sum(low <= 2 <= high for _, low, high in samples)
    assert 340 <= covered <= 398  # 376 expected at 94 %, binomial deviation below 5


def test_the_budgets_by_round_are_the_playouts_of_the_papers_machine() -> None:
    """Of Table III and Figures 4, 7, 8: playouts a second by round, times the seconds, from 1 to 100,000."""
    raw = json.loads((Path(__file__).parents[1] / "data" / "gedda2018.json").read_text())
    checked = 0
    for line in tables.expected_of("gedda2018"):
        listed = re.search(r"playouts=\[([^\]]*)\]", line.how)
        if listed is None:
            continue
        if line.table == "Table III":
            name, seconds = line.row.replace("eG", "EG").removesuffix(" s a turn").split(", ")
            corrected = name.startswith("UCTB") and seconds == "10"
            entry = raw["table3_fig5_fig6"][name][f"{seconds}_corrected" if corrected else seconds]
        elif line.table in ("Table II", "Figure 4"):
            name, seconds = line.row.split(" v ")[0], "5"
            entry = raw["table2_fig4"][name]
        else:
            name, seconds, value = re.match(r"(\S+), (\S+) s a turn, . = (\S+)", line.row).groups()  # type: ignore[union-attr]
            points = raw["fig7" if line.table == "Figure 7" else "fig8"][f"{name.replace('-', '_')}@{float(seconds)}s"]
            entry = next(points[each] for each in points if float(each) == float(value))
        rates = entry["playouts_per_s"]
        assert listed[1] == ", ".join(str(min(100_000, max(1, round(rate * float(seconds))))) for rate in rates)
        if line.measure in ("margin", "points"):
            assert float(line.value) == pytest.approx(entry["margin_mean" if line.measure == "margin" else "score_mean"], abs=0.06)
        checked += 1
    assert checked == 160 + 3 + 39 + 62 + 28


def result(row: str, ours: str, low: str, high: str, verdict: str, why: str, table: str = "T") -> tables.Line:
    paper = ("50", "40.1234", "59.8766")
    numbers = ("10", "1", "7", "quick", "0", "1.2345", "-3.5", "5.9", "0.5", "12.34")
    return tables.Line(table, row, "wins", *paper, ours, low, high, *numbers, verdict, why, "", "", "abc", "", "")


def test_the_page_has_as_many_digits_as_intervals_have_meaning_and_says_things_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        result("a", "51.23456", "49.1", "53.3", "agrees", "said twice; only a"),
        result("b", "1234.56", "1000", "1500", "differs", "said twice"),
        result("c", "7.5", "", "", "cannot tell", ""),
        result("d", "", "", "", "nothing to play", "people", "U"),
        result("d", "", "", "", "nothing to play", "people", "V"),
    ]
    monkeypatch.setattr(tables, "results_of", lambda paper: lines if paper == "wong_kang" else [])
    rows = [row for row in page.page().splitlines() if row.startswith(("| a ", "| b ", "| c ", "1. ", "| U", "Games"))]
    assert rows == [
        "| a | wins | 50 [40.1, 59.9] | 51.2 [49.1, 53.3] | 10 | +1.2 [-3.5, +5.9] | 12 | agrees | (1); only a |",
        "| b | wins | 50 [40.1, 59.9] | 1235 [1000, 1500] | 10 | +1.2 [-3.5, +5.9] | 12 | differs | (1) |",
        "| c | wins | 50 [40.1, 59.9] | 7.5 | 10 | +1.2 [-3.5, +5.9] | 12 | cannot tell |  |",
        "1. Said twice",
        "Games: seed 1, own deals, played by abc.",
        "| U, V | d | 50 | people |",
    ]


def test_figures_have_the_papers_points_beside_ours(room: Path) -> None:
    lines = [f"Figure 3,FG v three TR, round {number},points {number},{number}0,,1,here,call log_draws,yes,yes,yes," for number in (1, 2)]
    quoted = [line.replace("FG v three TR, round", '"FG v three TR, round').replace(",points", '",points', 1) for line in lines]
    (room / "expected" / "gedda2018.csv").write_text(HEADER + "\n".join(quoted) + "\n")
    assert main(["reproduce", "gedda2018", "--quick"]) == 0
    [figure] = [figure for figure in figures.FIGURES if figure.table == "Figure 3"]
    [(name, (theirs, ours))] = figure.curves().items()
    assert name == "FG" and [point[:2] for point in theirs] == [(1.0, 10.0), (2.0, 20.0)]
    assert [round(point.y, 1) for point in ours] == [44.5, 44.5]
    drawn = (room / "figures" / "gedda2018_figure_3.svg").read_text()
    assert drawn.count("<circle") == 4 and drawn.count("stroke-dasharray") == 1
    assert "![Figure 3: Points against three TR](figures/gedda2018_figure_3.svg)" in (room / "RESULTS.md").read_text()


def test_every_figure_is_made_of_lines_that_there_are() -> None:
    for figure in figures.FIGURES:
        rows = [line for line in tables.expected_of(figure.paper) if line.table == figure.table and re.fullmatch(figure.rows, line.row)]
        assert len(rows) > 1, figure
        assert len({figure.file for figure in figures.FIGURES}) == len(figures.FIGURES)


def test_an_outcome_that_never_changes_still_has_an_error(tmp_path: Path) -> None:
    games = play(tmp_path, "dominion; ; single_witch v random", 20)
    mean, low, high = matches.measured(games, "wins")
    assert mean == high == 100 > low
    assert matches.measured(games, "wins first").mean == 100
    assert matches.measured(games, "points").mean == pytest.approx(sum(result.scores[0] for result in games.results) / 20)


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["gedda2019"], "there is no paper gedda2019; the papers are wong_kang, gedda2018"),
        (["wong_kang", "Table 1"], "wong_kang has no table 'Table 1'; it has Section 2, Section 3"),
    ],
)
def test_what_there_is_not_is_told(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_without_a_checkout_a_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(reproduce, "_ROOT", tmp_path)
    assert main(["reproduce"]) == 2
    assert "reproduce needs the tables of the papers, which only a checkout of the repository has" in capsys.readouterr().err


@pytest.mark.parametrize("board, squares", [("3", 3), ("5", 7), ("7", 13)])
def test_a_castle_stands_on_so_many_squares_that_no_rotation_makes_equal(board: str, squares: int) -> None:
    assert wong_kang.castles(board) == squares


def test_a_woodcutter_of_the_thesis_gives_up_to_20_coins(tmp_path: Path) -> None:
    """Figures 25 and 26. Every one of these games has such a card in it."""
    words = "dominion; kingdom=woodcutter20,{} supply=thesis max_turns=40; ucb_mod(least=1, playouts=200) v bmfsm"
    games = play(tmp_path, words.format("village,gardens,moneylender,remodel,smithy,festival,laboratory,market,witch"), 10)
    assert all(bought > 0 for bought in games.told("bought Woodcutter20"))
    assert matches.measured(games, "bought Silver + bought Gold").mean == pytest.approx(
        sum(matches.measured(games, f"bought {name}").mean for name in ("Silver", "Gold"))
    )


@pytest.mark.parametrize("turns, nodes", [("1", 21), ("2", 99), ("3", 2_077), ("4", 23_631), ("5", 681_365)])
def test_table_3_of_the_thesis(turns: str, nodes: int) -> None:
    assert jansen2014.tree_nodes(turns) == nodes


def test_the_sum_of_the_polyominoes_is_that_of_the_free_ones() -> None:
    """The thesis prints 5e40 for the fixed ones."""
    assert heyden2009.polyominoes_sum("free") == pytest.approx(5e40, rel=0.01)
    assert heyden2009.polyominoes_sum("fixed") == pytest.approx(4e41, rel=0.01)


def test_results_that_are_kept_are_of_lines_that_there_are() -> None:
    for paper in PAPERS:
        known = {expected.key for expected in tables.expected_of(paper)}
        assert {(each.table, each.row, each.measure) for each in tables.results_of(paper)} <= known
        with (tables.ROOM / "expected" / f"{paper}.csv").open(newline="") as file:
            assert next(csv.reader(file)) == HEADER.strip().split(",")
