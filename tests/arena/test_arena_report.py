"""Do table, JSON and page of a match show what they should, in their bounds, whatever the match?"""

import json
import math
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from html.parser import HTMLParser

import pytest
from matches import GREEDY_V_RANDOM, results_of

import kdenv
from kdenv.arena import Curve, CurvePlan, League, Match, Result, Summary, compare, league, read_budget
from kdenv.arena.by_round import MOST_GAMES, Rounds
from kdenv.arena.report import as_json, compare_page, curve_page, league_page, page
from kdenv.arena.tables import text_table
from kdenv.core.match_columns import report_of
from kdenv.core.view import View
from kdenv.drawing.grids import heat_map, histogram
from kdenv.drawing.rows import BoxRow, IntervalRow, ladder, spreads
from kdenv.drawing.style import LOST, TIED, WIDTH, WON, in_lines

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
    assert text.count("<svg") == 3 + 1 + 1  # margins and wins, times, the last position
    assert text == page(summary_of(GREEDY_V_RANDOM, results[::-1]))


def test_a_report_of_nothing_and_of_one_game() -> None:
    assert "No game is finished yet" in page(Summary(GREEDY_V_RANDOM))
    assert "1 of 8 games finished" in page(summary_of(GREEDY_V_RANDOM, results_of(GREEDY_V_RANDOM)[:1]))


def attributes(picture: str, tag: str) -> list[dict[str, str]]:
    return [dict(element.attrib) for element in ElementTree.fromstring(picture).iter() if element.tag.endswith("}" + tag)]


def drawn(margins: dict[int, int]) -> str:
    return histogram("margins", margins, "margin")


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
    picture = drawn(margins)
    height = float(ElementTree.fromstring(picture).attrib["viewBox"].split()[3])
    _, *bars = [[float(bar.get(name, 0)) for name in ("x", "y", "width", "height")] for bar in attributes(picture, "rect")]
    assert all(x >= 0 and y >= 0 and width > 0 and x + width <= WIDTH and y + tall <= height for x, y, width, tall in bars)
    assert all(0 <= float(text["x"]) <= WIDTH for text in attributes(picture, "text"))
    assert sum(int(count) for count in re.findall(r": (\d+)</title>", picture)) == margins.total()
    assert len(bars) <= 91


def test_bars_say_which_margins_they_count() -> None:
    assert re.findall("<title>(.*?)</title>", drawn({3: 38, -2: 1, 0: 561})) == ["-2: 1", "0: 561", "+3: 38"]
    several = re.findall("<title>(.*?)</title>", drawn({-90: 1, -1: 2, 0: 3, 2: 4, 3: 5}))
    assert several == ["-89 to -90: 1", "-1 to -2: 2", "0: 3", "+1 to +2: 4", "+3 to +4: 5"]


def test_bars_of_games_won_lost_and_tied_have_colours_of_their_own() -> None:
    _, lost, tied, won = [bar["fill"] for bar in attributes(drawn({3: 38, -2: 1, 0: 561}), "rect")]
    assert (lost, tied, won) == (LOST, TIED, WON)


@pytest.mark.parametrize(
    "margins, numbers", [({-5: 3}, {"-5", "0"}), ({5: 3}, {"0", "+5"}), ({0: 3}, {"0"}), ({-1: 1, 2: 1}, {"-1", "0", "+2"})]
)
def test_the_axis_goes_from_the_least_margin_to_the_greatest_and_holds_0(margins: dict[int, int], numbers: set[str]) -> None:
    assert {text for text in re.findall("<text [^>]*>(.*?)</text>", drawn(margins)) if text not in ("margin", "margins")} == numbers


# What pages promise: nothing from elsewhere, everything escaped, tables for those who cannot see


STRANGE = '<script>alert("&")</script>'


def strange(view: View) -> int:
    return view.legal()[0]


strange.__name__ = strange.__qualname__ = STRANGE


