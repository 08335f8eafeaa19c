"""Do policies keep to their plans, and does their seed decide what they do?"""

from typing import NamedTuple

import numpy as np
import pytest
from positions import after_pick, of_seat_to_move

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import make_rng
from kdenv.core.game import Game
from kdenv.core.questions import choose, plays
from kdenv.core.table import Table
from kdenv.core.turns import list_turns, packed, then
from kdenv.core.view import View
from kdenv.games import find_game
from kdenv.policies import TurnPolicy, policy
from kdenv.policies.compiled_opponents import seated_policies

KINGDOMINO = find_game("kingdomino")

# --- Turns ---


class Planner(TurnPolicy):
    """Takes the last legal action, and plans to take the last pick after it; counts its plans."""

    def __init__(self) -> None:
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
    assert prepared.n_playouts == 30


# --- Compiled players of several policies ---


def kind_of_player(name: str) -> type:
    """A type of compiled players that always take the same action."""
    made: type = NamedTuple(name, [("action", int)])  # type: ignore[assignment, misc]

    @plays(made)
    @kernel
    def _choose_the_same(player, states, k, out, rng):
        return packed(player.action)

    return made


class Stubborn(TurnPolicy):
    """Always takes the same action, by a compiled player of this kind."""

    def __init__(self, kind: type, action: int) -> None:
        self.kind, self.action = kind, action

    def choose_turn(self, view: View) -> int:
        return int(packed(self.action))

    def compiled(self, game: Game, players: int) -> object:
        return self.kind(self.action)


@kernel
def _asked(player, index, states, out, rng):
    player.which[:] = index
    return choose(player, states, 0, out, rng)


def test_with_players_of_four_types_each_index_calls_its_own_policy() -> None:
    kinds = [kind_of_player(name) for name in ("A", "B", "C", "D")]
    players = [Stubborn(kind, 10 * action) for action, kind in enumerate(kinds, 1)]
    players += [Stubborn(kind, 10 * action + 1) for action, kind in enumerate(kinds, 1)]
    player = seated_policies(players, KINGDOMINO, 4)
    states, out, rng = np.zeros(2, KINGDOMINO.state_dtype), KINGDOMINO.buffer(), make_rng(1)
    asked = [_asked(player, index, states, out, rng) for index in range(8)]
    assert asked == [packed(action) for action in (10, 20, 30, 40, 11, 21, 31, 41)]


@pytest.mark.parametrize("search", ["mce", "bandit", "uct"])
def test_of_equally_good_turns_the_first_can_be_taken(search: str) -> None:
    """With a playout a turn that is won or lost, many turns are equal. A random one of them is taken elsewhere."""
    chosen: dict[str, list[tuple[int, int]]] = {}
    for ties in ("first", "random"):
        chosen[ties] = []
        for seed in range(20):
            searching = policy(f"{search}(playouts=400, score=wdl, ties={ties})")
            searching.reset(seed)
            found = searching.search(of_seat_to_move(after_pick()))
            best = np.flatnonzero(np.asarray(found.means) == np.nanmax(found.means))
            chosen[ties].append((found.best, int(best[0])))
    assert all(mine == first for mine, first in chosen["first"])
    assert any(mine != first for mine, first in chosen["random"])
