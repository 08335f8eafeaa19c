"""Rule-based players of dominoes. They never call, and they pass only if they cannot play."""

from typing import NamedTuple

from kdenv.compiler.bits import ONE, bit, lowest
from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below
from kdenv.core.questions import RulePlayer, plays
from kdenv.core.turns import packed
from kdenv.games.dominoes.rules import legal_set
from kdenv.games.dominoes.tables import NO_TILES, PASS, PIPS


class Greedy(NamedTuple):
    """A player that lays the tile with the most pips. Among equal tiles, and between two ends, it chooses at random."""


@plays(Greedy)
@kernel
def greedy_turn(player, states, k, out, rng):
    """Choose at random among the ways to lay the heaviest tile that fits; pass if none fits."""
    actions = legal_set(states[k]) & (bit(PASS) - ONE)
    most, n, choice = -1, 0, PASS
    while actions != NO_TILES:
        action = lowest(actions)
        actions &= actions - ONE
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
