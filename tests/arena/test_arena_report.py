"""Do table, JSON and page of a match show what they should, in their bounds, whatever the match?"""

import json
import re
from collections import Counter

import pytest
from matches import GREEDY_V_RANDOM, results_of

from kdenv.arena import Match, Result, Summary
from kdenv.arena.report import _bars, as_json, page
from kdenv.arena.tables import text_table
from kdenv.core.view import View

LONG = "mce(playout=epsilon_greedy(epsilon=0.125), score=relative, select=ucb1(c=0.7), playouts=20)"


def summary_of(match: Match, results: list[Result]) -> Summary:
    summary = Summary(match)
    for result in results:
        summary.add(result)
    return summary


def test_a_function_in_the_line_up_has_a_row_with_its_name() -> None:
    def lowest(view: View) -> int:
        return view.legal()[0]

    match = Match("kingdomino", [lowest, "random"], games=2, options={"size": 3})
    assert "lowest" in text_table(Summary(match, results_of(match)).rows()).splitlines()[1]


def test_the_table_has_a_row_per_policy() -> None:
    rows = Summary(GREEDY_V_RANDOM, results_of(GREEDY_V_RANDOM)).rows()
    lines = text_table(rows).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[1].startswith("full_greedy ")
    assert lines[2].startswith("random  x3")
    assert rows[0].margin.mean > 0 > rows[1].margin.mean


def test_a_long_name_has_a_line_of_its_own() -> None:
    match = Match("kingdomino", ["random", LONG], games=1)
    random, *_ = results_of(Match("kingdomino", ["random", "random"], games=1))
    heading, first, name, second = text_table(Summary(match, [random]).rows()).splitlines()
    assert name == LONG
    assert len(heading) == len(first) == len(second) < 100


def test_intervals_are_printed_from_ten_deals_on() -> None:
    match = Match("kingdomino", ["full_greedy", "random"], games=20, options={"size": 3})
    results = results_of(match)
    assert re.search(r"\d ± \d.* % \[\d.*\]", text_table(Summary(match, results).rows()))
    few = text_table(Summary(match, results[:18]).rows())
    assert "±" not in few
    assert "[" not in few
    assert "No intervals: too few deals (9; 10 are needed)" in page(summary_of(match, results[:18]))


@pytest.mark.parametrize("games", [0, 1])
def test_json_has_no_nan(games: int) -> None:
    match = Match("kingdomino", ["random"] * 4, games=1)
    text = json.dumps(as_json(Summary(match, results_of(match)[:games]), True), allow_nan=False)
    wins = json.loads(text)["policies"][0]["wins"]
    assert wins == {"mean": 0.25 if games else None, "low": None, "high": None}


def test_the_report_shows_table_and_closest_game() -> None:
    results = results_of(GREEDY_V_RANDOM)
    text = page(summary_of(GREEDY_V_RANDOM, results))
    closest = min(results, key=lambda result: abs(result.margins[0]))
    assert f"number {closest.number}" in text
    assert text.count("<svg") == 2
    assert text == page(summary_of(GREEDY_V_RANDOM, results[::-1]))


def test_a_report_of_nothing_and_of_one_game() -> None:
    assert "No game is finished yet" in page(Summary(GREEDY_V_RANDOM))
    assert "1 finished" in page(summary_of(GREEDY_V_RANDOM, results_of(GREEDY_V_RANDOM)[:1]))


def numbers(attribute: str, picture: str) -> list[float]:
    return [float(number) for number in re.findall(rf" {attribute}='([^']*)'", picture)]


@pytest.mark.parametrize(
    "margins",
    [
        Counter({0: 600}),
        Counter({3: 38, -2: 1, 0: 561}),
        Counter({margin: 1 + margin % 7 for margin in range(-300, 200)}),
        Counter({-1: 10**6, 10**4: 1}),
        Counter({-5: 3}),
    ],
)
def test_all_bars_lie_inside_their_picture_and_count_all_games(margins: Counter[int]) -> None:
    picture = _bars(margins)
    bars = [[float(number) for number in bar] for bar in re.findall(r"<rect x='(.*?)' y='(.*?)' width='(.*?)' height='(.*?)'", picture)]
    assert all(x >= 0 and y >= 0 and width > 0 and x + width <= 940 and y + height <= 180 for x, y, width, height in bars)
    assert all(0 <= x <= 940 for x in numbers("x", picture))
    assert sum(int(count) for count in re.findall(r": (\d+)</title>", picture)) == margins.total()
    assert len(bars) <= 91


def test_bars_say_which_margins_they_count() -> None:
    assert re.findall("<title>(.*?)</title>", _bars(Counter({3: 38, -2: 1, 0: 561}))) == ["-2: 1", "0: 561", "+3: 38"]
    several = re.findall("<title>(.*?)</title>", _bars(Counter({-90: 1, -1: 2, 0: 3, 2: 4, 3: 5})))
    assert several == ["-89 to -90: 1", "-1 to -2: 2", "0: 3", "+1 to +2: 4", "+3 to +4: 5"]


def test_bars_of_games_won_lost_and_tied_have_colours_of_their_own() -> None:
    lost, tied, won = re.findall("fill='(.*?)'", _bars(Counter({3: 38, -2: 1, 0: 561})))
    assert (lost, tied, won) == ("#c1442d", "#888", "#2a9d4a")


@pytest.mark.parametrize(
    "margins, numbers", [({-5: 3}, {"-5", "0"}), ({5: 3}, {"0", "+5"}), ({0: 3}, {"0"}), ({-1: 1, 2: 1}, {"-1", "0", "+2"})]
)
def test_the_axis_goes_from_the_least_margin_to_the_greatest_and_holds_0(margins: dict[int, int], numbers: set[str]) -> None:
    assert set(re.findall("<text [^>]*>(.*?)</text>", _bars(Counter(margins)))) == numbers
