"""Is a game that one kernel call plays the game that play_game plays, and is it played so whenever it can be?"""

from typing import NamedTuple

import pytest
from everyone import policies_for
from hypothesis import example, given, settings
from hypothesis import strategies as st
from matches import results_of, without_time
from models import OF_ACTIONS

from kdenv.arena import GameFailed, Match, Result, Summary, compiled_games, play, play_game
from kdenv.arena.compiled_games import CompiledGames
from kdenv.author import kernel, legal, packed, plays
from kdenv.compiler.random import uniform
from kdenv.core.errors import NotSupported
from kdenv.core.questions import choose_at
from kdenv.games import find_game, names
from kdenv.policies import Policy, Random, SearchPolicy, TurnPolicy, policy

# Line-ups that together have every compiled player of every game; `random` stands where seats are left.
LINE_UPS = [
    ("kingdomino", ["full_greedy", "gprd", "learned(kingdomino)", f"ppo({OF_ACTIONS}, sample=yes)"]),
    ("kingdomino", ["ppo(kingdomino-ppo)", "random", "ppo(kingdomino-ppo)", "random"]),
    ("dominion", ["big_money", "learned(dominion)"]),
    ("dominion", ["ppo(dominion-ppo)", "big_money"]),
    ("dominion", ["bmfsm", "single_witch", "double_witch", "rollout"]),
    ("carcassonne", ["learned(carcassonne)", "greedy"]),
    ("carcassonne", ["ppo(carcassonne-ppo)", "random"]),
    ("carcassonne", ["learned(carcassonne-prospects)", "greedy"]),
    ("dominoes", ["greedy", "learned(dominoes)", "random", "ppo(dominoes-ppo)"]),
]


