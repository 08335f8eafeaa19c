"""Do bandits and UCT find what going through everything finds, and are they what the papers describe?

Small positions are compared with tests/support/naive/expectimax.py; formulas with numbers worked out by hand.
"""

import math
import random
import threading
import time
from collections.abc import Iterable, Iterator

import numpy as np
import pytest
import three_shells
from naive.expectimax import Naive, margin
from random_games import random_game

from kdenv.compiler.random import make_rng, next64
from kdenv.core.errors import BadOption
from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.policies import policy
from kdenv.policies.result import SearchResult
from kdenv.policies.tree_view import Node, turns_of
from kdenv.policies.uct import size_of_tree
from kdenv.search import select
from kdenv.search.budget import Budget, run_together
from kdenv.search.kernels import uct
from kdenv.search.kernels.uct import ROOT
from kdenv.search.playout import Uniform, decisions_left

SMALL = {  # name: options, and how many decisions of a random game are made, or (negative) left
    "three_shells": ({}, 0),
    "kingdomino": ({"players": 2, "size": 3, "dominoes": 4}, 4),
    "carcassonne": ({"players": 2}, -2),
    "dominoes": ({"mode": "round"}, -7),
    "dominion": ({"players": 2, "max_turns": 2}, 1),
}
GAMES = list(SMALL)


def small(name: str, seed: int = 0) -> Table:
    """A position of a few decisions, some with chance between them."""
    options, decisions = SMALL[name]
    game = three_shells.GAME if name == "three_shells" else find_game(name)

    def play(n: int) -> tuple[Table, int]:
        table, dice, rng = Table(game, **options), random.Random(seed), make_rng(seed)
        table.run_chance(rng)
        played = 0
        while not table.over and played != n:
            table.decide(dice.choice(table.legal()), rng)
            played += 1
        return table, played

    while True:
        table = play(decisions)[0] if decisions >= 0 else play(play(-1)[1] + decisions)[0]
        if not table.over and len(table.legal()) > 1:
            return table
        seed += 100


def search(text: str, table: Table, seed: int = 1) -> SearchResult:
    """What a policy finds out about a position."""
    searcher = policy(text)
    searcher.reset(seed)
    return searcher.search(table.view(table.seat))


def below(node: Node) -> Iterator[Node]:
    """All nodes of the tree below this one."""
    for child in node.children:
        yield child
        yield from below(child)


def packed(actions: tuple[int, ...]) -> int:
    return sum((action + 1) << (16 * i) for i, action in enumerate(actions))


@pytest.mark.parametrize("name", GAMES)
def test_uct_with_sampled_chance_finds_what_expectimax_finds(name: str) -> None:
    table = small(name)
    found = search("uct(score=margin, select=ucb1(c=2), chance=sampled, playouts=200000)", table)
    naive = Naive(table, margin)
    position, seat = found.tree.states, int(table.seat)  # hidden things as this tree takes them
    exact = {packed(actions): naive.best_play(after)[seat] for actions, after in naive.turns(position)}
    assert sorted(exact) == sorted(found.turns)
    best = max(exact.values())
    assert exact[found.turn] == pytest.approx(best)
    assert found.means[found.best] == pytest.approx(best, abs=0.6)


@pytest.mark.parametrize("name", ["three_shells", "kingdomino", "carcassonne"])
@pytest.mark.parametrize("kind", ["mce(", "bandit(select=ucb1_tuned(c=20), "])
def test_flat_search_finds_what_random_play_is_worth(name: str, kind: str) -> None:
    table = small(name)
    found = search(kind + "score=margin, playouts=20000)", table)
    naive = Naive(table, margin)
    exact = {packed(actions): naive.random_play(after)[int(table.seat)] for actions, after in naive.turns(table.states)}
    for turn, visits, mean, half in zip(found.turns, found.visits, found.means, found.halves, strict=True):
        if visits > 100:
            assert abs(mean - exact[int(turn)]) < 6 / 1.96 * max(half, 0.1 / math.sqrt(visits))


