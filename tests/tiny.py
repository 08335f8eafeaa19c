"""Three Shells: a game of two decisions between two chances, small enough to be searched by hand; a room from outside the package.

A pea goes under one of three shells with odds 1 : 2 : 3; only seat 0 sees where. Seat 0 stakes 1 to `most` points. Seat 1 points
at a shell, or passes. A coin then doubles all points in one of four cases. Seat 1 wins the stake if the pea is where it points and
loses it if not; for a pass it loses one point. Seat 0 gets the opposite.

Not seeing the pea, seat 1 does best to point at shell 2, whatever the stake: it wins and loses equally often there (0 on
average), a pass costs 1.25, and the other shells 5/12 and 5/6 of the stake.
"""

import sys
from typing import NamedTuple

import numpy as np

from kdenv.core.errors import BadRecord
from kdenv.core.game import Game, Option
from kdenv.core.kernel import kernel
from kdenv.core.player import RulePlayer, packed, plays
from kdenv.core.protocol import CHANCE, DECIDE, OVER
from kdenv.core.random import below
from kdenv.core.state import state_dtype

N_SHELLS = 3
ODDS = np.array([1, 2, 3], np.int64)  # of each shell
COIN_ODDS = np.array([3, 1], np.int64)
FACTOR = np.array([1, 2], np.int64)  # by which the coin multiplies
PASS_COSTS = 1
for table in (ODDS, COIN_ODDS, FACTOR):
    table.flags.writeable = False

HIDING, STAKING, POINTING, TOSSING, FINISHED = range(5)
NOT_YET = -1
PASS = 3  # as a guess
FIRST_GUESS = 3  # actions: stake - 1; then, from here on, the guess
N_ACTIONS = FIRST_GUESS + PASS + 1

STATE = state_dtype(
    ("stage", np.int8), ("pea", np.int8), ("stake", np.int8), ("guess", np.int8), ("coin", np.int8), ("most", np.int8), source=__file__
)


@kernel
def begin(s, players, variant):
    """variant: the most that may be staked."""
    s.stage = HIDING
    s.pea = s.guess = s.coin = NOT_YET
    s.stake = 0
    s.most = variant[0]


@kernel
def phase(s):
    if s.stage == FINISHED:
        return OVER
    return DECIDE if s.stage == STAKING or s.stage == POINTING else CHANCE


@kernel
def seat(s):
    return 0 if s.stage == STAKING else 1


@kernel
def legal(s, out):
    first, n = (0, int(s.most)) if s.stage == STAKING else (FIRST_GUESS, PASS + 1)
    for i in range(n):
        out[i] = first + i
    return n


@kernel
def apply(s, action):
    if s.stage == STAKING:
        s.stake = action + 1
        s.stage = POINTING
    else:
        s.guess = action - FIRST_GUESS
        s.stage = TOSSING


@kernel
def chances(s, out, weights):
    n = N_SHELLS if s.stage == HIDING else 2
    for i in range(n):
        out[i] = i
        weights[i] = ODDS[i] if s.stage == HIDING else COIN_ODDS[i]
    return n


@kernel
def apply_chance(s, outcome):
    if s.stage == HIDING:
        s.pea = outcome
        s.stage = STAKING
    else:
        s.coin = outcome
        s.stage = FINISHED


@kernel
def sample_chance(s, rng):
    if s.stage == HIDING:
        return _any_shell(rng)
    return 0 if below(rng, COIN_ODDS[0] + COIN_ODDS[1]) < COIN_ODDS[0] else 1


@kernel
def _any_shell(rng):
    drawn = below(rng, ODDS[0] + ODDS[1] + ODDS[2])
    if drawn < ODDS[0]:
        return 0
    return 1 if drawn < ODDS[0] + ODDS[1] else 2


@kernel
def witnesses(s):
    """Seat 0 sees the pea; all see the coin."""
    return 1 if s.stage == HIDING else -1


