"""Are matches fair, repeatable and safe to interrupt, and are their intervals right?"""

import json
import math
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from kdenv.arena.match import Match, Result, append_result, play, play_game, read_results, table_of
from kdenv.arena.report import as_json, page, text_table
from kdenv.arena.statistics import estimate, student_t
from kdenv.core.errors import BadOption, BadRecord
from kdenv.core.record import replay
from kdenv.games import find_game

ROOT = Path(__file__).parents[1]
HERE = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'examples'}"}
GREEDY_V_RANDOM = Match("kingdomino", ["full_greedy", "random", "random", "random"], games=8, seed=1)


def results_of(match: Match, **how) -> list[Result]:
    results: list[Result] = []
    assert play(match, on_result=results.append, processes=how.pop("processes", 1), **how)
    return sorted(results, key=lambda result: result.number)


def chance_of(result: Result) -> list[str]:
    return [line for line in result.record.splitlines() if line.startswith("*")]


def without_time(results: list[Result]) -> list[dict]:
    return [{**vars(result), "seconds": None} for result in results]


def test_every_place_of_the_line_up_visits_every_seat() -> None:
    assert [GREEDY_V_RANDOM.seats(rotation).index(0) for rotation in range(4)] == [0, 1, 2, 3]


def test_a_deal_is_the_same_in_every_rotation() -> None:
    results = results_of(GREEDY_V_RANDOM)
    drawn = [[word for line in chance_of(result) for word in line[2:].split(", ")] for result in results]
    assert drawn[0] == drawn[1] == drawn[2] == drawn[3]
    assert drawn[4] == drawn[5] != drawn[0]


def test_a_match_is_repeatable_and_does_not_depend_on_the_number_of_processes() -> None:
    assert without_time(results_of(GREEDY_V_RANDOM)) == without_time(results_of(GREEDY_V_RANDOM, processes=2))


def test_another_seed_is_another_match() -> None:
    other = Match("kingdomino", GREEDY_V_RANDOM.line_up, games=8, seed=2)
    assert without_time(results_of(other)) != without_time(results_of(GREEDY_V_RANDOM))


def test_results_are_by_place_in_the_line_up() -> None:
    for result in results_of(GREEDY_V_RANDOM):
        *_, table = replay(result.record, find_game)
        seats = GREEDY_V_RANDOM.seats(result.number % 4)
        assert [result.scores[place] for place in seats] == table.scores()
        assert result.margins[0] == result.scores[0] - max(result.scores[1:])
        assert sum(result.wins) == pytest.approx(1)


def test_partners_win_together() -> None:
    match = Match("dominoes", ["greedy", "random", "greedy", "random"], games=4, options={"mode": "round"})
    for result in results_of(match):
        assert result.wins[0] == result.wins[2]
        assert result.margins[0] == result.scores[0] - result.scores[1]


def test_turns_are_counted_not_decisions() -> None:
    result = play_game(GREEDY_V_RANDOM, 0)
    assert result.turns == [13, 13, 13, 13]


def test_finished_games_are_kept_and_not_played_again(tmp_path) -> None:
    file = tmp_path / "match.jsonl"
    all_results = results_of(GREEDY_V_RANDOM)
    for result in all_results[:3]:
        append_result(file, GREEDY_V_RANDOM, result)
    with file.open("a") as cut_short:
        cut_short.write('{"number": 3, "de')
    kept = list(read_results(file, GREEDY_V_RANDOM))
    assert without_time(kept) == without_time(all_results[:3])
    more = results_of(GREEDY_V_RANDOM, done=[result.number for result in kept])
    assert without_time(kept + more) == without_time(all_results)


def test_results_of_another_match_are_refused(tmp_path) -> None:
    file = tmp_path / "match.jsonl"
    append_result(file, GREEDY_V_RANDOM, play_game(GREEDY_V_RANDOM, 0))
    other = Match("kingdomino", ["random"] * 4, games=8, seed=1)
    with pytest.raises(BadRecord, match="another match"):
        list(read_results(file, other))


def test_an_interrupt_keeps_complete_games() -> None:
    results: list[Result] = []

    def interrupt(result: Result) -> None:
        results.append(result)
        if len(results) == 2:
            raise KeyboardInterrupt

    assert not play(GREEDY_V_RANDOM, on_result=interrupt, processes=1)
    assert len(results) == 2


