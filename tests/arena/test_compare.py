"""Do two policies that are compared meet the same deals in the same seats, and does a comparison go on where it was interrupted?"""

import json
import math
import re

import numpy as np
import pytest
from matches import results_of

from kdenv.arena import Comparison, Comparisons, Match, Result, Summary, compare, read_budget
from kdenv.arena import comparison as comparison_module
from kdenv.arena.comparison import Verdict
from kdenv.arena.sequential import ConfidenceSequence
from kdenv.arena.statistics import student_t
from kdenv.cli import main
from kdenv.core.errors import BadOption, BadRecord
from kdenv.games import find_game

SMALL = {"options": {"size": 3}, "processes": 1}
APART = Match("kingdomino", ["full_greedy", "random"], games=24, seed=5, options={"size": 3}, other=["gprd", "random"])


def chance_of(result: Result) -> list[str]:
    return [line for line in result.record.splitlines() if line.startswith("*")]


# Two line-ups


def test_both_line_ups_play_a_deal_from_the_same_seats() -> None:
    assert [APART.find(number) for number in range(5)] == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 0, 0)]
    assert APART.who(0, 0).startswith("full_greedy in seat 0 of game 0")
    assert APART.who(1, 0).startswith("gprd in seat 0 of game 1")
    assert APART.who(3, 1).startswith("gprd in seat 1 of game 3")


def test_both_line_ups_meet_the_same_draws() -> None:
    results = results_of(Match(APART.game, APART.line_up, 8, APART.seed, APART.options, APART.other))
    assert [result.deal for result in results] == [0] * 4 + [1] * 4
    drawn = [[word for line in chance_of(result) for word in line[2:].split(", ")] for result in results]
    assert drawn[0] == drawn[1] == drawn[2] == drawn[3] != drawn[4]


def test_the_same_policy_in_both_line_ups_plays_the_same_games() -> None:
    """Also if it plays at random: its seed is that of the deal and the seat. So its difference from itself is 0 on every deal."""
    match = Match(APART.game, ["random", "full_greedy"], 8, 1, APART.options, ["random", "full_greedy"])
    records = [result.record for result in results_of(match)]
    assert records[0::2] == records[1::2]
    assert len(set(records)) == 4


def test_line_ups_of_different_lengths_are_refused() -> None:
    with pytest.raises(BadOption, match="two line-ups of 2 and 3 policies cannot take the same seats"):
        Match("kingdomino", ["random"] * 2, 4, other=["random"] * 3).check()


def test_two_line_ups_have_no_table() -> None:
    with pytest.raises(BadOption, match="a match of two line-ups has no table of policies"):
        Summary(APART)


@pytest.mark.parametrize(
    "game, field, players, line_up, other",
    [
        ("kingdomino", [], None, ["a", "b"], []),
        ("kingdomino", [], 4, ["a", "b", "a", "b"], []),
        ("kingdomino", ["c"], None, ["a", "c"], ["b", "c"]),
        ("kingdomino", ["c", "d"], None, ["a", "c", "d"], ["b", "c", "d"]),
        ("kingdomino", ["c", "d"], 4, ["a", "c", "d", "c"], ["b", "c", "d", "c"]),
        ("dominoes", [], None, ["a", "b", "a", "b"], []),
        ("dominoes", ["c"], None, ["a", "c", "a", "c"], ["b", "c", "b", "c"]),
        ("dominion", [], None, ["a", "b"], []),
    ],
)
def test_seats_are_shared_evenly_or_filled_by_the_field(game: str, field: list, players: int | None, line_up: list, other: list) -> None:
    assert comparison_module._line_ups(game, "a", "b", field, players) == (line_up, other)


@pytest.mark.parametrize(
    "field, players, what",
    [
        ([], 3, "a and b cannot share 3 seats evenly; name opponents for the others, or 2 players"),
        (["c", "d"], 2, "2 policies are given for the 1 seat of the others"),
        (["c"], 9, "kingdomino cannot be played by 9 players"),
    ],
)
def test_seats_that_cannot_be_filled(field: list, players: int, what: str) -> None:
    with pytest.raises(BadOption, match=what):
        comparison_module._line_ups("kingdomino", "a", "b", field, players)


# The differences


def test_a_difference_is_that_of_the_margins_in_the_same_seats() -> None:
    results, comparison = results_of(APART), Comparison(APART, smallest=0.0)
    for result in results:
        comparison.add(result)
    margins = np.array([result.margins[0] for result in results]).reshape(6, 2, 2)  # deals, rotations, line-ups
    differences = (margins[..., 0] - margins[..., 1]).mean(axis=1)
    assert (comparison.deals, comparison.games) == (6, 24)
    assert comparison.difference.mean == pytest.approx(differences.mean())