def test_open_tree_averages_over_what_is_hidden() -> None:
    """Three Shells: pointing at shell 2 is worth 0, a pass -1.25, the others 5/12 and 5/6 of the stake less than nothing."""
    table = Table(three_shells.GAME)
    table.chance(0)  # the pea is not where it is likely to be
    table.play(table.action("stake 3"))
    found = search("uct(chance=open, score=points, select=ucb1(c=5), playouts=40000)", table)
    means = {candidate.words: candidate.mean for candidate in found.candidates}
    assert means["point 2"] == pytest.approx(0, abs=0.15)
    assert means["pass"] == pytest.approx(-1.25, abs=0.15)
    assert means["point 1"] == pytest.approx(-1.25, abs=0.4)
    assert means["point 0"] == pytest.approx(-2.5, abs=0.5)


@pytest.mark.parametrize(
    "kind", ["mce(", "bandit(", "uct(chance=open, ", "uct(chance=sampled, ", "ismcts(", "uct(trees=3, chance=frozen, "]
)
def test_what_is_hidden_changes_nothing(kind: str) -> None:
    found = []
    for pea in range(3):
        table = Table(three_shells.GAME)
        table.chance(pea)
        table.play(table.action("stake 2"))
        result = search(kind + "score=points, playouts=300)", table)
        found.append((result.turns.tolist(), result.visits.tolist(), result.means.tolist()))
    assert found[0] == found[1] == found[2]


# What a tree is


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("chance", ["frozen", "sampled"])
def test_visits_add_up(name: str, chance: str) -> None:
    """A node has the visits of the turns below it, and one more of the playout after which its turns were listed."""
    found = search(f"uct(score=margin, chance={chance}, playouts=2000)", small(name))
    assert found.visits.sum() == found.tree.visits == found.playouts == 2000
    assert found.cost["nodes"] <= 2001
    n_inner = 0
    for node in below(found.tree):
        assert node.visits > 0 or node.outcomes
        turns = [child for child in node.children if child.turn]
        assert len({child.turn for child in turns}) == len(turns)
        if node.turn and turns:
            n_inner += 1
            assert node.visits == 1 + sum(child.visits for child in turns)
        elif node.turn:
            ways = [way for way in node.children if way.children]
            assert node.visits >= sum(1 + way.visits for way in ways)
            n_inner += len(ways)
    assert n_inner > 0


def test_frozen_tree_of_three_shells() -> None:
    """All of it, and read: the pea is under shell 2; wrong guesses lose the stake to seat 0, or twice the stake, as the coin fell.

    Stakes 1, 2, 3 first bring 1, 4 (doubled), 3. The best mean goes on: stake 2 brings 2 and 2, falling behind; stake 3
    brings 6 and 3, until shell 2 is tried and costs 6. Each stake has one visit more than its replies together.
    """
    table = Table(three_shells.GAME)
    table.chance(2)
    found = search("uct(score=points, chance=frozen, expand=order, select=ucb1(c=0), playouts=8)", table, seed=1033)

    def turns(node: Node) -> list[tuple[str, int, float]]:
        return [(child.words, child.visits, child.total) for child in node.children]

    assert turns(found.tree) == [("stake 1", 1, 1.0), ("stake 2", 3, 8.0), ("stake 3", 4, 6.0)]
    one, two, three = found.tree.children
    assert turns(one) == []
    assert turns(two) == [("point 0", 1, -2.0), ("point 1", 1, -2.0)]
    assert turns(three) == [("point 0", 1, -6.0), ("point 1", 1, -3.0), ("point 2", 1, 6.0)]
    assert found.cost["nodes"] == 9
    # Each guess is the last decision, and has one coin; where the coin doubles, the guess was worth twice the stake.
    for stake, node in ((2, two), (3, three)):
        for guess in node.children:
            (coin,) = guess.children
            assert abs(guess.mean) == stake * (1 + coin.outcomes[0])


