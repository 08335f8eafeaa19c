"""What searches ask a game besides its rules, and `Knowledge`, in which a game says what it can answer.

Who answers is a part (compiler/question.py): a NamedTuple, whose type decides which kernel is called. Its kernels lie in the heuristics
of a game, or in a file of yours. A turn is packed into an int64: up to four actions of 16 bits, the first one lowest, as action + 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import Kernel, answers, question
from kdenv.core.verbs import resample_hidden

N_RANKS = 16  # rank() answers a number below this
TO_THE_END = -1  # as the depth of solve(): no limit
SOLVER_STATES = 8  # states after states[k] that a solver may use as scratch

# 1. Players choose turns: for playouts inside searches and, wrapped, as policies at the table.


@question
def choose(player, states, k, out, rng):
    """The turn this player takes in states[k], packed, or as much of it as it decides at once.

    states[k + 1] and out, which has room for the legal actions, are scratch.
    """


def plays(kind: type) -> Callable[[Kernel], Kernel]:
    """Mark the kernel (player, states, k, out, rng) -> packed turn by which players of this kind choose."""
    return answers(choose, kind)


@kernel
def packed(action):
    """A turn of one action."""
    return action + 1


@kernel
def then(first, second):
    """A turn of two actions."""
    return (first + 1) | ((second + 1) << 16)


@kernel
def first_action(turn):
    """The action a packed turn begins with."""
    return (turn & 0xFFFF) - 1


@kernel
def rest_of(turn):
    """What is left of a packed turn after its first action; 0 if nothing."""
    return turn >> 16


@kernel
def choose_at(player, states, k, out, rng):
    """The same as choose, for calls from Python: it is compiled as a whole."""
    return choose(player, states, k, out, rng)


# 2. Evaluators and orders, for searches of limited depth.


@question
def estimate(evaluator, states, k, seat, numbers):
    """What states[k] is worth to the seat against its rivals, as a float; numbers is scratch, one int64 per seat.

    It is exact once the game is over. In two-player games what it is worth to the other seat is the negative of this.
    """


@question
def reach(evaluator, states, k, seat, numbers):
    """The most that any position after states[k] is taken to be worth, to either side: estimates beyond are cut to it."""


@question
def rank(order, s, turn):
    """When to try a packed turn that is open in s: from 0 (first) to N_RANKS - 1. Equal ranks stay as the game lists them."""


# 3. Solvers, dealers and beliefs, for searches of games that hide something.


@question
def solve(solver, states, k, turns, n_turns, depth, rng, values):
    """Write to values what each of these turns is worth to the seat to move in states[k], if nothing were hidden.

    depth is how many turns after it are looked at, or TO_THE_END. The SOLVER_STATES after states[k] are scratch.
    Returns the effort: nodes, or playouts.
    """


@question
def deal(dealer, states, k, seat, rng):
    """Replace what is hidden from seat in states[k] by a draw. The draw must not depend on what was there."""


class ExactDeals(NamedTuple):
    """The dealer that draws by the rules: resample_hidden."""


@answers(deal, ExactDeals)
@kernel
def _deal_exactly(dealer, states, k, seat, rng):
    resample_hidden(states[k], seat, rng)


# A belief is a game in which all play what they may hold, each move with a probability. It keeps its positions by level, so that
# a search can go down and come back without copying.


@question
def believe(belief, states, k):
    """Make level 0 what the seat to move in states[k] believes."""


@question
def guesses(belief, level, moves, chances):
    """Write the moves that may be possible at this level, and how probable each is; return how many, 0 when the game has ended."""


@question
def suppose(belief, level, move):
    """Make level + 1 what follows from the move."""


@question
def outlook(belief, level):
    """What this level is expected to be worth to the seat to move in it, ended or not."""


# 4. What a game offers


@dataclass(frozen=True)
class RulePlayer:
    """A rule-based player as a game lists it. `make` takes its parameters by keyword and returns the NamedTuple."""

    make: Callable[..., Any]
    meaning: str
    source: str = ""


@dataclass(frozen=True)
class Hidden:
    """What a game that hides something offers. The makers get the variant; they raise NotSupported if they cannot serve such rules."""

    solver: Callable[[Any], Any]  # makes the part that answers solve
    turns_so_far: Callable[[Any, int], int]  # (states, k) -> turns since the hidden things were dealt, passes included
    unit: str  # of the values of the solver and the beliefs
    most_turns: int  # from the deal on
    dealers: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)  # by name, besides "exact"
    beliefs: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)  # by name


@dataclass(frozen=True)
class Knowledge:
    """What a game knows about playing well, for policies and searches. All of it may be left out."""

    players: Mapping[str, RulePlayer] = field(default_factory=dict)  # by name, as in the policy "full_greedy(variant=paper)"
    greedy: str = ""  # the name of the player that playouts called greedy use
    # A player that decides at once, before any search, what the game's papers decide so; it answers 0 where it has nothing to say.
    reflex: RulePlayer | None = None
    scratch: int = 0  # the length of `out` that the players need, if it is more than the game's max_legal
    evaluators: Mapping[str, Any] = field(default_factory=dict)  # by name, the usual one first; they answer estimate and reach
    orders: Mapping[str, Any] = field(default_factory=dict)  # by name, the usual one first; they answer rank
    hidden: Hidden | None = None  # for searches that solve deals or weigh beliefs
