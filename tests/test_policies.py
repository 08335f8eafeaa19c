"""Do policies mean what their text says, keep to their plans and budgets, and see no more than their seat?"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import three_shells
from games import random_game
from hypothesis import given
from hypothesis import strategies as st

from kdenv.core import protocol
from kdenv.core.errors import BadOption, KdenvError, NotSupported
from kdenv.core.game import Action, Game
from kdenv.core.player import packed, then
from kdenv.core.random import make_rng
from kdenv.core.table import Table
from kdenv.core.view import OracleView, View
from kdenv.games import find_game
from kdenv.policies import Policy, TurnPolicy, listing, policy
from kdenv.policies.text import Term, parse
from kdenv.search import budget
from kdenv.search.budget import Budget
from kdenv.search.montecarlo import Tally, best_mean, sample_in_rotation
from kdenv.search.playout import Uniform
from kdenv.search.score import Margin, Points, Relative, WinDrawLoss, best_rival, worth
from kdenv.search.turns import list_turns

KINGDOMINO = find_game("kingdomino")


@pytest.fixture(autouse=True)
def with_three_shells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three Shells is known by its name, here only."""
    monkeypatch.setattr("kdenv.games._from_outside", {"three_shells": three_shells.GAME})


def shells(pea: int = 1, stake: int = 2) -> Table:
    """Three Shells; seat 1 is to point, or seat 0 to stake if nothing is at stake yet."""
    table = Table(three_shells.GAME)
    table.chance(pea)
    if stake:
        table.play(stake - 1)
    return table


# The last placement of a game on 3 x 3: domino 48 (field, mine with three crowns) fits two ways round; one joins the mines.
LAST = "round=3 stage=place turn=3 kingdoms=mmm/.Xw/.wf,X queue=1:0,2:1,3:0,48:0 draft= box=4-47"


def last_placement() -> Table:
    return Table(KINGDOMINO, 2, size=3, dominoes=12).at_position(LAST)


def after_pick(seed: int = 1, players: int = 4, **options: int) -> Table:
    """Kingdomino in its third round: a domino is to be placed, then one picked."""
    table = random_game(KINGDOMINO, seed, players, 12, **options)
    table.run_chance(make_rng(seed))
    assert " stage=place " in table.position()
    return table


def of_seat_to_move(table: Table) -> View:
    assert table.seat is not None
    return table.view(table.seat)


# --- Text ---