@kernel
def scores(s, out):
    out[0] = out[1] = 0
    if s.stage == FINISHED:
        won = -PASS_COSTS if s.guess == PASS else int(s.stake) if s.guess == s.pea else -int(s.stake)
        out[1] = won * FACTOR[int(s.coin)]
        out[0] = -out[1]


@kernel
def standings(s, out):
    scores(s, out)


@kernel
def resample_hidden(s, seat, rng):
    """The pea, for seat 1, until it has pointed; then the shell is lifted."""
    if seat == 1 and (s.stage == STAKING or s.stage == POINTING):
        s.pea = _any_shell(rng)


@kernel
def observe(states, k, seat, out):
    """Where the pea is known to be (3), the stake / 3, the guess (4), the seat."""
    s = states[k]
    for i in range(out.shape[0]):
        out[i] = 0.0
    if s.pea != NOT_YET and (seat == 0 or s.stage > POINTING):
        out[int(s.pea)] = 1.0
    out[3] = s.stake / 3.0
    if s.guess != NOT_YET:
        out[4 + int(s.guess)] = 1.0
    out[8] = seat


class Bold(NamedTuple):
    """Stakes the most, and always points at the same shell."""

    shell: int


@plays(Bold)
@kernel
def _choose_boldly(player, states, k, out, rng):
    return packed(int(states[k].most) - 1 if states[k].stage == STAKING else FIRST_GUESS + player.shell)


# Notation and drawing


def action_text(states, k, action):
    return f"stake {action + 1}" if action < FIRST_GUESS else "pass" if action == FIRST_GUESS + PASS else f"point {action - FIRST_GUESS}"


def action_from(states, k, text):
    for action in range(N_ACTIONS):
        if action_text(states, k, action) == text:
            return action
    raise BadRecord(f"{text!r} is no action; write 'stake 1', 'point 0' or 'pass'")


def chance_text(states, k, outcome):
    return f"pea {outcome}" if states[k]["stage"] == HIDING else f"coin {outcome}"


def chance_from(states, k, text):
    word, _, number = text.partition(" ")
    if word not in ("pea", "coin") or number not in ("0", "1", "2"):
        raise BadRecord(f"{text!r} is nothing that chance does; it is 'pea 0' or 'coin 1'")
    return int(number)


_FIELDS = {"stage": (HIDING, FINISHED), "pea": (NOT_YET, 2), "stake": (0, 3), "guess": (NOT_YET, PASS), "coin": (NOT_YET, 1)}


def position_text(states, k):
    return " ".join(f"{name}={states[k][name]}" for name in _FIELDS)


def position_from(text, states, k):
    words = dict(word.partition("=")[::2] for word in text.split())
    if words.keys() != _FIELDS.keys():
        raise BadRecord(f"a position has {', '.join(_FIELDS)}, each once")
    for name, (least, most) in _FIELDS.items():
        if words[name] not in map(str, range(least, most + 1)):
            raise BadRecord(f"{name}={words[name]} is not a number from {least} to {most}")
        states[k][name] = int(words[name])


def ansi(states, k, seat=None):
    hidden = seat == 1 and states[k]["stage"] <= POINTING
    return position_text(states, k).replace(f"pea={states[k]['pea']}", "pea=?") if hidden else position_text(states, k)


def svg(states, k, seat=None):
    return f"<svg xmlns='http://www.w3.org/2000/svg'><title>{ansi(states, k, seat)}</title></svg>"


_THIS = sys.modules[__name__]
GAME = Game(
    name="tiny",
    title="Tiny",
    room=(_THIS,),
    state_dtype=STATE,
    players=(2,),
    options=(Option("most", 3, "the most that may be staked", (3, 2, 1)),),
    notation=_THIS,
    drawing=_THIS,
    n_actions=lambda players, variant: N_ACTIONS,
    observation_size=lambda players, variant: 9,
    max_legal=4,
    max_turns=4,
    max_chances=3,
    rule_players={"bold": RulePlayer(lambda shell=2: Bold(shell), "stakes the most and points at one shell")},
    greedy="bold",
)
