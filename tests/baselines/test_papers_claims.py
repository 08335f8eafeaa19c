"""Are the sentences of the papers tried as they say, on the same deals, and judged rightly?"""

from pathlib import Path

import pytest

from baselines.papers import claims, matches, tables
from kdenv.arena import Estimate
from kdenv.cli import main

HEADER = "paper,place,quote,condition,how,measure,expects,games,quick\n"
HEAD = "dominoes; mode=round; "
GREEDY, RANDOM = "greedy v random v greedy v random", "random v random v random v random"


@pytest.mark.parametrize(
    "expects, found, games, verdict",
    [
        ("> 0", Estimate(3, 1, 5), 100, "holds"),
        ("> 0", Estimate(-3, -5, -1), 100, "holds not"),
        ("> 0", Estimate(3, -1, 7), 100, "cannot tell"),
        ("< 50", Estimate(40, 35, 45), 100, "holds"),
        ("< 50", Estimate(60, 55, 65), 100, "holds not"),
        ("= 0", Estimate(1, -2, 4), 100, "holds"),
        ("= 0", Estimate(2, 1, 3), 100, "holds"),  # they differ by less than the margin
        ("= 0", Estimate(1, -9, 11), 100, "cannot tell"),
        ("= 0", Estimate(8, 5, 11), 100, "holds not"),
        ("= 36", Estimate(36), 0, "holds"),
        ("= 36", Estimate(37), 0, "holds not"),
        ("> 0", Estimate(3), 4, "cannot tell"),
        ("> 0", Estimate(float("nan")), 0, "cannot tell"),
    ],
)
def test_verdicts_of_conditions(expects: str, found: Estimate, games: int, verdict: str) -> None:
    assert claims.verdict_of(expects, found, games, 5.0) == verdict


def test_equality_takes_the_90_percent_interval() -> None:
    """3 +- 2.02 at 95 % is 3 +- 1.69 at 90 %, with 200 games."""
    assert claims.verdict_of("= 0", Estimate(3, 0.98, 5.02), 200, 5.0) == "holds"
    assert claims.verdict_of("= 0", Estimate(3.5, 1.48, 5.52), 200, 5.0) == "holds not"


def test_the_interval_is_wider_for_more_conditions() -> None:
    """The half of 100 games, 4 at 95 %, is 5.4 for six conditions: one of them alone is noticed more easily than each of six."""
    for mean, alone, of_six in ((5.0, "holds", "cannot tell"), (6.0, "holds", "holds"), (-5.0, "holds not", "cannot tell")):
        found = Estimate(mean, mean - 4, mean + 4)
        assert [claims.verdict_of("> 0", found, 100, 5.0, n) for n in (1, 6)] == [alone, of_six]


