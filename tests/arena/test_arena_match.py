"""Are matches fair and repeatable, is everything warm before the clock runs, and is a policy's fault told as its fault?"""

import itertools
import multiprocessing
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from matches import GREEDY_V_RANDOM, results_of, without_time

from kdenv.arena import GameFailed, Match, Result, Summary, play, play_game
from kdenv.arena import match as arena_match
from kdenv.arena.match import Finished, policy_seeds, ready
from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.record import replay
from kdenv.games import find_game
from kdenv.policies import Policy, policy


def chance_of(result: Result) -> list[str]:
    return [line for line in result.record.splitlines() if line.startswith("*")]


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


def test_every_policy_has_a_seed_of_its_own_in_every_game() -> None:
    """Also with the same deal in another rotation, and in a match of another seed."""
    seeds = [
        seed
        for match in (GREEDY_V_RANDOM, replace(GREEDY_V_RANDOM, seed=2))
        for deal in range(3)
        for rotation in range(4)
        for seed in policy_seeds(match, deal, rotation)
    ]
    assert len(set(seeds)) == len(seeds) == 2 * 3 * 4 * 4


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


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), float("inf")])
def test_a_move_limit_is_a_positive_number_of_seconds(limit: float) -> None:
    with pytest.raises(BadOption, match="a move limit of"):
        play(GREEDY_V_RANDOM, move_limit=limit, on_result=lambda result: pytest.fail("something was played"))


# Many games


@pytest.mark.parametrize("processes", [1, 2])
def test_a_match_of_a_billion_games_begins_at_once(processes: int) -> None:
    """Nothing is made of all its numbers: that would take minutes and 40 GB."""
    match, results = Match("kingdomino", ["random"] * 2, games=10**9, options={"size": 3}), list[Result]()

    def interrupt(result: Result) -> None:
        results.append(result)
        raise KeyboardInterrupt

    assert not play(match, processes=processes, on_result=interrupt)
    assert results[0].number < processes
    assert not multiprocessing.active_children()


def test_finished_games_without_a_gap_take_no_memory() -> None:
    finished = Finished([3, 1, 0])
    assert (len(finished), list(finished), 2 in finished, 3 in finished) == (3, [0, 1, 3], False, True)
    finished.add(2)
    finished.add(2)
    assert (len(finished), finished._others) == (4, set())
    assert -1 not in finished


def test_finished_games_are_not_played_again() -> None:
    assert [result.number for result in results_of(GREEDY_V_RANDOM, done=[0, 2, 5, 100])] == [1, 3, 4, 6, 7]
    assert results_of(GREEDY_V_RANDOM, done=range(8)) == []


# The clock


class Scripted(Policy):
    """The first legal action, and what else a test wants done."""

    def __init__(self, act=lambda legal: legal[0]) -> None:
        self.how, self.calls = act, list[str]()

    def reset(self, seed: int = 0) -> None:
        super().reset(seed)
        self.calls.append("reset")

    def prepare(self, view) -> None:
        self.calls.append("prepare")

    def act(self, view):
        self.calls.append("act")
        return self.how(view.legal())


def test_every_policy_decides_once_before_the_clock_runs(monkeypatch) -> None:
    made: dict[str, list[Scripted]] = {}

    def make(text: str) -> Policy:
        made.setdefault(text, []).append(Scripted())
        return made[text][-1]

    monkeypatch.setattr(arena_match, "policy", make)
    ready(Match("kingdomino", ["one", "two", "two", "three"], games=4))
    assert {text: [player.calls for player in players] for text, players in made.items()} == {
        "one": [["reset", "prepare", "act"]],
        "two": [["reset", "prepare", "act"], ["reset", "prepare"]],  # one of each kind is enough
        "three": [["reset", "prepare", "act"]],
    }


def test_time_is_that_of_the_place_that_thinks() -> None:
    players = [policy("random"), policy("random"), Scripted(lambda legal: time.sleep(0.002) or legal[0]), policy("random")]
    result = play_game(GREEDY_V_RANDOM, 1, players)
    assert result.seconds[2] >= 26 * 0.002 / 2  # two decisions a turn, but for the first and the last
    assert result.seconds[2] == max(result.seconds)


