"""Are the numbers of baselines/papers/expected those that the papers print?

tests/data/papers_printed.json has the rows of the papers' tables as their text has them, copied by machine, and gedda2018.json the raw data
of the Kingdomino paper. Every number of these tables must follow from its printed row. The numbers of running text and of figures have one
source only, the line itself; they are listed at the end.
"""

import json
import math
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from baselines.papers import tables
from baselines.papers.lines import Expected
from baselines.papers.matches import is_share

DATA = Path(__file__).parents[1] / "data"
Key = tuple[str, str, str]


class Fact(NamedTuple):
    """What a line must hold by the printed row: its number, to so many decimals, and its games and half width, if they follow from it."""

    value: float
    decimals: int
    n: int | None = None
    half: float | None = None


@cache
def printed(paper: str) -> dict[str, list[str]]:
    """The printed rows of a paper's tables."""
    found: dict[str, list[str]] = json.loads((DATA / "papers_printed.json").read_text(encoding="utf-8"))[paper]
    return found


# Jansen and Tollisen: each row prints wins, losses and ties.

COUNTS = ("wins", "losses", "draws")
# The row as it must be, where the thesis prints a row that contradicts itself (the README has both).
CORRECTED = {
    ("Table 29", "uct_orig in all"): (48, 149, 3),  # the ties of both halves are left out
    ("Table 48", "ucb_orig in all"): (137, 63, 0),  # one tie in 201 games; the halves have none
    ("Table 48", "double_witch in all"): (63, 137, 0),
}


def label_of(cells: list[str]) -> str:
    """The row of a printed row of a match in two halves: "Total UCT _{mod}" is "uct_mod in all"."""
    name = cells[0].replace(" _{", "_").replace("_{", "_").replace("}", "")
    name, is_total = name.removeprefix("Total "), name.startswith("Total ")
    name = {"SingleWitch": "single_witch", "DoubleWitch": "double_witch", "Random Player": "random"}.get(name, name.lower())
    return f"{name} in all" if is_total else f"{name} begins"


def jansen() -> Iterator[tuple[Key, Fact]]:
    by_table, of_line = defaultdict(list), dict[Key, Fact]()
    for line in tables.expected_of("jansen2014"):
        by_table[line.table].append(line)
    for table, rows in printed("jansen2014").items():
        cells = [row.split(" | ") for row in rows]
        lines = by_table[table]
        if table == "Table 25" or table in ("Table 53", "Table 54", "Table 55", "Table 56"):
            yield from numbers_of_three(table, cells, lines)
            continue
        counts = [tuple(int(cell.replace(" ", "")) for cell in row[-3:]) for row in cells]
        if "begins" in " ".join(line.row for line in lines):
            of_row = dict(zip(map(label_of, cells), counts, strict=True))
        else:
            of_row = dict(zip(dict.fromkeys(line.row for line in lines), counts, strict=True))
        for line in lines:
            row = re.sub(r"/t\d+", "", line.row)
            row = f"{row} in all" if row in ("uct_mod", "ucb_mod") else row
            found = CORRECTED.get((table, row), of_row[row])
            what = next(i for i, name in enumerate(COUNTS) if name in line.measure)
            of_line[line.key] = Fact(100 * found[what] / sum(found), 1, sum(found))
            yield line.key, of_line[line.key]
    for line in by_table["Half of the simulations"]:
        table, row = line.row.split(", ", 1)
        yield line.key, of_line[table, row, line.measure]


def numbers_of_three(table: str, cells: list[list[str]], lines: list[Expected]) -> Iterator[tuple[Key, Fact]]:
    """The lines of tables of which each row has three lines: seconds by phase; points, deviation and share of optimal games."""
    for i, row in enumerate(cells):
        numbers = [float(number) for cell in row[-3:] for number in re.findall(r"[\d.]+", cell)]
        points, deviation, optimal = [*numbers, 0.0][:3] if table == "Table 25" else numbers[::2]
        three = lines[3 * i : 3 * i + 3]
        assert len({line.row for line in three}) == 1
        if table == "Table 25":
            assert row[0] in three[0].row and row[1].lower().replace("_{", "_").rstrip("}") in three[0].row
            points, deviation, optimal = (float(x) for x in (*re.findall(r"[\d.]+", row[2]), row[3].rstrip("%")))
        for line, value in zip(three, (points, deviation, optimal), strict=True):
            half = 0.196 * deviation if line.measure == "points" else None
            yield line.key, Fact(value, 1, 100 if table == "Table 25" else None, half)


# Heyden


