"""Do the readings of a paper's words that UCT offers do what their names say? See least_below, total, equals, backup, whole and ties."""

from typing import Any

import numpy as np
import pytest
from random_games import random_game

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import make_rng
from kdenv.core.errors import BadOption
from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.policies import policy
from kdenv.search.kernels import uct
from kdenv.search.kernels.flat import Tally
from kdenv.search.kernels.uct import ROOT

pytestmark = pytest.mark.cold  # it compiles programs that no other test needs


def position(seed: int = 1, decisions: int = 40, word: str = "") -> Table:
    """A game of Dominion after some random decisions, in which this action is legal."""
    for k in range(seed, seed + 400):
        table = random_game(find_game("dominion"), k, decisions=decisions)
        table.run_chance(make_rng(k))
        if not table.over and len(table.legal()) > 2 and (not word or word in map(table.name, table.legal())):
            return table
    raise AssertionError(f"no game in which {word} is legal")


def grown(text: str, table: Table) -> Any:
    """A worker whose tree has been grown with the budget of this policy."""
    searcher: Any = policy(text).searcher  # type: ignore[attr-defined]
    view = table.view(table.seat)
    worker = searcher.worker(view, searcher.turns(view), searcher.budget, make_rng(3), 0)
    worker.run(searcher.budget.steps())
    return worker


def visits_of(worker: Any, node: int) -> list[int]:
    """The visits of the turns of a node that have been tried."""
    first, n = int(worker.tree.nodes["first"][node]), int(worker.tree.nodes["n_tried"][node])
    return [int(visits) for visits in worker.tree.counts["visits"][first : first + n]]


def test_least_holds_at_the_root_and_least_below_in_all_other_nodes() -> None:
    """With no exploration, and turns not tried yet as urgent as none, a rule repeats one turn for ever, unless others must be visited."""
    table = position()
    for text, at_root, elsewhere in (("least=20", 20, 1), ("least_below=20", 1, 20)):
        worker = grown(f"uct(score=win, chance=frozen, select=ucb1(c=0), {text}, playouts=3000)", table)
        assert min(visits_of(worker, ROOT)) >= at_root
        crowded = [visits for node in range(2, worker.nodes() + 1) if sum(visits := visits_of(worker, node)) > 30 * len(visits)]
        assert crowded, "no node below the root was visited often enough to tell"
        least = min(min(visits) for visits in crowded)
        assert least >= 20 if elsewhere == 20 else least < 20


@pytest.mark.parametrize(
    "update, after_own, after_rival",
    [
        ("all", [1, 1, 1], [1, 1]),
        ("owner", [1, 0, 1], [0, 1]),
        ("searcher", [1, 0, 1], [1, 0]),
        ("mine", [1, 1, 1], [0, 0]),
        ("own", [1, 0, 1], [0, 0]),
    ],
)
def test_which_turns_of_a_path_count_a_result(update: str, after_own: list[int], after_rival: list[int]) -> None:
    """The searching seat, its rival and, or not, the searching seat again have moved; the visits of each turn after the update."""
    table = position()
    worker = grown(f"uct(score=win, chance=frozen, update={update}, playouts=1)", table)
    me = int(table.seat)
    for expected in (after_own, after_rival):
        for d in range(len(expected)):
            worker.space.path[d] = 1, 1 + d, (me + d) % 2, 0
        worker.tree.counts["visits"][:] = 0
        _update(worker.chance, worker.tree, worker.space, len(expected), worker.seat, worker.plan)
        assert worker.tree.counts["visits"][1 : 1 + len(expected)].tolist() == expected


@kernel
def _update(chance, tree, space, depth, seat, plan):
    uct.update(chance, tree, space, depth, seat, plan)


@pytest.mark.parametrize("update", ["all", "owner", "searcher", "mine", "own"])
def test_total_counts_the_visits_of_the_turns_or_of_the_node(update: str) -> None:
    """Of the turns together, N is the sum of their visits. Of the node itself, it is the visits of the turn that leads to it."""
    for total in ("siblings", "parent"):
        worker = grown(f"uct(score=win, chance=frozen, update={update}, total={total}, playouts=700)", position())
        counts, nodes, n_nodes = worker.tree.counts, worker.tree.nodes, worker.nodes()
        checked = 0
        for node in range(1, n_nodes + 1):
            first, n = int(nodes["first"][node]), int(nodes["n_turns"][node])
            if total == "siblings":
                assert nodes["passes"][node] == counts["visits"][first : first + n].sum()
                checked += n > 0
                continue
            for at in range(first, first + n):
                child = int(counts["child"][at])
                assert not child or nodes["passes"][child] == counts["visits"][at]
                checked += child > 0
        assert checked > 20
        assert total == "siblings" or nodes["passes"][ROOT] == 700


@kernel
def _most_urgent(tree, space, n, plan, rule, rng):
    return uct.most_urgent_of_known(tree, space, ROOT, n, 1, 0, plan, rule, rng)


def test_of_equally_urgent_turns_any_is_tried_or_the_last() -> None:
    table = position()
    for equals in ("random", "last"):
        worker = grown(f"uct(score=win, select=ucb1(c=0), expand=order, equals={equals}, playouts=40)", table)
        first, n = int(worker.tree.nodes["first"][ROOT]), int(worker.tree.nodes["n_tried"][ROOT])
        worker.tree.counts["sums"][first : first + n], worker.tree.counts["visits"][first : first + n] = 1.0, 2
        worker.space.known[:n] = range(first, first + n)
        chosen = {int(_most_urgent(worker.tree, worker.space, n, worker.plan, worker.rule, make_rng(k))[0]) for k in range(40 * n)}
        assert chosen == ({first + n - 1} if equals == "last" else set(range(first, first + n)))