def test_at_one_table_a_difference_is_that_of_the_scores() -> None:
    match = Match("kingdomino", ["full_greedy", "random"], games=12, options={"size": 3})
    results, comparison = results_of(match), Comparison(match, smallest=0.0)
    for result in results:
        comparison.add(result)
    assert comparison.difference.mean == pytest.approx(np.mean([result.scores[0] - result.scores[1] for result in results]))


@pytest.mark.parametrize("error", [0.05, 0.01])
def test_both_ways_to_be_wrong_have_the_stated_error_together(error: float) -> None:
    """Policies that differ on 5 % of all deals are called alike if they differ on none of those played. The interval has the other part."""
    alike = Comparison(APART, error=error)
    while not alike.is_known:
        alike.add_deal(20.0, 20.0)
    assert alike.verdict is Verdict.ALIKE
    left = ConfidenceSequence(error - 0.95**alike.deals)
    comparison = Comparison(APART, error=error)
    for number in range(40):
        left.add(float(number % 7))
        comparison.add_deal(20.0 + number % 7, 20.0)
    found, allowed = comparison.difference, left.interval()
    assert 1 <= (found.high - found.low) / (allowed.high - allowed.low) < 1.01


def test_the_order_in_which_games_end_changes_nothing() -> None:
    """Deals are counted in their order. If they were counted as they end, short games would count more."""
    results = results_of(APART)
    in_order, backwards = Comparison(APART), Comparison(APART)
    for result in results:
        in_order.add(result)
    for result in results[1:][::-1]:
        backwards.add(result)
    assert backwards.deals == 0
    backwards.add(results[0])
    assert (backwards.deals, backwards.difference) == (6, in_order.difference)


def test_pairing_is_worth_the_ratio_of_the_variances() -> None:
    rng = np.random.default_rng(8)
    luck, own = rng.normal(0, 3, 50), rng.normal(0, 1, (2, 50))
    a, b = luck + own[0], luck + own[1]
    comparison = Comparison(APART, smallest=0.0)
    for of_a, of_b in zip(a.tolist(), b.tolist(), strict=True):
        comparison.add_deal(of_a, of_b)
    assert comparison.pairing == pytest.approx((a.var() + b.var()) / (a - b).var())
    assert comparison.pairing > 5
    assert f"variance reduction from shared deals: {comparison.pairing:.1f}x" in str(comparison).lower()


# Bounds, wins, and a policy against itself


@pytest.mark.parametrize(
    "bounds, points, verdict, words",
    [
        ((-1.0, 2.0), 3.0, Verdict.ABOVE, "more than -1 points a game"),
        ((-1.0, 2.0), -2.0, Verdict.BELOW, "less than 2 points a game"),
        ((-9.0, 9.0), 0.0, Verdict.BETWEEN, "between -9 points a game and 9 points a game"),
        ((4.0, 4.0), 6.0, Verdict.ABOVE, "more than 4 points a game"),
    ],
)
def test_a_comparison_with_bounds_ends_when_one_is_excluded(bounds: tuple, points: float, verdict: Verdict, words: str) -> None:
    comparison = Comparison(APART, bounds=bounds)
    while not comparison.is_known:
        assert comparison.verdict is Verdict.OPEN
        comparison.add_deal(20.0 + points + 0.1 * (comparison.deals % 5 - 2), 20.0)
    assert comparison.verdict is verdict
    assert words in comparison.sentence
    low, high = comparison.difference.low, comparison.difference.high
    assert low > bounds[0] or high < bounds[1]


def test_bounds_with_a_wide_spread_need_more_deals_than_bounds_far_away() -> None:
    counts = []
    for bounds in ((-0.5, 0.5), (-5.0, 5.0)):
        comparison = Comparison(APART, bounds=bounds)
        while not comparison.is_known:
            comparison.add_deal(20.0 + 3 * (comparison.deals % 7 - 3), 20.0)
        counts.append(comparison.deals)
    assert counts[0] > 5 * counts[1]


@pytest.mark.parametrize("bounds", [(1.0, -1.0), (0.0, math.inf), (math.nan, 1.0)])
def test_bounds_that_are_not_possible(bounds: tuple[float, float]) -> None:
    with pytest.raises(BadOption, match="they are two numbers of points, the lower one first"):
        Comparison(APART, bounds=bounds)


