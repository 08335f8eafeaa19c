"""A search that improves on a base policy: is one step an improvement, does the rule compare what it should, and what does noise cost?

Rollout with exact values is never worse than its base policy (Tesauro and Galperin 1996; Bertsekas 2013). Random trees are small enough to
say so by counting. There the base policy takes the first branch, as both seats do in playouts.
"""

from typing import Any, NamedTuple

import numpy as np
import pytest
import random_tree
from naive.expectimax import Naive
from positions import after_pick, of_seat_to_move

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import make_rng
from kdenv.core import verbs
from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.questions import plays
from kdenv.core.table import Table
from kdenv.core.turns import packed
from kdenv.core.verbs import CHANCE, OVER, legal
from kdenv.policies import policy
from kdenv.policies.base import Policy
from kdenv.policies.flat import Flat, Mce, better_than, of_student
from kdenv.policies.playouts import Playout
from kdenv.policies.result import SearchResult
from kdenv.search.kernels.flat import Tally

TREES = range(60)
# Quantiles of Student's distribution with the probability of a normal quantile: (normal quantile, degrees of freedom, quantile).
STUDENT = [
    (0.5, 2, 0.586),
    (1, 1, 1.837),
    (1, 3, 1.197),
    (2, 1, 13.968),
    (2, 2, 4.527),
    (2, 3, 3.307),
    (2, 10, 2.284),
    (2, 1000, 2.003),
    (3, 5, 5.507),
]


class First(NamedTuple):
    """Takes the first legal action."""


@plays(First)
@kernel
def _choose_first(player: Any, states: Any, k: Any, out: Any, rng: Any) -> Any:
    legal(states[k], out)
    return packed(out[0])


class FirstBranch(Policy, Playout):
    """Takes the first legal action."""

    def act(self, view: Any) -> int:
        return int(view.legal()[0])

    def player(self, view: Any) -> First:
        return First()


@pytest.fixture(autouse=True)
def random_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random trees are a game while these tests run."""
    monkeypatch.setattr("kdenv.games._from_outside", {"random_tree": random_tree.GAME})


def tree(seed: int) -> Table:
    """A tree in which seat 0 decides twice, seat 1 once between, and chance after each decision."""
    return Table(random_tree.GAME, 2, seed=seed, shape="turns", length=6)


class Counted:
    """The exact margins of seat 0 in a tree."""

    def __init__(self, table: Table) -> None:
        self.naive = Naive(table, lambda position, players, teams: ())

    def of_base(self, position: Any) -> float:
        """The expected margin if both seats take the first branch."""
        return self._expected(position, lambda seat, afters: afters[0])

    def of_rollout(self, position: Any) -> float:
        """The expected margin if seat 0 takes, at each of its decisions, the branch that is best for it if all go on with the first."""
        return self._expected(position, lambda seat, afters: max(afters, key=self.of_base) if seat == 0 else afters[0])

    def after_each_turn(self, position: Any) -> list[float]:
        """The expected margin after each turn, if both seats go on with the first branch."""
        return [self.of_base(after) for _, after in self.naive.turns(position)]

    def _expected(self, position: Any, choose: Any) -> float:
        phase = verbs.phase_at(position, 0)
        if phase == OVER:
            points = np.zeros(2, np.int64)
            verbs.scores_at(position, 0, points)
            return float(points[0] - points[1])
        if phase == CHANCE:
            return float(sum(p * self._expected(after, choose) for p, after in self.naive.outcomes(position)))
        afters = [after for _, after in self.naive.turns(position)]
        return self._expected(choose(verbs.seat_at(position, 0), afters), choose)


def on_first(**more: Any) -> Mce:
    """The search that improves on taking the first branch. It has no name: a name would be offered in all other tests."""
    return Mce(playout=FirstBranch(), base=FirstBranch(), score="margin", common=True, **more)


def search(table: Table, asked: str | Mce, seed: int = 1) -> SearchResult:
    searching: Any = policy(asked)
    searching.reset(seed)
    return searching.search(of_seat_to_move(table), thorough=False)


# One step of improvement


def test_rollout_with_exact_values_is_never_worse_than_its_base_policy() -> None:
    gains = []
    for seed in TREES:
        table = tree(seed)
        counted, position = Counted(table), table.states[:1].copy()
        gains.append(counted.of_rollout(position) - counted.of_base(position))
    assert min(gains) > -1e-9
    assert sum(gain > 0.5 for gain in gains) > 30


@pytest.mark.parametrize("sampling", ["rotation", "halving"])
def test_with_many_playouts_the_search_takes_the_turn_of_exact_rollout(sampling: str) -> None:
    for seed in TREES:
        table = tree(seed)
        exact = Counted(table).after_each_turn(table.states[:1].copy())
        found = search(table, on_first(sampling=sampling, playouts=4000))
        assert exact[found.best] >= exact[0]
        if sampling == "rotation" and len(exact) > 1:  # a forced turn is not searched
            assert found.means == pytest.approx(exact, abs=5 * 30 / np.sqrt(4000 / len(exact)))
        if max(exact) > exact[0] + 3:
            assert exact[found.best] > max(exact) - 3


def test_few_playouts_cost_points_without_the_interval_and_none_with_it() -> None:
    """Four rotations in 400 searches of which the base policy's branch is the best: the search that is not sure stays with it."""
    lost = {}
    trees = [seed for seed in range(300) if len(exact_values(seed)) > 1 and max(exact_values(seed)) == exact_values(seed)[0]][:40]
    assert len(trees) == 40
    for name, confidence in (("sure", 4), ("unsure", 0)):
        lost[name] = 0.0
        for seed in trees:
            exact = exact_values(seed)
            for again in range(10):
                lost[name] += exact[0] - exact[search(tree(seed), on_first(confidence=confidence, playouts=4 * len(exact)), again).best]
    assert lost["unsure"] > 400
    assert lost["sure"] < lost["unsure"] / 4


