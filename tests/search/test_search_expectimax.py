"""Expectimax is what the naive one says; Star1, Star2 and Star2.5 are what Expectimax says, with fewer nodes."""

import os
import random
import subprocess
import sys
from pathlib import Path

import lookahead_mutants
import numpy as np
import pytest
import random_tree
from lookahead_runs import STARS, Result, Searcher
from naive.lookahead import margin, values_of_turns

from baselines.papers import heyden2009
from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import make_rng
from kdenv.core.table import Table
from kdenv.core.turns import SCRATCH
from kdenv.games import find_game
from kdenv.games.carcassonne.heuristics import evaluate, final_weights
from kdenv.policies import Expectimax, Star1, Star2, Star25, policy
from kdenv.search.evaluate import ScoreMargin
from kdenv.search.kernels import expectimax, stack

TIE = 1e-5  # slack, relative to the bound, so that equals of the best are told
CARCASSONNE, KINGDOMINO = find_game("carcassonne"), find_game("kingdomino")
FINAL, ORDER = CARCASSONNE.knowledge.evaluators["final"], CARCASSONNE.knowledge.orders["2"]


@pytest.fixture(autouse=True)
def random_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random trees are a game while these tests run."""
    monkeypatch.setattr("kdenv.games._from_outside", {"random_tree": random_tree.GAME})


def tree(seed: int, length: int | None = None) -> Table:
    """A random tree; even seeds have chance between turns, odd ones anything after anything."""
    if length is None:
        length = 5 + seed // 2 % 3
    return Table(random_tree.GAME, 2, seed=seed, shape=("turns", "any")[seed % 2], length=length)


def meeting_tree(seed: int) -> Table:
    """A random tree in which different lines meet, so that a transposition table has something to find."""
    return Table(random_tree.GAME, 2, seed=seed, shape="meet", length=5 + seed % 3)


def bound_of(seed: int) -> ScoreMargin:
    """Bounds that are hardly ever reached, and such that cut many leaves."""
    return ScoreMargin(2, (64.0, 20.0, 5.0)[seed % 3])


# Random trees


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_expectimax_is_the_naive_one_on_random_trees(depth: int) -> None:
    searcher = Searcher(random_tree.GAME, depth)
    for seed in range(40):
        table = tree(seed)
        searcher.evaluator = bound_of(seed)
        naive = values_of_turns(table, depth, most=searcher.most(table))
        result = searcher.run(table, cuts=False)
        assert result.values == pytest.approx(naive), seed
        assert result.value == pytest.approx(max(naive.values())), seed


def test_a_turn_is_a_single_decision_in_games_that_think_so() -> None:
    searcher = Searcher(random_tree.GAME, 3, most_decisions=1)
    for seed in range(1, 40, 2):
        table = tree(seed, length=5)
        naive = values_of_turns(table, 3, most_decisions=1)
        assert searcher.run(table, cuts=False).values == pytest.approx(naive), seed


def test_stars_are_expectimax_on_random_trees() -> None:
    """In value and in the set of best turns, on 2,500 of them; Star1 saves nodes."""
    searcher = Searcher(random_tree.GAME, 4)
    nodes = dict.fromkeys(["expectimax", *STARS], 0)
    for seed in range(2500):
        table = tree(seed)
        searcher.evaluator = bound_of(seed)
        truth = searcher.run(table, cuts=False)
        nodes["expectimax"] += truth.nodes
        for star, probes in STARS.items():
            result = searcher.run(table, probes, slack=TIE)
            assert result.value == pytest.approx(truth.value, abs=1e-9), (seed, star)
            assert result.best == truth.best, (seed, star)
            nodes[star] += result.nodes
    assert nodes["star1"] < 0.7 * nodes["expectimax"], nodes


@pytest.mark.parametrize("probes", [0, 1, 3])
def test_without_slack_the_value_is_the_same_and_the_turn_one_of_the_best(probes: int) -> None:
    searcher = Searcher(random_tree.GAME, 4)
    for seed in range(200):
        truth = searcher.run(tree(seed), cuts=False)
        quick = searcher.run(tree(seed), probes)
        assert quick.value == pytest.approx(truth.value, abs=1e-9), seed
        assert quick.chosen in truth.best, seed


@pytest.mark.parametrize("table_bits", [2, 10])
@pytest.mark.parametrize("cuts, probes", [(False, 0), (True, 0), (True, 1), (True, 3)])
def test_a_transposition_table_changes_nothing_but_the_nodes(cuts: bool, probes: int, table_bits: int) -> None:
    """Also where it is kept from depth to depth, and where positions take each other's place in it."""
    plain, with_table = Searcher(random_tree.GAME, 4), Searcher(random_tree.GAME, 4, table_bits=table_bits)
    for seed in range(200):
        plain.evaluator = with_table.evaluator = bound_of(seed)
        truth = plain.run(meeting_tree(seed), cuts=False)
        result = deepened(with_table, meeting_tree(seed), probes, cuts)[-1]
        assert result.value == pytest.approx(truth.value, abs=1e-9), seed
        assert result.best == truth.best, seed


