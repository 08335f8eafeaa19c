"""Do the kernels of PIMC and IMS do what they say, on deals and trees that are written down here? They are exact, and need no compiler."""

import math
import random
from typing import NamedTuple

import numpy as np
import pytest
from positions import shells

from kdenv.author import answers, kernel, packed, plays
from kdenv.compiler.random import make_rng
from kdenv.core.questions import TO_THE_END, deal, guesses, outlook, solve, suppose
from kdenv.search.kernels import ims, pimc
from kdenv.search.kernels.flat import Tally
from kdenv.search.outcome import Playouts
from kdenv.search.score import Win

# PIMC


class InTurn(NamedTuple):
    """A dealer that puts the pea under shells 0, 1, 2, 0, ..., and notes for whom."""

    n: np.ndarray  # how many deals there were
    seats: np.ndarray  # the seat of each


class Told(NamedTuple):
    """A solver to which a turn is worth 1000 * stake + 100 * turn + 10 * depth + pea. It counts 7 nodes for each turn."""

    asked: np.ndarray  # how many turns it was asked for in each call
    n: np.ndarray


class Passer(NamedTuple):
    """A player of three shells that stakes a point, and passes."""

    guess: int


@answers(deal, InTurn)
@kernel
def _deal_in_turn(dealer, states, k, seat, rng):
    states[k].pea = dealer.n[0] % 3
    dealer.seats[dealer.n[0]] = seat
    dealer.n[0] += 1


@answers(solve, Told)
@kernel
def _solve_told(solver, states, k, turns, n_turns, depth, rng, values):
    for i in range(n_turns):
        values[i] = 1000.0 * states[k].stake + 100 * turns[i] + 10 * depth + states[k].pea
    solver.asked[solver.n[0]] = n_turns
    solver.n[0] += 1
    return 7 * n_turns


@plays(Passer)
@kernel
def _pass(player, states, k, out, rng):
    return packed(player.guess if states[k].stake > 0 else 0)


def states_from(table):
    states = np.zeros(10, table.game.state_dtype)
    states[0] = table.states[0]
    return states


@pytest.mark.parametrize("group", [4, 1])
def test_pimc_tries_all_turns_on_one_deal_or_each_on_its_own(group: int) -> None:
    states, turns, deals = states_from(shells(2, 3)), np.array([4, 5, 6, 7]), 5
    values, counts = np.zeros(4), np.zeros(1, np.int64)
    dealer, solver = InTurn(counts, np.full(20, 9)), Told(np.zeros(20, np.int64), np.zeros(1, np.int64))
    tally = Tally(np.zeros(4, np.int64), np.zeros(4), np.zeros(4))
    tally.visits[:], tally.sums[:], tally.squares[:] = 1, 2, 3  # what is there is added to
    before = states[0].copy()
    effort = pimc.solve_deals(states, 1, turns, deals, group, dealer, solver, 2, values, make_rng(1), tally)
    peas = [[n % 3] * 4 if group == 4 else [(4 * n + i) % 3 for i in range(4)] for n in range(deals)]
    worths = np.array([[3000 + 100 * turn + 20 + pea for turn, pea in zip(turns, row, strict=True)] for row in peas], float)
    assert effort == 7 * 4 * deals
    assert tally.visits.tolist() == [1 + deals] * 4
    assert tally.sums.tolist() == (2 + worths.sum(0)).tolist()
    assert tally.squares.tolist() == (3 + (worths**2).sum(0)).tolist()
    n = deals * 4 // group
    assert dealer.n[0] == n and (dealer.seats[:n] == 1).all()
    assert solver.n[0] == n and (solver.asked[:n] == group).all()
    assert states[0] == before


