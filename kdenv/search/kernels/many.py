"""Searches of many games at once, whose values come from a network outside of kernels (asked.py).

A simulation of all games is two calls: `begin_...` goes down to a leaf in each game and writes the rows, and `end_...` takes the answers.
A tree search makes one simulation of each game in these calls, and flat Monte Carlo one playout of each turn that is left.
"""

from typing import Any, NamedTuple

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers, question
from kdenv.compiler.random import below, next64
from kdenv.core.turns import play_turn, write_turns
from kdenv.core.verbs import resample_hidden, scores
from kdenv.search.kernels.asked import values_from
from kdenv.search.kernels.flat import play_after
from kdenv.search.kernels.gumbel import choose_by_gumbel
from kdenv.search.kernels.scored import Scored, find_all, take_scores
from kdenv.search.kernels.uct import NONE, PATH_MOVER, ROOT, Decisions, Positions, Tree, Workspace, descend, update
from kdenv.search.outcome import ALL_SEATS, play_on
from kdenv.search.score import worths


class Games(NamedTuple):
    """The positions that are searched. A game that is over has no turns.

    The turns of game i are rows starts[i] to starts[i + 1] - 1 of arrays by turn.
    """

    seen: Any  # as the searching seats see them
    seats: np.ndarray
    rngs: np.ndarray  # one generator for each game
    starts: np.ndarray
    turns: np.ndarray


# Trees


class Trees(NamedTuple):
    """A tree for each game (see Tree), and the simulation that it makes now."""

    roots: Any  # the positions, with a draw of what is hidden
    used: np.ndarray
    seed: np.ndarray
    nodes: np.ndarray
    turns: np.ndarray
    counts: np.ndarray
    table: np.ndarray
    slots: np.ndarray
    paths: np.ndarray
    depths: np.ndarray
    firsts: np.ndarray  # the first row of the simulation
    ends: np.ndarray  # the row after its last one
    n_listed: np.ndarray  # the number of turns in these rows; 0 if they value a leaf
    values: np.ndarray  # by seat: the value of the leaf, if the game is over there


@kernel
def _tree(trees, i):
    return Tree(trees.used[i], trees.seed[i], trees.nodes[i], trees.turns[i], trees.counts[i], trees.table[i], trees.slots[i])


@kernel
def _workspace(space, path):
    """The workspace with the path of a tree."""
    scratch = space.turns, space.known, space.actions, space.n_actions, space.at_action
    return Workspace(path, *scratch, space.values, space.numbers, space.drawn)


@kernel
def plant_trees(games, trees):
    """Begin the search of each game: draw what is hidden, and the seed of the outcomes of chance that nodes keep."""
    for i in range(games.seats.shape[0]):
        if games.starts[i] < games.starts[i + 1]:
            trees.roots[i] = games.seen[i]
            resample_hidden(trees.roots[i], games.seats[i], games.rngs[i])
            trees.seed[i, 0] = next64(games.rngs[i])


@kernel
def begin_simulations(games, trees, first, most_rows, search, asked, space, states, raw, chance, plan, rule, playouts):
    """Begin a simulation of each game from game `first` on. Return the first game without room for most_rows rows, or their number.

    search[0] is set to the index of the current game.
    """
    n = games.seats.shape[0]
    for i in range(first, n):
        # 1. All rows of a simulation must have room, because it cannot be continued later.
        if asked.n[0] + most_rows > asked.rows.shape[0]:
            return i
        trees.firsts[i] = trees.ends[i] = asked.n[0]
        trees.n_listed[i] = 0
        trees.depths[i] = 0
        if games.starts[i + 1] - games.starts[i] < 2:  # neither a forced turn nor a game that is over needs a search
            continue
        search[0] = i
        asked.n_listed[0] = 0
        seat, rng, tree, own = games.seats[i], games.rngs[i], _tree(trees, i), _workspace(space, trees.paths[i])
        states[0] = trees.roots[i]
        states[1] = states[0]
        # 2. Go down to a leaf. A tree with scores may have written a row for each of its turns there.
        depth = descend(chance, tree, own, states, raw, seat, plan, rule, rng)
        # 3. If not, the playout writes the rows. It writes none if the game is over at its end; the values are then known now.
        if asked.n_listed[0] == 0:
            play_on(playouts, states, 1, own.path[depth - 1, PATH_MOVER] if depth > 0 else seat, ALL_SEATS, rng)
            for each in range(space.values.shape[0]):
                trees.values[i, each] = playouts.values[each]
        trees.depths[i], trees.n_listed[i], trees.ends[i] = depth, asked.n_listed[0], asked.n[0]
    return n