def test_wins_are_counted_by_policy_when_they_never_meet() -> None:
    results, comparison = results_of(APART), Comparison(APART, smallest=0.0)
    for result in results:
        comparison.add(result)
    for line_up, outcomes in enumerate((comparison.wins.a, comparison.wins.b)):
        won = [result.wins[0] for result in results if APART.find(result.number)[2] == line_up]
        assert (outcomes.wins, outcomes.losses) == (won.count(1.0), won.count(0.0))
        assert outcomes.wins + outcomes.draws + outcomes.losses == comparison.games / 2


def test_partners_win_together() -> None:
    """In a team game A has two seats of a team, and its win is one win."""
    match = Match("dominoes", ["greedy", "random"] * 2, games=8, options={"mode": "round"})
    comparison = Comparison(match)
    for result in results_of(match):
        comparison.add(result)
    wins = comparison.wins.a
    assert wins.wins + wins.draws + wins.losses == 8
    assert wins.wins == comparison.wins.b.losses


def test_a_policy_against_itself_is_said_to_be_so() -> None:
    same = Match("kingdomino", ["mce(playouts=100)", "mce(playouts=100, playout=random)"], games=2)
    other = Match("kingdomino", ["mce(playouts=100)", "mce(playouts=101)"], games=2)
    assert "A and B are the same policy, so their true difference is 0." in str(Comparison(same))
    assert "the same policy" not in str(Comparison(other))


# kdenv match lists its differences, too