def deepened(searcher: Searcher, table: Table, probes: int, cuts: bool) -> list[Result]:
    """The results of searches to depth 1, 2, 3 and 4. Each tries first what the last one chose, and has its transposition table."""
    results: list[Result] = []
    for depth in range(1, 5):
        searcher.depth = depth
        first = results[-1].chosen if results else 0
        results.append(searcher.run(table, probes, cuts=cuts, slack=TIE, first=first, forget=depth == 1))
    return results


@pytest.mark.parametrize(
    "cuts, probes, nodes, with_table, entries",
    [(False, 0, 2088, 754, 63), (True, 0, 1521, 655, 63), (True, 1, 1900, 994, 63), (True, 3, 1870, 1131, 63)],
)
def test_deepening_visits_so_many_nodes_and_remembers_so_many_positions(
    cuts: bool, probes: int, nodes: int, with_table: int, entries: int
) -> None:
    """A fault in bounds, in the order of turns or in the table may cost nodes alone, so they are counted. If a change of the search
    moves these numbers, look whether it should."""
    found = []
    for table_bits in (0, 5):
        searcher = Searcher(random_tree.GAME, 4, evaluator=ScoreMargin(2, 3.0), table_bits=table_bits)
        n_nodes, n_entries = 0, 0
        for seed in range(4):
            n_nodes += sum(result.nodes for result in deepened(searcher, meeting_tree(seed), probes, cuts))
            n_entries += int((searcher.room.table["key"] != 0).sum())
        found += [n_nodes, n_entries]
    assert found == [nodes, 0, with_table, entries]


@pytest.mark.parametrize("probes", [0, 2])
def test_a_search_interrupted_after_every_node_finds_the_same(probes: int) -> None:
    searcher = Searcher(random_tree.GAME, 4)
    for seed in range(20):
        assert searcher.run(tree(seed), probes, step=1) == searcher.run(tree(seed), probes), seed


def test_any_turn_may_be_tried_first() -> None:
    searcher = Searcher(random_tree.GAME, 4)
    for seed in range(40):
        truth = searcher.run(tree(seed), cuts=False)
        for turn in truth.values:
            result = searcher.run(tree(seed), 1, slack=TIE, first=turn)
            assert next(iter(result.values)) == turn, seed
            assert result.value == pytest.approx(truth.value, abs=1e-9), seed
            assert result.best == truth.best, seed


# Mistakes