def test_the_position_as_it_is_is_solved_without_a_deal() -> None:
    values, solver = np.zeros(4), Told(np.zeros(1, np.int64), np.zeros(1, np.int64))
    turns = np.array([4, 5, 6, 7])
    assert pimc.solve_open(states_from(shells(2, 1)), turns, 3, solver, 1, make_rng(1), values) == 21
    assert values.tolist() == [1412.0, 1512.0, 1612.0, 0.0]


@pytest.mark.parametrize(
    ("told", "turns", "wanted"),
    [
        ((1, 2), [4, 5, 6, 7], [0.0, 1.0, 0.0, 0.0]),  # seat 1 points, or passes
        ((0,), [1, 2, 3], [1.0, 1.0, 1.0]),  # seat 0 stakes, and gets a point when seat 1 passes
    ],
)
def test_playouts_in_place_of_a_solver_give_each_turn_the_score_of_the_seat_that_takes_it(told, turns, wanted) -> None:
    states, values, k = states_from(shells(*told)), np.full(len(turns) + 1, 9.0), 2
    states[k] = states[0]
    before = states[: k + 1].copy()
    playouts = Playouts(Passer(6), Win(2), np.zeros(7, np.int64), np.zeros(2), np.zeros(2, np.int64))
    n = len(turns)
    assert solve(playouts, states, k, np.array([*turns, 1]), n, TO_THE_END, make_rng(1), values) == n
    assert values.tolist() == [*wanted, 9.0]
    assert (states[: k + 1] == before).all()


# IMS


class Tree(NamedTuple):
    """A belief that is a tree. Move 10 + i of a node leads to its child i."""

    here: np.ndarray  # the node on each level
    children: np.ndarray  # of each node; -1 where there is none
    chances: np.ndarray  # the probability of each move
    worth: np.ndarray  # of each node, to the seat to move there


@answers(guesses, Tree)
@kernel
def _guesses(tree, level, moves, chances):
    node, n = tree.here[level], 0
    for i in range(tree.children.shape[1]):
        if tree.children[node, i] >= 0:
            moves[n] = 10 + i
            chances[n] = tree.chances[node, i]
            n += 1
    return n


@answers(suppose, Tree)
@kernel
def _suppose(tree, level, move):
    tree.here[level + 1] = tree.children[tree.here[level], move - 10]


@answers(outlook, Tree)
@kernel
def _outlook(tree, level):
    return tree.worth[tree.here[level]]


LEVELS, WIDEST = 5, 3
NONE, PAPER, SOUND = (ims.PRUNINGS.index(name) for name in ("none", "paper", "sound"))


def random_tree(seed: int) -> Tree:
    """Up to 3 moves in a node, and an end here and there. The probabilities are eighths and the worths small, so that many lines tie."""
    dice, children, level = random.Random(seed), [], [0]
    n = 1
    for depth in range(LEVELS):
        below = []
        for node in level:
            width = 0 if depth == LEVELS - 1 or (depth > 0 and dice.random() < 0.15) else dice.randint(1, WIDEST)
            children.append([*range(n, n + width), *[-1] * (WIDEST - width)])
            assert node == len(children) - 1
            below += range(n, n + width)
            n += width
        level = below
    chances = [[dice.choice([1, 2, 4, 8]) / 8 for _ in range(WIDEST)] for _ in range(n)]
    worth = [float(dice.randint(-4, 4)) for _ in range(n)]
    return Tree(np.zeros(LEVELS + 1, np.int64), np.array(children), np.array(chances), np.array(worth))


class Found(NamedTuple):
    value: float
    line: list[int]


