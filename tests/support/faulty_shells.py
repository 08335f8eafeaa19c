"""Three Shells with planted faults, which `check_game` must find. The fault is an option of the rules, so all are compiled once."""

import re
import sys
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import three_shells
from three_shells import STAKING, action_text, ansi, apply_chance, chance_from, chance_text, layout, position_text, svg

from kdenv.author import Encoding, Game, Knowledge, Option, RulePlayer, below, kernel, packed, plays, state_dtype

__all__ = ["action_text", "ansi", "apply_chance", "chance_from", "chance_text", "layout", "position_text", "svg"]

FAULTS = (
    "none",
    "begin leaves a field",
    "no end",
    "a seat too many",
    "legal descends",
    "legal lists one twice",
    "legal counts",
    "an action too many",
    "two actions alike",
    "odds of 0",
    "an outcome twice",
    "sample is even",
    "scores of one seat",
    "points for a third seat",
    "nothing is drawn anew",
    "the draw tells",
    "the encoding peeks",
    "the encoding is too long",
    "the encoding leaves a number",
    "the player cheats",
    "a number wraps around",
    "all see the pea",
    "nobody sees the coin",
)
(
    _NONE,
    LEAVES,
    ENDLESS,
    SEAT,
    DESCENDS,
    TWICE,
    COUNTS,
    ACTION,
    ALIKE,
    NO_ODDS,
    OUTCOME_TWICE,
    EVEN,
    ONE_SCORE,
    THIRD_SEAT,
    NOT_DRAWN,
    TELLS,
    PEEKS,
    LONG,
    SILENT,
    CHEATS,
    WRAPS,
    ALL_SEE,
    NO_COIN,
) = range(len(FAULTS))

STATE = state_dtype(*((name, three_shells.STATE[name]) for name in three_shells.STATE.names), ("fault", np.int8), ("count", np.int8))


@kernel
def begin(s, players, variant):
    three_shells.begin(s, players, variant)
    s.fault = variant[1]
    if s.fault != LEAVES:
        s.count = 0


@kernel
def phase(s):
    return three_shells.phase(s)


@kernel
def seat(s):
    return 2 if s.fault == SEAT else three_shells.seat(s)


@kernel
def legal(s, out):
    n = three_shells.legal(s, out)
    if s.fault == DESCENDS:
        out[0], out[1] = out[1], out[0]
    elif s.fault == TWICE:
        out[1] = out[0]
    elif s.fault == COUNTS:
        s.count += 1
    elif s.fault == ACTION:
        out[n - 1] = 7
    return n


@kernel
def apply(s, action):
    three_shells.apply(s, action)
    if s.fault == ALIKE and s.stake == 2:
        s.stake = 1
    elif s.fault == WRAPS:
        s.count += 100
    elif s.fault == ENDLESS and s.guess >= 0:
        s.stage = STAKING
        s.count = 1 - s.count


@kernel
def chances(s, out, weights):
    n = three_shells.chances(s, out, weights)
    if s.fault == NO_ODDS:
        weights[0] = 0
    elif s.fault == OUTCOME_TWICE:
        out[1] = out[0]
    return n


@kernel
def sample_chance(s, rng):
    if s.fault == EVEN and s.stage == three_shells.HIDING:
        return below(rng, 3)
    if s.fault == NO_ODDS:
        return 1
    return 0 if s.fault == OUTCOME_TWICE else three_shells.sample_chance(s, rng)


@kernel
def witnesses(s):
    if s.fault == NO_COIN and s.stage == three_shells.TOSSING:
        return 0
    return -1 if s.fault == ALL_SEE else three_shells.witnesses(s)


@kernel
def scores(s, out):
    second = out[1]
    three_shells.scores(s, out)
    if s.fault == ONE_SCORE:
        out[1] = second
    elif s.fault == THIRD_SEAT:
        out[2] = 0


@kernel
def standings(s, out):
    three_shells.scores(s, out)


@kernel
def resample_hidden(s, seat, rng):
    if s.fault == TELLS and seat == 1 and s.stage <= three_shells.POINTING and s.pea >= 0:
        s.pea = (s.pea + 1) % 3
    elif s.fault != NOT_DRAWN:
        three_shells.resample_hidden(s, seat, rng)


@kernel
def observe(states, k, seat, out):
    last = out[8]
    three_shells.observe(states, k, 0 if states[k].fault == PEEKS else seat, out)
    out[8] = last if states[k].fault == SILENT else seat
    if states[k].fault == LONG:
        out[9] = 1.0


class Player(NamedTuple):
    """A player that may take what is not legal."""


@plays(Player)
@kernel
def _choose(player, states, k, out, rng):
    legal(states[k], out)
    return packed(6 if states[k].fault == CHEATS else out[0])


def action_from(states, k, text):
    return three_shells.action_from(states, k, text)


def position_from(text, states, k):
    three_shells.position_from(text, states, k)


_THIS = sys.modules[__name__]


def game(fault: str = "none", notation: dict[str, Any] | None = None, **changes: Any) -> Game:
    """Three Shells with this fault, with these functions of its notation and drawing, and with these fields of Game."""
    words, number = ModuleType("words"), FAULTS.index(fault)
    vars(words).update({**vars(_THIS), **(notation or {})})
    parts: dict[str, Any] = {
        "name": "faulty_shells",
        "title": "FaultyShells",
        "room": (_THIS,),
        "players": (2,),
        "options": (*three_shells.GAME.options, Option("fault", number, "the fault", (number,))),
        "notation": words,
        "drawing": words,
        "encodings": (Encoding("shells", layout, observe),),
        "n_actions": lambda players, variant: three_shells.N_ACTIONS,
        "max_legal": 4,
        "max_turns": 4,
        "max_chances": 3,
        "knowledge": Knowledge(players={"player": RulePlayer(Player, "takes the first action")}),
    }
    return Game(**{**parts, **changes})


GAME = game()


def is_said(sentence: str, said: str) -> bool:
    """Whether this is said of the game. In the sentence, ... stands for anything, such as a position."""
    parts = map(re.escape, f"faulty_shells: {sentence}".split("..."))
    return re.fullmatch(".*?".join(parts).replace(r"\ .*?", ".*?") + r"( \(the first of [\d,]+\))?", said) is not None
