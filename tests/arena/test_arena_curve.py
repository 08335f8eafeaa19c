"""Strength against budgets: which matches are played, what is kept, and what the picture shows."""

import csv
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from kdenv.arena import Curve, CurvePlan, Match, Summary, play, read_budget, read_budgets
from kdenv.core.errors import BadOption, KdenvError
from kdenv.drawing.chart import Dot, Line, chart

PLAN = CurvePlan("kingdomino", ["mce", "full_greedy"], [read_budget("playouts=10"), read_budget("playouts=20")], ["gprd"], games=40, seed=3)


@pytest.mark.parametrize("text, parameter, value", [("300us", "seconds", "0.0003"), ("10ms", "seconds", "0.01"), ("nodes=5", "nodes", "5")])
def test_a_budget_is_a_time_or_a_parameter(text: str, parameter: str, value: str) -> None:
    budget = read_budget(text)
    assert (budget.parameter, budget.value) == (parameter, value)


@pytest.mark.parametrize("text", ["", "10", "10 min", "=3", "playouts="])
def test_what_is_no_budget_is_told(text: str) -> None:
    with pytest.raises(BadOption, match=r"is no budget; write a time such as 10ms or 0\.5s, or playouts=1000"):
        read_budget(text)


def test_a_list_of_playouts_is_one_budget() -> None:
    assert [budget.text for budget in read_budgets("10ms,playouts=[30,20], playouts=5")] == ["10ms", "playouts=[30,20]", "playouts=5"]
    plan = CurvePlan("kingdomino", ["mce"], read_budgets("playouts=[30,20]"), ["gprd"], games=4)
    assert [match.line_up[0] for _, _, match in plan.matches()] == ["mce(playouts=[30,20])"]


def test_few_deals_are_the_reason_for_missing_intervals() -> None:
    curve = Curve(CurvePlan("kingdomino", ["full_greedy"], [], ["random"], games=4, options={"size": 3}, seed=1))
    assert curve.measure(processes=1)
    heading, intervals, *_ = str(curve).splitlines()
    assert heading == "kingdomino, 4 players size=3 against random, 4 games a point, seed 1"
    assert intervals.endswith("No intervals: too few deals (1; 10 are needed).")


def test_searches_get_every_budget_and_others_one_match() -> None:
    plan = CurvePlan("dominoes", ["ismcts", "ismcts(playouts=5)", "greedy"], [read_budget("10ms"), read_budget("1s")], ["random"], games=2)
    line_ups = [match.line_up for _, _, match in plan.matches()]
    mine = ["ismcts(seconds=0.01)", "ismcts(seconds=1)", "ismcts(playouts=5)", "greedy"]
    assert line_ups == [[text, "random", text, "random"] for text in mine]  # partners play the same


def test_the_others_are_taken_in_turn() -> None:
    plan = CurvePlan("kingdomino", ["full_greedy"], [], ["gprd", "random"], games=4)
    assert [match.line_up for _, _, match in plan.matches()] == [["full_greedy", "gprd", "random", "gprd"]]
    plan = CurvePlan("dominoes", ["ismcts(playouts=5)"], [], ["greedy", "random"], games=4)
    assert [match.line_up for _, _, match in plan.matches()] == [["ismcts(playouts=5)", "greedy", "ismcts(playouts=5)", "random"]]


def test_a_game_for_one_has_no_others() -> None:
    plan = CurvePlan("dominion", ["big_money"], [], ["random"], games=4, players=1)
    assert [match.line_up for _, _, match in plan.matches()] == [["big_money"]]


@pytest.mark.parametrize(
    "plan, sentence",
    [
        (CurvePlan("kingdomino", ["mce"], [read_budget("nodes=3")], ["random"]), "mce cannot have the budget nodes=3; its budgets are"),
        (CurvePlan("kingdomino", ["mce"], [read_budget("1ms")], []), "nobody is named to play against"),
        (CurvePlan("dominoes", ["greedy"], [], ["random"] * 3), "3 policies are given for the 2 seats of the others"),
        (CurvePlan("kingdomino", ["nobody"], [], ["random"]), "there is no policy nobody"),
    ],
)
def test_a_plan_that_cannot_be_played_is_told(plan: CurvePlan, sentence: str) -> None:
    with pytest.raises(KdenvError, match=sentence):
        Curve(plan).measure(processes=1)