@kernel
def end_simulations(games, trees, given, scores, search, asked, space, chance, plan, teams):
    """End the simulation of each game with the values and scores that the network gave for the rows."""
    # The tree was not changed since begin_simulations, so the path that was kept there is still right.
    for i in range(games.seats.shape[0]):
        if games.starts[i + 1] - games.starts[i] < 2:
            continue
        search[0] = i
        first, depth, seat, rng = trees.firsts[i], trees.depths[i], games.seats[i], games.rngs[i]
        tree, own = _tree(trees, i), _workspace(space, trees.paths[i])
        asked.n_listed[0] = trees.n_listed[i]
        if trees.n_listed[i] > 0:
            depth = take_scores(chance, tree, own, first, depth, given, scores, teams, rng)
        else:
            for each in range(own.values.shape[0]):
                own.values[each] = trees.values[i, each]
            values_from(asked, given, first, trees.ends[i], teams, own.values)
        update(chance, tree, own, depth, seat, plan)


@question
def turn_after(chance, tree, node, at):
    """Return the number of the turn of a node after turn `at`, of its first one for NONE; NONE after the last."""


@answers(turn_after, Positions)
@kernel
def _turn_after_in_positions(chance, tree, node, at):
    first, n = int(tree.nodes[node].first), int(tree.nodes[node].n_turns)
    after = first if at == NONE else at + 1
    return after if after < first + n else NONE


@kernel
def _turn_after_in_lists(chance, tree, node, at):
    return int(tree.counts[node].child) if at == NONE else int(tree.counts[at].next)


answers(turn_after, Decisions)(_turn_after_in_lists)
answers(turn_after, Scored)(_turn_after_in_lists)


@kernel
def add_up_roots(games, trees, chance, visits, sums):
    """Write the visits of each turn of each game, and the sum of the values of these visits."""
    for i in range(games.seats.shape[0]):
        tree = _tree(trees, i)
        at = turn_after(chance, tree, ROOT, NONE)
        while at != NONE:
            # The tree may list turns in another order, and need not have all of them.
            for row in range(games.starts[i], games.starts[i + 1]):
                if games.turns[row] == tree.turns[at]:
                    visits[row], sums[row] = tree.counts[at].visits, tree.counts[at].sums
            at = turn_after(chance, tree, ROOT, at)


@kernel
def choose_all_by_gumbel(games, trees, search, space, states, chance, plan, policy, best):
    """Write the improved policy of each game, by turn, and the row of the turn to take."""
    for i in range(games.seats.shape[0]):
        first, n = games.starts[i], games.starts[i + 1] - games.starts[i]
        best[i] = first if n > 0 else -1
        if n == 1:
            policy[first] = 1.0
        elif n > 1:
            # The root has all turns: its first simulation asked for the scores of all.
            search[0] = i
            states[0] = trees.roots[i]
            write_turns(states, 0, plan.most_decisions, space.actions, space.n_actions, space.at_action, space.turns)
            find_all(chance, _tree(trees, i), space, ROOT, n)
            best[i] = first + choose_by_gumbel(chance, _tree(trees, i), n, policy[first : first + n])


# Flat Monte Carlo


class FlatSearches(NamedTuple):
    """The playouts of each game. Arrays by turn have the turns of a game in the order of `places`, in which those left are in front."""

    places: np.ndarray  # by turn: its place among the turns of the game, in the order of the rules
    priors: np.ndarray  # by turn: the value that counts as `trust` playouts
    visits: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    rows: np.ndarray  # by turn: the row of the current playout; -1 if the game ended in it
    values: np.ndarray  # by turn: its value then
    left: np.ndarray  # by game: the number of turns that are left
    rounds: np.ndarray  # by game: the number of rounds of halving; 0: no halving
    made: np.ndarray  # by game: the number of playouts
    in_round: np.ndarray  # by game: those of this round
    now: np.ndarray  # by game: those of the current call
    luck: np.ndarray  # one generator: that of playouts with common random numbers


@kernel
def begin_playouts(games, flat, first, n_playouts, common, states, asked, playouts):
    """Begin a playout for each turn that is left, in each game from `first` on. Return the first game without room, or their number."""
    n = games.seats.shape[0]
    for i in range(first, n):
        flat.now[i] = 0
        if games.starts[i + 1] - games.starts[i] < 2:
            continue
        if asked.n[0] + flat.left[i] > asked.rows.shape[0]:
            return i
        flat.now[i] = min(flat.left[i], n_playouts - flat.made[i])
        seat, rng, start = games.seats[i], games.rngs[i], games.starts[i]
        # A generator must not be 0. Without common random numbers the seed is not used.
        seed = next64(rng) | np.uint64(1) if common and flat.now[i] > 0 else np.uint64(1)
        states[0] = games.seen[i]
        for at in range(start, start + flat.now[i]):
            row = asked.n[0]
            if common:
                flat.luck[0] = seed
                play_after(states, seat, games.turns[start + flat.places[at]], playouts, flat.luck)
            else:
                play_after(states, seat, games.turns[start + flat.places[at]], playouts, rng)
            flat.rows[at] = row if asked.n[0] > row else -1
            flat.values[at] = playouts.values[seat]
    return n


