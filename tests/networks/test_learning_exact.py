"""Do games give the targets of TD(lambda), and are they played as the schedule says? By hand, on Three Shells."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import three_shells
from models import random_learner
from positions import after_pick, shells

from kdenv.compiler.random import below, make_rng, next64, uniform
from kdenv.core.questions import choose
from kdenv.core.table import Table
from kdenv.core.turns import first_action, packed, play_turn_while_deciding, rest_of, then
from kdenv.games import find_game
from kdenv.networks import learning, self_play
from kdenv.networks.learning import Learner, Schedule
from kdenv.networks.network import layers_of, network_of
from kdenv.networks.players import list_turns_of, weigh_listed_turns
from kdenv.networks.self_play import GAMES, POSITIONS, SQUARED_ERRORS, TOO_LONG
from kdenv.policies.compiled_opponents import seated
from kdenv.search.playout import Seated, Uniform

GAME = three_shells.GAME
PLAYERS, VARIANT = GAME.variant()
SCALE = 50.0  # of the goal of a random_learner
Bold = three_shells.Bold


def schedule(**changes: Any) -> Schedule:
    """Nothing is random, nobody guides, and no weight changes."""
    plain = Schedule(rate=0.0, random=0.0, lam=0.7, guided=0.0, n_guides=2, learns_from_guides=0, in_steps=0, all_seats=0)
    return plain._replace(**changes)


def guides(*which: int) -> Seated:
    players = seated([Bold(0), Bold(1), Bold(2), Uniform()], len(which))
    players.which[:] = which
    return players


def found_by(learner: Learner, table: Table, seat: int) -> float:
    """What the network says about this position, by numpy."""
    x = table.observation(seat).astype(np.float64)
    for i, (weight, bias) in enumerate(layers_of(learner.player.network)):
        x = weight @ (np.maximum(x, 0) if i else x) + bias
    return float(x[0])


SEATS = [0, 0, 1, -1, 1]


@cache
def trail() -> list[Table]:
    return [shells(1, 2), shells(0, 1), shells(1, 2, "point 1"), shells(2, 3, "pass"), shells(0, 3, "point 2")]


@cache
def end() -> Table:
    """Seat 1 has won 2 points, doubled: the margins are 8 and -8."""
    return shells(1, 2, "point 1", 1)


def with_trail(**changes: Any) -> Learner:
    """A learner that has played a game."""
    of = random_learner(GAME, 6)
    of = of._replace(player=of.player._replace(goal=of.player.goal._replace(**changes)))
    of.states[0] = end().states[0]
    for i, table in enumerate(trail()):
        of.trail[i], of.trail_seats[i] = table.states[0], SEATS[i]
    return of


@pytest.mark.parametrize("all_seats", [0, 1])
@pytest.mark.parametrize("lam", [0.0, 0.7, 1.0])
def test_targets_are_those_of_td_lambda(lam: float, all_seats: int) -> None:
    """Backwards from the end: what the seat finds after its next turn, mixed with what comes later."""
    of = with_trail()
    targets, n, squared = [-8 / SCALE, 8 / SCALE], 0, 0.0
    for i in range(len(trail()) - 1, -1, -1):
        for seat in [0, 1] if all_seats else [SEATS[i]] if SEATS[i] >= 0 else []:
            found, share = found_by(of, trail()[i], seat), lam**0.5 if all_seats else lam
            n, squared = n + 1, squared + (found - targets[seat]) ** 2
            targets[seat] = (1 - share) * found + share * targets[seat]
    before = of.player.network.weights.copy()
    learning._learn_from_trail(of, schedule(lam=lam, all_seats=all_seats), PLAYERS, len(trail()), make_rng(1))
    assert of.targets == pytest.approx(targets, rel=1e-4)
    assert of.sums[POSITIONS] == n == (10 if all_seats else 4)
    assert of.sums[SQUARED_ERRORS] == pytest.approx(squared, rel=1e-4)
    assert (of.player.network.weights == before).all()


def test_the_end_is_the_target_as_the_goal_says() -> None:
    of = with_trail(win=0.5)
    learning._learn_from_trail(of, schedule(), PLAYERS, 0, make_rng(1))
    assert of.targets == pytest.approx([-(4 / SCALE + 0.5), 4 / SCALE + 0.5])


def test_a_game_is_learned_by_a_step_for_each_position_and_one_in_four_measures() -> None:
    of, twin, rng, same = with_trail(), with_trail(), make_rng(5), make_rng(5)
    targets, measured = [-8 / SCALE, 8 / SCALE], 0
    for _ in range(20):
        learning._learn_from_trail(of, schedule(rate=0.01), PLAYERS, len(trail()), rng)
        targets = [-8 / SCALE, 8 / SCALE]
        for i in (4, 2, 1, 0):
            seat, measures = SEATS[i], below(same, 4) == 0
            found = learning.step_towards(twin, trail()[i].states, 0, seat, targets[seat], 0.01, measures)
            targets[seat] = (1 - 0.7) * found + 0.7 * targets[seat]
            measured += measures
    assert (of.player.network.weights == twin.player.network.weights).all()
    assert (of.squares == twin.squares).all() and (of.paces == twin.paces).all()
    assert 10 < measured < 30
    assert (of.player.network.weights != with_trail().player.network.weights).any()


def test_worths_from_outside_are_learned_turn_by_turn() -> None:
    of, twin, rng, same = (each for each in (random_learner(GAME, 6), random_learner(GAME, 6), make_rng(2), make_rng(2)))
    table, worths, shares = shells(1, 2), np.array([0.5, -0.25, 0.75]), np.array([1.0, 0.0, 0.5])
    of.states[0] = table.states[0]
    learning.learn_from_worths(of, np.array([4, 5, 7]), worths, shares, 0.01, rng)
    squared = 0.0
    for turn, worth, share in zip((4, 5, 7), worths, shares, strict=True):
        after = table.clone()
        after.play(turn - 1)
        found = learning.step_towards(twin, after.states, 0, 1, worth, 0.01 * share, below(same, 4) == 0)
        squared += (found - worth) ** 2
    assert (of.player.network.weights == twin.player.network.weights).all()
    assert of.sums[POSITIONS] == 3
    assert of.sums[SQUARED_ERRORS] == pytest.approx(squared)


def play_game(of: Learner, who: Seated, how: Schedule, rng: Any) -> int:
    return int(learning._play_game(of, who, how, PLAYERS, VARIANT, GAME.buffer(), rng))


def test_the_trail_has_the_positions_after_turns_and_whose_these_were() -> None:
    of, rng = random_learner(GAME, 6), make_rng(3)
    for _ in range(20):
        assert play_game(of, guides(-1, -1), schedule(), rng) == 2
        end, (staked, pointed) = of.states[0], of.trail[:2]
        assert (staked["stage"], pointed["stage"], end["stage"]) == (three_shells.POINTING, three_shells.TOSSING, three_shells.FINISHED)
        assert of.trail_seats[:2].tolist() == [0, 1]
        assert (staked["pea"], staked["stake"]) == (pointed["pea"], pointed["stake"]) == (end["pea"], end["stake"])
        assert pointed["guess"] == end["guess"]
        worths = [found_by(of, shells(int(end["pea"]), stake), 0) for stake in (1, 2, 3)]
        assert staked["stake"] == 1 + int(np.argmax(worths))


@pytest.mark.parametrize("learns", [0, 1])
def test_guides_play_the_seats_they_are_given(learns: int) -> None:
    of, rng = random_learner(GAME, 6), make_rng(3)
    play_game(of, guides(-1, 1), schedule(learns_from_guides=learns), rng)
    assert of.states[0]["guess"] == 1 and of.trail_seats[:2].tolist() == [0, 1 if learns else -1]
    play_game(of, guides(2, 0), schedule(learns_from_guides=learns), rng)
    assert (of.states[0]["stake"], of.states[0]["guess"]) == (3, 0)
    assert of.trail_seats[:2].tolist() == ([0, 1] if learns else [-1, -1])


def test_guides_are_random_as_often_as_the_schedule_says() -> None:
    of, rng = random_learner(GAME, 6), make_rng(3)
    guesses = [[], []]
    for share in (0, 1):
        for _ in range(40):
            play_game(of, guides(0, 1), schedule(random=float(share)), rng)
            guesses[share].append(int(of.states[0]["guess"]))
    assert set(guesses[0]) == {1} and set(guesses[1]) == {0, 1, 2, 3}


def test_a_game_that_is_too_long_is_counted_and_the_rest_is_not_kept() -> None:
    of = random_learner(GAME, 6)
    short = of._replace(trail=of.trail[:1], trail_seats=of.trail_seats[:1])
    assert play_game(short, guides(-1, -1), schedule(), make_rng(1)) == 1
    assert short.sums[TOO_LONG] == 1 and short.states[0]["stage"] == three_shells.FINISHED


def test_a_turn_is_chosen_without_what_the_seat_cannot_know() -> None:
    """A network that likes to have pointed at the pea finds it in 14 of 36 games, not in all."""
    weight = np.zeros((3, 9), np.float32)
    for shell in range(3):
        weight[shell, [shell, 4 + shell]] = 1.0
    network = network_of(GAME.observer(PLAYERS, VARIANT).part(), [(weight, np.full(3, -1.0)), (np.ones((1, 3)), np.zeros(1))], "relu")
    of, rng, hits = random_learner(GAME, 6), make_rng(4), 0
    of = of._replace(player=of.player._replace(network=network))
    for _ in range(200):
        play_game(of, guides(-1, -1), schedule(), rng)
        hits += of.states[0]["guess"] == of.states[0]["pea"]
    assert 40 < hits < 116


def test_games_are_counted_and_guides_drawn_for_each_seat() -> None:
    of, who, rng = random_learner(GAME, 6), guides(7, 7), make_rng(6)

    def learn(n: int, **changes: Any) -> tuple[float, float]:
        of.sums[:] = 0
        learning.learn_from_games(of, who, schedule(**changes), PLAYERS, VARIANT, n, GAME.buffer(), rng)
        return of.sums[GAMES], of.sums[POSITIONS]

    assert learn(5) == (5, 10)
    assert who.which.tolist() == [-1, -1]
    seen = set()
    for _ in range(40):
        assert learn(1, guided=1.0) == (1, 0)
        seen.add(tuple(who.which.tolist()))
    assert seen == {(0, 0), (0, 1), (1, 0), (1, 1)}
    seen = {tuple(who.which.tolist()) for _ in range(60) if learn(1, guided=0.5)[0]}
    assert (-1, -1) in seen and (-1, 1) in seen and (0, -1) in seen


def test_a_random_turn_is_any_of_those_that_are_open() -> None:
    of, rng, same = random_learner(GAME, 6), make_rng(8), make_rng(8)
    of.states[1], of.states[2] = shells(1, 2).states[0], shells(1).states[0]
    for _ in range(50):
        turn = learning._turn_of(of.player, of.states, schedule(random=1.0), rng)
        uniform(same)
        assert turn == [4, 5, 6, 7][below(same, 4)]
    turns = {int(learning._turn_of(of.player, of.states, schedule(random=0.5), rng)) for _ in range(50)}
    assert turns == {4, 5, 6, 7}


def in_steps(worths: np.ndarray, turns: list[int], drawn: int) -> tuple[int, int]:
    """Where the turns with the best first action begin and end, by the turn of each that was drawn."""
    firsts = list(dict.fromkeys(turn & 0xFFFF for turn in turns))
    spans = [[i for i, turn in enumerate(turns) if turn & 0xFFFF == first] for first in firsts]
    best = max(spans, key=lambda span: worths[span[drawn % len(span)]])
    return best[0], best[-1] + 1


def test_the_first_action_is_chosen_by_one_turn_with_each() -> None:
    game = find_game("kingdomino")
    player = random_learner(game, 4).player
    for seed in (1, 2):
        table = after_pick(seed)
        n = list_turns_of(player, table.states, 0)
        weigh_listed_turns(player, 0, n)
        worths, turns = player.room.worths[:n].copy(), player.room.turns[:n].tolist()
        assert len({first_action(turn) for turn in turns}) < n
        player.room.turns[n] = turns[-1]  # from another list, perhaps
        n_last = sum(first_action(turn) == first_action(turns[-1]) for turn in turns)
        for drawn in (0, 1, 2, 1000, n_last):
            player.room.worths[:] = -99.0
            assert learning._best_first_action(player, n, drawn) == in_steps(worths, turns, drawn)
            weighed = player.room.worths[:n] != -99.0
            assert weighed.sum() == len({first_action(turn) for turn in turns})
        states, rng, same = np.zeros(3, game.state_dtype), make_rng(seed), make_rng(seed)
        states[1] = table.states[0]
        begin, end = in_steps(worths, turns, int(below(same, 1 << 20)))
        assert learning._turn_of(player, states, schedule(in_steps=1), rng) == turns[begin + int(np.argmax(worths[begin:end]))]
        assert learning._turn_of(player, states, schedule(), rng) == turns[int(np.argmax(worths))]
    player.network.weights[:] = 0
    assert learning._best_first_action(player, n, 1) == in_steps(np.zeros(n), turns, 1)  # of equal ones the first


def test_a_turn_is_carried_out_as_long_as_the_same_seat_decides() -> None:
    """In Kingdomino, until the other seat decides; in Three Shells, until the coin is tossed."""
    player, table = random_learner("kingdomino", 4).player, after_pick()
    both = player.room.turns[list_turns_of(player, table.states, 0) - 1]
    place, pick = first_action(both), first_action(rest_of(both))
    wanted = table.clone()
    wanted.play(place)
    wanted.play(pick)
    states = table.states.copy()
    play_turn_while_deciding(states[0], both | (packed(pick) << 32), table.seat)
    assert states[0] == wanted.states[0] and wanted.seat not in (None, table.seat)
    states = table.states.copy()
    play_turn_while_deciding(states[0], packed(place), table.seat)
    wanted = table.clone()
    wanted.play(place)
    assert states[0] == wanted.states[0] and wanted.seat == table.seat
    states = shells(1, 2).states.copy()
    play_turn_while_deciding(states[0], then(4, 3), 1)
    assert states[0] == shells(1, 2, "point 1").states[0]


def test_each_seat_has_the_player_that_is_written_for_it() -> None:
    states, rng = np.zeros(3, GAME.state_dtype), make_rng(1)
    states[0] = shells(1, 2).states[0]
    for number, wanted in enumerate((packed(3), packed(4), packed(5))):
        assert choose(guides(9, number), states, 0, GAME.buffer(), rng) == wanted
    assert {int(choose(guides(0, 3), states, 0, GAME.buffer(), rng)) for _ in range(40)} == {4, 5, 6, 7}


def test_both_sides_of_a_deal_are_measured_with_the_same_chance() -> None:
    """Both stake 3; the first player points at shell 2, the second passes."""

    def play(table: Table, first: int) -> float:
        while not table.over:
            is_first = table.seat == first
            table.play(table.action("stake 3" if table.seat == 0 else "point 2" if is_first else "pass"))
            table.run_chance(rng)
        scores = table.scores()
        return scores[first] - scores[1 - first]

    n = 12
    player = seated([Bold(2), Bold(three_shells.PASS)], 2)
    margins, wins, numbers = np.zeros(2 * n), np.zeros(2 * n), np.zeros(2, np.int64)
    chance, states = make_rng(7), np.zeros(4, GAME.state_dtype)
    self_play.measure_games(player, states, 2, 2, VARIANT, n, GAME.buffer(), margins, wins, numbers, chance, make_rng(8))
    rng, wanted = make_rng(7), []
    for _ in range(n):
        deal = next64(rng)
        for team in range(2):
            rng[0] = deal | np.uint64(1)
            table = Table(GAME)
            table.run_chance(rng)
            wanted.append(play(table, team))
    assert margins.tolist() == wanted
    assert wins.tolist() == [1.0 if margin > 0 else 0.0 for margin in wanted]