def test_a_point_is_the_row_of_its_match(tmp_path: Path) -> None:
    curve = Curve(PLAN)
    told: list[tuple[int, int]] = []
    assert curve.measure(tmp_path, processes=1, on_result=lambda *counts: told.append(counts))
    summary = Summary(Match("kingdomino", ["mce(playouts=20)", "gprd", "gprd", "gprd"], 40, 3))
    play(summary.match, on_result=summary.add, processes=1)
    row = summary.rows()[0]
    assert curve.points[1].row.margin == row.margin
    assert told == [(done, 120) for done in range(1, 121)]
    rows = list(csv.DictReader((tmp_path / "curve.csv").read_text(encoding="utf-8").splitlines()))
    assert [(each["policy"], each["budget"]) for each in rows] == [("mce", "playouts=10"), ("mce", "playouts=20"), ("full_greedy", "")]
    assert float(rows[1]["margin"]) == row.margin.mean
    heading, intervals, _, _, *rows = str(curve).splitlines()
    assert heading == f"kingdomino, 4 players against gprd, {PLAN.games} games a point, seed {PLAN.seed}"
    assert intervals == "Seats rotated, deals shared. ± and [low, high] are 95 % intervals over deals."
    assert rows[1].split()[:2] == ["mce", "playouts=20"]


def test_what_was_played_is_not_played_again(tmp_path: Path) -> None:
    curve = Curve(PLAN)
    stopped = iter(range(50))

    def stop(done: int, games: int) -> None:
        if next(stopped, None) is None:
            raise KeyboardInterrupt

    assert not curve.measure(tmp_path, processes=1, on_result=stop)
    kept = sum(len(path.read_text(encoding="utf-8").splitlines()) - 1 for path in tmp_path.glob("*.jsonl"))
    assert 50 <= kept <= 52
    again, played = Curve(PLAN), list[int]()
    assert again.measure(tmp_path, processes=1, on_result=lambda done, games: played.append(done))
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in sorted(tmp_path.glob("*.jsonl"))]
    assert lines == [41, 41, 41]  # a header, and each game once
    whole = Curve(PLAN)
    whole.measure(processes=1)
    assert [point.row.margin for point in again.points] == [point.row.margin for point in whole.points]


def test_a_chart_has_every_line_and_interval() -> None:
    lines = [Line("a < b", [Dot(0.001, 1.0, 0.5, 1.5), Dot(0.1, 2.0, 1.0, 3.0)]), Line("one", [Dot(1e-5, -3.0)]), Line("none", [])]
    root = ElementTree.fromstring(chart("title & more", "seconds", "margin", lines, log=True))
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert {"title & more", "a < b", "one", "seconds", "margin", "0.001", "0"} <= set(texts)
    assert "none" not in texts
    circles = [(float(element.get("cx", 0)), float(element.get("cy", 0))) for element in root.iter() if element.tag.endswith("circle")]
    assert len(circles) == 3
    assert circles[1][0] > circles[0][0] > circles[2][0]  # to the right with time
    assert circles[1][1] < circles[0][1] < circles[2][1]  # up with the margin
    assert sum(element.get("opacity") == "0.5" for element in root.iter()) == 2


@pytest.mark.parametrize("dots", [[], [Dot(0.0, 5.0)], [Dot(3.0, 0.0), Dot(3.0, 0.0)]])
def test_a_chart_of_little_is_drawn_too(dots: list[Dot]) -> None:
    root = ElementTree.fromstring(chart("t", "x", "y", [Line("l", dots)]))
    assert sum(element.tag.endswith("circle") for element in root.iter()) == len(dots)


def test_the_time_of_the_processor_is_measured_if_asked_and_only_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that runs a second at every look stands for the processor's."""
    looks = iter(range(10**6))
    monkeypatch.setattr("time.process_time", lambda: float(next(looks)))
    plan = CurvePlan("kingdomino", ["full_greedy"], [], ["gprd"], games=2, options={"size": 3}, players=2)
    for by_processor in (True, False):
        curve = Curve(replace(plan, by_processor=by_processor))
        assert curve.measure(processes=1)
        assert (curve.points[0].seconds >= 1.0) == by_processor
        assert ("processor time a turn" in curve.svg()) == by_processor


def test_real_time_is_no_budget_for_the_time_of_the_processor() -> None:
    with pytest.raises(BadOption, match="the budget 10ms is real time, which the time of the processor cannot measure; give playouts=N"):
        CurvePlan("kingdomino", ["mce"], [read_budget("10ms")], ["gprd"], by_processor=True)