def exact_values(seed: int) -> list[float]:
    table = tree(seed)
    return Counted(table).after_each_turn(table.states[:1].copy())


# The rule


def naive_choice(values: Any, own: int, needed: float) -> int:
    """The best turn of those that are better than `own` by so many standard errors, else `own`. values: a row for each rotation."""
    chosen, best = own, -np.inf
    for turn in range(values.shape[1]):
        differences = values[:, turn] - values[:, own]
        error = differences.std(ddof=1) / np.sqrt(len(differences))
        if differences.mean() > of_student(needed, len(differences) - 1) * error and values[:, turn].mean() > best:
            chosen, best = turn, values[:, turn].mean()
    return chosen


@pytest.mark.parametrize("needed", [0.0, 0.5, 1.0, 2.0])
def test_the_turn_is_that_of_the_rule_written_down_in_numpy(needed: float) -> None:
    """The values of a rotation are what its playouts add to the sums."""
    taken = set()
    for seed in range(40):
        table = after_pick(seed)
        searching: Any = policy(
            f"mce(playout=full_greedy, base=learned(kingdomino), score=margin, common=yes, confidence={needed}, playouts=400)"
        )
        view = of_seat_to_move(table)
        searching.prepare(view)
        turns = searching.searcher.turns(view)
        worker = searching.searcher.worker(view, turns, searching.searcher.budget, make_rng(seed), 0)
        assert isinstance(worker, Flat)
        own, sums, values = int(worker.places[0]), np.zeros(len(turns)), []
        for _ in range(6):
            worker.run([len(turns)])
            values.append(worker.tally().sums - sums)
            sums = worker.tally().sums
        tally = worker.tally()
        possible = worker.possible(tally)
        chosen = naive_choice(np.array(values), own, needed)
        assert possible[chosen]
        assert worker.means(tally)[chosen] == worker.means(tally)[possible].max()
        taken.add(chosen == own)
    assert taken == {True, False}


def test_a_prior_shifts_the_lead_and_has_no_error_of_its_own() -> None:
    """400 differences of mean 1 and variance 1: the standard error is 1/20. A prior that counts 400 halves both, and adds its own."""
    leads = Tally(np.array([400, 400]), np.array([0.0, 400.0]), np.array([0.0, 799.0]))
    for trust, behind, needed, better in (
        (0, 0, 19, True),
        (0, 0, 20, False),
        (400, 0, 19, True),
        (400, 0, 20, False),
        (400, 0.9, 0, True),
        (400, 1.1, 0, False),
    ):
        as_normal = np.sqrt(399 * np.log1p((needed / np.sqrt(399)) ** 2)) * (8 * 399 + 1) / (8 * 399 + 3)  # the normal quantile of `needed`
        assert better_than(0, leads, trust, np.array([behind, 0.0]), as_normal).tolist() == [False, better]


