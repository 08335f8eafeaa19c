"""Does a match tell by seat, round and feature what happened in its games?"""

import json
import random
from pathlib import Path

import pytest

from kdenv.arena import Breakdown, Match, Result, ResultsFile, play
from kdenv.cli import main
from kdenv.compiler.random import make_rng
from kdenv.core.match_columns import report_of
from kdenv.core.table import Table
from kdenv.core.turns import SCRATCH, list_turns
from kdenv.games import find_game


def played(name: str, seed: int, **options: object) -> Table:
    """A finished game of random decisions."""
    table, rng, dice = Table(find_game(name), **options), make_rng(seed), random.Random(seed)
    table.run_chance(rng)
    while not table.over:
        table.decide(dice.choice(table.legal()), rng)
    return table


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("players", [2, 5])
def test_the_points_of_all_features_are_the_score_in_carcassonne(players: int, seed: int) -> None:
    table = played("carcassonne", seed, players=players)
    told = report_of(table.record(), find_game)
    kinds = ("city", "road", "cloister", "field")
    assert [sum(told.own[f"points {kind}"][seat] for kind in kinds) for seat in range(players)] == table.scores()
    claims = [line for line in table.record().splitlines() if ": claim" in line and "nothing" not in line]
    assert sum(sum(told.own[f"meeples {kind}"]) for kind in kinds) == len(claims)
    for kind in ("city", "cloister", "field"):
        assert sum(told.own[f"meeples {kind}"]) == sum(kind in line for line in claims)


def test_cards_bought_are_those_of_the_record() -> None:
    table = played("dominion", 3)
    told, lines = report_of(table.record(), find_game), table.record().splitlines()
    for name, by_seat in told.own.items():
        verb, _, card = name.partition(" ")
        words = f"{'buy' if verb == 'bought' else 'play'} {card}"
        assert by_seat == [lines.count(f"{seat}: {words}") for seat in range(2)]
    assert any(name.startswith("bought") for name in told.own)


def test_passes_calls_and_blocked_rounds_are_those_of_the_record() -> None:
    for seed, options in enumerate([{}, {"calls": True}, {"rules": "dominai_code"}]):
        table = played("dominoes", seed, **options)
        told, lines = report_of(table.record(), find_game), table.record().splitlines()
        assert told.own["passes"] == [lines.count(f"{seat}: pass") for seat in range(4)]
        assert told.own["calls"] == [lines.count(f"{seat}: call") for seat in range(4)]
        deals = sum(line.startswith("*") for line in lines)
        assert told.own["rounds"] == [deals] * 4
        ends = [lines[i - 1] for i, line in enumerate(lines) if i > 1 and line[0] in "*="]
        assert told.own["blocked"] == [sum(line.endswith("pass") for line in ends)] * 4


def test_discards_and_rounds_are_those_of_the_game_in_kingdomino() -> None:
    table = played("kingdomino", 5)
    told, lines = report_of(table.record(), find_game), table.record().splitlines()
    assert told.own["discards"] == [sum(line.startswith(f"{seat}: discard") for line in lines) for seat in range(4)]
    for seat in range(4):
        assert [turn.round for turn in told.turns[seat]] == list(range(13))
        assert told.turns[seat][-1].score == table.scores()[seat]
    first = next(line for line in lines if line[0].isdigit())
    assert told.first == int(first[0])


def test_open_turns_are_counted_where_a_turn_begins() -> None:
    table = played("kingdomino", 2)
    told = report_of(table.record(), find_game)
    twin, rng = Table(find_game("kingdomino")), make_rng(2)
    twin.run_chance(rng)
    states = twin.view(twin.seat).scratch(1 + SCRATCH)
    import numpy as np

    turns = np.empty(twin.game.max_turns, np.int64)
    n = list_turns(states, 0, twin.game.most_decisions, twin.game.max_legal, turns)
    assert told.turns[told.first][0].open == n == 4


def breakdown_of(game: str, line_up: list[str], games: int) -> tuple[Breakdown, list[Result]]:
    match = Match(game, line_up, games, seed=3)
    found, results = Breakdown(match), list[Result]()
    play(match, on_result=results.append, records=True)
    for result in results:
        found.add(result)
    return found, results


@pytest.mark.cold
def test_outcomes_and_spread_are_those_of_the_results() -> None:
    found, results = breakdown_of("dominoes", ["greedy", "random", "greedy", "random"], 8)
    part = found.parts["greedy"]
    wins = [result.wins[place] for result in results for place in (0, 2)]
    assert (part.all.wins, part.all.draws, part.all.losses) == (wins.count(1.0), 0, wins.count(0.0))
    assert part.first.wins + part.later.wins == part.all.wins and part.first.losses + part.later.losses == part.all.losses
    scores = [result.scores[place] for result in results for place in (0, 2)]
    assert (part.score.n, part.score.least, part.score.most) == (16, min(scores), max(scores))
    assert part.score.deviation == pytest.approx((sum((s - sum(scores) / 16) ** 2 for s in scores) / 15) ** 0.5)


@pytest.mark.cold
def test_playouts_and_times_by_round_add_up_to_those_of_the_game() -> None:
    found, results = breakdown_of("kingdomino", ["mce(playouts=20)", "random", "random", "random"], 4)
    for result in results:
        assert result.pace is not None
        assert [sum(n for _, n in turns) for turns in result.pace] == result.playouts
        assert [len(turns) for turns in result.pace] == result.turns
        assert result.seconds == pytest.approx([sum(seconds for seconds, _ in turns) for turns in result.pace], abs=1e-4)
    rows = found.parts["mce(playouts=20)"].rounds
    assert sum(row.playouts.total for row in rows.values()) == sum(result.playouts[0] for result in results)
    assert found.parts["random"].rounds[3].playouts.total == 0


@pytest.mark.cold
def test_the_command_shows_it_and_goes_on_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "match.jsonl"
    command = ["match", "dominion", "bmfsm", "random", "--seed", "1", "--out", str(out), "--show", "all"]
    assert main([*command, "--games", "4"]) == 0
    capsys.readouterr()
    assert main([*command, "--games", "12", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["shown"]["bmfsm"]
    assert sum(shown["seats"]["all"].values()) == 12 and shown["spread"]["score"]["most"] is not None
    assert shown["game"]["bought Silver"][0] > 1 and shown["rounds"][0]["open"] > 1
    assert shown["game"]["bought Silver"][1:] == [None, None]  # six deals are too few for an interval, and JSON has no nan
    assert main([*command, "--games", "12"]) == 0
    assert "bought Silver" in capsys.readouterr().out
    lines = out.read_text().splitlines()
    old = json.loads(lines[1])
    del old["pace"]  # as in files of earlier versions
    out.write_text("\n".join([lines[0], json.dumps(old), ""]))
    with ResultsFile(out, Match("dominion", ["bmfsm", "random"], 12, seed=1)) as file:
        (result,) = file.results()
    assert result.pace is None


def test_what_cannot_be_shown_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "dominion", "bmfsm", "random", "--show", "colour"]) != 0
    assert "--show colour is not possible; it may be seats, spread, rounds, game or all" in capsys.readouterr().err