TEXTS = [
    "random",
    "bold",
    "bold(shell=1)",
    "full_greedy",
    "full_greedy(variant=paper)",
    "mce(playouts=100)",
    "mce(seconds=0.5)",
    "mce(playout=full_greedy(variant=paper), score=wdl, playouts=7)",
    "mce(playout=epsilon_greedy(epsilon=0.25), score=points, seconds=1)",
    "mce(random, margin, 200)",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_policy_is_written_as_it_was_read(text: str) -> None:
    assert repr(policy(text)) == policy(text).name == text


@pytest.mark.parametrize("text", ["mce( playout = bold(shell=1) ,playouts=7 )", "\tmce(playout=bold(shell=1),\n playouts=7,)"])
def test_spaces_do_not_matter(text: str) -> None:
    assert repr(policy(text)) == "mce(playout=bold(shell=1), playouts=7)"


words = st.text("abcxyz_0129.-/", min_size=1, max_size=6)
terms = st.recursive(
    words.map(lambda word: Term(word, [], {})),
    lambda inner: st.builds(Term, words, st.lists(inner, max_size=2), st.dictionaries(words, inner, max_size=2)),
    max_leaves=8,
)


@given(terms)
def test_any_term_is_read_as_it_was_written(term: Term) -> None:
    assert parse(str(term)) == term


@given(st.text("mce(),= random5.", max_size=30) | st.text(max_size=20))
def test_no_text_is_worse_than_refused(text: str) -> None:
    try:
        policy(text)
    except KdenvError as error:
        assert "\n" not in str(error).replace(text, "")


@pytest.mark.parametrize("game", ["three_shells", "kingdomino"])
def test_every_policy_listed_can_be_read(game: str) -> None:
    rows = listing(find_game(game))
    assert [usage for usage, meaning, _ in rows if not meaning] == []
    for usage, _, _ in rows:
        if not set("<|") & set(usage):  # else it shows choices, not one text
            assert repr(policy(usage)) == usage


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "policy '': a name is missing; write name(parameter=value, ...)"),
        ("(3)", "policy '(3)': a name is missing before '('; write name(parameter=value, ...)"),
        ("mce(", "policy 'mce(': a name is missing; "),
        ("mce(playouts=", "policy 'mce(playouts=': a name is missing; "),
        ("mce(=3)", "policy 'mce(=3)': a name is missing before '='; "),
        ("mce(playouts=5", "policy 'mce(playouts=5': a closing bracket is missing"),
        ("mce(playouts=5 7)", "policy 'mce(playouts=5 7)': a closing bracket is missing"),
        ("mce(playouts=5))", "policy 'mce(playouts=5))': ')' is too much; write name(parameter=value, ...)"),
        ("random random", "policy 'random random': 'random' is too much; "),
        ("mce(playouts=5, playouts=6)", "policy 'mce(playouts=5, playouts=6)': playouts is given twice"),
        ("mce(playouts=5, random)", "policy 'mce(playouts=5, random)': random comes after parameters with names; write name=value"),
        ("mce(playouts(3)=5)", "policy 'mce(playouts(3)=5)': playouts(3) is no name of a parameter"),
        ("radnom", "there is no policy radnom (did you mean random?); 'kdenv policies <game>' lists them"),
        ("full_gredy", "there is no policy full_gredy (did you mean full_greedy?); "),
        ("random(3)", "random(3): too many positional arguments; write random"),
        ("random(seed=3)", "random has no parameter seed; it has none"),
        ("bold(2)", "bold(2): parameters are written name=value"),
        ("bold(shel=2)", "bold has no parameter shel (did you mean shell?); its parameters are shell"),
        ("bold(shell=random(x=3))", "random(x=3) is not a number or word"),
        ("full_greedy(variant=papre)", "variant=papre is not possible"),
        ("mce", "mce: give one budget: playouts=<number>, seconds=<number> or "),
        ("mce(playouts=5, seconds=1)", "mce(playouts=5, seconds=1): give one budget: "),
        ("mce(playout=5, playouts=5)", "there is no policy 5"),
        ("mce(playout=mce(playouts=3), playouts=5)", "mce is no playout"),
        ("mce(playots=5)", "mce has no parameter playots (did you mean playouts?); its parameters are playout, score, playouts, seconds, "),
        ("mce(playouts=0)", "playouts=0 is not possible; playouts is a whole number from 1 on"),
        ("mce(playouts=1.5)", "playouts=1.5 is not possible; playouts is a whole number from 1 on"),
        ("mce(playouts=many)", "playouts=many is not possible; playouts is a whole number from 1 on"),
        ("mce(playouts=yes)", "playouts=yes is not possible; playouts is a whole number from 1 on"),
        ("mce(playouts=inf)", "playouts=inf is not possible; playouts is a whole number from 1 on"),
        ("mce(playouts=nan)", "playouts=nan is not possible; playouts is a whole number from 1 on"),
        ("mce(seconds=0)", "seconds=0 is not possible; seconds is a number from 0.001 on"),
        ("mce(seconds=nan)", "seconds=nan is not possible; seconds is a number from 0.001 on"),
        ("mce(seconds=inf)", "seconds=inf is not possible; seconds is a number from 0.001 on"),
        ("mce(score=best, playouts=5)", "score=best is not possible; score may be wdl, "),
        ("mce(playout=epsilon_greedy(epsilon=2), playouts=5)", "epsilon=2 is not possible; epsilon is a probability, from 0 to 1"),
        ("mce(playout=epsilon_greedy(0.5), playouts=5)", "epsilon_greedy(0.5): write epsilon_greedy(epsilon=0.75)"),
        ("mce(playout=random(3), playouts=5)", "random(3): "),
    ],
)
def test_a_bad_text_is_refused_in_one_sentence(text: str, message: str) -> None:
    with pytest.raises(BadOption) as error:
        policy(text)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_a_player_of_another_game_is_not_supported() -> None:
    with pytest.raises(NotSupported) as error:
        policy("full_greedy").act(shells().view(1))
    assert str(error.value) == "full_greedy plays kingdomino, not three_shells, whose rule-based players are bold"