def test_frozen_chance_is_drawn_once() -> None:
    """With the pea known and a frozen coin every end of the game is always worth the same."""
    table = Table(three_shells.GAME)
    table.chance(1)
    table.play(table.action("stake 2"))
    found = search("uct(score=points, chance=frozen, select=ucb1(c=5), playouts=400)", table)
    assert len(found.tree.children) == 4
    for node in found.tree.children:
        assert node.mean**2 == pytest.approx(node.squares / node.visits, rel=0.05)  # but for the first playouts


def test_tree_stops_growing_when_it_is_full() -> None:
    found = search("uct(nodes=50)", Table(find_game("kingdomino")).at_position(small_kingdomino().position()))
    assert found.cost["nodes"] == 50
    assert found.visits.sum() >= 49


def small_kingdomino() -> Table:
    table = Table(find_game("kingdomino"))
    table.run_chance(make_rng(2))
    return table


@pytest.mark.parametrize("update", ["all", "owner", "searcher", "mine", "own"])
def test_readings_of_uct_mod(update: str) -> None:
    table = small_kingdomino()
    updated = int(search(f"uct(update={update}, playout=random, score=win, playouts=500)", table).visits.sum())
    assert updated == 500 if update in ("all", "searcher") else 0 < updated < 500


def test_first_play_urgency_repeats_a_good_turn_before_all_are_tried() -> None:
    table = small("carcassonne")
    eager = search("uct(score=wdl, fpu=-5, expand=order, playouts=30)", table)
    thorough = search("uct(score=wdl, expand=order, playouts=30)", table)
    assert (eager.visits > 0).sum() == 1
    assert (thorough.visits > 0).sum() == min(30, len(thorough.visits))


@pytest.mark.parametrize("chance", ["frozen", "information_sets"])
def test_a_turn_as_urgent_as_those_not_tried_is_repeated(chance: str) -> None:
    """One of the three stakes has been tried twice and brought 1 in all; the others have the urgency 0.5, too."""
    table = Table(three_shells.GAME)
    table.chance(1)
    searcher, view = policy(f"uct(score=points, chance={chance}, fpu=-99, select=ucb1(c=0), playouts=30)").searcher, table.view(table.seat)
    worker = searcher.worker(view, searcher.turns(view), searcher.budget, make_rng(1), 0)
    worker.run(searcher.budget.steps())
    worker.plan = worker.plan._replace(first_urgency=0.5)
    (at,) = (at for at in turns_of(worker.tree, worker.chance, ROOT) if worker.tree.counts["visits"][at])
    for total, repeated in ((1.0, True), (0.9, False)):
        worker.tree.counts["visits"][at], worker.tree.counts["sums"][at] = 2, total
        position = worker.tree, worker.space, worker.states, worker.raw, worker.seat
        uct.grow(*position, 1, worker.chance, worker.plan, worker.rule, worker.playouts, worker.learner, worker.rng)
        assert (worker.tree.counts["visits"][at] == 3) == repeated


def test_no_visits_are_fewer_than_the_least() -> None:
    table = small("dominion")
    for kind in ("bandit", "uct"):
        found = search(f"{kind}(score=wdl, least=10, select=ucb1(c=0), playouts=200)", table)
        assert found.visits.min() == 10
        assert found.visits.sum() == 200


def test_a_tree_is_empty_when_it_is_used_again() -> None:
    table = small("dominion")
    for chance in ("frozen", "sampled", "open"):
        searcher = policy(f"uct(chance={chance}, playouts=300)")
        counts = []
        for _ in range(2):
            searcher.reset(5)
            counts.append(searcher.search(table.view(table.seat)).means.tolist())
        assert counts[0] == counts[1]