@pytest.fixture(autouse=True)
def few_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first deal is played decision by decision, in short matches, too."""
    monkeypatch.setattr(compiled_games, "_TIMED", 1)
    monkeypatch.setattr(compiled_games, "_WORTH_IT", 1)


def one_by_one(match: Match, results: list[Result]) -> list[Result]:
    """The same games as these, decision by decision."""
    players = [policy(text) for line_up in match.line_ups for text in line_up]
    return [play_game(match, result.number, players) for result in results]


def in_one_call(match: Match) -> list[Result]:
    """The games of a match but for its first deal, each of which must have been played in one call."""
    games = CompiledGames(match)
    results = [games.play(number) for number in range(match.games_of_a_deal, match.games)]
    assert [result.seconds for result in results] == [None] * len(results)
    return results


@pytest.mark.cold
@pytest.mark.parametrize("name, line_up", LINE_UPS, ids=lambda value: value if isinstance(value, str) else "-".join(value)[:40])
def test_a_game_in_one_call_is_the_game_decision_by_decision(name: str, line_up: list[str]) -> None:
    trained_for = {"mode": "round"} if "learned(dominoes)" in line_up else {}
    for seed in (0, 2**62 + 1):
        match = Match(name, line_up, games=8 * len(line_up), seed=seed, options=trained_for)
        results = in_one_call(match)
        assert without_time(results) == without_time(one_by_one(match, results))


def test_these_are_all_compiled_players() -> None:
    for name in names():
        game = find_game(name)
        texts = [text for text in policies_for(game) if not isinstance(policy(text), SearchPolicy)]  # their playouts are counted
        compiled = {text for text in texts if policy(text).compiled(game, game.players[0]) is not None}
        assert compiled - {"random"} <= {text for of, line_up in LINE_UPS for text in line_up if of == name}


@pytest.mark.cold
@pytest.mark.parametrize("name", names())
def test_so_it_is_with_all_options(name: str) -> None:
    game = find_game(name)

    @settings(max_examples=15)
    @given(st.fixed_dictionaries({}, optional={option.name: st.sampled_from(option.values()) for option in game.options if option.choices}))
    @example({})
    def check(options: dict[str, str]) -> None:
        line_up = [game.knowledge.greedy or next(iter(game.knowledge.players)), "random"]
        match = Match(name, line_up * (game.players[0] // 2), games=3 * game.players[0], seed=7, options=options)
        results = in_one_call(match)
        assert without_time(results) == without_time(one_by_one(match, results))

    check()


def test_two_line_ups_play_whole_games_too() -> None:
    match = Match("kingdomino", ["full_greedy", "random"], 24, 3, {"size": 3}, other=["gprd", "random"])
    results = in_one_call(match)
    assert without_time(results) == without_time(one_by_one(match, results))


def test_a_game_longer_than_the_log_is_played_again_with_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    match = Match("kingdomino", ["full_greedy", "random"], games=10, seed=4)
    expected = without_time(in_one_call(match))
    for room in (1, 5, 64):
        monkeypatch.setattr(compiled_games, "_LOG", room)
        assert without_time(in_one_call(match)) == expected


# What is played so


def clocked(results: list[Result]) -> list[int]:
    """The deals whose time was measured."""
    return sorted({result.deal for result in results if result.seconds is not None})


def test_the_time_is_measured_in_the_first_deals_and_then_in_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_games, "_TIMED", 3)
    monkeypatch.setattr(compiled_games, "_TIMED_OF", 10)
    match = Match("dominoes", ["greedy", "random"] * 2, games=140, options={"mode": "round"})
    assert clocked(results_of(match)) == [0, 1, 2, 10, 20, 30]


def test_the_time_a_turn_is_that_of_the_games_whose_time_is_known() -> None:
    match = Match("kingdomino", ["full_greedy", "random"], games=40, options={"size": 3})
    results = results_of(match)
    assert clocked(results) == [0]
    all_rows, timed_rows = Summary(match, results).rows(), Summary(match, results[:2]).rows()
    assert [row.median_seconds_per_turn for row in all_rows] == [row.median_seconds_per_turn for row in timed_rows]
    assert [row.seconds_per_turn.mean for row in all_rows] == pytest.approx([row.seconds_per_turn.mean for row in timed_rows])
    assert all_rows[0].games == 40


@pytest.mark.cold
def test_the_number_of_processes_changes_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # other processes do not know that fewer games are timed
    match = Match("kingdomino", ["full_greedy", "random"], games=1400, seed=5, options={"size": 3})
    expected, shared = results_of(match), results_of(match, processes=2)
    assert clocked(expected) == clocked(shared) == [*range(128), 256, 512]
    assert without_time(shared) == without_time(expected)
    assert without_time(results_of(match, processes=2, records=True, done=range(100))) == without_time(expected[100:])


def test_a_limit_for_each_decision_lets_every_decision_be_watched() -> None:
    match = Match("kingdomino", ["full_greedy", "random"], games=80, seed=5, options={"size": 3})
    assert clocked(results_of(match, move_limit=60.0)) == list(range(40))


class Other(Random):
    """It decides in another way than its base, and does not say how a kernel would."""

    def act(self, view):
        return view.legal()[0]


class Seeded(Random):
    """The same for its seed."""

    def reset(self, seed=0):
        super().reset(seed // 2)


@pytest.mark.parametrize("player", [Other(), Seeded()])
def test_a_class_that_decides_in_its_own_way_inherits_no_compiled_form(player: Policy) -> None:
    assert Random().compiled(find_game("kingdomino"), 2) is not None
    assert player.compiled(find_game("kingdomino"), 2) is None


@pytest.mark.parametrize("player", [Other(), Seeded(), lambda view: view.legal()[-1], policy("uct(playouts=1)"), policy("mce(playouts=1)")])
def test_a_policy_that_searches_or_has_no_compiled_form_is_asked_for_every_decision(player: Policy) -> None:
    match = Match("kingdomino", ["random", player], games=8, options={"size": 3})
    results = results_of(match)
    assert clocked(results) == [0, 1, 2, 3]
    assert without_time(results) == without_time([play_game(match, number) for number in range(8)])


def test_an_oracle_is_shown_what_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    match = Match("dominoes", ["greedy", "random"] * 2, games=8, options={"mode": "round"})
    monkeypatch.setattr(Random, "is_oracle", True)
    assert clocked(results_of(match)) == [0, 1]


def test_players_of_too_many_kinds_are_asked_for_every_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_):
        raise NotSupported("too many kinds")

    monkeypatch.setattr(compiled_games, "seated_policies", refuse)
    assert clocked(results_of(Match("kingdomino", ["random", "random"], games=8, options={"size": 3}))) == [0, 1, 2, 3]


def test_a_match_too_short_to_be_worth_it_compiles_no_whole_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_games, "_WORTH_IT", 7)
    monkeypatch.setattr(compiled_games, "_compiled_match", lambda *_: pytest.fail("it was prepared"))
    assert len(results_of(Match("kingdomino", ["random", "random"], games=8, options={"size": 3}))) == 8


def test_a_match_that_ends_early_compiles_no_whole_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison may play 20,000 deals and needs few."""
    monkeypatch.setattr(compiled_games, "_play_to_the_end", lambda *_: pytest.fail("it was compiled"))
    numbers = list[int]()

    def enough(result: Result) -> bool:
        numbers.append(result.number)
        return len(numbers) == 2

    assert play(Match("kingdomino", ["random", "random"], 10**6, options={"size": 3}), processes=1, on_result=enough)
    assert numbers == [0, 1]


# Compiled players that decide wrongly


class Wrong(NamedTuple):
    """A compiled player that sometimes gives an action that is never legal."""

    odds: float


@plays(Wrong)
@kernel
def _choose_wrongly(player, states, k, out, rng):
    legal(states[k], out)
    return packed(out[0] if uniform(rng) >= player.odds else 9999)


class Wrongly(TurnPolicy):
    def choose_turn(self, view):
        return choose_at(Wrong(0.005), view.scratch(2), 0, view.game.buffer(), self.rng)

    def compiled(self, game, players):
        return Wrong(0.005)


def test_an_illegal_action_in_a_kernel_ends_the_match_as_at_the_table() -> None:
    """The kernel stops before the action, and the game is played again decision by decision, which tells what is wrong."""
    match, results = Match("kingdomino", [Wrongly(), "random"], games=1000, seed=3, options={"size": 3}), list[Result]()
    with pytest.raises(
        GameFailed, match=r"Wrongly.* in seat \d of game \d+ \(kingdomino, seed 3\) cannot go on: action 9999 is not legal"
    ) as told:
        play(match, processes=1, on_result=results.append)
    assert len(results) > 2
    assert results[-1].seconds is None
    with pytest.raises(GameFailed) as again:
        play_game(match, len(results))
    assert str(again.value) == str(told.value)