def test_playouts_by_a_player_of_another_game_are_not_supported() -> None:
    with pytest.raises(NotSupported, match=r"^bold plays three_shells, not kingdomino, whose rule-based players are full_greedy, gprd"):
        policy("mce(playout=bold, playouts=5)").act(of_seat_to_move(after_pick()))


@pytest.mark.parametrize("playout", ["player_greedy", "epsilon_greedy(epsilon=0.5)"])
def test_greedy_playouts_need_a_game_with_a_greedy_player(playout: str) -> None:
    searching: Any = policy(f"mce(playout={playout}, playouts=5)")
    view: Any = SimpleNamespace(game=SimpleNamespace(name="lame", greedy="", rule_players={}), seat=0)
    with pytest.raises(NotSupported) as error:
        searching.playout.player(view)
    assert str(error.value) == f"lame has no greedy player for {playout} playouts; use playout=random"


# --- Turns ---


class Planner(TurnPolicy):
    """Takes the last legal action, and plans to take the last pick after it; counts its plans."""

    def __init__(self) -> None:
        super().__init__("planner")
        self.plans = 0

    def choose_turn(self, view: View) -> int:
        self.plans += 1
        action = view.legal()[-1]
        return int(then(action, 328)) if action < 324 else int(packed(action))


def test_the_rest_of_a_turn_is_carried_out_without_a_new_plan() -> None:
    table, planner = after_pick(), Planner()
    table.play(planner.act(of_seat_to_move(table)))
    assert planner.act(of_seat_to_move(table)) == 328 == table.legal()[-1]
    assert planner.plans == 1


def test_a_plan_is_dropped_when_another_action_was_played() -> None:
    table, planner = after_pick(), Planner()
    planned = planner.act(of_seat_to_move(table))
    assert table.legal()[0] != planned
    table.play(table.legal()[0])
    planner.act(of_seat_to_move(table))
    assert planner.plans == 2


def test_a_plan_is_dropped_at_another_table() -> None:
    table, planner = after_pick(1), Planner()
    planner.act(of_seat_to_move(table))
    other = after_pick(3)
    other.play(other.legal()[-1])
    planner.act(of_seat_to_move(other))
    assert planner.plans == 2


def test_a_plan_is_made_anew_when_the_same_position_is_asked_again() -> None:
    table, planner = after_pick(), Planner()
    assert planner.act(of_seat_to_move(table)) == planner.act(of_seat_to_move(table))
    assert planner.plans == 2


def test_reset_drops_the_plan() -> None:
    table, planner = after_pick(), Planner()
    table.play(planner.act(of_seat_to_move(table)))
    planner.reset()
    planner.act(of_seat_to_move(table))
    assert planner.plans == 2


def turns_by_hand(table: Table, most: int) -> list[int]:
    """Every line of the mover's decisions, on clones of the table."""
    turns, seat = [], table.seat
    for action in table.legal():
        after = table.clone()
        after.play(action)
        goes_on = most > 1 and after.seat == seat and not after.at_chance
        turns += [(rest << 16) | (action + 1) for rest in turns_by_hand(after, most - 1)] if goes_on else [action + 1]
    return turns