def numbers_in(row: str) -> list[float]:
    return [float(word.replace(",", "")) for word in row.split() if re.fullmatch(r"-?[\d,]*\.?\d+", word)]


def halves(table: str) -> Iterator[tuple[Key, Fact]]:
    """Tables 6.1, 6.3 and 6.8: the rows are least, most, mean and wins, the columns two players when one of them begins, then the other.

    A line asks for the first policy of the match or its rival, and for the games that this policy began or did not.
    """
    rows = [numbers_in(row) for row in printed("heyden2009")[table]]
    # By the policy that begins, the columns of the first policy of the match and of its rival.
    columns = ((3, 2), (1, 0)) if table == "Table 6.8" else ((0, 1), (2, 3))
    for line in tables.expected_of("heyden2009"):
        if line.table != table:
            continue
        what, place = line.measure.removeprefix("rival's ").split()[0], int(line.measure.startswith("rival"))
        mine = [columns[place][place], columns[1 - place][place]]  # when it begins, and when it does not
        if line.measure.endswith((" first", " second")):
            mine = [mine[line.measure.endswith(" second")]]
        least, most, mean, wins = ([row[column] for column in mine] for row in rows)
        if what == "wins":
            yield line.key, Fact(100 * sum(wins) / (50 * len(mine)), 1, 50 * len(mine))
        else:
            yield line.key, Fact({"least": min(least), "most": max(most), "points": math.fsum(mean) / len(mean)}[what], 2)


def heyden() -> Iterator[tuple[Key, Fact]]:
    lines = tables.expected_of("heyden2009")
    for table in ("Table 6.1", "Table 6.3", "Table 6.8"):
        yield from halves(table)
    by_c = {f"{row[0]:g}": row[1:] for row in map(numbers_in, printed("heyden2009")["Table 6.2"])}
    for line in lines:
        if line.table == "Table 6.2":
            row = by_c[re.search(r"C = ([\d.]+)", line.row)[1]]  # type: ignore[index]
            if line.measure == "wins":
                assert sum(row[:6]) == 50
                yield line.key, Fact(100 * row[6], 0, 50)
            else:
                place = ("wins", "draws", "losses").index(line.measure.split()[0]) + (3 if line.measure.endswith("first") else 0)
                yield line.key, Fact(100 * row[place] / 25, 1, 25)
    orders = [numbers_in(row) for row in printed("heyden2009")["Table 6.4"]]
    columns = {"star1": [row[-7:] for row in orders], "star2": [row[-4:] for row in orders]}
    nodes = {"star1": [68_128.9, 67_698.5, 67_388.9], "star2": [32_107.7, 35_199.2, 25_465.1]}
    for search, rows in nodes.items():
        assert all(number in row for number, row in zip(rows, orders, strict=True)), columns
        for order, number in enumerate(rows):
            yield ("Table 6.4", f"{search.capitalize()}, order {order}", "nodes"), Fact(number, 1)
            if order:
                gain = Fact(100 * (1 - number / rows[0]), 1)
                yield ("Table 6.4", f"{search.capitalize()}, order {order}, gain over order 0", "nodes saved, %"), gain
    for order, (one, two) in enumerate(zip(nodes["star1"], nodes["star2"], strict=True)):
        yield ("Table 6.4", f"Star2 over Star1, order {order}", "nodes saved, %"), Fact(100 * (1 - two / one), 1)
    factors = [float(row.split()[2 if "(" in row else 1].replace(",", "")) for row in printed("heyden2009")["Table 6.6"]]
    for k, number in enumerate(factors, 1):
        yield ("Table 6.6", f"Star2.5, probing factor {k}", "nodes"), Fact(number, 1)
        if k > 1:
            yield ("Table 6.6", f"Star2.5, probing factor {k}, gain over 1", "nodes saved, %"), Fact(100 * (1 - number / factors[0]), 1)
    for row in printed("heyden2009")["Table 3.1"]:
        squares, _, _, *rest = row.replace("·", "").split()
        free, fixed = [*re.findall(r"([\d.]+) · 10(\d+)", row), (rest[-1], "0")][:2]
        for kind, (digits, power) in (("free", free), ("fixed", fixed)):
            decimals = 1 - int(power) if int(power) else 0
            yield ("Table 3.1", f"{kind} polyominoes of {squares} squares, estimate", "about"), Fact(float(f"{digits}e{power}"), decimals)


# Gedda, Lagerkvist and Butler: the raw data, and Table III as printed