def test_nodes_lie_spread_over_the_hash_table() -> None:
    """Each lies where its key says, or in the next free slot. So no long row of slots is in use, which would take long to search."""
    table = Table(three_shells.GAME)
    table.chance(1)
    searcher, view = policy("uct(chance=sampled, playouts=500)").searcher, table.view(table.seat)
    tree = searcher.worker(view, searcher.turns(view), searcher.budget, make_rng(1), 0).tree
    rng = make_rng(1)
    for node in range(1, 501):
        key = next64(rng)
        slot = uct.slot_of(tree, key)
        assert tree.table[slot] == uct.NONE
        tree.table[slot], tree.nodes[node]["key"] = node, key
        assert uct.slot_of(tree, key) == slot
    rows = "".join("x" if node != uct.NONE else " " for node in tree.table).split()
    assert max(map(len, rows)) < 50


def test_visits_that_all_turns_get_decide_nothing() -> None:
    """Seventeen visits for ten turns: seven have one more, which says nothing about them."""
    found = search("bandit(score=points, least=10, choice=visits, playouts=17)", small("dominion"))
    assert sorted(found.visits) == [1] * 3 + [2] * 7
    assert found.means[found.best] == np.nanmax(found.means)


# Root ensembles


def amid(name: str) -> Table:
    """A position with many deals that the seat to move holds possible."""
    table = random_game(find_game(name), 1, decisions=34)
    table.run_chance(make_rng(1))
    return table


def possible(tree: Node, table: Table) -> bool:
    """Whether the seat to move cannot tell the position this tree was grown from from the one on the table."""
    twin = table.clone()
    twin.states[0] = tree.states[0]
    return twin.legal() == table.legal() and twin.observation(table.seat).tolist() == table.observation(table.seat).tolist()


@pytest.mark.parametrize("name", ["dominion", "dominoes"])
@pytest.mark.parametrize("chance", ["frozen", "sampled"])
def test_every_tree_has_a_deal_of_its_own(name: str, chance: str) -> None:
    table = amid(name)
    trees = search(f"uct(trees=6, chance={chance}, playouts=60)", table, seed=3).trees
    assert [possible(tree, table) for tree in trees] == [True] * 6
    assert len({tree.states.tobytes() for tree in trees}) == 6


@pytest.mark.parametrize("name", ["dominion", "dominoes"])
@pytest.mark.parametrize("chance", ["frozen", "sampled"])
def test_a_tree_keeps_its_deal_however_long_it_grows(name: str, chance: str) -> None:
    table = amid(name)
    short, long = (search(f"uct(trees=3, chance={chance}, playouts={n})", table, seed=3).trees for n in (3, 600))
    assert [tree.states.tobytes() for tree in short] == [tree.states.tobytes() for tree in long]


# Selection formulas


LOG_100 = math.log(100)


@pytest.mark.parametrize(
    "rule, expected",
    [
        (select.UCB1(0.5), 0.6 + 0.5 * math.sqrt(LOG_100 / 20)),
        (select.UCBRatio(0.5), 0.6 + 0.5 * math.sqrt(math.log(5))),
        (select.UCB1Tuned(1.0), 0.6 + math.sqrt(LOG_100 / 20 * 0.25)),
        (select.ProgressiveBias(select.UCB1(0.0), 0.1), 0.6 + 0.1 * 7 / 21),
        (select.WinBias(select.UCB1(0.0), 0.1), 0.6 + 0.1 * 7 / (20 * 0.4 + 1)),
    ],
)
def test_urgency_of_a_turn_with_12_wins_in_20_of_100_visits(rule, expected: float) -> None:
    assert select.urgency(rule, 20, 12.0, 12.0, 7.0, LOG_100, make_rng(1)) == pytest.approx(expected)