@kernel
def end_playouts(games, flat, n_playouts, trust, given, asked, values, teams):
    """End these playouts with the values that the network gave; drop the worse half of the turns at the end of a round of halving."""
    for i in range(games.seats.shape[0]):
        start = games.starts[i]
        for at in range(start, start + flat.now[i]):
            value = flat.values[at]
            if flat.rows[at] >= 0:
                values_from(asked, given, flat.rows[at], flat.rows[at] + 1, teams, values)
                value = values[games.seats[i]]
            flat.visits[at] += 1
            flat.sums[at] += value
            flat.squares[at] += value * value
        flat.made[i] += flat.now[i]
        flat.in_round[i] += flat.now[i]
        # Sequential halving: each round has an equal share of the playouts, and at least one of each turn. The last round has the rest.
        left = flat.left[i]
        if left > 2 and flat.rounds[i] > 0 and flat.in_round[i] >= left * max(1, n_playouts // (left * flat.rounds[i])):
            _sort_by_mean(flat, start, left, trust)
            flat.left[i], flat.in_round[i] = (left + 1) // 2, 0


@kernel
def _sort_by_mean(flat, start, n, trust):
    """Sort the first n turns of a game, the best first. Turns with equal means keep their order."""
    for i in range(start + 1, start + n):
        at = i
        while at > start and _mean(flat, at - 1, trust) < _mean(flat, at, trust):
            for numbers in (flat.places, flat.visits):
                numbers[at], numbers[at - 1] = numbers[at - 1], numbers[at]
            for numbers in (flat.priors, flat.sums, flat.squares):
                numbers[at], numbers[at - 1] = numbers[at - 1], numbers[at]
            at -= 1


@kernel
def _mean(flat, at, trust):
    return (flat.sums[at] + trust * flat.priors[at]) / (flat.visits[at] + trust)


# The end


@kernel
def value_ends(games, states, positions, is_over, score, values, numbers, out):
    """Write the value of each turn that ends the game to `out`, for the seat that makes it. is_over is by turn, and so is `positions`."""
    for at in range(is_over.shape[0]):
        if is_over[at]:
            states[0] = games.seen[positions[at]]
            play_turn(states[0], games.turns[at])
            worths(score, states, 0, values, numbers)
            out[at] = values[games.seats[positions[at]]]


@kernel
def choose_turns(games, possible, keys, others, by_gains, takes_first, gains, states, points, best):
    """Write the row of the best turn of each game; -1 for a game that is over.

    It is the possible turn with the greatest key, and of equal ones that with the greatest other key.
    With by_gains, of equal ones that after which its seat has the most points. Of those still equal it takes the first, or a random one.
    In the end `possible` has these.
    """
    for i in range(games.seats.shape[0]):
        first, end = games.starts[i], games.starts[i + 1]
        # Drop turns until only equally good ones are left.
        _keep_greatest(possible, keys, first, end)
        n = _keep_greatest(possible, others, first, end)
        if n > 1 and by_gains:
            for at in range(first, end):
                if possible[at]:
                    gains[at] = _points_after(games, i, at, states, points)
            n = _keep_greatest(possible, gains, first, end)
        # Count down to the drawn one of those that are left.
        drawn = below(games.rngs[i], n) if n > 1 and not takes_first else 0
        best[i] = first if first < end else -1
        for at in range(first, end):
            if possible[at]:
                if drawn == 0:
                    best[i] = at
                drawn -= 1


@kernel
def _keep_greatest(possible, numbers, first, end):
    """Leave only those possible that have the greatest number of the possible ones; return how many."""
    greatest, n = -np.inf, 0
    for at in range(first, end):
        if possible[at]:
            greatest = max(greatest, numbers[at])
    for at in range(first, end):
        possible[at] = possible[at] and numbers[at] == greatest
        n += 1 if possible[at] else 0
    return n


@kernel
def _points_after(games, i, at, states, points):
    """Return the points of the seat after a turn of game i."""
    states[0] = games.seen[i]
    play_turn(states[0], games.turns[at])
    scores(states[0], points)
    return float(points[games.seats[i]])
