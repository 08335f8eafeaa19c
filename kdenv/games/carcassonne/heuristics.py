"""An evaluation of positions, and the greedy player, which evaluates the position after each of its turns.

The evaluation is that of Heyden (2009). It counts points, meeples in hand, and the points that the features held would pay if the game
ended now. A field that will not pay for the meeple lying on it costs a penalty. Searches of limited depth evaluate positions with it and
try turns in her orders.
"""

from typing import NamedTuple

from kdenv.compiler.bits import ONE, lowest
from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers
from kdenv.compiler.random import below
from kdenv.core.fields import Field
from kdenv.core.questions import RulePlayer, estimate, plays, rank, reach
from kdenv.core.turns import first_action, packed, rest_of, then
from kdenv.games.carcassonne.claims import CLAIM, FIRST_CORNER, FIRST_EDGE, NO_MEEPLE, ON_CLOISTER, list_claims, put_meeple
from kdenv.games.carcassonne.features import NONE, closed_cities_at, meeples_of, most
from kdenv.games.carcassonne.landscape import lay, types_that_fit
from kdenv.games.carcassonne.rules import CLAIMING, FINISHED, legal
from kdenv.games.carcassonne.tables import CITY, CITY_POINTS, CLOISTER_POINTS, FIELD_POINTS
from kdenv.games.carcassonne.tiles import EDGE

_FIXED_REACH = 2000.0  # of Heyden's first player
_LOWEST = -1e9  # below every evaluation
_NO_CHOICE = -1  # in place of a claim, where the decision is skipped


class Weights(NamedTuple):
    """The weights of the evaluation."""

    score: float  # a point scored
    meeple: float  # a meeple in hand
    open: float  # a point that a feature held would pay if the game ended now; several seats may hold the same feature
    city_tile: float  # the number of such points for a tile or pennant of an open city
    poor_field: float  # (negative) a field held that touches fewer than cities_wanted complete cities
    cities_wanted: int


def final_weights() -> Weights:
    """Return the weights Heyden settled on: 100 a point, 10 a meeple, 10 an open point (open city: 1.25 a tile), -40 a poor field."""
    return Weights(100.0, 10.0, 10.0, 1.25, -40.0, 3)


def intuitive_weights() -> Weights:
    """Return the weights Heyden began with (table 6.5): 100 a point, 1 a meeple, 10 an open point (cities as scored), -50 a poor field."""
    return Weights(100.0, 1.0, 10.0, 1.0, -50.0, 3)


def _at_the_end() -> Weights:
    return Weights(100.0, 0.0, 100.0, 1.0, 0.0, 0)


AT_THE_END = _at_the_end()


@kernel
def evaluate(weights, s, seat):
    """Return the value of a position for a seat: its worth minus that of the best other seat. At the end it is 100 a point.

    While a claim is to be decided, the position counts as if nothing will be claimed.
    """
    best_other = _LOWEST
    for other in range(int(s.players)):
        if other != seat:
            best_other = max(best_other, worth(weights, s, other))
    return worth(weights, s, seat) - best_other


@kernel
def worth(weights, s, seat):
    """Return the worth of the points, meeples and features of a seat. A feature that is complete but not settled yet counts as settled."""
    if s.stage == FINISHED:
        return weights.score * float(int(s.points[seat]))
    # Complete features still have their meeples when a claim is evaluated, because the turn is not over. They are counted as paid.
    scored = int(s.points[seat])
    in_hand = int(s.hand[seat])
    to_come = 0.0
    poor_fields = 0
    held = s.city_held
    while held != NONE:
        city = lowest(held)
        held &= held - ONE
        mine = meeples_of(s.city_meeples[city], seat)
        complete = s.city_open[city] == 0
        if complete:
            in_hand += mine
        if mine > 0 and mine == most(s.city_meeples[city]):
            size = int(s.city_tiles[city]) + int(s.city_pennants[city])
            if complete:
                scored += CITY_POINTS * size
            else:
                to_come += weights.city_tile * size
    held = s.road_held
    while held != NONE:
        road = lowest(held)
        held &= held - ONE
        mine = meeples_of(s.road_meeples[road], seat)
        complete = s.road_open[road] == 0
        if complete:
            in_hand += mine
        if mine > 0 and mine == most(s.road_meeples[road]):
            if complete:
                scored += int(s.road_tiles[road])
            else:
                to_come += float(int(s.road_tiles[road]))
    # A cloister has one meeple at most.
    for i in range(int(s.n_cloisters)):
        if s.cloister_seat[i] == seat:
            if s.cloister_tiles[i] == CLOISTER_POINTS:
                scored += CLOISTER_POINTS
                in_hand += 1
            else:
                to_come += float(int(s.cloister_tiles[i]))
    # Fields are never complete: they pay at the end only, and their meeples do not come back.
    for word in range(2):
        held = s.field_held[word]
        while held != NONE:
            field = 64 * word + lowest(held)
            held &= held - ONE
            mine = meeples_of(s.field_meeples[field], seat)
            if mine > 0 and mine == most(s.field_meeples[field]):
                n = closed_cities_at(s, field)
                to_come += float(FIELD_POINTS * n)
                if n < weights.cities_wanted:
                    poor_fields += 1
    return weights.score * scored + weights.meeple * in_hand + weights.open * to_come + weights.poor_field * poor_fields