def test_max_values_a_turn_by_the_best_that_the_same_seat_can_do_next() -> None:
    """After a Festival the seat goes on and has drawn nothing."""
    table = position(decisions=60, word="play Festival")
    for backup in ("mean", "max"):
        root = grown(f"uct(score=margin, chance=frozen, select=ucb1(c=30), backup={backup}, playouts=4000)", table).root()
        (festival,) = (child for child in root.children if child.words == "play Festival")
        best = max(child.mean for child in festival.children if child.visits)
        assert (festival.mean == pytest.approx(best)) == (backup == "max")


def test_max_takes_the_mean_where_another_seat_or_chance_comes_next() -> None:
    """Every turn of Kingdomino is followed by another seat or by a draw; so max changes nothing there."""
    table = random_game(find_game("kingdomino"), 3, decisions=30)
    table.run_chance(make_rng(3))
    mean, best = (grown(f"uct(score=relative, chance=frozen, backup={backup}, playouts=2000)", table) for backup in ("mean", "max"))
    assert mean.nodes() == best.nodes() > 100
    assert mean.tree.counts["sums"].tolist() == best.tree.counts["sums"].tolist()


def test_max_takes_the_mean_where_a_card_is_drawn_first() -> None:
    """After a Village the same seat goes on, but it has drawn a card."""
    table = position(decisions=60, word="play Village")
    root = grown("uct(score=margin, chance=frozen, select=ucb1(c=30), backup=max, playouts=4000)", table).root()
    (village,) = (child for child in root.children if child.words == "play Village")
    after = [turn for draw in village.children for turn in draw.children if turn.visits]
    assert len(after) > 1 and after[0].seat == village.seat
    assert village.mean != pytest.approx(max(turn.mean for turn in after))


@pytest.mark.parametrize("text", ["uct(total=parent, chance=open, playouts=9)", "uct(backup=max, chance=information_sets, playouts=9)"])
def test_what_needs_positions_is_refused_for_trees_of_decisions(text: str) -> None:
    with pytest.raises(BadOption, match="it needs nodes that are positions: chance may be sampled or frozen"):
        policy(text)


@pytest.mark.parametrize(
    "text, playouts",
    [
        ("uct(trees=3, playouts=50)", 50),
        ("uct(trees=3, playouts=50, whole=yes)", 150),
        ("bandit(threads=2, playouts=50, whole=yes)", 100),
        ("uct(playouts=50, whole=yes)", 50),
    ],
)
def test_whole_gives_every_tree_the_whole_budget(text: str, playouts: int) -> None:
    table = position()
    searcher: Any = policy(text)
    searcher.reset(1)
    assert searcher.search(table.view(table.seat)).visits.sum() == playouts


@pytest.mark.parametrize("ties", ["gains", "random"])
def test_of_equally_good_turns_any_is_taken_or_one_that_gains_points(ties: str) -> None:
    table = random_game(find_game("kingdomino"), 3, decisions=30)
    table.run_chance(make_rng(3))
    searcher: Any = policy(f"mce(score=win, ties={ties}, playouts=1)").searcher  # type: ignore[attr-defined]
    view = table.view(table.seat)
    turns = searcher.turns(view)
    n, gains = len(turns), searcher._gains(view, turns)
    assert len(set(gains.tolist())) > 1
    tally, means, left = Tally(np.ones(n, np.int64), np.zeros(n), np.zeros(n)), np.zeros(n), np.ones(n, bool)
    taken = {searcher._best(view, turns, tally, means, left, make_rng(k)) for k in range(40 * n)}
    assert taken == (set(range(n)) if ties == "random" else set(np.flatnonzero(gains == gains.max()).tolist()))


@kernel
def _draw(rule, visits, total, rng):
    return uct.urgency(rule, visits, total, total, 0.0, 0.0, rng)


@pytest.mark.parametrize("wins, losses, visits, total", [(1.0, 1.0, 1, 0.0), (1.0, 1.0, 5, 4.0), (2.0, 3.0, 50, 20.5)])
def test_thompson_beta_draws_from_the_beta_distribution(wins: float, losses: float, visits: int, total: float) -> None:
    """Mean and variance of Beta(wins + total, losses + visits - total); bounds of five standard errors."""
    rule: Any = policy(f"bandit(score=win, select=thompson_beta(wins={wins}, losses={losses}), playouts=9)").select.compiled()  # type: ignore[attr-defined]
    rng, n = make_rng(1), 20_000
    draws = np.array([_draw(rule, visits, total, rng) for _ in range(n)])
    a, b = wins + total, losses + visits - total
    variance = a * b / ((a + b) ** 2 * (a + b + 1))
    assert draws.mean() == pytest.approx(a / (a + b), abs=5 * np.sqrt(variance / n))
    assert draws.var() == pytest.approx(variance, rel=5 * np.sqrt(2 / n) * 1.5)
    assert draws.min() > 0 and draws.max() < 1


@pytest.mark.parametrize("text", ["bandit(score=margin", "uct(score=windiff"])
def test_thompson_beta_is_refused_for_scores_that_are_no_outcomes(text: str) -> None:
    with pytest.raises(BadOption, match="it counts wins: score may be wdl, win, half, lead"):
        policy(f"{text}, select=thompson_beta, playouts=9)")