def gedda() -> Iterator[tuple[Key, Fact]]:
    raw: dict[str, Any] = json.loads((DATA / "gedda2018.json").read_text())
    one, two, three = (raw[name] for name in ("table1_fig2_fig3", "table2_fig4", "table3_fig5_fig6"))
    names = ["FG", *(f"{search}-{kind}{end}" for search, end in (("MCE", "/R"), ("UCT", ""), ("UCTB", ""), ("UCTW", ""))
                     for kind in ("TR", "FG", "PG", "eG"))]  # fmt: skip
    seconds = ("0.1", "0.2", "0.3", "0.5", "1", "2", "4", "6", "8", "10")
    columns = [dict(zip(names, map(float, column.split()), strict=True)) for column in printed("gedda2018")["Table III"]]
    assert all(column["FG"] == -9.0 for column in columns)
    for line in tables.expected_of("gedda2018"):
        name, _, rest = line.row.partition(" v ")
        if line.table == "Table I":
            entry = one[name]
            if line.measure == "margin":
                yield line.key, Fact(entry["margin_mean"], 3, half=entry["margin_ci95"])
            else:
                yield line.key, Fact(entry[line.measure] / 10, 1, 1000)
        elif line.table == "Figure 2" and line.measure == "open":
            name, at = line.row.split(", round ")
            yield line.key, Fact(one[name]["branching_server"][int(at) - 1], 3, half=one[name]["branching_ci95"][int(at) - 1])
        elif line.table in ("Figure 3", "Figure 4"):
            entry, at = (one if line.table == "Figure 3" else two)[name], int(rest.split()[-1]) - 1
            yield line.key, Fact(entry["score_by_round"][at], 3, half=entry["score_by_round_ci95"][at])
        elif line.table == "Table II":
            yield line.key, Fact(two[name]["score_mean"], 1, half=two[name]["score_ci95"])
        elif line.table in ("Figure 7", "Figure 8") and line.how:
            name, given, value = re.match(r"(\S+), (\S+) s a turn, . = (\S+)", line.row).groups()  # type: ignore[union-attr]
            points = raw["fig7" if line.table == "Figure 7" else "fig8"][f"{name.replace('-', '_')}@{float(given)}s"]
            entry = next(points[each] for each in points if float(each) == float(value))
            yield line.key, Fact(entry["margin_mean"], 3, half=entry["margin_ci95"])
        elif line.table == "Table III":
            name, _, when = line.row.partition(", ")
            at = seconds.index(when.split()[0]) if when else 0
            is_wrong = name.startswith("UCTB") and when == "10 s a turn"  # printed are the numbers of UCTW; the raw data have the others
            entry = three[name.replace("eG", "EG")]
            if is_wrong:
                yield line.key, Fact(entry["10_corrected"]["margin_mean"], 1, half=entry["10_corrected"]["margin_ci95"])
            elif when.endswith("printed"):
                yield line.key, Fact(columns[at][name], 1)
            elif name == "FG":
                yield line.key, Fact(columns[0][name], 1, half=entry["5"]["margin_ci95"])
            else:
                yield line.key, Fact(columns[at][name], 1, half=entry[when.split()[0]]["margin_ci95"])


FACTS: dict[str, Callable[[], Iterator[tuple[Key, Fact]]]] = {"jansen2014": jansen, "heyden2009": heyden, "gedda2018": gedda}


@cache
def facts(paper: str) -> dict[Key, Fact]:
    return dict(FACTS[paper]()) if paper in FACTS else {}


def complaint(line: Expected, fact: Fact | None) -> str:
    """What is wrong with a line by its printed row, by its own source, or by itself; empty if nothing is."""
    value = float(line.value) if line.value else math.nan
    if fact is not None:
        if not abs(value - fact.value) <= 0.5001 * 10.0**-fact.decimals + 1e-9 * abs(value):
            return f"{line.value} is not the printed {fact.value}"
        if fact.n is not None and line.n != str(fact.n):
            return f"n is not the printed {fact.n}"
        if fact.half is not None and not abs(float(line.half or "nan") - fact.half) <= 0.002:
            return f"half is not the printed {fact.half}"
    exact = re.search(r": ([\d.]+e\d+)$", line.source)
    if line.measure == "log10" and exact and not abs(value - math.log10(float(exact[1]))) < 0.01:
        return f"{line.value} is not the logarithm of {exact[1]}"
    games = float(line.n) if line.n else math.nan
    if is_share(line.measure) and line.value and line.n and abs(value / 100 * games - round(value / 100 * games)) > 0.0006 * games:
        return f"{line.value} % of {line.n} is not a number of games"
    return ""


