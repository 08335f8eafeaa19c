"""Trees of decisions whose turns have scores of a network outside of kernels (asked.py). Their softmax makes the priors of the turns.

A simulation draws what is hidden and goes down by urgency, as in decisions.py. It ends in one of two ways:

- It takes a turn without visits. The network is asked for the value of the position after the turn.
- It reaches a node in which a legal turn has no score. The network is asked for the value and the score of the position after
  each legal turn. Then the new turns get their priors, and the simulation takes the most probable of them, whose value is known by then.

So each simulation asks once. A turn keeps the prior that it had in the draw in which it was added, as in priors.py.

Gumbel noise may choose the turns of the root (gumbel.py). The simulations then go to the `considered` turns with the greatest
sums of noise and score, by sequential halving. The sum of a turn grows with its mean, so that the better half stays.
"""

from typing import Any, NamedTuple

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers, question
from kdenv.core.encoding import observe_by
from kdenv.core.questions import deal
from kdenv.core.turns import play_turn, write_turns
from kdenv.core.verbs import DECIDE, OVER, phase
from kdenv.core.verbs import seat as seat_to_move
from kdenv.search.kernels.asked import values_from
from kdenv.search.kernels.decisions import add_turn, count_no_pass, find_from, node_after
from kdenv.search.kernels.gumbel import Gumbel, considered_turn, gumbel_noise
from kdenv.search.kernels.priors import first_urgency
from kdenv.search.kernels.uct import (
    MAX_DEPTH,
    NODES,
    NONE,
    PATH_NODE,
    PATH_TURN,
    ROOT,
    Decisions,
    Positions,
    count_pass,
    descend,
    most_urgent_of_known,
    note,
)
from kdenv.search.score import worths
from kdenv.search.softmax import softmax


class Scored(NamedTuple):
    """A tree of decisions with scores. A node is a sequence of decisions and, with information_sets=1, of the chance shown to the seat."""

    information_sets: int
    asked: Any
    score: Any  # answers worths
    rows_a_position: int  # one, or one for each seat
    temperature: float
    places: np.ndarray  # scratch: the numbers of the legal turns in the tree
    priors: np.ndarray  # scratch
    gumbel: Gumbel


@answers(descend, Scored)
@kernel
def _descend_scored(chance, tree, space, states, raw, seat, plan, rule, rng):
    deal(plan.dealer, states, 1, seat, rng)
    node, depth = ROOT, 0
    while node != NONE and depth < MAX_DEPTH and phase(states[1]) == DECIDE:
        # 1. If a legal turn has no score, ask for the scores of all. Without room for the new turns the position itself is the leaf.
        n = write_turns(states, 1, plan.most_decisions, space.actions, space.n_actions, space.at_action, space.turns)
        if not find_all(chance, tree, space, node, n):
            if tree.used[NODES] + n < tree.turns.shape[0]:
                note(space, depth, node, NONE, seat_to_move(states[1]))
                _list_for_scores(chance, space, states, n)
            break
        # 2. Otherwise take the most urgent turn.
        if node == ROOT and chance.gumbel.considered > 0:
            at = chance.places[considered_turn(chance, tree, n)]
        else:
            at = _most_urgent_scored(chance, tree, space, node, n, plan, rule, rng)
        note(space, depth, node, at, seat_to_move(states[1]))
        depth += 1
        play_turn(states[1], tree.turns[at])
        if tree.counts[at].visits == 0:
            break
        # 3. Carry out the chance after it.
        node = node_after(chance, tree, states, at, seat, rng)
    return depth


answers(count_pass, Scored)(count_no_pass)


@kernel
def find_all(chance, tree, space, node, n):
    """Write the numbers of the n legal turns to chance.places; return whether the node has all of them. Both lists are sorted by rank."""
    before, at = NONE, int(tree.counts[node].child)
    for i in range(n):
        before, at, is_known = find_from(tree, before, at, space.turns[i])
        if not is_known:
            return False
        chance.places[i] = at
    return True