# For searches of limited depth (core.questions)


class FixedBounds(NamedTuple):
    """The same evaluation with the bounds of Heyden's first player: +-2000 whatever the points are. Far behind, it gives up (6.4)."""

    weights: Weights


EVALUATORS = {"final": final_weights(), "intuitive": intuitive_weights(), "fixed_bounds": FixedBounds(final_weights())}


class ByClaim(NamedTuple):
    """An order in which to try turns: the rank of each kind of claim. The lowest rank comes first."""

    city: int
    road: int
    cloister: int
    field: int
    nothing: int


# By the numbers Heyden gives them (6.3.1): 2 is city, cloister, road, nothing, field; 1 is any claim, then nothing.
ORDERS = {"2": ByClaim(city=0, cloister=1, road=2, nothing=3, field=4), "1": ByClaim(city=0, cloister=0, road=0, field=0, nothing=1)}


@answers(estimate, Weights)
@kernel
def _estimate(weights, states, k, seat, numbers):
    return evaluate(weights, states[k], seat)


@answers(reach, Weights)
@kernel
def _reach(weights, states, k, seat, numbers):
    """Return Heyden's bound: the largest difference in points to this seat, and the worth of 20 points more."""
    s = states[k]
    ahead = 0
    for other in range(int(s.players)):
        ahead = max(ahead, abs(int(s.points[seat]) - int(s.points[other])))
    return weights.score * ahead + 20.0 * max(weights.score, 10.0 * weights.open)


@answers(estimate, FixedBounds)
@kernel
def _estimate_within_fixed_bounds(evaluator, states, k, seat, numbers):
    return evaluate(evaluator.weights, states[k], seat)


@answers(reach, FixedBounds)
@kernel
def _fixed_reach(evaluator, states, k, seat, numbers):
    return _FIXED_REACH


@answers(rank, ByClaim)
@kernel
def _rank_by_claim(order, s, turn):
    action, face = first_action(turn), 0
    if s.stage == CLAIMING:
        face = int(s.tile_face[int(s.n_tiles) - 1])
    else:
        face = 4 * int(s.drawn) + (action & 3)
        action = first_action(rest_of(turn))
    slot = action - CLAIM
    if slot <= NO_MEEPLE:
        return order.nothing
    if slot == ON_CLOISTER:
        return order.cloister
    if slot >= FIRST_CORNER:
        return order.field
    return order.city if EDGE[face, slot - FIRST_EDGE] == CITY else order.road


class Greedy(NamedTuple):
    """The player that takes a turn after which the evaluation is best; among equals any."""

    weights: Weights


@plays(Greedy)
@kernel
def _choose_greedy(player, states, k, out, rng):
    """Try every placement with every claim. states[k + 1] and out are scratch."""
    if states[k].stage == CLAIMING:
        states[k + 1] = states[k]
        return packed(_best_claim(player.weights, states[k + 1], out, 0, rng)[1])
    # Of n_equal best turns so far, each is the chosen one with the same probability: a later group of n replaces it with n / n_equal.
    chosen, highest, n_equal = 0, 0.0, 0
    n_places = legal(states[k], out)
    for i in range(n_places):
        states[k + 1] = states[k]
        s = states[k + 1]
        lay(s, out[i] >> 2, 4 * int(s.drawn) + (out[i] & 3))
        value, claim_action, n = _best_claim(player.weights, s, out, n_places, rng)
        if n_equal == 0 or value > highest:
            chosen, highest, n_equal = 0, value, 0
        if value == highest:
            n_equal += n
            if below(rng, n_equal) < n:
                chosen = packed(out[i]) if claim_action == _NO_CHOICE else then(out[i], claim_action)
    return chosen


@kernel
def _best_claim(weights, s, out, at, rng):
    """Return the value of the best claims on the tile just laid, one of them (or _NO_CHOICE), and their number.

    The buffer out is overwritten from out[at] on.
    """
    seat, tile = int(s.turn), int(s.n_tiles) - 1
    n = list_claims(s, out, at) - at if s.hand[seat] > 0 else 1
    # If no tile fits after this turn, the game ends with it, and only points count.
    over = types_that_fit(s, int(s.left)) == 0
    weights = AT_THE_END if over else weights
    # Claiming nothing is the first. The others are put on the board and taken back, which is cheaper than copies of the state.
    highest, chosen, n_equal = evaluate(weights, s, seat), CLAIM, 1
    for i in range(at + 1, at + n):
        slot = out[i] - CLAIM
        put_meeple(s, tile, slot, seat, 1)
        value = evaluate(weights, s, seat)
        put_meeple(s, tile, slot, seat, -1)
        if value > highest:
            highest, n_equal = value, 0
        if value == highest:
            n_equal += 1
            if below(rng, n_equal) == 0:
                chosen = out[i]
    return highest, chosen if n > 1 else _NO_CHOICE, n_equal


def _greedy(weights: str = "final") -> Greedy:
    known = {"final": final_weights, "intuitive": intuitive_weights}
    return Greedy(known[Field("weights", choices=tuple(known)).check(weights)]())


RULE_PLAYERS = {
    "greedy": RulePlayer(
        _greedy,
        "the best evaluation after the turn, among equals any; weights=final or intuitive",
        "Heyden 2009, her evaluation without search",
    ),
}