CLOCKED = """
from kdenv.arena.match import Match, play_game, ready
from kdenv.compiler.cache import KeptKernel

clocked, late = [False], []
machine_code = KeptKernel.compile

def noted(kernel, types):
    if clocked[0]:
        late.append(kernel.__name__)
    return machine_code(kernel, types)

def deciding(seat):
    clocked[0] = seat is not None

KeptKernel.compile = noted
match = Match("kingdomino", LINE_UP, games=2)
players = ready(match)
for number in range(2):
    play_game(match, number, players, deciding)
print(late)
"""


@pytest.mark.cold
@pytest.mark.parametrize("line_up", [["mce(playouts=24)", "uct(playouts=24)"], ["star2(depth=1)", "flat_deals(playouts=24)"]])
def test_no_machine_code_is_compiled_or_loaded_in_a_turn_that_is_clocked(line_up: list[str]) -> None:
    """In a new process, where nothing else has loaded it; and nobody in the trial game moves at random, which loads some, too."""
    run = subprocess.run([sys.executable, "-c", CLOCKED.replace("LINE_UP", repr(line_up))], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


@pytest.mark.cold
@pytest.mark.parametrize("name", ["kingdomino", "dominion", "carcassonne", "dominoes"])
def test_the_trial_game_changes_no_result(name: str) -> None:
    game = find_game(name)
    match = Match(name, [game.knowledge.greedy, *["random"] * (max(game.players) - 1)], games=2, seed=3)
    untried = [policy(text) for text in match.line_up]
    assert without_time([play_game(match, 1, untried)]) == without_time([play_game(match, 1, ready(match))])


# Policies that cannot go on


def fails_with(error: Exception):
    def act(legal):
        raise error

    return act


@pytest.mark.parametrize(
    "act, what",
    [
        (lambda legal: 10**6, "action 1000000 is not legal in kingdomino position"),
        (lambda legal: None, r"action None \(of type NoneType, not a whole number\) is not legal in kingdomino position"),
        (lambda legal: "pick 3", r"action pick 3 \(of type str, not a whole number\) is not legal in kingdomino position"),
        (fails_with(NotSupported("this search needs a smaller game")), "this search needs a smaller game$"),
        (fails_with(OverflowError("Too large\nfor a float")), r"OverflowError: Too large \(test_arena_match\.py:\d+, in act\)$"),
    ],
)
def test_a_policy_that_cannot_go_on_is_named(act, what: str) -> None:
    with pytest.raises(GameFailed, match=rf"^full_greedy in seat 1 of game 5 \(kingdomino, seed 1\) cannot go on: {what}"):
        play_game(GREEDY_V_RANDOM, 5, [Scripted(act), *(policy("random") for _ in range(3))])


def test_a_policy_that_cannot_play_the_game_is_named_before_any_game() -> None:
    with pytest.raises(GameFailed, match=r"^bmfsm in seat 1 of the trial game \(kingdomino, seed 0\) cannot go on: bmfsm plays dominion"):
        play(Match("kingdomino", ["random", "bmfsm"], games=4), processes=1, on_result=lambda result: pytest.fail("something was played"))


def test_the_seconds_of_a_place_are_those_of_its_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on by a second whenever it is read, each decision takes a second."""
    seconds = itertools.count()
    monkeypatch.setattr("kdenv.arena.match._clock", lambda: next(seconds))
    result = play_game(Match("kingdomino", ["random", "full_greedy"], 2, options={"size": 3}), 0)
    decisions = [line.partition(":")[0] for line in result.record.splitlines()]
    assert result.seconds == [decisions.count("0"), decisions.count("1")]


def test_playouts_of_turns_with_several_decisions_are_explained() -> None:
    """With two players a seat often takes two dominoes in a row, so a turn has more playouts than a decision."""
    match = Match("kingdomino", ["mce(playouts=20)", "random"], games=4, seed=1)
    summary = Summary(match, [play_game(match, number) for number in range(4)])
    assert summary.rows()[0].playouts_per_turn.mean > 20.5
    assert "A turn is all that a seat decides in a row; a budget of playouts is for each of its decisions." in str(summary)
    few = Match("dominoes", ["mce(playouts=4)", *["random"] * 3], games=4, seed=1, options={"mode": "round"})
    assert "A turn is all" not in str(Summary(few, [play_game(few, number) for number in range(4)]))