@pytest.mark.parametrize("z, freedom, exact", STUDENT)
def test_few_differences_need_the_quantile_of_student(z: float, freedom: int, exact: float) -> None:
    """Wallace's approximation is within 5 % from two degrees of freedom on; with one it asks for more, at two and three deviations."""
    found = of_student(z, freedom)
    assert found == pytest.approx(exact, rel=0.05) if freedom > 1 or z < 2 else found > exact


def test_no_confidence_needs_no_quantile() -> None:
    assert of_student(0.0, np.array([1, 5])).tolist() == [0, 0]


def test_one_playout_says_nothing_about_its_error() -> None:
    leads = Tally(np.array([1, 1]), np.array([0.0, 9.0]), np.array([0.0, 81.0]))
    assert not better_than(0, leads, 0.0, np.zeros(2), 0.0).any()


def test_without_any_confidence_it_is_the_search_without_a_base_policy() -> None:
    """Playouts of a rotation have the same luck, in whatever order they are made."""
    for seed in range(20):
        text = "mce(playout=full_greedy(variant=paper), {}score=margin, common=yes, playouts={})"
        n = 5 * len(search(after_pick(seed), "mce(playouts=1)").turns)
        plain, based = (search(after_pick(seed), text.format(more, n)) for more in ("", "base=learned(kingdomino), confidence=0, "))
        assert plain.visits.tolist() == based.visits.tolist()
        assert plain.means.tolist() == based.means.tolist()
        assert based.means[based.best] == plain.means.max()


@pytest.mark.parametrize("sampling", ["rotation", "halving"])
def test_with_endless_confidence_it_is_the_base_policy(sampling: str) -> None:
    for base in ("learned(kingdomino)", "ppo(kingdomino-ppo)"):
        for seed in range(5):
            table = after_pick(seed)
            found = search(table, f"mce(base={base}, common=yes, confidence=1e9, sampling={sampling}, playouts=500)")
            alone: Any = policy(base)
            assert (int(found.turn) & 0xFFFF) - 1 == alone.act(of_seat_to_move(table))


def test_it_can_be_prepared_before_the_first_draw() -> None:
    """A match compiles its policies at such a position."""
    view = Table(after_pick().game, 4).view(0)
    assert not view.to_move
    policy("mce(base=learned(kingdomino), common=yes, playouts=9)").prepare(view)


def test_halving_never_drops_the_turn_of_the_base_policy() -> None:
    table = after_pick()
    n = len(search(table, "mce(playouts=1)").turns)
    found = search(table, f"mce(base=random, common=yes, confidence=1e9, sampling=halving, playouts={8 * n})")
    assert found.visits[found.best] == found.visits.max()


def test_a_turn_that_halving_dropped_is_not_taken_for_its_lead() -> None:
    """Two playouts a turn: some turn that is dropped seems better than that of the base policy by more than it needs."""
    n = len(search(after_pick(), "mce(playouts=1)").turns)
    for seed in range(20):
        found = search(after_pick(), f"mce(base=random, score=margin, common=yes, confidence=0, sampling=halving, playouts={12 * n})", seed)
        assert found.visits[found.best] == found.visits.max()


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("mce(confidence=2, playouts=9)", "confidence=2 needs a policy whose turn stays; give base=<policy>"),
        ("mce(base=random, playouts=9)", "base=random compares playouts that begin with the same random numbers; write common=yes"),
        ("mce(base=random, common=yes, threads=2, playouts=9)", "threads=2 is not possible with base=random"),
    ],
)
def test_what_contradicts_itself_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(BadOption) as error:
        policy(text)
    assert sentence in str(error.value)


def test_a_base_policy_of_another_game_is_refused() -> None:
    with pytest.raises(NotSupported, match="dominion"):
        policy("mce(base=double_witch, common=yes, playouts=9)").check(after_pick().game, 4)