@kernel
def _list_for_scores(chance, space, states, n):
    """Write the positions after the n legal turns in states[1] as rows: as the mover sees them first, then as the other seats do."""
    asked, players = chance.asked, space.values.shape[0]
    mover = seat_to_move(states[1])
    for i in range(n):
        states[2] = states[1]
        play_turn(states[2], space.turns[i])
        is_over = phase(states[2]) == OVER
        if is_over:
            worths(chance.score, states, 2, space.values, space.numbers)
        for j in range(chance.rows_a_position):
            row, each = asked.n[0], (mover + j) % players
            observe_by(asked.encoding, states, 2, each, asked.rows[row])
            asked.seats[row] = each
            asked.turns[row] = space.turns[i]
            asked.is_over[row] = is_over
            if is_over:
                asked.exact[row] = space.values[each]
            asked.n[0] = row + 1
    asked.n_listed[0] = n


@kernel
def _most_urgent_scored(chance, tree, space, node, n, plan, rule, rng):
    """Return the most urgent of the legal turns: one with visits, or the most probable one without."""
    # 1. Split the legal turns: those with visits (space.known), and the most probable one of the others.
    n_known, passes, total, new = 0, 0, 0.0, NONE
    for i in range(n):
        at = chance.places[i]
        if tree.counts[at].visits > 0:
            space.known[n_known] = at
            n_known += 1
            passes += int(tree.counts[at].visits)
            total += tree.counts[at].sums
            tree.counts[at].times_open += 1
        elif new == NONE or tree.counts[at].bias > tree.counts[new].bias:
            new = at
    # 2. Compare them. An infinite urgency of the new one makes the comparison unnecessary.
    of_new = -np.inf
    if new != NONE:
        of_new = first_urgency(plan.guide, n_known, passes, total, tree.counts[new].bias, plan.first_urgency)
    if of_new == np.inf:
        return new
    chosen, urgent = most_urgent_of_known(tree, space, node, n_known, passes, chance.information_sets, plan, rule, rng)
    return new if of_new > urgent else chosen


# The answers


@question
def take_scores(chance, tree, space, first, depth, given, scores, teams, rng):
    """Add the turns that were listed from row `first` on, and take one of them; write its values to space.values. Return the depth."""


@kernel
def _take_no_scores(chance, tree, space, first, depth, given, scores, teams, rng):
    return depth


answers(take_scores, Positions)(_take_no_scores)
answers(take_scores, Decisions)(_take_no_scores)


@answers(take_scores, Scored)
@kernel
def _add_scored_turns(chance, tree, space, first, depth, given, scores, teams, rng):
    asked, gumbel, each = chance.asked, chance.gumbel, chance.rows_a_position
    n, node = asked.n_listed[0], space.path[depth, PATH_NODE]
    # 1. The priors are the softmax of the scores.
    for i in range(n):
        chance.priors[i] = scores[first + i * each] / chance.temperature
    softmax(chance.priors, n)
    # 2. Insert the turns that the node does not have; both lists are sorted by rank.
    best, chosen = 0, NONE
    before, at = NONE, int(tree.counts[node].child)
    for i in range(n):
        turn = asked.turns[first + i * each]
        before, at, is_known = find_from(tree, before, at, turn)
        if is_known:
            continue
        before = add_turn(tree, node, before, turn)
        tree.counts[before].bias = chance.priors[i]
        if chosen == NONE or chance.priors[i] > chance.priors[best]:
            best, chosen = i, before
        if node == ROOT and gumbel.considered > 0:
            search = gumbel.search[0]
            gumbel.noise[search, i] = gumbel_noise(rng)
            gumbel.logits[search, i] = scores[first + i * each] / chance.temperature
            gumbel.values[search, i] = given[first + i * each]
            chance.places[i] = before
    # 3. Take the most probable new turn. The root has no other turns, so Gumbel noise may choose there.
    if node == ROOT and gumbel.considered > 0:
        best = considered_turn(chance, tree, n)
        chosen = chance.places[best]
    space.path[depth, PATH_TURN] = chosen
    values_from(asked, given, first + best * each, first + (best + 1) * each, teams, space.values)
    return depth + 1
