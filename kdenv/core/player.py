"""Players inside kernels: NamedTuples that `choose` resolves, as a verb is, by their type.

A rule-based player is written once, in the heuristics of its game, and serves as a playout policy inside
searches and, wrapped, as a policy at the table. It answers with a whole turn or as much of one as it decides
at once: up to four actions packed into an int64, 16 bits each, the first one lowest, as action + 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kdenv.core.kernel import kernel
from kdenv.core.part import Kernel, answers, part


@part
def choose(player, states, k, out, rng):
    """The turn this player takes in states[k], packed; states[k + 1] and out (for legal actions) are scratch."""


def plays(kind: type) -> Callable[[Kernel], Kernel]:
    """Say that this kernel (player, states, k, out, rng) -> packed turn is how players of this kind choose."""
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
    """The same as choose, compiled as a whole: the way in from Python."""
    return choose(player, states, k, out, rng)


@dataclass(frozen=True)
class RulePlayer:
    """A rule-based player as a game lists it: `make` takes its parameters by keyword and returns the NamedTuple."""

    make: Callable[..., Any]
    meaning: str
    source: str = ""