class Naive:
    """Algorithm 1 as it is written, with the windows of each pruning; it counts nodes."""

    def __init__(self, tree: Tree, pruning: int) -> None:
        self.tree, self.pruning, self.nodes = tree, pruning, 1

    def moves(self, node: int, depth: int, alpha: float = -math.inf, beta: float = math.inf, all_exact: bool = False) -> list[Found]:
        """What each move of a node is worth that is tried, and the line that begins with it."""
        found: list[Found] = []
        for i, child in enumerate(self.tree.children[node].tolist()):
            if child < 0:
                continue
            chance = float(self.tree.chances[node, i])
            window = {NONE: (-math.inf, math.inf), PAPER: (-beta, -alpha), SOUND: (-beta / chance, -alpha / chance)}[self.pruning]
            if all_exact and self.pruning == SOUND:
                window = (-math.inf, math.inf)
            after = self.after(child, depth - 1, *window)
            found.append(Found(-chance * after.value, [10 + i, *after.line]))
            alpha = max(alpha, found[-1].value)
            if (self.pruning == PAPER and alpha >= beta) or (self.pruning == SOUND and alpha > beta):
                break
        return found

    def after(self, node: int, depth: int, alpha: float, beta: float) -> Found:
        self.nodes += 1
        found = self.moves(node, depth, alpha, beta) if depth > 0 else []
        return max(found, key=lambda each: each.value) if found else Found(float(self.tree.worth[node]), [])


def searched(tree: Tree, depth: int, pruning: int, all_exact: bool = False, at_once: int = 10**6) -> tuple[list[Found], int]:
    """What the kernel finds for each move of the root, and how many nodes it searches."""
    stack = ims.make_stack(depth + 1, WIDEST)
    tree.here[0] = 0
    ims.start(tree, stack)
    calls = 1
    while not ims.go_on(tree, stack, depth, pruning, all_exact, at_once):
        assert 0 <= stack.level[0] < depth
        calls += 1
    assert stack.level[0] == -1
    assert calls == -(-(int(stack.nodes[0]) - 1) // at_once)
    n = int(stack.n[0])
    return [Found(float(stack.values[i]), stack.lines[i, : stack.lengths[i]].tolist()) for i in range(n)], int(stack.nodes[0])


@pytest.mark.parametrize("all_exact", [False, True])
@pytest.mark.parametrize("pruning", [NONE, PAPER, SOUND])
def test_ims_is_algorithm_1_on_small_trees(pruning: int, all_exact: bool) -> None:
    """The same values, lines and numbers of nodes, however often the search is interrupted."""
    for seed in range(30):
        tree = random_tree(seed)
        for depth in range(1, LEVELS + 1):
            naive = Naive(tree, pruning)
            wanted = naive.moves(0, depth, all_exact=all_exact)
            assert searched(tree, depth, pruning, all_exact) == (wanted, naive.nodes), (seed, depth)
        assert searched(tree, LEVELS, pruning, all_exact, at_once=1) == (wanted, naive.nodes), seed
        assert searched(tree, LEVELS, pruning, all_exact, at_once=3) == (wanted, naive.nodes), seed


def test_sound_pruning_finds_the_best_move_with_fewer_nodes_and_the_papers_does_not() -> None:
    n_full, n_sound, differ = 0, 0, 0
    for seed in range(30):
        tree = random_tree(seed)
        full, nodes = searched(tree, LEVELS, NONE)
        sound, fewer = searched(tree, LEVELS, SOUND)
        exact, between = searched(tree, LEVELS, SOUND, all_exact=True)
        best = max(full, key=lambda each: each.value)
        assert max(sound, key=lambda each: each.value) == best
        assert exact == full
        assert fewer <= between <= nodes
        n_full, n_sound = n_full + nodes, n_sound + fewer
        differ += max(searched(tree, LEVELS, PAPER)[0], key=lambda each: each.value).value != best.value
    assert n_sound < 0.9 * n_full
    assert differ > 0


def test_a_window_is_a_little_wider_than_rounding_asks_for() -> None:
    """A value of 1/3 may come back as -(-1/3 / c) * c, a last digit away; a window in the millions needs more room than one at 0."""
    for bound in (-3e6, -1.0, 0.0, 1.0, 3e6):
        assert 1e-10 * (1 + abs(bound)) < bound - ims._below(bound) < 1e-8 * (1 + abs(bound))
