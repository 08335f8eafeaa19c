"""Luck is taken out without bias, for any network and any number of redraws, and a program written apart finds the same luck."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from naive.luck import naive_luck
from three_shells import GAME

from kdenv.arena import League, Match, Result, Summary, compare, league, play, play_game
from kdenv.arena.compiled_games import CompiledGames
from kdenv.arena.luck import REDRAWS, Luck, luck_of_events, luck_room
from kdenv.arena.results import ResultsFile
from kdenv.arena.resume import path_in
from kdenv.arena.statistics import AdjustedSums
from kdenv.author import kernel, legal, packed, plays
from kdenv.cli import main
from kdenv.compiler.question import answers
from kdenv.compiler.random import derive_seed, make_rng
from kdenv.core.errors import BadRecord, KdenvError
from kdenv.core.questions import estimate
from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.networks.network import value_alone
from kdenv.networks.players import worth_of_end
from kdenv.policies import policy

MILLION = 4.9  # standard deviations that chance exceeds once in a million times
BY_NETWORK = "learned(dominion)"


class Wrong(NamedTuple):
    """A player that takes the first legal action, and an evaluator that is wrong about everything: it likes high shells and stakes."""


@plays(Wrong)
@kernel
def _choose_first(player, states, k, out, rng):
    legal(states[k], out)
    return packed(out[0])


@answers(estimate, Wrong)
@kernel
def _estimate_wrongly(evaluator, states, k, seat, numbers):
    return 10.0 + 7.0 * states[k].pea * (seat + 1) - 3.0 * states[k].coin + states[k].stake


def wrong_value(table: Table, seat: int) -> float:
    state = table.states[0]
    return 10.0 + 7.0 * int(state["pea"]) * (seat + 1) - 3.0 * int(state["coin"]) + int(state["stake"])


def shells() -> list[tuple[float, list[int], list[int]]]:
    """Every game of Three Shells between random players: its probability, its events and its points."""
    found = []
    for pea, stake, guess, coin in product(range(3), range(3), range(3, 7), range(2)):
        table = Table(GAME)
        table.chance(pea)
        table.play(stake)
        table.play(guess)
        table.chance(coin)
        odds = [1 / 6, 2 / 6, 3 / 6][pea] / 3 / 4 * [3 / 4, 1 / 4][coin]
        found.append((odds, [~pea, stake, guess, ~coin], table.scores()))
    return found


def luck_in_shells(events: list[int], redraws: int, seed: int) -> np.ndarray:
    room, found = luck_room(GAME, Table(GAME), Wrong(), Wrong(), redraws), np.zeros(2)
    luck_of_events(room, np.array(events, np.int32), make_rng(seed), found)
    return found


def test_luck_has_no_bias_with_a_wrong_network() -> None:
    """All games are counted, so the mean is exact: with three redraws all outcomes of the pea are enumerated, too."""
    games = shells()
    assert sum(odds for odds, _, _ in games) == pytest.approx(1.0, abs=1e-12)
    for slope in (1.0, -2.5):
        raw = sum(odds * np.array(points) for odds, _, points in games)
        adjusted = sum(odds * (np.array(points) - slope * luck_in_shells(events, 3, 1)) for odds, events, points in games)
        assert adjusted == pytest.approx(raw, abs=1e-9)
    assert any(np.abs(luck_in_shells(events, 3, 1)).max() > 1 for _, events, _ in games)


@pytest.mark.parametrize("redraws", [1, 2])
def test_luck_has_no_bias_with_few_redraws(redraws: int) -> None:
    """The mean over many redraws is the luck that enumeration finds, in each game."""
    for _, events, _ in shells()[::7]:
        drawn = np.array([luck_in_shells(events, redraws, seed)[1] for seed in range(600)])
        error = drawn.std() / np.sqrt(len(drawn))
        assert error > 0
        assert abs(drawn.mean() - luck_in_shells(events, 3, 1)[1]) <= MILLION * error


@pytest.mark.parametrize("redraws", [1, 2, 3])
def test_the_luck_of_shells_is_that_of_a_program_written_apart(redraws: int) -> None:
    for number, (_, events, _) in enumerate(shells()):
        expected = naive_luck(
            Table(GAME),
            events,
            redraws,
            make_rng(number),
            lambda table: table.play(table.legal()[0]),
            lambda table, seat: wrong_value(table, seat),
        )
        assert luck_in_shells(events, redraws, number).tolist() == pytest.approx(expected, abs=1e-9)


# With a network


def test_the_luck_of_dominion_is_that_of_a_program_written_apart() -> None:
    match = Match("dominion", ["big_money", "double_witch"], games=2, seed=3, luck=BY_NETWORK)
    result = play_game(match, 1)
    learned = policy(BY_NETWORK)
    game = find_game("dominion")
    part = learned.compiled(game, 2)
    numbers = np.zeros(2, np.int64)

    def take_turn(table: Table) -> None:
        mover = table.seat
        turn = learned.choose_turn(table.view(mover))
        while turn:
            table.play(turn % 65536 - 1)
            turn >>= 16

    def value(table: Table, seat: int) -> float:
        if table.over:
            return float(worth_of_end(part.goal, table.states, 0, seat, numbers))
        return float(value_alone(part.network, table.states, 0, seat))

    learned.reset(0)
    by_seat = naive_luck(Table(game, 2), result.events()[:150], REDRAWS, make_rng(derive_seed("luck", 3, 1)), take_turn, value)
    room, found = luck_room(game, Table(game, 2), part, part), np.zeros(2)
    luck_of_events(room, np.array(result.events()[:150], np.int32), make_rng(derive_seed("luck", 3, 1)), found)
    assert found.tolist() == pytest.approx(by_seat, abs=1e-6)
    assert np.abs(found).max() > 0.01
    luck = Luck(match).of(result)
    assert luck[0] == -luck[1]
    assert result.events() == play_game(match, 1).with_record().events()  # from the text of a record, too


def test_the_deal_of_dominoes_is_no_luck_if_every_seat_plays_it() -> None:
    """The only chance is the deal. Over the rotations of a deal each team has it from both sides, so shared deals have cancelled it."""
    match = Match("dominoes", ["greedy", "random"] * 2, games=4, seed=5, options={"mode": "round"}, luck="learned(dominoes)")
    games = CompiledGames(match)
    lucks = [games.play(number).luck for number in range(4)]
    assert max(map(abs, lucks[0])) > 0.001
    # The redraws of each game are others, so they cancel only on average; without their noise the sum would be 0.
    exact = [luck_without_redraws(match, number) for number in range(4)]
    assert sum(luck[0] for luck in exact) == pytest.approx(0.0, abs=1e-6)


def luck_without_redraws(match: Match, number: int) -> list[float]:
    """The value of the deal alone, which is the luck of a game with one deal up to a constant."""
    game = find_game(match.game)
    part = policy(match.luck).compiled(game, 4)
    room, found = luck_room(game, Table(game, 4, **match.options), part, part, redraws=0), np.zeros(4)
    luck_of_events(room, np.array(play_game(match, number).events(), np.int32), make_rng(0), found)
    seats = match.seats(match.find(number)[1])
    by_team = found[0] + found[2] - found[1] - found[3]
    return [by_team if seats.index(place) % 2 == 0 else -by_team for place in range(4)]


def test_a_match_keeps_and_reads_its_luck(tmp_path: Path) -> None:
    match = Match("dominion", ["double_witch", "big_money"], games=8, seed=1, luck=BY_NETWORK)
    path = tmp_path / "match.jsonl"
    with ResultsFile(path, match) as file:
        assert list(file.results()) == []
        play(match, processes=1, on_result=file.append)
    with ResultsFile(path, match) as file:
        kept = list(file.results())
    again: list[object] = []
    play(match, processes=1, on_result=lambda result: again.append(result.luck))
    assert [result.luck for result in kept] == again
    assert BY_NETWORK in Summary(match, kept).text()
    assert '"dominion": "' in path.read_text(encoding="utf-8").splitlines()[0]  # the digest of the network, before the first game
    with pytest.raises(BadRecord, match="another match"), ResultsFile(path, Match("dominion", match.line_up, games=8, seed=1)):
        pass
    cut = path.read_text(encoding="utf-8").replace(f'"luck": {kept[0].luck}', '"luck": null')
    path.write_text(cut, encoding="utf-8")
    with pytest.raises(BadRecord, match="luck=null is not that of a match which measures it"), ResultsFile(path, match) as file:
        list(file.results())


@pytest.mark.parametrize("text, words", [("big_money", "no value of a position"), ("learned(carcassonne)", "carcassonne")])
def test_what_measures_no_luck_is_refused(text: str, words: str) -> None:
    with pytest.raises(KdenvError, match=words):
        Match("dominion", ["big_money", "random"], games=2, luck=text).check()


def test_a_comparison_adjusts_by_the_deals_before() -> None:
    found = compare("dominion", "double_witch", "big_money", seed=1, deals=14, smallest=0, processes=1, luck=BY_NETWORK)
    raw = compare("dominion", "double_witch", "big_money", seed=1, deals=14, smallest=0, processes=1)
    assert found.deals == raw.deals == 14 or found.is_known
    assert "luck" in found.as_json() and "luck" not in raw.as_json()


def test_a_league_adjusts_wins_margins_and_pairs(tmp_path: Path) -> None:
    """Two policies meet at one table, so its numbers are those of the match."""
    plan = League("dominion", ["double_witch", "big_money"], deals=24, luck=BY_NETWORK)
    standings = league(plan, tmp_path, processes=1)
    match = plan.match((0, 1))
    assert match.luck == BY_NETWORK
    of_match = {row.policy: row for row in Summary(match, list(results_in(tmp_path, match))).rows()}
    raw = league(replace(plan, luck=""), processes=1)
    for row, other in zip(standings.rows(), raw.rows(), strict=True):
        assert (row.margin, row.wins) == (of_match[row.policy].margin, of_match[row.policy].wins)
        assert row.rating == other.rating
        assert row.margin != other.margin
    assert standings.against(0, 1).mean == pytest.approx(of_match["double_witch"].wins.mean)
    told = standings.explanation()
    assert "adjusted for luck, as learned(dominion) values it (variance reduction of margins" in told and "luck" not in raw.explanation()


def results_in(folder: Path, match: Match) -> list[Result]:
    with ResultsFile(path_in(folder, match), match) as file:
        return list(file.results())


def test_the_command_of_a_league_takes_the_network_of_its_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "league.toml"
    path.write_text('game = "dominion"\npolicies = ["double_witch", "big_money"]\ndeals = 2\nseed = 1\n', encoding="utf-8")
    command = ["league", str(path), "--processes", "1", "--luck-adjusted"]
    assert main(command) == 0
    assert "adjusted for luck, as learned(dominion) values it" in capsys.readouterr().out
    assert main([*command, "big_money"]) == 2
    assert "gives no value of a position" in capsys.readouterr().err


# What is subtracted


def drawn(rng: np.random.Generator, deals: int, share: float) -> np.ndarray:
    """Deals of two games, each a result of mean 0.3 and its luck; luck explains this share of the variance of a deal."""
    luck = rng.normal(size=(deals, 2))
    noise = rng.exponential(1.0, (deals, 2)) - 1.0  # results are skewed
    return np.stack([0.3 + 5.0 * np.sqrt(share) * luck + 5.0 * np.sqrt(1 - share) * noise, luck], axis=2)


@pytest.mark.parametrize("share, low, high", [(0.75, 3.3, 5.0), (0.0, 0.97, 1.01)])
def test_the_variance_falls_by_the_share_of_luck(share: float, low: float, high: float) -> None:
    """Three quarters: four times as few deals; nothing: hardly more deals."""
    sums = AdjustedSums(2)
    for deal, games in enumerate(drawn(np.random.default_rng(5), 3000, share).tolist()):
        for result, luck in games:
            sums.add(deal, [(result, luck)])
    assert low <= sums.reduction(0) <= high


def coverage(matches: int, deals: int, share: float) -> float:
    """The share of simulated matches whose adjusted interval holds the mean."""
    rng, held = np.random.default_rng(28), 0
    for _ in range(matches):
        sums = AdjustedSums(2)
        for deal, games in enumerate(drawn(rng, deals, share).tolist()):
            for result, luck in games:
                sums.add(deal, [(result, luck)])
        found = sums.mean(0)
        held += found.low <= 0.3 <= found.high
    return held / matches


@pytest.mark.slow
@pytest.mark.parametrize("deals", [30, 100])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_adjusted_intervals_hold_the_truth(deals: int, share: float) -> None:
    assert coverage(2000, deals, share) >= 0.95 - MILLION * np.sqrt(0.95 * 0.05 / 2000)


def test_adjusted_intervals_hold_the_truth_in_few_matches() -> None:
    assert coverage(120, 50, 0.5) >= 0.95 - MILLION * np.sqrt(0.95 * 0.05 / 120)


def test_the_means_have_no_bias() -> None:
    """With a slope from all deals the mean of few deals of skewed results would be biased; halves are not."""
    rng, means = np.random.default_rng(3), []
    for _ in range(1500):
        luck = rng.exponential(1.0, 24) - 1.0
        result = luck**2 - 1.0  # the luck of a deal and the slope that fits it depend on each other
        sums = AdjustedSums(1)
        for deal in range(24):
            sums.add(deal, [(result[deal], luck[deal])])
        means.append(sums.mean(0).mean)
    assert abs(np.mean(means)) <= MILLION * np.std(means) / np.sqrt(len(means))


def test_a_comparison_that_adjusts_errs_as_rarely_as_it_says() -> None:
    """The slope of the deals before is used, so that no interval at any time misses the mean too often."""
    from kdenv.arena import Comparison

    rng, missed = np.random.default_rng(8), 0
    for _ in range(300):
        comparison = Comparison(Match("dominion", ["big_money", "double_witch"], games=1, luck=BY_NETWORK), smallest=0)
        for result, luck in drawn(rng, 120, 0.7)[:, 0].tolist():
            comparison.add_deal(result, 0.0, luck)
            found = comparison.difference
            if found.has_interval and not found.low <= 0.3 <= found.high:
                missed += 1
                break
    assert missed / 300 <= 0.05 + MILLION * np.sqrt(0.05 * 0.95 / 300) - 0.03
