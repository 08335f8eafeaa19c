"""Heyden's evaluation and the greedy player, compared with the same written slowly over the naive oracle."""

import random

import numpy as np
import pytest
from contract import step_both
from naive.carcassonne import Carcassonne

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below, make_rng
from kdenv.core.errors import BadOption
from kdenv.core.questions import choose, rank, reach
from kdenv.core.table import Table
from kdenv.core.turns import first_action, rest_of
from kdenv.core.verbs import CHANCE, OVER, apply, apply_chance, begin, legal, phase, sample_chance
from kdenv.core.verbs import seat as seat_to_move
from kdenv.games import find_game
from kdenv.games.carcassonne.heuristics import AT_THE_END, Greedy, Weights, evaluate, final_weights, intuitive_weights
from kdenv.games.carcassonne.rules import CLAIMING

GAME = find_game("carcassonne")


@kernel
def _evaluate_at(weights, states, k, seat):
    return evaluate(weights, states[k], seat)


@kernel
def _choose_at(player, states, out, rng):
    return choose(player, states, 0, out, rng)


def naive_worth(oracle: Carcassonne, weights: Weights, seat: int) -> float:
    """Heyden's evaluation of one seat, over flood-filled features."""
    worth = weights.score * oracle.scores()[seat]
    if oracle.phase() == "over":
        return worth
    worth += weights.meeple * oracle.meeples()[seat]
    for feature in oracle._features(oracle.meeple_on):
        owners = oracle._owners(feature)
        if owners.count(seat) < max(owners.count(other) for other in owners) or seat not in owners:
            continue
        kind, pays = oracle._kind(feature), oracle.worth(feature)
        worth += weights.open * pays * (weights.city_tile if kind == "city" else 1.0)
        if kind == "field" and pays // 3 < weights.cities_wanted:
            worth += weights.poor_field
    return worth


@pytest.mark.parametrize("players", [2, 5])
@pytest.mark.parametrize("weights", [final_weights(), intuitive_weights(), Weights(1.0, 2.0, 3.0, 1.5, -5.0, 2)])
def test_evaluation_is_what_the_naive_one_says(players: int, weights: Weights) -> None:
    table, oracle, dice = Table(GAME, players), Carcassonne(players), random.Random(players)
    while True:
        if table.states[0]["stage"] != CLAIMING:
            worths = [naive_worth(oracle, weights, seat) for seat in range(players)]
            for seat in range(players):
                expected = worths[seat] - max(worths[:seat] + worths[seat + 1 :])
                assert _evaluate_at(weights, table.states, 0, seat) == pytest.approx(expected)
        if table.over:
            return
        step_both(table, oracle, dice)


def test_the_weights_are_heydens() -> None:
    assert final_weights() == Weights(score=100, meeple=10, open=10, city_tile=1.25, poor_field=-40, cities_wanted=3)
    """Table 6.5; the intuitive weights have no other value for open cities, which count as they are scored."""
    assert intuitive_weights() == Weights(score=100, meeple=1, open=10, city_tile=1, poor_field=-50, cities_wanted=3)


def test_with_the_last_tile_a_point_is_a_point_wherever_it_comes_from() -> None:
    assert AT_THE_END.open == AT_THE_END.score > 0 and AT_THE_END.city_tile == 1
    assert AT_THE_END.meeple == AT_THE_END.poor_field == 0


def value_of_turns(table: Table, weights: Weights) -> dict[int, float]:
    """Every turn open to the seat to move, packed, with the evaluation after it."""
    seat, values = int(table.seat), {}
    for action in table.legal():
        twin = table.clone()
        twin.play(action)
        if twin.states[0]["stage"] != CLAIMING:
            values[action + 1] = _evaluate_at(weights, twin.states, 0, seat)
            continue
        for claim in twin.legal():
            after = twin.clone()
            after.play(claim)
            values[(action + 1) | (claim + 1) << 16] = _evaluate_at(weights, after.states, 0, seat)
    return values


@pytest.mark.parametrize("players, make", [(2, final_weights), (3, intuitive_weights), (5, final_weights)])
def test_greedy_takes_a_turn_with_the_best_evaluation_after_it(players: int, make) -> None:
    """Every sixth turn and the last ones, so that the end of the game is covered."""
    weights = make()
    table, rng, out = Table(GAME, players), make_rng(players), np.zeros(GAME.max_legal, np.int64)
    turn = 0
    while not table.over:
        if table.at_chance:
            table.chance(table.sample_chance(rng))
            continue
        states = np.zeros(2, GAME.state_dtype)
        states[0] = table.states[0]
        packed = int(_choose_at(Greedy(weights), states, out, rng))
        if turn % 6 == 0 or turn > 67:
            values = value_of_turns(table, weights)
            assert values[packed] == pytest.approx(max(values.values()))
        while packed:
            table.play(int(first_action(packed)))
            packed = int(rest_of(packed))
        turn += 1