def result_of(number: int, scores: list[int]) -> Result:
    margins = [score - max(other for place, other in enumerate(scores) if place != mine) for mine, score in enumerate(scores)]
    wins = [float(score == max(scores)) / scores.count(max(scores)) for score in scores]
    return Result(number, number // 3, scores, margins, wins, [1.0] * 3, [12] * 3, [0] * 3, "")


def test_a_match_lists_paired_differences_that_are_narrower_than_either_score() -> None:
    rng = np.random.default_rng(9)
    match = Match("kingdomino", ["full_greedy", "gprd", "random"], games=90)
    scores = [[round(50 + luck + rng.normal(more, 3)) for more in (5, 2, 0)] for luck in np.repeat(rng.normal(0, 15, 30), 3)]
    summary = Summary(match, [result_of(number, of) for number, of in enumerate(scores)])
    first, second, third = summary.differences()
    assert [(each.policy, each.less) for each in (first, second, third)] == [
        ("full_greedy", "gprd"),
        ("full_greedy", "random"),
        ("gprd", "random"),
    ]
    by_deal = np.array(scores, float).reshape(30, 3, 3).mean(axis=1)
    difference = by_deal[:, 0] - by_deal[:, 1]
    assert first.points.mean == pytest.approx(difference.mean())
    assert first.pairing == pytest.approx((by_deal[:, 0].var() + by_deal[:, 1].var()) / difference.var())
    rows = summary.rows()
    width = first.points.high - first.points.low
    assert width < min(rows[0].score.high - rows[0].score.low, rows[1].score.high - rows[1].score.low) / 3
    line = f"full_greedy minus gprd: {first.points.text(sign=True)} points a game; "
    line += f"variance reduction from shared deals: {first.pairing:.1f}x"
    assert line in str(summary)
    assert line in summary._repr_html_()
    half = student_t(29, 3) * difference.std(ddof=1) / math.sqrt(30)
    assert first.points.high - first.points.mean == pytest.approx(half)
    assert "Those of the 3 differences are wider, so that all of them are right in 95 % of all matches (Bonferroni)." in str(summary)


def test_shared_deals_that_do_not_help_are_told() -> None:
    """What one makes the other one loses: at one table, points can move so."""
    match = Match("kingdomino", ["full_greedy", "gprd", "random"], games=60)
    results = [result_of(number, [50 + gain, 50 - gain, 50]) for number in range(60) for gain in [(number // 3) % 7]]
    assert "variance reduction from shared deals: 0.5x (they did not help)" in str(Summary(match, results))


def test_few_deals_have_differences_without_intervals() -> None:
    match = Match("kingdomino", ["full_greedy", "gprd", "random"], games=60)
    summary = Summary(match, [result_of(number, [50 + number, 50, 40]) for number in range(27)])
    assert "full_greedy minus gprd: +13.0 points a game\n" in str(summary)
    assert "Bonferroni" not in str(summary)
    assert math.isnan(summary.differences()[0].pairing)


# Playing, stopping, going on


def test_a_comparison_stops_when_it_knows() -> None:
    found = compare("kingdomino", "full_greedy", "random", **SMALL)
    assert found.sentence.startswith("full_greedy is stronger than random by ")
    assert found.sentence.endswith(f"points a game (error at most 5 %), after {found.deals} deals")
    assert 10 <= found.deals < 100
    assert found.difference.low > 0


def test_a_comparison_ends_at_its_last_deal() -> None:
    found = compare("kingdomino", "random", "random", deals=3, **SMALL)
    assert (found.deals, found.is_known, found.interrupted) == (3, False, False)


def test_the_number_of_processes_changes_nothing() -> None:
    """Neither what is found nor when it is found, although two processes play games beyond the last deal that is counted."""
    one, two = (compare("kingdomino", "full_greedy", "random", options={"size": 3}, seed=3, processes=n) for n in (1, 2))
    assert one.is_known
    assert two.as_json() == one.as_json()


def test_an_interrupted_comparison_goes_on_from_its_file(tmp_path) -> None:
    file = tmp_path / "compare.jsonl"

    def stop(comparison: Comparison) -> None:
        if comparison.deals == 4:
            raise KeyboardInterrupt

    def count(comparison: Comparison) -> None:
        played.append(comparison.deals)

    broken = compare("kingdomino", "full_greedy", "random", out=file, on_deal=stop, **SMALL)
    assert (broken.interrupted, broken.deals, broken.is_known) == (True, 4, False)
    played: list[int] = []
    whole = compare("kingdomino", "full_greedy", "random", out=file, on_deal=count, **SMALL)
    assert whole.as_json() == compare("kingdomino", "full_greedy", "random", **SMALL).as_json()
    assert len(played) == whole.games - broken.games
    played.clear()
    assert compare("kingdomino", "full_greedy", "random", out=file, on_deal=count, **SMALL).sentence == whole.sentence
    assert played == []  # what is known needs no more games


def test_a_file_of_another_version_or_comparison_is_refused(tmp_path) -> None:
    file = tmp_path / "compare.jsonl"
    compare("kingdomino", "full_greedy", "random", out=file, deals=1, **SMALL)
    with pytest.raises(BadRecord, match=r"holds the results of another match .*; choose another --out"):
        compare("kingdomino", "full_greedy", "random", against="gprd", out=file, deals=1, **SMALL)
    first, *rest = file.read_text().splitlines()
    file.write_text("\n".join([json.dumps({**json.loads(first), "kdenv": "0.0.9"}), *rest]) + "\n")
    with pytest.raises(BadRecord, match=r"another version of kdenv \(0.0.9, here it is .*; choose another --out"):
        compare("kingdomino", "full_greedy", "random", out=file, deals=1, **SMALL)


# Budgets


def test_searches_are_compared_at_a_budget() -> None:
    at = read_budget("playouts=3")
    found = compare("kingdomino", "mce", "full_greedy", against="uct(playouts=2)", at=at, deals=1, **SMALL)
    assert (found.match.line_up, found.match.other) == (["mce(playouts=3)", "uct(playouts=2)"], ["full_greedy", "uct(playouts=2)"])
    assert found.as_json()["budget"] == "playouts=3"


def test_policies_without_a_budget_cannot_be_compared_at_one() -> None:
    with pytest.raises(BadOption, match=r"neither full_greedy nor mce\(playouts=5\) is a search without a budget of its own"):
        compare("kingdomino", "full_greedy", "mce(playouts=5)", at=read_budget("10ms"))


# The command, and notebooks


def test_the_command_says_what_is_known(capsys) -> None:
    command = ["compare", "kingdomino", "full_greedy", "random", "--option", "size=3", "--processes", "1", "--seed", "0"]
    assert main(command) == 0
    about, sentence, *_ = capsys.readouterr().out.splitlines()
    assert about == "kingdomino, 2 players size=3, seed 0: full_greedy or random"
    assert sentence == compare("kingdomino", "full_greedy", "random", **SMALL).sentence + "."
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["sentence"] + ".") == ("stronger", sentence)


def test_the_command_compares_at_several_budgets(capsys, tmp_path) -> None:
    command = ["compare", "kingdomino", "mce", "random", "--against", "gprd", "full_greedy", "--option", "size=3", "--processes", "1"]
    assert main([*command, "--seed", "1", "--at", "playouts=2,playouts=4", "--deals", "1", "--out", str(tmp_path / "c.jsonl")]) == 0
    *lines, _ = capsys.readouterr().out.splitlines()
    assert [line.split(". ")[0] for line in lines] == [
        f"playouts={n}: it is not known whether mce(playouts={n}) or random is stronger: too few deals (1; 10 are needed)" for n in (2, 4)
    ]
    assert all(re.search(r"Wins-draws-losses \d-\d-\d \(A\) and \d-\d-\d \(B\), Elo difference ", line) for line in lines)
    assert sorted(path.name for path in tmp_path.glob("*.jsonl")) == ["c-playouts=2.jsonl", "c-playouts=4.jsonl"]


def test_several_budgets_share_the_error(capsys) -> None:
    command = ["compare", "kingdomino", "mce", "random", "--option", "size=3", "--processes", "1", "--seed", "1", "--deals", "1"]
    assert main([*command, "--at", "playouts=1,playouts=2,playouts=3", "--error", "0.06", "--json"]) == 0
    assert [round(row["error"], 12) for row in json.loads(capsys.readouterr().out)] == [0.02] * 3
    assert main([*command, "--at", "playouts=1,playouts=2"]) == 0
    assert capsys.readouterr().out.endswith("The probability that any of these 2 answers is wrong is at most 5 %.\n")
    assert main([*command, "--at", "playouts=1"]) == 0
    assert "any of these" not in capsys.readouterr().out


def test_an_interrupted_command_says_how_to_go_on(capsys, tmp_path, monkeypatch) -> None:
    file = tmp_path / "compare.jsonl"
    command = ["compare", "kingdomino", "full_greedy", "random", "--option", "size=3", "--out", str(file)]
    monkeypatch.setattr(comparison_module, "play", lambda *match, **how: False)  # as after Ctrl-C
    assert main(command) == 130
    captured = capsys.readouterr()
    assert captured.err == f"kdenv: interrupted after 0 deals; the same command goes on from {file}\n"
    assert "too few deals (0; 10 are needed)" in captured.out


def test_a_terminal_shows_how_far_it_is(capsys, monkeypatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert main(["compare", "kingdomino", "random", "random", "--option", "size=3", "--processes", "1", "--deals", "2"]) == 0
    shown = capsys.readouterr().err
    assert shown.startswith("\r0 deals: no interval yet")
    assert shown.endswith(" \r")


@pytest.mark.parametrize(
    "words, what",
    [
        (["random", "random", "--against", "c=random"], "c=random"),
        (["random", "random", "--bounds", "2", "1"], "the bounds 2 and 1 are not possible"),
        (["random", "random", "--error", "2"], "an error of 2 is not possible"),
        (["random", "random", "--players", "3"], "cannot share 3 seats evenly"),
        (["random", "nobody"], "there is no policy nobody"),
        (["random", "random", "--at", "fast"], "fast is no budget"),
    ],
)
def test_mistakes_are_one_sentence(words: list[str], what: str, capsys) -> None:
    assert main(["compare", "kingdomino", *words]) == 2
    found = capsys.readouterr().err
    assert what in found
    assert found.count("\n") == 1


def test_there_is_at_least_one_process(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["compare", "kingdomino", "random", "random", "--processes", "0"])
    assert "--processes: 0 is not possible; it is a whole number from 1" in capsys.readouterr().err


def test_progress_says_how_far_it_is() -> None:
    comparison = Comparison(APART)
    assert comparison.progress == "0 deals: no interval yet"
    for number in range(30):
        comparison.add_deal(float(number % 7) - 2.5, 0.0)
    assert comparison.progress.startswith("30 deals: 0.3 [")
    assert comparison.progress.endswith(" to go")


def test_progress_ends_at_the_most_deals() -> None:
    """A difference of 0.001 with a spread of 1 would need millions of deals."""
    comparison = Comparison(Match("kingdomino", ["full_greedy", "gprd"], games=2 * 100), smallest=0.0)
    for number in range(60):
        comparison.add_deal(0.001 + (-1) ** number, 0.0)
    assert comparison.progress.endswith("about 40 to go")


def test_a_notebook_shows_a_table() -> None:
    comparison = Comparison(Match("kingdomino", ["<b>", "random"], games=2))
    for number in range(12):
        comparison.add_deal(float(number), 0.0)
    for shown in (comparison._repr_html_(), Comparisons([comparison])._repr_html_()):
        assert "&lt;b&gt;" in shown
        assert "<b>" not in shown
        assert "<td>12</td><td>24</td>" in shown


def test_every_game_can_be_compared() -> None:
    for game in ("dominoes", "dominion", "carcassonne"):
        greedy = find_game(game).knowledge.greedy
        assert compare(game, greedy, "random", deals=1, processes=1).deals == 1
