"""A dealer for searches that know something about their rivals: what makes the turns of the rivals more probable is drawn more often.

A rival is taken to lay the tile that a given player lays or, with the probability `doubt`, to take any legal turn. The draws of
a search are a Markov chain (Metropolis and others 1953): each begins with the deal of the last one, and is changed a few times, by
swapping hidden tiles between two seats or, since swaps do not reach every deal, by dealing all of them anew. A change that makes the
turns less probable is taken back as often as that asks for.

What the player draws at random is drawn anew whenever a deal is weighed. So its weight is only right in the mean. Because a deal keeps
the weight that it had when it was drawn, the chain has the right shares nevertheless (Andrieu and Roberts 2009).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.bits import bit, nth, popcount
from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers
from kdenv.compiler.random import below, uniform
from kdenv.core.game import Variant
from kdenv.core.questions import choose, deal
from kdenv.core.turns import SCRATCH, first_action
from kdenv.games.dominoes.belief import OTHERS, mirrored, passes_may_be_just, possible_tiles, resample_hidden
from kdenv.games.dominoes.rules import NO_END, PLAYING, STATE, apply, legal_set
from kdenv.games.dominoes.tables import ALL_TILES, NO_TILES, PASS, UNMIRRORED

_FIRST_CHANGES, _CHANGES = 300, 5  # before the first draw of a search, and before each other one
_ANEW = 8  # one change in so many deals all hidden tiles anew
_NONE = -1.0  # the weight as long as there is no deal


class LikelyDeals(NamedTuple):
    """A dealer with the last deal of its chain. It serves one search of one position."""

    player: Any  # answers choose
    doubt: float
    past: NDArray[Any]  # the round as it has been so far, played again; and what the player needs behind it
    out: NDArray[np.int64]  # room for the player
    last: NDArray[Any]  # one state, with the last deal
    weight: NDArray[np.float64]  # one number, that of the last deal


def likely_deals(variant: Variant, player: Any, doubt: float, out: NDArray[np.int64]) -> LikelyDeals:
    """A new dealer; it is the same in all variants. player: what rivals are taken to be. out: a buffer of the game."""
    return LikelyDeals(player, doubt, np.zeros(1 + SCRATCH, STATE), out, np.zeros(1, STATE), np.full(1, _NONE))


@answers(deal, LikelyDeals)
@kernel
def _deal_likely(dealer, states, k, seat, rng):
    """Make the next draw. Before play begins there are no turns to weigh, so that all deals are alike."""
    resample_hidden(states[k], seat, rng)
    if states[k].stage != PLAYING:
        return
    changes = _CHANGES
    if dealer.weight[0] == _NONE:
        changes = _FIRST_CHANGES
        dealer.last[0] = states[k]
        dealer.weight[0] = weight_of(dealer, states[k], seat, rng)
    are_just = passes_may_be_just(states[k], seat)
    for _ in range(changes):
        if below(rng, _ANEW) == 0:
            resample_hidden(states[k], seat, rng)
        else:
            states[k] = dealer.last[0]
            if not _swap(states[k], seat, are_just, rng):
                continue
        weight = weight_of(dealer, states[k], seat, rng)
        if uniform(rng) * dealer.weight[0] < weight:
            dealer.last[0] = states[k]
            dealer.weight[0] = weight
    states[k] = dealer.last[0]


@kernel
def _swap(s, seat, are_just, rng):
    """Swap a hidden tile of one seat with one of another; return whether both may hold what they get. If not, nothing is changed."""
    a = (seat + 1 + below(rng, OTHERS)) & 3
    b = (a + 1 + below(rng, OTHERS)) & 3
    of_a, of_b = s.hands[a] & ALL_TILES, s.hands[b] & ALL_TILES
    if b == seat or of_a == NO_TILES or of_b == NO_TILES:
        return False
    to_b = bit(nth(of_a, below(rng, popcount(of_a))))
    to_a = bit(nth(of_b, below(rng, popcount(of_b))))
    if possible_tiles(s, a, are_just) & to_a == NO_TILES or possible_tiles(s, b, are_just) & to_b == NO_TILES:
        return False
    s.hands[a] = mirrored(of_a & ~to_b | to_a)
    s.hands[b] = mirrored(of_b & ~to_a | to_b)
    return True


@kernel
def weight_of(dealer, s, seat, rng):
    """How probable the hands in s make the turns that the rivals of this seat have taken in this round, as the player's dice fall now."""
    past, weight = dealer.past, 1.0
    past[0] = s
    _take_back(past[0])
    for i in range(s.n_turns):
        action = int(s.turns[i])
        n_legal = popcount(legal_set(past[0]))
        if (int(past[0].turn) - seat) & 1 != 0 and n_legal > 1:
            chosen = first_action(choose(dealer.player, past, 0, dealer.out, rng))
            weight *= dealer.doubt / n_legal + (1.0 - dealer.doubt if _is_alike(chosen, action) else 0.0)
        apply(past[0], action)
    return weight


@kernel
def _is_alike(chosen, action):
    """Whether both actions lay the same tile, at whichever end, or are equal."""
    return chosen == action or (chosen < PASS and action < PASS and UNMIRRORED[chosen] == UNMIRRORED[action])


@kernel
def _take_back(s):
    """Take back all turns of the round: the tiles laid go back to the hands."""
    for seat in range(4):
        s.hands[seat] |= mirrored(s.played[seat])
        s.played[seat] = NO_TILES
        s.lacks[seat] = 0
        s.passed_on[seat] = 0
    s.left = NO_END
    s.right = NO_END
    s.passes = 0
    s.n_turns = 0
    s.turn = s.leader