def test_greedy_asked_for_the_claim_alone_claims() -> None:
    table = Table(GAME).at_position("stage=claim turn=0 points=0,0 tiles=D+0+0r0,E+0+1r2 bag=U1")
    states = np.zeros(2, GAME.state_dtype)
    states[0] = table.states[0]
    packed = int(_choose_at(Greedy(final_weights()), states, np.zeros(GAME.max_legal, np.int64), make_rng(1)))
    assert table.name(int(first_action(packed))) == "claim city S"
    assert rest_of(packed) == 0


def test_greedy_chooses_among_equals_at_random() -> None:
    table = Table(GAME).at_position("stage=place drawn=X turn=0 points=0,0 tiles=D+0+0r0 bag=U1")
    states, rng = np.zeros(2, GAME.state_dtype), make_rng(3)
    states[0] = table.states[0]
    out = np.zeros(GAME.max_legal, np.int64)
    turns = [int(_choose_at(Greedy(Weights(1.0, 0.0, 0.0, 0.0, 0.0, 0)), states, out, rng)) for _ in range(900)]
    counts = [turns.count(turn) for turn in set(turns)]
    assert len(counts) == len(value_of_turns(table, final_weights())) == 18
    assert min(counts) > 15


@kernel
def _play_against_random(player, states, n_games, variant, out, rng, wins):
    for game in range(n_games):
        begin(states[0], 2, variant)
        while phase(states[0]) != OVER:
            if phase(states[0]) == CHANCE:
                apply_chance(states[0], sample_chance(states[0], rng))
            elif seat_to_move(states[0]) == game % 2:
                turn = choose(player, states, 0, out, rng)
                while turn != 0:
                    apply(states[0], first_action(turn))
                    turn = rest_of(turn)
            else:
                apply(states[0], out[below(rng, legal(states[0], out))])
        wins[0] += 1 if states[0].points[game % 2] > states[0].points[1 - game % 2] else 0


@pytest.mark.parametrize("weights", [final_weights(), intuitive_weights()])
def test_greedy_beats_random(weights: Weights) -> None:
    wins = np.zeros(1, np.int64)
    _, variant = GAME.variant(2)
    _play_against_random(
        Greedy(weights), np.zeros(2, GAME.state_dtype), 200, variant, np.zeros(GAME.max_legal, np.int64), make_rng(4), wins
    )
    assert wins[0] > 190


@pytest.mark.parametrize(
    "name, kinds",
    [  # section 6.3.1
        ("1", ["city road cloister field", "nothing"]),
        ("2", ["city", "cloister", "road", "nothing", "field"]),
    ],
)
@pytest.mark.parametrize("drawn", "ADE")
def test_an_order_ranks_turns_by_what_they_claim(name: str, kinds: list[str], drawn: str) -> None:
    table = Table(GAME).at_position(f"stage=place drawn={drawn} turn=0 points=0,0 tiles=D+0+0r0,E+0+1r2 bag=U1")
    ranks: dict[str, set[int]] = {}
    for turn in value_of_turns(table, final_weights()):
        after = table.clone()
        after.play(int(first_action(turn)))
        claim = after.name(int(first_action(rest_of(turn)))) if rest_of(turn) else "claim nothing"
        kind = next(kind for kind in kinds if set(kind.split()) & set(claim.split()))
        ranks.setdefault(kind, set()).add(int(rank(GAME.knowledge.orders[name], table.states[0], turn)))
        if rest_of(turn):  # asked for the claim alone, it ranks it alike
            ranks[kind].add(int(rank(GAME.knowledge.orders[name], after.states[0], rest_of(turn))))
    assert ranks == {kind: {kinds.index(kind)} for kind in ranks} and len(ranks) >= min(3, len(kinds))


@pytest.mark.parametrize("seat, ahead", [(0, 28), (1, 28), (2, 20)])
def test_the_reach_of_an_evaluation_is_the_largest_difference_and_twenty_points(seat: int, ahead: int) -> None:
    table = Table(GAME, 3).at_position("stage=draw turn=0 points=3,31,11 tiles=D+0+0r0,E+0+1r2 bag=U1")
    numbers = np.zeros(3, np.int64)
    assert reach(Weights(2.0, 0, 0.1, 0, 0, 0), table.states, 0, seat, numbers) == 2 * ahead + 20 * 2
    assert reach(Weights(2.0, 0, 0.5, 0, 0, 0), table.states, 0, seat, numbers) == 2 * ahead + 20 * 5


def test_unknown_weights_are_one_clear_sentence() -> None:
    with pytest.raises(BadOption, match="weights=best is not possible; weights may be final or intuitive"):
        GAME.knowledge.players["greedy"].make(weights="best")