@pytest.mark.parametrize("most", [1, 2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_the_turns_listed_are_those_made_by_hand(seed: int, most: int) -> None:
    """For two players a seat may move twice running: a line of more than `most` decisions is cut there."""
    table = after_pick(seed, 2, size=3, dominoes=16)
    states, turns = np.zeros(5, KINGDOMINO.state_dtype), np.zeros(KINGDOMINO.max_turns, np.int64)
    states[0] = table.states[0]
    n = list_turns(states, 0, most, KINGDOMINO.max_legal, turns)
    assert turns[:n].tolist() == turns_by_hand(table, most)


def test_no_more_turns_are_listed_than_there_is_room_for() -> None:
    states, turns = np.zeros(5, KINGDOMINO.state_dtype), np.full(5, -1, np.int64)
    states[0] = after_pick().states[0]
    assert list_turns(states, 0, 4, KINGDOMINO.max_legal, turns[:3]) == 3
    assert turns[3:].tolist() == [-1, -1]


# --- Seeds ---


def actions_of(text: str, game: Game, seed: int, players: int) -> list[int]:
    """What a policy plays in a game against itself, on a deal that is always the same."""
    table, rng, deciding = Table(game, players), make_rng(5), policy(text)
    deciding.reset(seed)
    played = []
    while not table.over and len(played) < 12:
        if table.at_chance:
            table.run_chance(rng)
        else:
            played.append(int(deciding.act(of_seat_to_move(table))))
            table.play(played[-1])
    return played


SEEDED = ["random", "full_greedy", "full_greedy(variant=paper)", "gprd", "mce(playouts=30)", "mce(playout=player_greedy, playouts=20)"]


@pytest.mark.parametrize("text", SEEDED)
def test_the_same_seed_gives_the_same_actions(text: str) -> None:
    assert actions_of(text, KINGDOMINO, 1, 4) == actions_of(text, KINGDOMINO, 1, 4)


@pytest.mark.parametrize("text", ["random", "full_greedy", "gprd", "mce(playouts=30)"])
def test_another_seed_gives_other_actions(text: str) -> None:
    assert len({tuple(actions_of(text, KINGDOMINO, seed, 4)) for seed in range(4)}) > 1


def test_preparing_does_not_change_what_is_played() -> None:
    prepared, plain = policy("mce(playouts=30)"), policy("mce(playouts=30)")
    view = of_seat_to_move(after_pick())
    prepared.prepare(view)
    assert prepared.act(view) == plain.act(view)
    assert prepared.playouts == 30


# --- Flat Monte Carlo ---


@pytest.mark.parametrize("score", ["points", "relative", "margin"])
@pytest.mark.parametrize("seed", range(3))
def test_search_finds_the_one_best_placement(score: str, seed: int) -> None:
    table = last_placement()
    points = {}
    for action in table.legal():
        after = table.clone()
        after.play(action)
        points[action] = after.scores()[0]
    best = [action for action in points if points[action] == max(points.values())]
    assert len(best) == 1
    searching = policy(f"mce(score={score}, playouts={len(points)})")
    searching.reset(seed)
    assert searching.act(of_seat_to_move(table)) == best[0]


def test_what_the_best_placement_is() -> None:
    """So that a reader can check the test above: four mines with three crowns, the castle in the middle, no square empty."""
    table = last_placement()
    assert [table.name(action) for action in table.legal()] == ["place 48 b3 b2", "place 48 b2 b3"]
    table.play(table.action("place 48 b2 b3"))
    assert table.scores()[0] == 4 * 3 + 10 + 5


@pytest.mark.parametrize("playouts", [1, 2, 63, 64, 65, 1000])
def test_exactly_so_many_playouts_are_made(playouts: int) -> None:
    searching = policy(f"mce(playouts={playouts})")
    searching.act(shells().view(1))
    assert searching.playouts == playouts
    searching.act(shells().view(1))
    assert searching.playouts == 2 * playouts
    searching.reset()
    assert searching.playouts == 0


def test_a_forced_turn_needs_no_playout() -> None:
    table = Table(three_shells.GAME, most=1)
    table.chance(0)
    searching = policy("mce(playouts=50)")
    assert searching.act(table.view(0)) == 0
    assert searching.playouts == 0


def search(table: Table, turns: list[int], n: int, score: Any = None) -> Tally:
    """The tally of so many uniform playouts."""
    tally = Tally(np.zeros(len(turns), np.int64), np.zeros(len(turns)), np.zeros(len(turns)))
    states, numbers = np.zeros(4, table.states.dtype), np.zeros(table.players, np.int64)
    states[0] = table.states[0]
    score = Margin(2) if score is None else score
    sample_in_rotation(
        states, table.seat, np.array(turns), len(turns), n, 0, Uniform(), score, table.game.buffer(), numbers, make_rng(1), tally
    )
    return tally


def test_the_turns_take_their_playouts_in_rotation() -> None:
    assert search(shells(), [4, 5, 6, 7], 10).visits.tolist() == [3, 3, 2, 2]


@pytest.mark.parametrize("pea", range(3))
def test_the_means_are_those_worked_out_by_hand(pea: int) -> None:
    """Stake 2, odds 1 : 2 : 3, a coin worth 1.25 on average; the margin is twice the points. Wherever the pea is."""
    tally = search(shells(pea), [4, 5, 6, 7], 80_000)
    means = tally.sums / tally.visits
    deviations = np.sqrt((tally.squares / tally.visits - means**2) / tally.visits)
    assert (np.abs(means - [-10 / 3, -5 / 3, 0, -2.5]) < 6 * deviations).all()


def test_the_best_mean_wins_and_ties_are_broken_at_random() -> None:
    tally = Tally(np.array([2, 1, 4, 0]), np.array([6.0, 1.0, 12.0, 0.0]), np.zeros(4))
    assert {int(best_mean(tally, 4, make_rng(seed))) for seed in range(50)} == {0, 2}


@pytest.mark.parametrize("score, values", [(WinDrawLoss(2), [0, 1]), (Points(2), [-4, 4]), (Margin(2), [-8, 8])])
def test_what_an_end_is_worth(score: Any, values: list[float]) -> None:
    table = shells(2, 2)
    table.play(5)
    table.chance(1)
    assert [worth(score, table.states, 0, seat, np.zeros(2, np.int64)) for seat in (0, 1)] == values


def kingdoms(*points: int) -> Table:
    """A finished game of Kingdomino with these points, multiples of three up to 9; the castles are not in the middle."""
    rows = {0: "Xwww", 3: "Xw+ww", 6: "Xw+w+w", 9: "Xw+w+w+"}
    text = ",".join(rows[number] for number in points)
    return Table(KINGDOMINO, len(points)).at_position(f"round=12 stage=over turn=4 kingdoms={text} queue= draft= box=1-12")


@pytest.mark.parametrize(
    "points, score, values",
    [
        ((9, 3, 3, 0), WinDrawLoss(4), [1, 0, 0, 0]),
        ((9, 9, 3, 9), WinDrawLoss(4), [1 / 3, 1 / 3, 0, 1 / 3]),
        ((9, 3, 6, 0), Points(4), [9, 3, 6, 0]),
        ((9, 3, 6, 0), Margin(4), [3, -6, -3, -9]),
        ((9, 3, 0, 0), Relative(4), [0.75, 0.25, 0, 0]),
        ((0, 0, 0, 0), Relative(4), [0.5, 0.5, 0.5, 0.5]),
    ],
)
def test_what_an_end_of_four_is_worth(points: tuple[int, ...], score: Any, values: list[float]) -> None:
    table = kingdoms(*points)
    assert table.scores() == list(points)
    assert [worth(score, table.states, 0, seat, np.zeros(4, np.int64)) for seat in range(4)] == values


def test_a_partner_is_no_rival() -> None:
    assert best_rival(np.array([5, -3, 9, -7]), 0, 2) == -3
    assert best_rival(np.array([5, -3, 9, -7]), 0, 4) == 9


# --- Budgets ---


class Clock:
    """A clock that moves only while playouts are made: each takes a millisecond."""

    def __init__(self) -> None:
        self.now = 0.0
        self.steps: list[tuple[int, int]] = []

    def work(self, n: int, done: int) -> None:
        self.steps.append((n, done))
        self.now += n / 1000

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(budget, "time", clock)
    return clock


@pytest.mark.parametrize("seconds", [0.005, 0.1, 1, 3])
def test_seconds_are_kept_to_a_playout(clock: Clock, seconds: float) -> None:
    playouts = Budget(seconds=seconds).spend(clock.work, least=2)
    assert seconds <= clock.now <= seconds + 0.002
    assert playouts == sum(n for n, _ in clock.steps)


def test_every_turn_is_tried_however_short_the_time(clock: Clock) -> None:
    assert Budget(seconds=0.001).spend(clock.work, least=40) == 40


@pytest.mark.parametrize("playouts", [1, 64, 100, 5000])
def test_the_playouts_are_spent_to_the_last(clock: Clock, playouts: int) -> None:
    assert Budget(playouts=playouts).spend(clock.work, least=7) == playouts
    assert [done for _, done in clock.steps] == np.cumsum([0, *(n for n, _ in clock.steps[:-1])]).tolist()


@pytest.mark.parametrize("spending", [Budget(seconds=2), Budget(playouts=5000)])
def test_a_search_can_be_interrupted_fifty_times_a_second(clock: Clock, spending: Budget) -> None:
    spending.spend(clock.work, least=2)
    assert max(n for n, _ in clock.steps) <= max(64, 21)  # playouts; 20 ms


def test_a_search_by_the_clock_ends(tmp_path: object) -> None:
    searching = policy("mce(seconds=0.05)")
    view = of_seat_to_move(after_pick())
    searching.prepare(view)
    before = budget.time.perf_counter()
    searching.act(view)
    assert 0.05 <= budget.time.perf_counter() - before < 5
    assert searching.playouts >= 100


# --- Honesty ---


def choices(deciding: Policy, tables: list[Table], oracle: bool = False) -> set[int]:
    """What the policy decides at these tables, which look alike to the seat to move."""
    chosen = set()
    for table in tables:
        assert table.seat is not None
        deciding.reset(3)
        chosen.add(int(deciding.act(OracleView(table, table.seat) if oracle else table.view(table.seat))))
    return chosen


def alike(table: Table) -> list[Table]:
    """This table, and others that differ in what the seat to move cannot see."""
    twins = [table]
    for seed in range(4):
        twin = table.clone()
        protocol.resample_hidden_at(twin.states, 0, twin.seat, make_rng(seed))
        twins.append(twin)
    return twins


@pytest.mark.parametrize("text", ["random", "bold", "mce(playouts=40)", "mce(playout=bold, playouts=40)", "mce(player_greedy, margin, 40)"])
def test_a_choice_does_not_depend_on_where_the_pea_is(text: str) -> None:
    assert len(choices(policy(text), [shells(pea) for pea in range(3)])) == 1


@pytest.mark.parametrize("text", ["random", "greedy", "mce(playouts=20)"])
@pytest.mark.parametrize("seed", range(3))
def test_a_choice_does_not_depend_on_the_hands_of_others(text: str, seed: int) -> None:
    tables = alike(random_game(find_game("dominoes"), seed, decisions=5))
    assert len({table.states.tobytes() for table in tables}) > 1
    assert len(choices(policy(text), tables)) == 1


class Peeker(Policy):
    """Points where it takes the pea to be; it is honest exactly if its view is."""

    def act(self, view: View) -> Action:
        return Action(int(three_shells.FIRST_GUESS + view.states["pea"][0]))


def test_even_a_peeker_learns_nothing_from_a_view() -> None:
    assert len(choices(Peeker("peeker"), [shells(pea) for pea in range(3)])) == 1


def test_a_leak_is_noticed() -> None:
    """What the checks above would find if a view showed the truth, as an oracle's does."""
    assert choices(Peeker("peeker"), [shells(pea) for pea in range(3)], oracle=True) == {3, 4, 5}