def test_ucb1_tuned_explores_less_where_the_values_differ_little() -> None:
    """9,900 wins of 10,000: a variance of 0.99 * 0.01, and what may be missing of it, are less than 0.25."""
    bonus = math.sqrt(LOG_100 / 10_000 * (0.99 * 0.01 + math.sqrt(2 * LOG_100 / 10_000)))
    assert select.urgency(select.UCB1Tuned(2.0), 10_000, 9_900.0, 9_900.0, 0.0, LOG_100, make_rng(1)) == pytest.approx(0.99 + 2 * bonus)


def test_ucb_ratio_explores_nothing_where_a_turn_has_all_visits() -> None:
    assert select.urgency(select.UCBRatio(0.5), 101, 60.6, 60.6, 0.0, LOG_100, make_rng(1)) == pytest.approx(0.6)


def test_thompson_begins_with_the_spread_it_is_given() -> None:
    """100 values of 0.6 have no variance of their own."""
    rng = make_rng(1)
    draws = [select.urgency(select.ThompsonRule(3.0), 100, 60.0, 36.0, 0.0, LOG_100, rng) for _ in range(4000)]
    assert np.mean(draws) == pytest.approx(0.6, abs=0.003)
    assert np.std(draws) == pytest.approx(3.0 / 100, rel=0.06)  # five standard deviations of such a sample


def test_thompson_draws_around_the_mean() -> None:
    rng = make_rng(1)
    draws = [select.urgency(select.ThompsonRule(0.5), 100, 60.0, 60.0, 0.0, LOG_100, rng) for _ in range(2000)]
    assert np.mean(draws) == pytest.approx(0.6, abs=0.01)
    assert np.std(draws) == pytest.approx(math.sqrt((24 + 0.25) / 100 / 100), rel=0.1)


# The decision


def test_ties_go_to_the_turn_that_gains_the_most_points_at_once() -> None:
    table = small_kingdomino()
    found = search("uct(score=points, choice=visits, playouts=1)", table)
    assert found.visits[found.best] == 1


@pytest.mark.parametrize("budget", ["seconds=0.001", "playouts=1", "nodes=1", "game_seconds=0.001"])
@pytest.mark.parametrize("kind", ["bandit", "uct"])
def test_a_search_never_returns_nothing(kind: str, budget: str) -> None:
    if kind == "bandit" and budget.startswith("nodes"):
        return
    table = small_kingdomino()
    assert policy(f"{kind}({budget})").act(table.view(table.seat)) in table.legal()


def test_reflex_goes_before_the_search() -> None:
    from dominion_at import at

    table = at("Smithy, Market", "1 Market 1 Smithy")
    searcher = policy("bandit(reflex=yes, playout=rollout, playouts=20)")
    assert table.name(searcher.act(table.view(table.seat))) == "play Market"
    assert searcher.n_playouts == 0


def test_wrong_parameters_are_told_in_a_sentence() -> None:
    for text, told in {
        "uct(playouts=5, chance=often)": "chance may be sampled, frozen, open",
        "uct(playouts=5, select=ucb2)": "a selection rule is ucb1, ucb_ratio",
        "uct(playouts=5, select=ucb1(d=3))": "ucb1 has no parameter d; its parameters are c",
        "uct(playouts=5, seconds=1)": "give one budget",
        "uct(playouts=5, trees=1, threads=2)": "each thread needs a tree",
        "uct(playouts=5, bias=win, score=margin)": "it needs worths between 0 and 1",
        "mce(playouts=5, threads=10000000)": "threads is a whole number from 1 to 256",
        "uct(playouts=5, trees=257)": "trees is a whole number from 1 to 256",
        "ismcts(threads=10000000)": "threads is a whole number from 1 to 256",
        "bandit(playouts=5, least=0)": "least is a whole number from 1 on",
    }.items():
        with pytest.raises(BadOption, match=told):
            policy(text)


# Budgets