def test_verdicts_of_sentences() -> None:
    for of_conditions, verdict in (
        (["holds", "holds"], "holds"),
        (["holds", "holds not"], "holds under conditions"),
        (["holds", "cannot tell"], "holds under conditions"),
        (["holds not", "cannot tell"], "holds not"),
        (["cannot tell"], "cannot tell"),
        ([], "not tried"),
    ):
        assert claims.verdict_of_sentence(of_conditions) == verdict


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for results, with three conditions of two places."""
    rows = [
        f'dominai2016,A,it wins,alone,"match {HEAD}{GREEDY}",score,> 50,40,10\n',
        f'dominai2016,A,it wins,ahead of random,"pair {HEAD}{GREEDY} | {RANDOM}",margin,> 0,40,10\n',
        f'dominai2016,B,it is even,alone,"match {HEAD}{GREEDY}",score,= 50,12,0\n',
    ]
    (tmp_path / "claims.csv").write_text(HEADER + "".join(rows), encoding="utf-8")
    monkeypatch.setattr(claims, "FILE", tmp_path / "claims.csv")
    monkeypatch.setattr(tables, "out", tmp_path)
    return tmp_path


def test_a_pair_plays_the_same_deals_and_other_places_other_deals(room: Path) -> None:
    every = claims.conditions()
    run = matches.Matches(room / "games", rows=claims._rows(every[0], every), seed=3)
    greedy, random = (run.play("match", f"{HEAD}{policies}", 12) for policies in (GREEDY, RANDOM))
    assert greedy.match.seed == random.match.seed
    assert [result.number for result in greedy.results] == [result.number for result in random.results]
    other = matches.Matches(room / "games", rows=claims._rows(every[2], every), seed=3)
    assert other.match("match", f"{HEAD}{GREEDY}", 12).seed != greedy.match.seed
    found = matches.difference(greedy, random, "margin")
    means = [sum(result.margins[0] for result in of.results) / 12 for of in (greedy, random)]
    assert found.mean == pytest.approx(means[0] - means[1]) and found.low < found.mean < found.high


def test_conditions_are_tried_once_and_again_for_more_games(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made: list[str] = []

    def run(**how: int) -> list[claims.Tried]:
        made.clear()
        claims.run("default", lambda line, *_: made.append(line.verdict), **how)
        return claims.results()

    claims.run("quick", lambda *_: None)
    assert [line.games for line in claims.results()] == ["10", "10"], "the third is not tried in this size"
    assert "| alone | score | = 50 | - |  | not tried |" in claims.page()
    first = run(games=10)
    assert [line.games for line in first] == ["10"] * 3 and [line.verdict for line in first] == made
    assert [line.games for line in run()] == ["40", "40", "12"]
    kept = run()
    assert [line.games for line in run(games=10)] == ["40", "40", "12"] and kept == claims.results()
    assert [line.seed for line in run(seed=9)] == ["9"] * 3
    text = claims.page()
    assert '**"it wins"** (A)' in text and "| alone | score | > 50 |" in text and "holds" in text


def test_a_line_of_the_results_is_looked_up(room: Path) -> None:
    row = 'wong_kang,4,so many,counted,number wong_kang; Section 2; "tilings of 2 x 2, counted",count,= 2,,\n'
    quoted = row.replace(
        'number wong_kang; Section 2; "tilings of 2 x 2, counted"', '"number wong_kang; Section 2; tilings of 2 x 2, counted"'
    )
    (room / "claims.csv").write_text(HEADER + quoted, encoding="utf-8")
    claims.run("quick", lambda *_: None)
    assert claims.results() == [] and "not tried" in claims.page()  # in a new folder the line has not been made yet
    tables.run("wong_kang", "Section 2", "quick", lambda *_: None)
    claims.run("quick", lambda *_: None)
    [line] = claims.results()
    assert (line.ours, line.verdict) == ("2", "holds")


def test_every_condition_can_be_played_and_every_quote_is_short() -> None:
    every = claims.conditions()
    assert len({(line.paper, line.quote, line.condition) for line in every}) == len(every)
    assert len({(line.paper, line.quote) for line in every}) >= 20 and {line.paper for line in every} == set(tables.PAPERS)
    results = {paper: {(line.table, line.row, line.measure) for line in tables.results_of(paper)} for paper in tables.PAPERS}
    for line in every:
        assert line.place and 2 < len(line.quote.split()) <= 25
        sign, number = line.expects.split()
        assert sign in "<>=" and float(number) >= 0
        words = claims._matches(line.how)
        assert len(words) == {"match": 1, "pair": 2, "number": 0}[line.how.partition(" ")[0]]
        for each in words:
            matches._match(each, 1).check()
        if not words:
            paper, table, row = (part.strip() for part in line.how.partition(" ")[2].split(";"))
            assert (table, row, line.measure) in results[paper]
        else:
            assert int(line.games) >= 10


def test_the_committed_results_are_those_of_the_claims() -> None:
    wanted = {(line.paper, line.quote, line.condition): line for line in claims.conditions()}
    for made in claims.results():
        line = wanted[made.paper, made.quote, made.condition]
        assert (made.how, made.measure, made.expects, made.place) == (line.how, line.measure, line.expects, line.place)
        assert made == claims._judged(made, line)


def test_claims_have_no_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "claims", "Table I"]) == 2
    assert "claims has no table 'Table I'" in capsys.readouterr().err
