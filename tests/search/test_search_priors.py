"""PUCT and progressive widening: are turns tried in the order of their priors, as often as the formula says?"""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import three_shells
from models import POLICY, random_model
from positions import after_pick, of_seat_to_move, shells
from random_games import random_game

from kdenv.compiler.random import make_rng
from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.questions import choose_at
from kdenv.core.table import Table
from kdenv.core.turns import first_action, rest_of
from kdenv.games import find_game
from kdenv.networks.players import weigh_turns
from kdenv.policies import policy
from kdenv.search.kernels import uct
from kdenv.search.kernels.priors import write_priors


def softmax(numbers: Any) -> Any:
    odds = np.exp(np.asarray(numbers, np.float64) - np.max(numbers))
    return odds / odds.sum()


def priors_of(text: str, table: Table, temperature: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The turns open at this table, and the priors that this network gives them."""
    view = table.view(table.seat)
    turns = policy("uct(playouts=1)").searcher.turns(view)  # type: ignore[attr-defined]
    found = np.zeros(len(turns))
    write_priors(policy(text).priors(view, temperature), table.states, 0, turns, len(turns), found)  # type: ignore[attr-defined]
    return turns, found


@pytest.mark.parametrize("temperature", [0.1, 2.0])
def test_priors_by_values_are_the_softmax_of_what_positions_after_turns_are_worth(temperature: float, tmp_path: Path) -> None:
    file, table = random_model(tmp_path / "m.npz", "kingdomino"), after_pick()
    part = policy(f"learned({file})").compiled(table.game, table.players)  # type: ignore[attr-defined]
    n = weigh_turns(part, table.states, 0)
    turns, priors = priors_of(f"learned({file})", table, temperature)
    assert turns.tolist() == part.room.turns[:n].tolist()
    assert priors == pytest.approx(softmax(part.room.worths[:n] / temperature), rel=1e-3)


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_priors_by_odds_are_the_product_of_the_odds_of_the_actions(temperature: float, tmp_path: Path) -> None:
    """A turn places a domino and picks one; the network is asked about the pick in the position after the placement."""
    file, table = random_model(tmp_path / "m.npz", "kingdomino", predicts=POLICY), after_pick()
    part = policy(f"ppo({file})").compiled(table.game, table.players)  # type: ignore[attr-defined]
    turns, priors = priors_of(f"ppo({file})", table, temperature)
    for turn, prior in zip(turns.tolist(), priors, strict=True):
        odds, after = 1.0, table.clone()
        while turn:
            legal = after.legal()
            choose_at(part, after.states.repeat(2), 0, after.game.buffer(), make_rng(1))
            odds *= softmax(part.network.layers[-1][legal] / temperature)[legal.index(first_action(turn))]
            after.play(first_action(turn))
            turn = rest_of(turn)
        assert prior == pytest.approx(odds, rel=1e-3)
    assert priors.sum() == pytest.approx(1)


def test_a_single_turn_has_the_prior_1_whatever_the_room_held_before(tmp_path: Path) -> None:
    file, table = random_model(tmp_path / "m.npz", "kingdomino"), after_pick()
    turns, _ = priors_of(f"learned({file})", table, 1.0)
    found = np.array([0.0, 1e9])
    write_priors(policy(f"learned({file})").priors(table.view(table.seat), 1.0), table.states, 0, turns, 1, found)  # type: ignore[attr-defined]
    assert found[0] == 1.0


# Trees by hand


@pytest.mark.parametrize("chance", ["frozen", "sampled", "open", "information_sets"])
def test_each_choice_at_the_root_is_the_most_urgent(chance: str, tmp_path: Path) -> None:
    """Iteration by iteration: from the counts before it, the formula says which turn of the root is tried.

    In trees of information sets N counts the times that the turn was open since it was first tried.
    """
    file, table = random_model(tmp_path / "m.npz", three_shells.GAME), shells(1)
    turns, priors = priors_of(f"learned({file})", table, 0.3)
    text = f"uct(score=points, priors=learned({file}), temperature=0.3, select=puct(c=2), chance={chance}, playouts=60)"
    searcher = policy(text).searcher  # type: ignore[attr-defined]
    view = table.view(0)
    worker = searcher.worker(view, turns, searcher.budget, make_rng(3), 0)
    before = np.zeros(3, np.int64), np.zeros(3)
    for n in range(60):
        opens = worker.tree.counts["times_open"][worker._places(uct.ROOT, turns)] + 1
        if n == 0:
            worker.run([1])
        else:
            position = worker.tree, worker.space, worker.states, worker.raw, worker.seat
            uct.grow(*position, 1, worker.chance, worker.plan, worker.rule, worker.playouts, worker.learner, worker.rng)
        tally = worker.tally()
        (tried,) = np.flatnonzero(tally.visits - before[0])
        visits, sums = before
        mean = sums.sum() / max(1, visits.sum())
        worths = np.where(visits > 0, sums / np.maximum(visits, 1), mean)
        opens = np.where((visits > 0) & (chance == "information_sets"), opens, visits.sum())
        urgencies = worths + 2 * priors * np.sqrt(opens) / (visits + 1)
        assert urgencies[tried] == pytest.approx(urgencies.max()) if n else tried == priors.argmax()
        before = tally.visits.copy(), tally.sums.copy()


@pytest.mark.parametrize("chance", ["sampled", "open"])
@pytest.mark.parametrize("playouts, alpha", [(100, 0.5), (100, 0.25), (30, 1.0)])
def test_widening_opens_turns_in_the_order_of_their_priors(playouts: int, alpha: float, chance: str, tmp_path: Path) -> None:
    """After n visits there are ceil(n ** alpha) turns."""
    file, table = random_model(tmp_path / "m.npz", "kingdomino"), after_pick()
    turns, priors = priors_of(f"learned({file})", table)
    text = f"uct(score=points, priors=learned({file}), widening={alpha}, chance={chance}, playouts={playouts})"
    found = policy(text).search(table.view(table.seat))  # type: ignore[attr-defined]
    n_open = min(len(turns), math.ceil(playouts**alpha))
    assert (found.visits > 0).sum() == n_open
    assert set(np.flatnonzero(found.visits)) == set(np.argsort(-priors, kind="stable")[:n_open])


def test_without_widening_and_puct_all_turns_are_tried_first_in_the_order_of_their_priors(tmp_path: Path) -> None:
    file, table = random_model(tmp_path / "m.npz", "kingdomino"), after_pick()
    turns, priors = priors_of(f"learned({file})", table)
    found = policy(f"uct(score=points, priors=learned({file}), playouts={len(turns) // 2})").search(table.view(table.seat))  # type: ignore[attr-defined]
    assert found.visits.max() == 1
    assert set(np.flatnonzero(found.visits)) == set(np.argsort(-priors, kind="stable")[: len(turns) // 2])


@pytest.mark.cold
@pytest.mark.parametrize("kind", ["learned", "ppo"])
def test_dominoes_takes_priors_in_trees_of_information_sets(kind: str, tmp_path: Path) -> None:
    file = random_model(tmp_path / "m.npz", "dominoes", predicts=POLICY if kind == "ppo" else "value")
    table = random_game(find_game("dominoes"), 3, decisions=9)
    asked = policy(f"ismcts(priors={kind}({file}), select=puct(c=0.5), widening=0.6, rave=5, trees=2, playouts=60)")
    found = asked.search(table.view(table.seat))  # type: ignore[attr-defined]
    assert found.visits.sum() == 60
    assert policy(str(asked)) == asked == type(asked).from_json(asked.to_json())


# Refusals


NEEDS = "needs priors, which say in which order turns are tried; give priors=learned(<model>)"


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("uct(select=puct, playouts=5)", f"select=puct {NEEDS}"),
        ("uct(widening=0.5, playouts=5)", f"widening=0.5 {NEEDS}"),
        ("uct(temperature=2, playouts=5)", f"temperature=2 {NEEDS}"),
        (
            "bandit(select=puct(c=2), playouts=5)",
            "select=puct(c=2) is not possible here; it needs priors: uct(select=puct(c=2), priors=learned(<model>))",
        ),
        ("uct(priors=random, playouts=5)", "random is no network but a policy; give learned(<model>) or ppo(<model>)"),
        (
            "uct(priors=learned({}), bias=progressive, playouts=5)",
            "bias=progressive is not possible with priors; use select=puct, which explores by the priors",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(BadOption) as error:
        policy(text.format(random_model(tmp_path / "m.npz", "kingdomino")))
    assert str(error.value) == sentence


def test_values_of_half_a_turn_are_no_priors(tmp_path: Path) -> None:
    file = random_model(tmp_path / "m.npz", "kingdomino")
    with pytest.raises(NotSupported, match=r"whose turns have several decisions; use chance=open"):
        policy(f"ismcts(priors=learned({file}))").search(of_seat_to_move(after_pick()))  # type: ignore[attr-defined]