class Reader(HTMLParser):
    """Reads a page, and keeps its tags and what they would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.loaded += [value or "" for name, value in attributes if name in ("src", "href") and not (value or "").startswith("#")]
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """A page of every kind, in which a policy has a strange name."""
    match = Match("kingdomino", [strange, "random"], games=24, options={"size": 3})
    rounds, summary = Rounds(match), Summary(match)
    for result in results_of(match):
        rounds.add(result)
        summary.add(result)
    compared = compare("kingdomino", strange, "random", options={"size": 3}, deals=12, processes=1)
    plan = League("kingdomino", {STRANGE: "full_greedy", "b": "random", "c": "gprd"}, options={"size": 3}, deals=10)
    curve = Curve(CurvePlan("kingdomino", ["mce"], [read_budget("playouts=2")], ["random"], 4, options={"size": 3}))
    curve.measure(processes=1)
    return {
        "match": page(summary, rounds),
        "comparison": compare_page([compared]),
        "league": league_page(league(plan, processes=1)),
        "curve": curve_page(curve),
    }


KINDS = pytest.mark.parametrize("kind", ["match", "comparison", "league", "curve"])


@KINDS
def test_a_page_loads_nothing_and_is_well_formed(kind: str, pages: dict[str, str]) -> None:
    reader = Reader(pages[kind])
    assert reader.open == []
    assert reader.loaded == []
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", pages[kind])


@KINDS
def test_a_page_fits_telephones_the_dark_and_those_who_listen(kind: str, pages: dict[str, str]) -> None:
    text = pages[kind]
    assert '<meta name="viewport" content="width=device-width' in text
    assert "prefers-color-scheme: dark" in text
    assert '<html lang="en">' in text
    assert text.count("<table>") == text.count("<caption>") == text.count('role="region"') - (kind == "match") > 0
    assert text.count('scope="row"') >= 1
    pictures = text.count("<svg") - (kind == "match")  # the drawing of the closest game has a title in place of a label
    assert text.count('role="img" aria-label=') == pictures > 0


@pytest.mark.parametrize("kind", ["match", "comparison", "league"])
def test_names_are_escaped(kind: str, pages: dict[str, str]) -> None:
    assert "<script" not in pages[kind]
    assert "&lt;script&gt;" in pages[kind]


def test_the_page_of_a_match_has_all_pictures(pages: dict[str, str]) -> None:
    titles = re.findall('role="img" aria-label=["\'](.*?)["\'] font', pages["match"])
    assert [title.split(" of ")[0] for title in titles] == [
        "Margins with 95 % intervals",
        "Games won with 95 % intervals",
        "Margins",
        "Points at the end",  # of each round
        "Open turns",
        "The time a turn took, on average over a game",
    ]


def test_the_page_of_a_league_has_ladder_and_heat_maps(pages: dict[str, str]) -> None:
    assert "Ratings with 95 % intervals" in pages["league"]
    assert "Who finished before whom" in pages["league"]
    assert pages["league"].count("<title>") == 1 + 2 * 6
    assert "of 20 games</title>" in pages["league"]


def test_rounds_have_the_points_and_the_turns_that_the_records_tell() -> None:
    match = Match("kingdomino", ["full_greedy", "random"], games=2, options={"size": 3})
    results = results_of(match)
    rounds = Rounds(match)
    for result in results:
        rounds.add(result)
    points, n_open = rounds.lines("points"), rounds.lines("open")
    assert [line.name for line in points] == [line.name for line in n_open] == ["full_greedy", "random"]
    assert points[0].dots[-1].y == sum(result.scores[0] for result in results) / 2
    told = [report_of(result.record, kdenv.games.find_game).turns for result in results]
    first = [[turn.open for turn in told[number][number] if turn.round == 0] for number in range(2)]  # its seat is that of the rotation
    assert n_open[0].dots[0].y == sum(sum(each) / len(each) for each in first) / 2
    assert [dot.x for dot in points[0].dots] == [dot.x for dot in n_open[0].dots]
    assert points[0].dots[0].x == 1


def test_rounds_of_games_beyond_the_first_are_not_replayed() -> None:
    match = Match("kingdomino", ["full_greedy", "random"], games=1000)
    rounds = Rounds(match)
    rounds.add(Result(MOST_GAMES, MOST_GAMES // 2, [0, 0], [0, 0], [1, 0], None, [0, 0], [0, 0], "no record"))
    assert rounds.lines("points")[0].dots == []


# Charts


def test_a_ladder_draws_open_ends_as_arrows_and_none_where_there_is_no_interval() -> None:
    rows = [
        IntervalRow("a", 1.0, 0.5, 2.0, "1"),
        IntervalRow("b", 3.0, 2.0, math.inf, "at least 2"),
        IntervalRow("c", 0.5, math.nan, math.nan, "0.5"),
    ]
    picture = ladder("t", "points", rows)
    assert "nan" not in picture
    assert "inf" not in picture
    assert sum("z" in path["d"] for path in attributes(picture, "path")) == 1
    assert len(attributes(picture, "circle")) == 2


def test_a_heat_map_leaves_blank_who_never_met() -> None:
    picture = heat_map("t", ["a", "b"], lambda row, column: math.nan if row else 0.75, lambda row, column: "told", "below")
    assert "nan" not in picture
    assert len(attributes(picture, "rect")) == 2
    assert ">75</text>" in picture


def test_spreads_of_nothing_are_drawn_too() -> None:
    assert ElementTree.fromstring(spreads("t", "x", [])) is not None
    picture = spreads("t", "x", [BoxRow("a", [(0.001, 0.5), (0.1, 0.5)], "1 ms")])
    bars = attributes(picture, "rect")[1:]
    assert [bar["height"] for bar in bars] == ["29.0", "29.0"]


def test_a_chart_changes_its_colours_in_the_dark_and_keeps_those_that_programs_know() -> None:
    picture = histogram("t", {1: 1}, "x")
    assert f'fill="{WON}"' in picture
    assert re.search(r"@media \(prefers-color-scheme: dark\) \{.*\.f2a9d4a\{fill:#4cc46e\}", picture)


@pytest.mark.parametrize(
    "text, width, parts", [("a b c", 1000, ["a b c"]), ("word " * 30, 200, None), ("x" * 90, 100, None), ("", 50, [""])]
)
def test_words_are_cut_into_lines(text: str, width: float, parts: list[str] | None) -> None:
    lines = in_lines(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert parts is None or lines == parts
