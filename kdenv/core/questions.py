"""Questions that searches ask besides the rules, and `Knowledge`, which lists the parts of a game that answer them.

A part is a NamedTuple, whose type decides which kernel answers (compiler/question.py). The kernels are in the heuristics of a game, or in
a file of yours. core/turns.py describes how a turn is packed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import Kernel, answers, question
from kdenv.core.read_only import freeze_fields
from kdenv.core.verbs import resample_hidden

N_RANKS = 16  # rank() returns a number from 0 to N_RANKS - 1
TO_THE_END = -1  # a depth for solve() that sets no limit
SOLVER_STATES = 8  # a solver may use this many states after states[k] as scratch

# 1. Players choose turns. They play in playouts inside searches, and as policies at the table.


@question
def choose(player, states, k, out, rng):
    """Return the turn that this player takes in states[k], packed, or as much of the turn as it decides at once.

    The player may write to states[k + 1] and to out, which has room for the legal actions.
    """


def plays(kind: type) -> Callable[[Kernel], Kernel]:
    """Mark a kernel (player, states, k, out, rng) -> packed turn as the one that chooses for players of this class.

    >>> from typing import NamedTuple
    >>> from kdenv.author import kernel, legal, packed, plays
    >>> class First(NamedTuple):
    ...     "takes the first legal action"
    >>> @plays(First)
    ... @kernel
    ... def choose_first(player, states, k, out, rng):
    ...     legal(states[k], out)
    ...     return packed(out[0])
    """
    return answers(choose, kind)


@kernel
def choose_at(player, states, k, out, rng):
    """Do the same as choose. This kernel is for calls from Python; it is compiled together with all that it calls."""
    return choose(player, states, k, out, rng)


# 2. Evaluators and orders, for searches of limited depth.


@question
def estimate(evaluator, states, k, seat, numbers):
    """Return the value of states[k] for the seat against the other teams, as a float. numbers is scratch, one int64 per seat.

    The value is exact once the game is over. In two-player games the value for the other seat is the negative of this one.
    """


@question
def reach(evaluator, states, k, seat, numbers):
    """Return a bound on the absolute value of all positions after states[k]. Estimates are clipped to it."""


@question
def rank(order, s, turn):
    """Return the rank of a packed turn that is possible in s: 0 is tried first, N_RANKS - 1 last.

    Turns of the same rank are tried in the order in which the game lists them.
    """


# 3. Solvers, dealers and beliefs, for searches of games that hide something.


@question
def solve(solver, states, k, turns, n_turns, depth, rng, values):
    """Write the values of these turns for the seat to move in states[k], as if nothing were hidden.

    Search `depth` turns after each of them; TO_THE_END sets no limit. The SOLVER_STATES states after states[k] are scratch. Return the
    number of nodes or playouts.
    """


@question
def deal(dealer, states, k, seat, rng):
    """Replace what is hidden from the seat in states[k] by a random draw. The draw must not depend on what was hidden."""


class ExactDeals(NamedTuple):
    """The dealer that draws as the rules say. It calls resample_hidden."""


@answers(deal, ExactDeals)
@kernel
def _deal_exactly(dealer, states, k, seat, rng):
    resample_hidden(states[k], seat, rng)


# A belief is a game over what every seat may hold, in which each move has a probability. It keeps one position for each level of the
# search, so that a search can go down and come back without copying. Only IMS (search/kernels/ims.py) asks these four questions. Games do
# not import searches, nor searches games, so the questions are here.


@question
def believe(belief, states, k):
    """Set level 0 to the belief of the seat to move in states[k]."""


@question
def guesses(belief, level, moves, chances):
    """Write the moves that may be possible at this level and their probabilities. Return their number, 0 at the end of the game."""


@question
def suppose(belief, level, move):
    """Set level + 1 to the position after the move."""


@question
def outlook(belief, level):
    """Return the expected value of this level for the seat to move in it, at the end of the game and before."""


# 4. The parts of a game


@dataclass(frozen=True)
class RulePlayer:
    """An entry of a game's list of rule-based players. `make` takes the player's parameters by keyword and returns the NamedTuple."""

    make: Callable[..., Any]
    meaning: str
    source: str = ""


@dataclass(frozen=True)
class Hidden:
    """The parts that searches use in a game with hidden information.

    The functions that make solvers, dealers and beliefs get the variant. They raise NotSupported for rules that they cannot handle.
    """

    solver: Callable[[Any], Any]  # makes the part that answers solve
    turns_so_far: Callable[[Any, int], int]  # (states, k) -> turns since the hidden things were dealt, passes included
    unit: str  # the unit of the values that the solver and the beliefs give
    most_turns: int  # a deal is followed by at most this many turns
    dealers: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)  # name -> maker; "exact" need not be listed
    beliefs: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)  # name -> maker
    # (variant, player, doubt, buffer) -> a dealer for one search. It samples deals by the likelihood of the opponents' turns. In its model
    # an opponent is this compiled player, or takes any legal turn with the probability `doubt`.
    likely: Callable[[Any, Any, float, Any], Any] | None = None

    def __post_init__(self) -> None:
        freeze_fields(self)


class Measured(NamedTuple):
    """The policy that was strongest in measurements with a budget of at least this many seconds for a decision."""

    seconds: float
    policy: str  # its text, in which {seconds} is replaced by the budget
    options: Mapping[str, Any] = MappingProxyType({})  # it is not for tables with other values of these options


@dataclass(frozen=True)
class Knowledge:
    """The players, evaluators and other parts of a game that policies and searches use. All of them may be left out."""

    players: Mapping[str, RulePlayer] = field(default_factory=dict)  # by name, as in the policy "full_greedy(variant=paper)"
    greedy: str = ""  # the name of the player that playouts called greedy use
    # A player that is called before any search, for decisions that the game's papers make by a rule. It returns 0 to let the search decide.
    reflex: RulePlayer | None = None
    scratch: int = 0  # the length of `out` that the players need, if it is more than the game's max_legal
    evaluators: Mapping[str, Any] = field(default_factory=dict)  # parts that answer estimate and reach, by name, the usual one first
    orders: Mapping[str, Any] = field(default_factory=dict)  # parts that answer rank, by name, the usual one first
    hidden: Hidden | None = None  # for searches that solve deals or use beliefs
    # The policies that `strongest` chooses from. Of rows with the same seconds it takes the first that fits the table, because a network
    # may be for one number of players only.
    strongest: Sequence[Measured] = ()

    def __post_init__(self) -> None:
        freeze_fields(self)
