"""Players by rule of thumb. They neither call nor pass while they can play."""

from typing import NamedTuple

import numpy as np

from kdenv.compiler.bits import bit, lowest
from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below
from kdenv.core.questions import RulePlayer, packed, plays
from kdenv.games.dominoes.rules import legal_set
from kdenv.games.dominoes.tables import NO_TILES, PASS, PIPS


class Greedy(NamedTuple):
    """Gets rid of the most pips; between equals, and between the ends, chance decides."""


@plays(Greedy)
@kernel
def greedy_turn(player, states, k, out, rng):
    """The heaviest tile that fits."""
    actions = legal_set(states[k]) & (bit(PASS) - np.uint64(1))
    most, n, choice = -1, 0, PASS
    while actions != NO_TILES:
        action = lowest(actions)
        actions &= actions - np.uint64(1)
        weight = int(PIPS[action])
        if weight < most:
            continue
        n = 1 if weight > most else n + 1
        most = weight
        if n == 1 or below(rng, n) == 0:
            choice = action
    return packed(choice)


RULE_PLAYERS = {
    "greedy": RulePlayer(Greedy, "plays the tile with the most pips; ties at random", "the paper's baseline"),
}