@pytest.mark.parametrize(
    "match, what",
    [
        (Match("kingdomino", ["random"], 1), "cannot be played by 1 players; players may be 2, 3 or 4"),
        (Match("kingdomino", [], 1), "needs a policy for every seat"),
        (Match("kingdomino", ["random"] * 4, 0), "games=0 is not possible"),
        (Match("kingdomino", ["random"] * 4, 1, options={"sise": 5}), "did you mean size"),
        (Match("kingdomino", ["random", "rundom"], 1), "did you mean random"),
        (Match("chess", ["random"] * 2, 1), "there is no game chess"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_played(match: Match, what: str) -> None:
    with pytest.raises(BadOption, match=what):
        play(match, on_result=lambda result: pytest.fail("something was played"))


# Statistics


def run_script(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text(text)
    return subprocess.run([sys.executable, str(script)], cwd=folder, env=HERE, capture_output=True, text=True, timeout=120, check=False)


UNGUARDED = """
from kdenv.arena.match import Match, play
play(Match("kingdomino", ["random"] * 4, games=8), processes=2, on_result=print)
"""
GAME_ADDED_TOO_LATE = """
import kdenv, three_shells
from kdenv.arena.match import Match, play
if __name__ == "__main__":
    kdenv.add_game(three_shells.GAME)
    play(Match("three_shells", ["bold", "random"], games=8), processes=2, on_result=print)
"""


@pytest.mark.parametrize("script", [UNGUARDED, GAME_ADDED_TOO_LATE])
def test_processes_that_cannot_start_are_not_tried_for_ever(tmp_path, script: str) -> None:
    """Processes import the script that starts them, but not what is under its guard."""
    done = run_script(tmp_path, script)
    assert done.returncode == 1
    assert "BadOption: the processes that play cannot start" in done.stderr


def test_processes_know_a_game_that_a_script_adds_when_it_is_imported(tmp_path) -> None:
    add = "kdenv.add_game(three_shells.GAME)"
    done = run_script(tmp_path, GAME_ADDED_TOO_LATE.replace(f"    {add}\n", "").replace("if __name__", f"{add}\nif __name__"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Result(") == 8


def test_interval_of_independent_games_is_the_usual_one() -> None:
    values = [random.Random(1).gauss(0, 1) for _ in range(50)]
    found = estimate(values, range(50))
    assert found.mean == pytest.approx(statistics.fmean(values))
    assert found.half == pytest.approx(student_t(49) * statistics.stdev(values) / math.sqrt(50))


def test_games_of_one_deal_count_as_one_sample() -> None:
    deals = [random.Random(2).gauss(0, 1) for _ in range(10)]
    repeated = [value for value in deals for _ in range(4)]
    once = estimate(deals, range(10))
    four_times = estimate(repeated, [deal for deal in range(10) for _ in range(4)])
    assert four_times.half == pytest.approx(once.half)


def test_intervals_hold_the_truth_95_times_in_100() -> None:
    dice = random.Random(3)
    held = 0
    for _ in range(1000):
        shared = [dice.gauss(0, 1) for _ in range(12)]
        values = [luck + dice.gauss(0, 1) for luck in shared for _ in range(4)]
        found = estimate(values, [deal for deal in range(12) for _ in range(4)])
        held += abs(found.mean) <= found.half
    assert 915 < held < 980


def test_one_deal_has_no_interval() -> None:
    assert math.isnan(estimate([1.0, 2.0], [0, 0]).half)


@pytest.mark.parametrize("freedom, point", [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (11, 2.201), (30, 2.042), (1000, 1.962)])
def test_students_t(freedom: int, point: float) -> None:
    assert student_t(freedom) == pytest.approx(point, abs=0.004)


# What it looks like


def test_the_table_has_a_row_per_policy() -> None:
    rows = table_of(GREEDY_V_RANDOM, results_of(GREEDY_V_RANDOM))
    lines = text_table(rows).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[1].startswith("full_greedy ")
    assert lines[2].startswith("random  x3")
    assert rows[0].margin.mean > 0 > rows[1].margin.mean


def test_json_has_no_nan() -> None:
    match = Match("kingdomino", ["random"] * 4, games=1)
    text = json.dumps(as_json(match, table_of(match, results_of(match)), True), allow_nan=False)
    assert json.loads(text)["policies"][0]["margin"]["half_width"] is None


def test_the_report_shows_table_and_closest_game() -> None:
    results = results_of(GREEDY_V_RANDOM)
    text = page(GREEDY_V_RANDOM, table_of(GREEDY_V_RANDOM, results), results)
    closest = min(results, key=lambda result: abs(result.margins[0]))
    assert f"number {closest.number}" in text
    assert text.count("<svg") == 2