def complaints(paper: str, lines: list[Expected]) -> list[str]:
    """What is wrong with the lines of a paper: each by itself, and wins, draws and losses that are not all games."""
    found = [f"{line.table}, {line.row}, {line.measure}: {what}" for line in lines if (what := complaint(line, facts(paper).get(line.key)))]
    sums: dict[tuple[str, str, str], dict[str, Expected]] = defaultdict(dict)
    for line in lines:
        for name in COUNTS:
            if name in line.measure and line.value:
                sums[line.table, line.row, line.measure.replace(name, "")][name] = line
    for (table, row, _), parts in sums.items():
        total = sum(float(part.value) for part in parts.values())
        if len(parts) == 3 and abs(total - 100) > 0.151:
            found.append(f"{table}, {row}: wins, draws and losses are {total} %")
        if len({part.n for part in parts.values()}) > 1:
            found.append(f"{table}, {row}: wins, draws and losses are of different games")
    return found


@pytest.mark.parametrize("paper", tables.PAPERS)
def test_every_number_is_the_printed_one_and_every_line_has_a_source(paper: str) -> None:
    lines = tables.expected_of(paper)
    assert complaints(paper, lines) == []
    assert set(facts(paper)) <= {line.key for line in lines}, "a printed number has no line"
    assert [line for line in lines if not line.source.strip()] == []


@pytest.mark.parametrize("paper", tables.PAPERS)
def test_the_committed_results_were_compared_with_these_numbers(paper: str) -> None:
    """So a number that changes in expected/ alone is noticed, wherever it stands."""
    made = {(line.table, line.row, line.measure): line for line in tables.results_of(paper)}
    for line in tables.expected_of(paper):
        assert (made[line.key].paper, made[line.key].how) == (line.value, line.how), line.key
    assert tables.judged(paper, made) == made


# Numbers of running text and of figures: a wrong one that is possible by itself is noticed only if its line disagrees with what is made
# here, or with the committed results.
ONE_SOURCE = {
    "gedda2018": {"Section II.B", "Figure 2"},
    "heyden2009": {"Table 3.1", "Section 3.2", "Figure 3.1", "Figure 3.2", "Figure 6.1", "Figure 6.2", "Figure 6.3", "Figure 6.4",
                   "Figure 6.5", "Figure 6.8", "Table 6.7", "Section 6.3.5", "Section 6.5",
                   "Table 6.4", "Table 6.6"},  # of these two the half widths, which are our estimate
    "jansen2014": {"Table 3", "Table 25", "Table 51", "Section 4.5"},  # of Table 25 the half widths of deviations, which are our estimate
    "dominai2016": {"Section IV.D", "Section V.A", "Figure 1", "Figure 2", "Section V.B", "Figure 3"},
    "wong_kang": {"Section 2", "Section 4", "Section 5"},
}  # fmt: skip


def wrong(number: str, dice: random.Random) -> str:
    """The number with two of its digits exchanged, or one digit changed."""
    places = [i for i, char in enumerate(number.partition("e")[0]) if char.isdigit()]
    swapped = list(number)
    if len(places) > 1:
        i, j = dice.sample(places, 2)
        swapped[i], swapped[j] = swapped[j], swapped[i]
    if "".join(swapped) == number:
        i = dice.choice(places)
        swapped[i] = str((int(number[i]) + dice.randint(1, 9)) % 10)
    return "".join(swapped)


@pytest.mark.parametrize("paper", tables.PAPERS)
def test_a_wrong_number_is_noticed(paper: str) -> None:
    """Each number in turn gets wrong digits. 15.8 becomes 18.5 in Table 10."""
    dice, lines, missed = random.Random(f"mutants of {paper}"), tables.expected_of(paper), set()
    by_table = defaultdict(list)
    for line in lines:
        by_table[line.table].append(line)
    n = 0
    for line in lines:
        for field in ("value", "n", "half"):
            number = getattr(line, field)
            if not number:
                continue
            changed = replace(line, **{field: wrong(number, dice)})
            if float(getattr(changed, field)) == float(number):
                continue
            n += 1
            if not complaints(paper, [changed if each is line else each for each in by_table[line.table]]):
                missed.add(line.table)
    assert n > 20 and missed <= ONE_SOURCE.get(paper, set())


def test_the_issues_example_is_noticed() -> None:
    lines = tables.expected_of("jansen2014")
    [line] = [line for line in lines if line.key == ("Table 10", "1,000 simulations", "wins")]
    assert line.value == "15.8"
    assert len(complaints("jansen2014", [replace(each, value="18.5") if each is line else each for each in lines])) == 2