class Work:
    """A search that takes a while."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.done = seconds, 0

    def run(self, steps: Iterable[int]) -> int:
        for n in steps:
            self.done += n
            time.sleep(self.seconds * n)
        return self.done

    def nodes(self) -> int:
        return self.done


@pytest.mark.parametrize("threads", [1, 2])
def test_works_share_playouts(threads: int) -> None:
    works = [Work(0) for _ in range(3)]
    budgets = [Budget(playouts=100).share(i, 3) for i in range(3)]
    assert run_together(works, budgets, threads, time.perf_counter()) == 100
    assert [work.done for work in works] == [34, 33, 33]


@pytest.mark.parametrize("threads", [1, 2])
def test_works_share_seconds(threads: int) -> None:
    works = [Work(0.0005) for _ in range(2)]
    start = time.perf_counter()
    run_together(works, [Budget(seconds=0.1)] * 2, threads, start)
    assert 0.09 < time.perf_counter() - start < 10  # later only on a machine that does other things
    assert min(work.done for work in works) > 5


def test_a_stopped_search_ends() -> None:
    stop = threading.Event()
    stop.set()
    assert list(Budget(playouts=100).steps(stop=stop)) == []


def test_seconds_for_a_game_are_divided_by_the_turns_left() -> None:
    budget = Budget(game_seconds=10.0)
    assert budget.for_decision(4.0, lambda: 12.0, lambda: 0) == Budget(seconds=0.5)
    assert budget.for_decision(11.0, lambda: 12.0, lambda: 0) == Budget(seconds=0.001)


def test_turns_left_are_foreseen() -> None:
    """12 drafts: a pick, and 12 turns; from the first pick of four players 13 turns are left."""
    table = small_kingdomino()
    searcher = policy("uct(game_seconds=100)").searcher
    assert searcher.decisions_left(table.view(table.seat), 2) == 13


@pytest.mark.parametrize("most, most_decisions, left", [(3, 1, 1), (3, 2, 1), (1, 1, 0), (1, 2, 1)])
def test_where_turns_are_single_decisions_those_that_are_forced_do_not_count(most: int, most_decisions: int, left: int) -> None:
    """In Three Shells each seat decides once, how much it stakes; if it may stake at most one, there is no choice."""
    table = Table(three_shells.GAME, most=most)
    table.chance(0)
    states = np.resize(table.states, 4)
    assert decisions_left(Uniform(), states, 0, most_decisions, 3, table.game.buffer(), make_rng(1)) == left


@pytest.mark.parametrize("kind", ["mce", "bandit", "uct"])
def test_searches_are_repeatable_on_threads_too(kind: str) -> None:
    table = small_kingdomino()
    for threads in (1, 2):
        text = f"{kind}(playouts=400, threads={threads})"
        one, two = (search(text, table) for _ in range(2))
        assert one.visits.sum() == 400
        np.testing.assert_array_equal(one.means, two.means)


# Named policies


def test_a_row_of_a_paper_is_one_word() -> None:
    table = small_kingdomino()
    for text in ("uctw-tr(playouts=50)", "mce-tr/r(playouts=50)", "mcts(seconds=0.01)", "uct-tr(nodes=20)"):
        searcher = policy(text)
        assert str(searcher) == text
        assert searcher.act(table.view(table.seat)) in table.legal()


@pytest.mark.parametrize("budget", [Budget(playouts=10**9), Budget(nodes=10**9), Budget(seconds=1e6)])
@pytest.mark.parametrize("n_trees", [1, 2, 8, 9, 256])
def test_all_trees_together_have_no_more_room_than_eight_of_the_largest(budget: Budget, n_trees: int) -> None:
    alone = size_of_tree(budget, 1, 300)
    one = size_of_tree(budget, n_trees, 300)
    assert all(n_trees * each <= 8 * largest for each, largest in zip(one, alone, strict=True))
    assert one == alone or n_trees > 8
    assert size_of_tree(Budget(playouts=100), n_trees, 300) == (102, 30_600)