@pytest.mark.cold
def test_mistakes_of_published_star2s_are_caught_and_plain_python_finds_the_same() -> None:
    """Each mistake put into the search makes it differ from Expectimax, or visit other nodes than these."""
    wrong, nodes = lookahead_mutants.run_all(expectimax)
    assert wrong == ""
    assert nodes == [1867, 1320, 1485, 1539]  # Expectimax, Star1, Star2, Star2.5 with k = 3
    root = Path(__file__).parents[2]
    support = root / "tests" / "support"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": f"{root}{os.pathsep}{support}"}
    script = [sys.executable, str(support / "lookahead_mutants.py")]
    lines = subprocess.run(script, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines[0] == f"healthy: as expectimax; nodes {nodes}"
    assert len(lines) == 1 + len(lookahead_mutants.MUTANTS)
    assert [line for line in lines if "SURVIVED" in line] == []
    by_values = [line for line in lines if "by values" in line]
    assert any("not weighted" in line for line in by_values)
    assert any("not cut to the bounds" in line for line in by_values)


# Carcassonne


def carcassonne_position(seed: int) -> Table:
    """Two players, half of the turns greedy and half random, at any tile of the game."""
    dice, rng = random.Random(seed), make_rng(seed)
    greedy = policy("greedy")
    table = Table(CARCASSONNE, 2)
    n_tiles = dice.randrange(1, 70)
    while not table.over:
        if table.at_chance:
            table.chance(table.sample_chance(rng))
            continue
        if int(table.states[0]["n_tiles"]) > n_tiles:
            break
        assert table.seat is not None
        table.play(greedy.act(table.view(table.seat)) if dice.random() < 0.5 else dice.choice(table.legal()))
    return table if not table.over else carcassonne_position(seed + 1_000_000)


@pytest.mark.parametrize("seeds", [range(30), pytest.param(range(30, 2000), marks=pytest.mark.slow)])
def test_stars_are_expectimax_in_carcassonne(seeds: range) -> None:
    """In value and in the set of best turns, at depth 2, in every order."""
    searcher = Searcher(CARCASSONNE, 2, evaluator=FINAL)
    orders = [ORDER, CARCASSONNE.knowledge.orders["1"]]
    for seed in seeds:
        table = carcassonne_position(seed)
        searcher.order = orders[0]
        truth = searcher.run(table, cuts=False)
        for probes in STARS.values():
            searcher.order = orders[seed % 2]
            result = searcher.run(table, probes, slack=TIE)
            assert result.value == pytest.approx(truth.value, abs=1e-6), (seed, probes)
            assert result.best == truth.best, (seed, probes)


@kernel
def _evaluate_at(weights, states, k, seat):
    return evaluate(weights, states[k], seat)


SMALL_ENDS = (
    "stage=place drawn=V turn=0 points=3,0 tiles=D+0+0r0@E0 bag=E1,U1",
    "stage=place drawn=J turn=1 points=0,4 tiles=D+0+0r0,E+0+1r2@nw0,B+0-1r0@c1 bag=N1",
    "stage=claim turn=0 points=0,0 tiles=D+0+0r0,E+0+1r2 bag=A1,R1",
)


@pytest.mark.parametrize("text", SMALL_ENDS)
def test_small_ends_of_carcassonne_are_solved_to_the_naive_value(text: str) -> None:
    table = Table(CARCASSONNE, 2).at_position(text)
    naive = values_of_turns(table, 3, lambda t, seat: 100.0 * margin(t, seat))
    for searcher in (Searcher(CARCASSONNE, 3, evaluator=FINAL, order=ORDER), Searcher(CARCASSONNE, 3, evaluator=ScoreMargin(2, 20.0))):
        scale = 1.0 if searcher.evaluator == FINAL else 100.0
        for probes in (0, 1, 5):
            result = searcher.run(table, probes, slack=10.0)
            assert searcher.room.counters[stack.CUT_SHORT] == 0
            assert {turn: value * scale for turn, value in result.values.items()} == pytest.approx(naive, abs=1e-6)


def test_expectimax_with_heydens_evaluation_is_the_naive_one() -> None:
    table = Table(CARCASSONNE, 2).at_position("stage=place drawn=W turn=1 points=9,2 tiles=D+0+0r0@E0,E+0+1r2@nw1 bag=U3,E2,V1,B1")
    searcher = Searcher(CARCASSONNE, 2, evaluator=FINAL, order=ORDER)
    naive = values_of_turns(table, 2, lambda t, seat: _evaluate_at(final_weights(), t.states, 0, seat), most=2700.0)
    assert searcher.most(table) == 2700.0
    assert searcher.run(table, cuts=False).values == pytest.approx(naive)


def test_bounds_are_the_same_for_whoever_trails() -> None:
    """The thesis' text inverts the window for the side that trails; its fixed one made the player resign."""
    for turn in (0, 1):
        table = Table(CARCASSONNE, 2).at_position(f"stage=place drawn=V turn={turn} points=40,3 tiles=D+0+0r0 bag=E1,U1")
        assert Searcher(CARCASSONNE, 1, evaluator=FINAL).most(table) == 100.0 * 37 + 2000.0


def test_a_hopeless_position_is_still_played_on() -> None:
    """Far behind, turns differ in value: nothing is cut to the bound before the search begins."""
    table = Table(CARCASSONNE, 2).at_position("stage=place drawn=E turn=1 points=90,3 tiles=D+0+0r0 bag=U1,V3")
    result = Searcher(CARCASSONNE, 2, evaluator=FINAL, order=ORDER).run(table, 5, slack=10.0)
    assert len({round(value, 6) for value in result.values.values()}) == 5
    assert table.name((result.chosen & 0xFFFF) - 1) == "place E+0+1r2"  # completes the city


def test_types_that_cannot_be_placed_are_no_outcomes() -> None:
    """There is no open city edge for C, all city: chance is as if it were not in the bag."""
    start = "stage=place drawn=B turn=0 points=0,0 tiles=D+0+0r0,E+0+1r2"
    with_c, without = (Table(CARCASSONNE, 2).at_position(f"{start} bag={bag}") for bag in ("B3,C1", "B3"))
    searcher = Searcher(CARCASSONNE, 2, evaluator=FINAL, order=ORDER)
    assert searcher.run(with_c, cuts=False).values == pytest.approx(searcher.run(without, cuts=False).values)


def ranked(text: str) -> list[str]:
    """The turns in order 2, in words."""
    table = Table(CARCASSONNE, 2).at_position(text)
    result = Searcher(CARCASSONNE, 1, evaluator=FINAL, order=ORDER).run(table, cuts=False)
    words = []
    for turn in result.values:
        twin = table.clone()
        while turn:
            word = twin.name((turn & 0xFFFF) - 1)
            twin.play((turn & 0xFFFF) - 1)
            turn >>= 16
        words.append(word.split()[1])
    return words


def test_order_2_is_city_cloister_road_nothing_field() -> None:
    words = ranked("stage=place drawn=K turn=0 points=0,0 tiles=D+0+0r0 bag=U1")
    assert words == sorted(words, key=["city", "road", "nothing", "field"].index)
    assert set(words) == {"city", "road", "nothing", "field"}
    words = ranked("stage=place drawn=A turn=0 points=0,0 tiles=D+0+0r0 bag=U1")
    assert words == sorted(words, key=["cloister", "road", "nothing", "field"].index)
    words = ranked("stage=claim turn=0 points=0,0 tiles=D+0+0r0,A+0-1r0 bag=U1")
    assert words == ["cloister", "road", "nothing", "field"]


def test_on_the_fifty_positions_star2_saves_most_then_star1() -> None:
    """Every fifth of the fifty; `python -m baselines.papers.heyden2009 nodes` prints the whole table."""
    fifty = list(heyden2009.positions())
    assert len(fifty) == 50
    assert {(p.when, p.lead) for p in fifty} == {(w, l) for w in ("early", "middle", "late") for l in ("ahead", "level", "behind")}
    some = [position.table for position in fifty[::5]]
    full = heyden2009.mean_nodes(Expectimax, some, "2")
    star1, star2, star2_5 = (heyden2009.mean_nodes(kind, some, "2") for kind in (Star1, Star2, Star25))
    assert star2 < 0.5 * full
    assert star2_5 < 0.5 * full
    assert star2 < star1 < full
    assert star2 < heyden2009.mean_nodes(Star2, some, "0")


# Kingdomino


def last_drafts(seed: int, n_unseen: int) -> Table:
    """Two players in 3x3 kingdoms: the last pick before the last draft, as if only so many dominoes were left in the box."""
    dice, rng = random.Random(seed), make_rng(seed)
    table = Table(KINGDOMINO, 2, size=3, dominoes=12)
    while not (table.states[0]["round"] == 1 and table.states[0]["turn"] == 3 and not table.at_chance):
        if table.at_chance:
            table.chance(table.sample_chance(rng))
        else:
            table.play(dice.choice(table.legal()))
    unseen = int(table.states[0]["unseen"])
    while unseen.bit_count() > n_unseen:
        unseen &= ~(1 << dice.randrange(48))
    table.states[0]["unseen"] = unseen
    return table


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_small_kingdomino_is_the_naive_value(seed: int) -> None:
    """Four draws in a row, and whoever moves next: the chances are nested, and seen from either side."""
    table = last_drafts(seed, n_unseen=5)
    naive = values_of_turns(table, 2)
    plain, with_table = Searcher(KINGDOMINO, 2), Searcher(KINGDOMINO, 2, table_bits=14)
    assert plain.run(table, cuts=False).values == pytest.approx(naive)
    for probes in (0, 1, 5):
        for searcher in (plain, with_table):
            assert searcher.run(table, probes, slack=10.0).values == pytest.approx(naive)
    assert with_table.run(table, cuts=False).nodes < 0.5 * plain.run(table, cuts=False).nodes  # the order of the draws is forgotten


def test_the_end_of_small_kingdomino_is_solved() -> None:
    """The last draft is on the table: no chance is left, and all turns are looked through to the end."""
    table = last_drafts(4, n_unseen=4)
    rng = make_rng(1)
    while not table.at_chance:
        table.play(table.legal()[0])
    while table.at_chance:
        table.chance(table.sample_chance(rng))
    for _ in range(4):
        table.play(table.legal()[0])
    naive = values_of_turns(table, 6)
    searcher = Searcher(KINGDOMINO, 6)
    assert searcher.run(table, 1, slack=10.0).values == pytest.approx(naive)
    assert searcher.room.counters[stack.CUT_SHORT] == 0


def test_three_play_paranoid() -> None:
    """The other two are taken to play together against the seat that searches."""
    table = Table(KINGDOMINO, 3, size=3, dominoes=6)
    rng, dice = make_rng(5), random.Random(5)
    while table.states[0]["stage"] != 2 or table.states[0]["round"] != 2:
        if table.at_chance:
            table.chance(table.sample_chance(rng))
        else:
            table.play(dice.choice(table.legal()))
    naive = values_of_turns(table, 3)
    assert Searcher(KINGDOMINO, 3, players=3).run(table, 1, slack=10.0).values == pytest.approx(naive)


@kernel
def remember_at(search, task):
    stack.remember(search, task, search.levels[0])


@pytest.mark.parametrize(
    "best, lower, upper", [(12.0, 12.0, np.inf), (10.0, 10.0, np.inf), (5.0, 5.0, 5.0), (0.0, -np.inf, 0.0), (-3.0, -np.inf, -3.0)]
)
@pytest.mark.parametrize("side", [0, 1])
def test_a_value_outside_the_window_is_remembered_as_a_bound(best: float, lower: float, upper: float, side: int) -> None:
    """The window is from 0 to 10. The table keeps bounds as side 0 sees them."""
    searcher = Searcher(random_tree.GAME, 1, table_bits=2)
    task = stack.Task(0, 2, 1, True, 0, 43.0, 0.0, 100)
    frame = searcher.room.levels[0]
    for name, value in {"alpha": 0.0, "beta": 10.0, "best": best, "side": side, "key": 3, "depth": 1, "chosen": 7}.items():
        frame[name] = value
    remember_at(searcher.room, task)
    entry = searcher.room.table[3]
    assert (entry["lower"], entry["upper"]) == ((lower, upper) if side == 0 else (-upper, -lower))
    assert entry["turn"] == 7


def test_the_room_of_a_search_has_scratch_after_its_last_level_and_words_of_eight_bytes() -> None:
    table = carcassonne_position(1)
    room = stack.new_search(table.states, 2, 2, CARCASSONNE.max_turns, CARCASSONNE.max_chances, CARCASSONNE.max_legal)
    assert room.states[0] == table.states[0]
    assert room.states.shape[0] == room.levels.shape[0] + 1 + SCRATCH
    assert room.words.dtype == np.uint64
    assert room.words.shape == (room.states.shape[0], CARCASSONNE.state_dtype.itemsize // 8)
