"""Does `kdenv reproduce` make the tables of the papers, go on where it stopped, and judge the numbers rightly?"""

import csv
import math
from pathlib import Path

import pytest

from baselines.papers import dominai2016, gedda2018, heyden2009, jansen2014, tables
from kdenv.arena import Match
from kdenv.cli import main, reproduce

HEADER = "table,row,measure,value,n,half,source,how,quick,default,full,why\n"
PAPERS = list(tables.PAPERS)


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the expected numbers of the papers, to which results are written."""
    (tmp_path / "expected").mkdir()
    for paper in PAPERS:
        (tmp_path / "expected" / f"{paper}.csv").write_bytes((tables.ROOM / "expected" / f"{paper}.csv").read_bytes())
    monkeypatch.setattr(tables, "ROOM", tmp_path)
    return tmp_path


@pytest.mark.parametrize("paper", PAPERS)
def test_every_line_can_be_made_or_says_why_not(paper: str) -> None:
    module = {"gedda2018": gedda2018, "heyden2009": heyden2009, "jansen2014": jansen2014, "dominai2016": dominai2016}.get(paper)
    lines = tables.expected_of(paper)
    assert len({line.key for line in lines}) == len(lines), "two lines have the same name"
    for line in lines:
        kind, _, rest = line.how.partition(" ")
        assert line.source and (line.value or line.why), line
        if kind == "match":
            game, options, policies = (part.strip() for part in rest.split(";"))
            given = dict(option.split("=") for option in options.split())
            Match(game, [text.strip() for text in policies.split(" v ")], 1, options=given).check()
            assert int(line.quick) <= int(line.default) and int(line.full) >= 0
        elif kind == "call" and module is not None:
            assert callable(getattr(module, rest.split()[0]))
        else:
            assert kind in ("", "call"), line


def test_the_win_and_loss_tables_of_the_thesis_have_all_rows() -> None:
    """Tables with results of games; a table of configurations has none."""
    of_games = [4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 25, 27, 29, 31, 33, 34, 36, 37, 39, 40, 43, 44, 45, 47, 48, 51]
    assert {f"Table {n}" for n in of_games} <= {line.table for line in tables.expected_of("jansen2014")}


def line(measure: str, value: str, *, n: str = "", half: str = "", why: str = "") -> tables.Expected:
    return tables.Expected("T", "r", measure, value, n, half, "s", "match", "1", "1", "1", why)


@pytest.mark.parametrize(
    "expected, ours, error, verdict",
    [
        (line("count", "21"), 21, math.nan, "agrees"),
        (line("count", "21"), 22, math.nan, "differs"),
        (line("about", "5e40"), 5.1e40, math.nan, "agrees"),
        (line("about", "5e40"), 4e41, math.nan, "differs"),
        (line("log10", "61.57"), 61.70, math.nan, "agrees"),
        (line("log10", "61.57"), 62.57, math.nan, "differs"),
        (line("wins", "60", n="200"), 65, 4.0, "agrees"),
        (line("wins", "60", n="200"), 90, 4.0, "stronger"),
        (line("wins", "60", n="200"), 30, 4.0, "weaker"),
        (line("margin", "-7.2", half="0.7"), -7.9, 0.3, "agrees"),
        (line("margin", "-7.2", half="0.7"), -4.9, 0.3, "stronger"),
        (line("margin", "-7.2"), -4.9, 0.3, "not comparable"),
        (line("wins", "60", n="200", why="not comparable: seconds"), 60, 4.0, "not comparable"),
        (line("wins", "60", n="200"), math.nan, math.nan, "not tried"),
    ],
)
def test_verdicts(expected: tables.Expected, ours: float, error: float, verdict: str) -> None:
    assert tables.verdict(expected, float(expected.value), tables.error_of(expected), ours, error) == verdict


def test_a_table_is_made_and_the_page_shows_it(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "wong_kang", "Section 2", "--quick"]) == 0
    out = capsys.readouterr().out
    assert "tilings of 8 x 8, counted, count: 12988816; paper 12988816: agrees" in out and "8 agrees" in out
    assert "### Section 2" in (room / "RESULTS.md").read_text()
    assert [each.verdict for each in tables.results_of("wong_kang")] == ["agrees"] * 8


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


def test_an_outcome_that_never_changes_still_has_an_error() -> None:
    match = Match("dominion", ["single_witch", "random"], 8, seed=1)
    from kdenv.arena import Result, play

    results: list[Result] = []
    play(match, on_result=results.append)
    mean, error = tables.measured(results, "wins")
    assert mean == 100 and error > 0
    assert tables.measured(results, "wins first")[0] == 100
    assert tables.measured(results, "points")[0] == pytest.approx(sum(result.scores[0] for result in results) / 8)


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["gedda2019"], "there is no paper gedda2019; the papers are wong_kang, gedda2018"),
        (["wong_kang", "Table 1"], "wong_kang has no table 'Table 1'; it has Section 2, Section 5"),
    ],
)
def test_what_there_is_not_is_told(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_without_a_checkout_a_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(reproduce, "_ROOT", tmp_path)
    assert main(["reproduce"]) == 2
    assert "reproduce needs the tables of the papers, which only a checkout of the repository has" in capsys.readouterr().err


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
