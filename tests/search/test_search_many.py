"""search_many: does it search as the naive search and the compiled one do, and is the network asked as seldom as promised?"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from models import random_model
from naive.scored import NaiveSearch
from positions import after_pick, of_seat_to_move
from random_games import random_game

from kdenv.compiler.random import make_rng
from kdenv.core import verbs
from kdenv.core.errors import BadOption, KdenvError, NotSupported, WrongOrder
from kdenv.core.table import Table
from kdenv.core.turns import actions_of
from kdenv.core.view import View
from kdenv.envs import SeatVectorEnv, SelfPlay
from kdenv.games import find_game
from kdenv.policies import NetworkPolicy, named, policy, search_many
from kdenv.policies import many_searches as driver
from kdenv.policies.asked_network import AskedNetwork
from kdenv.policies.base import rng_of
from kdenv.policies.many import check_search, seen_in
from kdenv.search.kernels.uct import NONE, ROOT, Tree

Network = Callable[[np.ndarray], Any]
SCORED = "uct(leaf=network(scale=50), priors=network, score=goal, select=puct(c=1), chance={chance}, playouts={n})"


def projection(seed: int = 1, size: float = 0.1) -> Network:
    """A network of one layer with random weights, between -1 and 1."""

    def network(rows: np.ndarray) -> np.ndarray:
        weights = np.random.default_rng(seed).normal(size=rows.shape[1])
        return np.tanh(size * (rows.astype(np.float64) * weights).sum(axis=1))

    return network


def dominoes(seed: int = 3, actions: int = 6) -> View:
    """A view in the middle of a round of dominoes, in which the seat can choose."""
    table = random_game(find_game("dominoes"), seed, 4, actions, mode="round")
    return of_seat_to_move(table)


def grown(text: str, views: list[View], network: Network, seed: int, **options: Any) -> Any:
    """The search of these views, with its trees."""
    seen = seen_in(views)
    given: dict[str, Any] = {"encoding": None, "whole": True, "gumbel": 0, **options}
    chosen = driver.Options(**given)
    checked = check_search(policy(text), chosen.gumbel)
    assert isinstance(checked, driver.Uct)
    asked = AskedNetwork(network, seen.game.observer(seen.players, seen.variant))
    rngs = np.concatenate([rng_of(seed + i) for i in range(len(views))]).reshape(-1, 1)
    search = driver.ManyTrees(checked, seen, asked, chosen, rngs)
    search.start()
    for _ in range(search.n_playouts):
        search.step()
    return search


def nodes_of(search: Any, i: int) -> dict[tuple[Any, ...], dict[Any, tuple[int, float, float, int]]]:
    """The tree of game i: by the turns and outcomes that lead to a node, each turn with its visits, sum, prior and times open."""
    tree, found = Tree(*(getattr(search.trees, name)[i] for name in Tree._fields)), {}

    def walk(node: int, key: tuple[Any, ...]) -> None:
        at = int(tree.counts["child"][node])
        found[key] = {}
        while at != NONE:
            packed, one = int(tree.turns[at]), tree.counts[at]
            if packed & 0xFFFF:
                turn: Any = tuple(actions_of(packed))
                found[key][turn] = int(one["visits"]), float(one["sums"]), float(one["bias"]), int(one["times_open"])
            else:
                turn = ("chance", (packed >> 16) - 1)
            walk(at, (*key, turn))
            at = int(tree.counts["next"][at])

    walk(ROOT, ())
    return {key: turns for key, turns in found.items() if turns}


# The same as the naive search


@pytest.mark.parametrize(
    ("chance", "whole", "view"),
    [
        ("information_sets", True, lambda: dominoes()),
        ("open", True, lambda: dominoes(seed=4)),
        ("open", True, lambda: of_seat_to_move(after_pick(players=2))),
        ("information_sets", True, lambda: of_seat_to_move(after_pick(players=2))),
        ("information_sets", False, lambda: of_seat_to_move(after_pick(players=2))),
        ("open", True, lambda: of_seat_to_move(after_pick(players=4))),
    ],
    ids=["dominoes-sets", "dominoes-open", "kingdomino-open", "kingdomino-sets", "kingdomino-sets-actions", "four-seats"],
)
def test_trees_equal_those_of_the_naive_search_node_by_node(chance: str, whole: bool, view: Callable[[], View]) -> None:
    one, network, n = view(), projection(), 120
    search = grown(SCORED.format(chance=chance, n=n), [one], network, seed=5, whole=whole)
    naive = NaiveSearch(one, rng_of(5), network, information_sets=chance == "information_sets", whole=whole, scale=50.0)
    for _ in range(n):
        naive.simulate()
    expected = {key: turns for key, turns in naive.tree.items() if turns}
    found = nodes_of(search, 0)
    assert found.keys() == expected.keys()
    assert len(found) > 10
    for key, turns in expected.items():
        assert found[key].keys() == turns.keys()
        for turn, known in turns.items():
            visits, total, prior, times_open = found[key][turn]
            assert visits == known.visits
            assert total == pytest.approx(known.total, rel=1e-9, abs=1e-9)
            assert prior == pytest.approx(known.prior, rel=1e-6)
            if chance == "information_sets":
                assert times_open == known.times_open
    assert search.network.rows == naive.n_asked


# The same as the compiled search


def network_in(file: Path) -> Network:
    """The function of the network in a model file, in numpy."""
    model = policy(f"learned({file})").loaded().stored  # type: ignore[attr-defined]

    def network(rows: np.ndarray) -> np.ndarray:
        for weights, biases in model.layers[:-1]:
            rows = np.maximum(rows @ weights.T + biases, 0)
        weights, biases = model.layers[-1]
        return (rows @ weights.T + biases)[:, 0]

    return network


WITHOUT_PRIORS = [  # each compiles two searches of its own, so only the first of each kind is in the usual tier
    ("dominoes", "mce(leaf=N, score=goal, turns=2, ties=first, playouts=100)"),
    ("dominoes", "uct(leaf=N, score=goal, chance=information_sets, playouts=100)"),
    ("dominoes", "mce(leaf=N, prior=N, score=goal, turns=2, common=yes, sampling=halving, playouts=150)"),
    ("kingdomino", "mce(leaf=N, prior=N, score=goal, turns=3, sampling=halving, widest=6, choice=visits, playouts=101)"),
    ("kingdomino", "uct(leaf=N, score=goal, chance=sampled, select=ucb1(c=0.1), playouts=150)"),
    ("kingdomino", "uct(leaf=N, score=goal, chance=frozen, select=ucb1(c=0.1), backup=max, choice=visits, playouts=150)"),
    ("kingdomino", "uct(leaf=N, score=goal, chance=open, turns=2, ties=random, playouts=150)"),
]


@pytest.mark.parametrize(
    ("game", "text"), [pytest.param(*each, marks=[pytest.mark.cold] * (i > 1)) for i, each in enumerate(WITHOUT_PRIORS)]
)
def test_searches_without_priors_in_trees_are_those_of_the_compiled_network(game: str, text: str, tmp_path: Path) -> None:
    """The network in numpy rounds in another way, so means agree nearly, and visits and choices exactly."""
    file = random_model(tmp_path / "m.npz", game)
    tables = [random_game(find_game(game), seed, None, 9) for seed in range(40)]
    views = [of_seat_to_move(table) for table in tables if table.seat is not None and len(table.legal()) > 1][:6]
    found = search_many(text.replace("N", "network(scale=50)"), views, network_in(file), seed=11)
    compiled = policy(text.replace("N", f"learned({file})"))
    for i, view in enumerate(views):
        compiled.reset(11 + i)
        expected = compiled.search(view, thorough=False)
        mine = slice(found.starts[i], found.starts[i + 1])
        assert found.turns[mine].tolist() == expected.turns.tolist()
        assert found.visits[mine].tolist() == expected.visits.tolist()
        assert found.means[mine] == pytest.approx(expected.means, abs=1e-5, nan_ok=True)
        assert found.turns[found.best[i]] == expected.turn
    assert len(views) == 6


@pytest.mark.cold
def test_trees_with_priors_are_those_of_the_compiled_network_where_no_chance_is_left(tmp_path: Path) -> None:
    """The compiled search makes priors anew in every draw; without draws both make the same."""
    file = random_model(tmp_path / "m.npz", "kingdomino")
    game, views = find_game("kingdomino"), []
    for seed in range(30):
        whole = random_game(game, seed).events()
        last = max(i for i, event in enumerate(whole) if event.is_chance)
        table = random_game(game, seed, None, sum(not event.is_chance for event in whole[:last]))
        table.run_chance(make_rng(seed))
        if table.seat is not None and len(of_seat_to_move(table).turns()) > 1:
            views.append(of_seat_to_move(table))
    options = "score=goal, select=puct(c=0.5), temperature=0.3, chance=open, choice=visits, playouts=80"
    found = search_many(f"uct(leaf=network(scale=50), priors=network, {options})", views, network_in(file), seed=3)
    compiled = policy(f"uct(leaf=learned({file}), priors=learned({file}), {options})")
    for i, view in enumerate(views):
        compiled.reset(3 + i)
        expected = compiled.search(view, thorough=False)
        mine = slice(found.starts[i], found.starts[i + 1])
        assert found.visits[mine].tolist() == expected.visits.tolist()
        assert found.means[mine] == pytest.approx(expected.means, abs=1e-5, nan_ok=True)
        assert found.turns[found.best[i]] == expected.turn
    assert len(views) > 10


# Many games


TREE = SCORED.format(chance="information_sets", n=24)
FLAT = "mce(leaf=network, score=goal, turns=2, sampling=halving, playouts=48)"


def batch_of(n: int, game: str = "dominoes", steps: int = 5) -> SelfPlay:
    """Games in which a few actions have been made."""
    batch = SelfPlay(game, num_envs=n, skip_forced=True, **({"mode": "round"} if game == "dominoes" else {}))
    now = batch.reset(seed=1)
    for _ in range(steps):
        now = batch.step(now.action_mask.argmax(axis=1))
    return batch


def test_rows_have_the_encoding_of_the_batch() -> None:
    batch = SelfPlay("dominoes", num_envs=2, mode="round", skip_forced=True, encoding="ends")
    batch.reset(seed=1)
    sizes = set[int]()

    def network(rows: np.ndarray) -> np.ndarray:
        sizes.add(rows.shape[1])
        return np.zeros(len(rows))

    search_many(FLAT, batch, network)
    assert sizes == {batch.n_observed}
    search_many(FLAT, batch, network, encoding="tiles")
    assert len(sizes) == 2


@pytest.mark.parametrize(("text", "gumbel"), [(TREE, 0), (TREE, 4), (FLAT, 0)], ids=["tree", "gumbel", "flat"])
def test_many_games_are_searched_as_each_alone(text: str, gumbel: int) -> None:
    batch, network = batch_of(12), projection()
    views = [of_seat_to_move(batch.table(i)) for i in range(12)]
    together = search_many(text, batch, network, gumbel=gumbel, seed=7)
    of_views = search_many(text, views, network, gumbel=gumbel, seed=[7 + i for i in range(12)])
    again = search_many(text, batch, network, gumbel=gumbel, seed=7)
    for name in ("turns", "visits", "means", "policy", "best"):
        assert getattr(together, name).tobytes() == getattr(of_views, name).tobytes()
        assert getattr(together, name).tobytes() == getattr(again, name).tobytes()
    for i, view in enumerate(views):
        alone = search_many(text, [view], network, gumbel=gumbel, seed=7 + i)
        mine = slice(together.starts[i], together.starts[i + 1])
        assert alone.visits.tolist() == together.visits[mine].tolist()
        assert alone.means == pytest.approx(together.means[mine], nan_ok=True)
        assert alone.policy == pytest.approx(together.policy[mine])
        assert alone.chosen == [together.chosen[i]]
    assert search_many(text, batch, network, gumbel=gumbel, seed=8).visits.tolist() != together.visits.tolist()


@pytest.mark.parametrize(("text", "gumbel"), [(TREE, 0), (TREE, 4), (FLAT, 0)], ids=["tree", "gumbel", "flat"])
def test_the_network_is_called_once_a_simulation_with_at_least_half_of_the_games(text: str, gumbel: int) -> None:
    sizes: list[int] = []

    def network(rows: np.ndarray) -> np.ndarray:
        sizes.append(len(rows))
        return np.zeros(len(rows))

    n = policy(text).playouts  # type: ignore[attr-defined]
    found = search_many(text, batch_of(256), network, gumbel=gumbel)
    assert (found.calls, found.rows) == (len(sizes), sum(sizes))
    assert len(sizes) <= n + 2
    assert np.mean(sizes) >= 128
    has_choice = np.diff(found.starts) > 1
    assert np.add.reduceat(found.visits, found.starts[:-1]).tolist() == (n * has_choice).tolist()
    assert np.add.reduceat(found.policy, found.starts[:-1]) == pytest.approx(np.ones(256))


@pytest.mark.parametrize("text", [TREE, FLAT, SCORED.format(chance="open", n=24)], ids=["tree", "flat", "open"])
def test_rows_and_results_do_not_depend_on_what_is_hidden(text: str) -> None:
    batch, network, seen = batch_of(32), projection(), []

    def watched(rows: np.ndarray) -> np.ndarray:
        seen.append(rows.tobytes())
        return network(rows)

    before = search_many(text, batch, watched)
    rows, seen = seen, []
    states, seats = batch._batch.games.states, batch._batch.games.seat
    truth = states.tobytes()
    for i in range(32):
        verbs.resample_hidden(states[i], seats[i], make_rng(100 + i))
    assert states.tobytes() != truth
    after = search_many(text, batch, watched)
    assert seen == rows
    assert after.means.tobytes() == before.means.tobytes()


@pytest.mark.parametrize(("text", "gumbel"), [(TREE, 0), (TREE, 4), (FLAT, 0)], ids=["tree", "gumbel", "flat"])
def test_games_that_are_over_are_left_out(text: str, gumbel: int) -> None:
    env = SeatVectorEnv("dominoes", num_envs=24, autoreset_mode=AutoresetMode.DISABLED, mode="round")
    _, infos = env.reset(seed=1)
    over = np.zeros(24, np.bool_)
    while over.sum() < 4:
        _, _, over, _, infos = env.step(infos["action_mask"].argmax(axis=1))
    assert not over.all()
    found = search_many(text, env, projection(), gumbel=gumbel)
    assert ((found.best == -1) == over).all()
    assert (np.diff(found.starts)[over] == 0).all()
    assert infos["action_mask"][np.arange(24), found.first][~over].all()
    under_way = np.flatnonzero(~over)
    views = [of_seat_to_move(env.table(i)) for i in under_way]
    assert search_many(text, views, projection(), gumbel=gumbel, seed=under_way.tolist()).visits.tolist() == found.visits.tolist()
    assert [found.chosen[i] for i in np.flatnonzero(over)] == [()] * int(over.sum())


def test_a_search_changes_no_game() -> None:
    batch = batch_of(8)
    before = batch._batch.games.states.tobytes()
    search_many(TREE, batch, projection())
    assert batch._batch.games.states.tobytes() == before


def test_no_room_for_rows_at_first_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    batch, network = batch_of(40, "kingdomino", 12), projection()
    usual = search_many(TREE, batch, network)
    monkeypatch.setattr(driver, "_FIRST_ROWS", 1)
    assert search_many(TREE, batch, network).means.tobytes() == usual.means.tobytes()


# Gumbel noise at the root


def test_sequential_halving_gives_the_better_half_twice_the_visits() -> None:
    assert driver._schedule(4, 16) == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert driver._schedule(1, 3) == [0, 1, 2]
    assert driver._schedule(8, 5) == [0, 0, 0, 0, 0]


def test_gumbel_considers_the_turns_with_the_greatest_noise_and_score_and_keeps_the_better() -> None:
    network = projection()
    search = grown(SCORED.format(chance="open", n=16), [of_seat_to_move(after_pick(players=2))], network, seed=2, gumbel=4)
    found, root = search.results(), nodes_of(search, 0)[()]
    gumbel = search.gumbel
    first = np.argsort(-(gumbel.noise[0] + gumbel.logits[0]), kind="stable")[:4]
    assert sorted(found.visits[first].tolist()) == [2, 2, 6, 6]
    assert found.visits.sum() == 16
    # The improved policy by its definition: the logits plus the means, in units of their range, by (50 + most visits) / 10.
    prior = np.array([root[tuple(actions_of(turn))][2] for turn in found.turns.tolist()])
    assert prior == pytest.approx(np.exp(gumbel.logits[0]) / np.exp(gumbel.logits[0]).sum())
    tried = found.visits > 0
    value = (prior * gumbel.values[0]).sum()
    value = (value + 16 * (prior * found.means)[tried].sum() / prior[tried].sum()) / 17
    means = np.where(tried, found.means, value)
    weighed = 5.6 * (means - means.min()) / (means.max() - means.min())
    odds = np.exp(gumbel.logits[0] + weighed)
    assert found.policy == pytest.approx(odds / odds.sum())
    # The turn taken: of those with the most visits, the best by noise, logit and mean.
    most = np.flatnonzero(found.visits == 6)
    assert found.best[0] == most[np.argmax((gumbel.noise[0] + gumbel.logits[0] + weighed)[most])]


def test_gumbel_considers_no_more_turns_than_there_are() -> None:
    view, text = dominoes(), SCORED.format(chance="open", n=16)
    all_turns, more = (grown(text, [view], projection(), seed=2, gumbel=gumbel) for gumbel in (len(view.turns()), 1000))
    assert len(more.gumbel.schedule) == len(view.turns()) + 1
    assert more.results().policy.tolist() == all_turns.results().policy.tolist()


def test_gumbel_noise_draws_each_turn_with_its_prior() -> None:
    """With one considered turn the choice is a draw from the priors: of 2,000 games, the shares differ by less than five deviations."""
    view, network = dominoes(), projection()
    found = search_many(SCORED.format(chance="open", n=1), [view] * 2000, network, gumbel=1)
    n = found.starts[1]
    chosen = np.bincount(found.best - found.starts[:-1], minlength=n) / 2000
    scores = network(view.afterstates().observations) / 0.1
    prior = np.exp(scores) / np.exp(scores).sum()
    assert (np.abs(chosen - prior) < 5 * np.sqrt(prior * (1 - prior) / 2000)).all()


# Scores apart from values


def test_scores_make_the_priors_and_values_the_means() -> None:
    view, values, scores = dominoes(), projection(1), projection(2)
    text = "uct(leaf=network, priors=network, score=goal, select=puct, chance=open, temperature=2, playouts=20)"
    search = grown(text, [view], lambda rows: (values(rows), scores(rows)), seed=1)
    given = scores(view.afterstates().observations) / 2
    root = nodes_of(search, 0)[()]
    assert [known[2] for known in root.values()] == pytest.approx((np.exp(given) / np.exp(given).sum()).tolist())


def test_one_turn_is_forced() -> None:
    table = Table(find_game("dominoes"), 4, mode="round")
    table.run_chance(make_rng(1))
    assert len(table.legal()) == 1
    found = search_many(TREE, [of_seat_to_move(table)], projection())
    assert (found.chosen, found.visits.tolist(), found.policy.tolist(), found.calls) == ([(table.legal()[0],)], [0], [1.0], 0)
    assert math.isnan(found.means[0])


# What is refused


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("random", {}, "cannot search as random does"),
        ("mce(playouts=10)", {}, "does not ask your network; write leaf=network, score=goal"),
        ("mce(leaf=network, score=goal, seconds=1)", {}, "write playouts=<number>"),
        ("mce(leaf=network, score=goal, sampling=random, playouts=9)", {}, "sampling may be rotation, halving"),
        ("mce(leaf=network, score=goal, threads=2, playouts=9)", {}, "threads=2 is not possible in search_many; threads may be 1"),
        ("uct(leaf=network, score=goal, rave=10, playouts=9)", {}, "rave=10 is not possible in search_many; rave may be no"),
        ("uct(leaf=network, score=goal, trees=2, playouts=9)", {}, "trees=2 is not possible in search_many; trees may be none, 1"),
        ("uct(leaf=network, priors=ppo(dominion), score=goal, playouts=9)", {}, "write network in its place"),
        ("uct(leaf=network, priors=network, score=goal, playouts=9)", {}, "chance may be open, information_sets"),
        ("uct(leaf=network, priors=network, chance=open, turns=1, score=goal, playouts=9)", {}, "turns=1 is not possible with priors"),
        ("mce(playout=player_greedy, leaf=network, turns=1, score=goal, playouts=9)", {}, "may be random or a rule-based player"),
        ("mce(leaf=network, score=goal, playouts=9)", {"gumbel": 4}, "gumbel=4 needs priors"),
        (TREE, {"gumbel": -1}, "gumbel=-1 is not possible"),
        (TREE, {"encoding": "nonsense"}, "nonsense"),
        (TREE, {"seed": [1, 2]}, "seed= lists 2 seeds for 1 games"),
        (TREE, {"seed": 1.5}, "seed=1.5 is not possible; seed may be a whole number from 0 up"),
        (TREE, {"seed": None}, "seed=None is not possible in search_many"),
    ],
)
def test_what_is_not_possible_gets_a_sentence(text: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(KdenvError, match=words):
        search_many(text, [dominoes()], projection(), **options)


@pytest.mark.parametrize(
    ("network", "words"),
    [
        (lambda rows: np.zeros(len(rows) + 1), "have shape"),
        (lambda rows: np.zeros((len(rows), 2)), "return one number for each of the"),
        (lambda rows: np.full(len(rows), np.nan), "the values of the network have numbers that are not finite"),
        (lambda rows: (np.zeros(len(rows)), np.full(len(rows), np.inf)), "the scores of the network"),
        (lambda rows: (np.zeros(len(rows)),) * 3, "a tuple of 3"),
    ],
)
def test_a_network_that_returns_something_else_gets_a_sentence(network: Network, words: str) -> None:
    with pytest.raises(BadOption, match=words):
        search_many(TREE, [dominoes()], network)


def test_views_must_be_of_one_kind_and_to_move() -> None:
    view = dominoes()
    other = random_game(find_game("dominoes"), 3, 4, 6, mode="round")
    with pytest.raises(WrongOrder, match="does not decide in views"):
        search_many(TREE, [view, other.view((view.seat + 1) % 4)], projection())
    with pytest.raises(BadOption, match=r"views\[1\] and views\[0\] have different games"):
        search_many(TREE, [view, of_seat_to_move(after_pick())], projection())
    with pytest.raises(BadOption, match="give a list of views"):
        search_many(TREE, [], projection())


def test_a_search_without_a_function_says_what_network_means() -> None:
    with pytest.raises(NotSupported, match="is the function that search_many is given"):
        policy(FLAT).act(dominoes())


# A policy that asks a network


class Asking(NetworkPolicy):
    """Likes what a projection likes."""

    def evaluate(self, observations: np.ndarray) -> np.ndarray:
        return projection()(observations)


named("asking", listed=False)(Asking)


def test_a_network_policy_decides_as_search_many_and_alone_takes_the_best_afterstate() -> None:
    view = dominoes()
    searching = Asking(within=policy(TREE), gumbel=4)
    searching.reset(5)
    found = search_many(TREE, [view], projection(), gumbel=4, seed=5)
    assert searching.act(view) == found.first[0]
    assert searching.n_playouts == 24
    after = view.afterstates()
    assert Asking().act(view) == after.actions[np.argmax(projection()(after.observations))]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Asking(within=policy("mce(playouts=10)")), "does not ask your network"),
        (lambda: Asking(gumbel=3), "gumbel=3 needs a search"),
    ],
)
def test_a_network_policy_refuses_other_searches_when_it_is_made(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(BadOption, match=words):
        make()
