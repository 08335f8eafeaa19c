"""Heap, a game of two players who take stones; its rules are in README.md."""

import sys

from kdenv.author import CHANCE, DECIDE, OVER, BadRecord, Encoding, Game, Part, below, kernel, state_dtype

LEAST, SIZES = 4, 3
NOT_YET = -1
STATE = state_dtype(("stones", "i1"), ("mover", "i1"))


@kernel
def begin(s, players, variant):
    s.stones = NOT_YET
    s.mover = 0


@kernel
def phase(s):
    return CHANCE if s.stones == NOT_YET else DECIDE if s.stones > 0 else OVER


@kernel
def seat(s):
    return int(s.mover)


@kernel
def legal(s, out):
    n = min(int(s.stones), 2)
    for i in range(n):
        out[i] = i
    return n


@kernel
def apply(s, action):
    s.stones -= action + 1
    s.mover = 1 - s.mover


@kernel
def chances(s, out, weights):
    for i in range(SIZES):
        out[i] = i
        weights[i] = 1
    return SIZES


@kernel
def apply_chance(s, outcome):
    s.stones = LEAST + outcome


@kernel
def sample_chance(s, rng):
    return below(rng, SIZES)


@kernel
def witnesses(s):
    return -1


@kernel
def scores(s, out):
    out[0] = out[1] = 0
    if s.stones == 0:
        out[1 - int(s.mover)] = 1


@kernel
def standings(s, out):
    scores(s, out)


@kernel
def resample_hidden(s, seat, rng):
    pass


def layout(players, options):
    return {"stones": Part((1,), "the stones / 6"), "mine": Part((1,), "1 if I am to move")}


@kernel
def observe(states, k, seat, out):
    out[0] = states[k].stones / 6.0
    out[1] = 1.0 if states[k].mover == seat else 0.0


def action_text(states, k, action):
    return f"take {action + 1}"


def action_from(states, k, text):
    if text not in ("take 1", "take 2"):
        raise BadRecord(f"{text!r} is no action; write 'take 1' or 'take 2'")
    return int(text[-1]) - 1


def chance_text(states, k, outcome):
    return f"heap {LEAST + outcome}"


def chance_from(states, k, text):
    if text not in ("heap 4", "heap 5", "heap 6"):
        raise BadRecord(f"{text!r} is no heap; write 'heap 4', 'heap 5' or 'heap 6'")
    return int(text[-1]) - LEAST


def position_text(states, k):
    return f"{states[k]['stones']} {states[k]['mover']}"


def position_from(text, states, k):
    stones, _, mover = text.partition(" ")
    if stones not in ("-1", *"0123456") or mover not in ("0", "1"):
        raise BadRecord(f"{text!r} is no position; write the stones and who is to move, as in '5 0'")
    states[k]["stones"], states[k]["mover"] = int(stones), int(mover)


def ansi(states, k, seat=None):
    return "o" * max(0, int(states[k]["stones"]))


def svg(states, k, seat=None):
    return f"<svg xmlns='http://www.w3.org/2000/svg'><title>{ansi(states, k)}</title></svg>"


_THIS = sys.modules[__name__]
GAME = Game(
    name="toy_heap",
    title="ToyHeap",
    room=(_THIS,),
    players=(2,),
    options=(),
    notation=_THIS,
    drawing=_THIS,
    encodings=(Encoding("stones", layout, observe),),
    n_actions=lambda players, variant: 2,
    max_legal=2,
    max_turns=2,
    max_chances=SIZES,
    open_information=True,
)
