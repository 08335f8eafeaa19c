"""Random Tree: a game that is nothing but its tree, grown from a seed; for searches. A room from outside the package.

Shape "turns": seats 0 and 1 decide in turn, with chance between. Shape "meet": the same, but only the sum of the branches
counts, so that different lines meet. Shape "any": after any node comes a decision of either seat, a chance, or the end. Every
node has points, which are whole numbers and small, so that turns are often worth the same.
"""

import sys

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below, next64
from kdenv.compiler.state import state_dtype
from kdenv.core.encoding import Encoding, Part
from kdenv.core.errors import BadRecord
from kdenv.core.game import Game, Option
from kdenv.core.verbs import CHANCE, DECIDE, OVER

MOST_BRANCHES = 4
TURNS, ANY, MEET = range(3)  # shapes
V_SEED, V_SHAPE, V_LENGTH = range(3)

STATE = state_dtype(
    ("path", np.uint64, 1),  # a generator that every branch turns aside
    ("here", np.uint64),  # the random bits of this node
    ("ply", np.int8),
    ("length", np.int8),
    ("shape", np.int8),
)


@kernel
def begin(s, players, variant):
    s.path[0] = np.uint64(variant[V_SEED] * 2 + 1)
    s.ply = 0
    s.shape = variant[V_SHAPE]
    s.length = variant[V_LENGTH]
    for _ in range(4):
        s.here = next64(s.path)


@kernel
def _part(s, start, width):
    """Some of the random bits of this node, as a number."""
    return int((s.here >> np.uint64(start)) & np.uint64((1 << width) - 1))


@kernel
def phase(s):
    if s.ply >= s.length:
        return OVER
    if s.ply == 0:
        return DECIDE
    if s.shape != ANY:
        return DECIDE if s.ply % 2 == 0 else CHANCE
    kind = _part(s, 0, 4)
    return OVER if kind == 0 else CHANCE if kind < 8 else DECIDE


@kernel
def seat(s):
    return (int(s.ply) // 2) % 2 if s.shape != ANY else _part(s, 4, 1)


@kernel
def legal(s, out):
    n = 1 + _part(s, 5, 2)
    for i in range(n):
        out[i] = i
    return n


@kernel
def apply(s, action):
    if s.shape == MEET:
        before = s.path[0] + np.uint64((action + 1) << 20)
        s.path[0] = before
        s.here = next64(s.path)
        s.path[0] = before
    else:
        s.path[0] ^= np.uint64((action + 1) << 20)
        s.here = next64(s.path)
    s.ply += 1


@kernel
def chances(s, out, weights):
    n = 1 + _part(s, 5, 2)
    for i in range(n):
        out[i] = i
        weights[i] = 1 + _part(s, 8 + 3 * i, 3)
    return n


@kernel
def apply_chance(s, outcome):
    apply(s, outcome + MOST_BRANCHES)


@kernel
def sample_chance(s, rng):
    total = 0
    for i in range(1 + _part(s, 5, 2)):
        total += 1 + _part(s, 8 + 3 * i, 3)
    drawn, i = below(rng, total), 0
    while drawn > _part(s, 8 + 3 * i, 3):
        drawn -= 1 + _part(s, 8 + 3 * i, 3)
        i += 1
    return i


@kernel
def witnesses(s):
    return -1


@kernel
def scores(s, out):
    out[0] = _part(s, 32, 5)
    out[1] = _part(s, 40, 5)


@kernel
def standings(s, out):
    scores(s, out)


@kernel
def resample_hidden(s, seat, rng):
    """Nothing is hidden."""


@kernel
def observe(states, k, seat, out):
    out[0] = states[k].ply


def action_text(states, k, action):
    return f"branch {action}"


def action_from(states, k, text):
    return _number(text, "branch")


def chance_text(states, k, outcome):
    return f"chance {outcome}"


def chance_from(states, k, text):
    return _number(text, "chance")


def _number(text, word):
    if text not in [f"{word} {i}" for i in range(MOST_BRANCHES)]:
        raise BadRecord(f"{text!r} is not {word} 0, 1, 2 or 3")
    return int(text.split()[1])


def position_text(states, k):
    return f"{states[k]['path'][0]} {states[k]['ply']}"


def position_from(text, states, k):
    raise BadRecord("positions of random trees cannot be read")


def ansi(states, k, seat=None):
    return position_text(states, k)


def svg(states, k, seat=None):
    return f"<svg xmlns='http://www.w3.org/2000/svg'><title>{position_text(states, k)}</title></svg>"


_THIS = sys.modules[__name__]


def _whole(name, default, meaning):
    return Option(name, default, meaning, encode=lambda value, players: [int(value)], decode=lambda integers: integers[0])


GAME = Game(
    name="random_tree",
    title="RandomTree",
    room=(_THIS,),
    players=(2,),
    options=(
        _whole("seed", 0, "what the tree grows from"),
        Option("shape", "turns", "chance between turns, the same with lines that meet, or any order", ("turns", "any", "meet")),
        _whole("length", 6, "the longest line"),
    ),
    notation=_THIS,
    drawing=_THIS,
    encodings=(Encoding("nothing", lambda players, options: {"nothing": Part((1,), "always 0")}, observe),),
    n_actions=lambda players, variant: MOST_BRANCHES,
    max_legal=MOST_BRANCHES,
    max_turns=MOST_BRANCHES**4,
    max_chances=MOST_BRANCHES,
    open_information=True,
)
