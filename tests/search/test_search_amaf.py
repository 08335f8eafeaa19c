"""Do RAVE and MAST learn from what was done in an iteration, all of it, once, and nothing else? And what is a bias about?

In Three Shells each seat decides once, so that all moves as first say what the visits say; in a round of dominoes tiles come later too.
"""

from typing import Any

import numpy as np
import pytest
import three_shells
from test_search_trees import small

from kdenv.compiler.random import make_rng
from kdenv.core.errors import BadOption
from kdenv.core.game import Game
from kdenv.core.questions import choose_at
from kdenv.core.table import Table
from kdenv.core.turns import first_action
from kdenv.games import find_game
from kdenv.policies import policy
from kdenv.search.kernels import uct
from kdenv.search.kernels.amaf import Averages, MastPlayer

CHANCES = ["frozen", "sampled", "open", "information_sets"]


def search(text: str, table: Table, seed: int = 1) -> tuple[list[int], Any, Any]:
    """A policy's search of a position: the turns, what was counted for each, and the worker, which has the averages that it learned."""
    searching: Any = policy(text)
    searching.reset(seed)
    view, searcher = table.view(table.seat), searching.searcher
    turns = searcher.turns(view)
    worker = searcher.worker(view, turns, searcher.budget, searching.rng, 0)
    worker.run(searcher.budget.steps())
    return turns.tolist(), worker.tally(), worker


def shells() -> Table:
    table = Table(three_shells.GAME)
    table.chance(1)
    return table


def at_the_start(game: Game, **options: object) -> Table:
    table = Table(game, **options)
    table.run_chance(make_rng(1))
    return table


@pytest.mark.parametrize("chance", CHANCES)
def test_where_every_seat_decides_once_all_moves_as_first_say_what_visits_say(chance: str) -> None:
    _, plain, _ = search(f"uct(score=points, chance={chance}, playouts=500)", shells())
    _, rave, worker = search(f"uct(score=points, chance={chance}, rave=100, playouts=500)", shells())
    assert plain.visits.tolist() == rave.visits.tolist()
    assert plain.sums.tolist() == rave.sums.tolist()
    assert worker.tree.counts["amaf_visits"].tolist() == worker.tree.counts["visits"].tolist()
    assert worker.tree.counts["amaf_sums"].tolist() == worker.tree.counts["sums"].tolist()


@pytest.mark.parametrize("chance", CHANCES)
def test_iterations_in_which_a_turn_came_later_count_for_it(chance: str) -> None:
    _, tally, worker = search(
        f"uct(score=margin, chance={chance}, rave=100, playouts=500)", at_the_start(find_game("dominoes"), mode="round", force_66=False)
    )
    heard = worker.tree.counts["amaf_visits"][worker._places(uct.ROOT, worker.turns)]
    assert (heard >= tally.visits).all()
    assert (heard > tally.visits).any()
    assert heard.max() <= 500


@pytest.mark.parametrize("name", ["kingdomino", "carcassonne"])
def test_whole_turns_are_noted_where_a_game_thinks_in_turns(name: str) -> None:
    """Playouts decide piece by piece; what is learned from must be turns as the tree lists them: of several actions, but where
    meeples have run out."""
    _, _, worker = search("uct(rave=100, playouts=1)", at_the_start(find_game(name)))
    assert worker.learner.record.n[0] == 0  # learned from, and forgotten
    heard = worker.learner.turns[worker.learner.turns > 0]
    assert (heard > 0xFFFF).mean() > 0.2


def test_all_moves_as_first_move_the_mean_less_and_less() -> None:
    """2 visits of mean 0.5, 12 iterations with the turn later of mean 0.75: with rave=6 they share sqrt(6 / 12) of the difference."""
    _, _, worker = search("uct(rave=6, playouts=1)", shells())
    at = int(worker.tree.nodes["first"][uct.ROOT])
    worker.tree.counts["sums"][at], worker.tree.counts["amaf_visits"][at], worker.tree.counts["amaf_sums"][at] = 1.0, 12, 9.0
    assert uct._rave_bonus(worker.tree.counts[at], 2, worker.plan) == pytest.approx(0.25 * 0.5**0.5)
    assert uct._rave_bonus(worker.tree.counts[at], 2000, worker.plan) == pytest.approx((9 / 12 - 1 / 2000) * (6 / 6006) ** 0.5)


@pytest.mark.parametrize("chance", CHANCES)
def test_averages_count_every_action_of_every_iteration(chance: str) -> None:
    turns, tally, worker = search(f"uct(score=points, chance={chance}, playout=mast, playouts=500)", shells())
    visits, sums = worker.learner.averages
    for i, turn in enumerate(turns):
        assert visits[0, turn - 1] == tally.visits[i]
        assert sums[0, turn - 1] == pytest.approx(tally.sums[i])
    assert visits[1].sum() == 500
    assert sums[0].sum() == pytest.approx(-sums[1].sum())


def test_mast_takes_what_has_done_best() -> None:
    table = shells()
    averages = Averages(np.full((2, three_shells.N_ACTIONS), 4), np.zeros((2, three_shells.N_ACTIONS)))
    averages.sums[0, 1] = 3.0
    player, rng = MastPlayer(averages, 0.0), make_rng(1)

    def chosen() -> str:
        return table.name(int(choose_at(player, np.resize(table.states, 2), 0, table.game.buffer(), rng)) - 1)

    assert {chosen() for _ in range(20)} == {"stake 2"}
    averages.visits[0, 2] = 0  # not known yet
    assert {chosen() for _ in range(20)} == {"stake 3"}
    player = MastPlayer(averages, 1.0)
    assert {chosen() for _ in range(100)} == {"stake 1", "stake 2", "stake 3"}


def test_all_moves_as_first_find_the_best_turn_of_a_small_game_too() -> None:
    for text in ("rave=20, ", "playout=mast, ", "playout=mast(epsilon=0.2), rave=20, "):
        table = small("dominoes")
        assert policy(f"uct(score=margin, select=ucb1(c=2), {text}playouts=40000)").act(table.view(table.seat)) == policy(
            "uct(score=margin, select=ucb1(c=2), playouts=200000)"
        ).act(table.view(table.seat))


def test_mast_is_for_searches_it_can_learn_from() -> None:
    with pytest.raises(BadOption, match="learns from a tree"):
        policy("mce(playout=mast, playouts=5)")
    with pytest.raises(BadOption, match="mast has no parameter tau; its parameters are epsilon"):
        policy("uct(playout=mast(tau=1), playouts=5)")


LAST = "round=3 stage=place turn=3 kingdoms=Xw+w,mmm/.Xw/.wf queue=1:1,2:0,3:0,48:1 draft= box=12-47"


@pytest.mark.parametrize("chance", CHANCES)
def test_a_bias_is_by_the_points_that_the_mover_gains_at_once(chance: str) -> None:
    """The last domino of a game: by one way of laying it the mines grow to twelve points, by the other they do not."""
    table = Table(find_game("kingdomino"), 2, size=3, dominoes=12).at_position(LAST)
    turns, _, worker = search(f"uct(bias=progressive, chance={chance}, playouts=20)", table)
    gained = {}
    for turn in turns:
        after = table.clone()
        after.play(int(first_action(turn)))
        gained[turn] = after.scores()[1] - table.scores()[1]
    assert len(set(gained.values())) > 1
    tree = worker.tree
    noted = {int(turn): gain for turn, gain in zip(tree.turns, tree.counts["bias"], strict=True) if turn}
    assert noted == gained
