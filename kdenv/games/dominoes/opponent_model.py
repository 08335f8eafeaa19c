"""A dealer with an opponent model: it samples deals in proportion to the likelihood of the opponents' turns.

In the model an opponent lays the tile that a given player lays or, with the probability `doubt`, takes any legal turn. The draws of a
search are a Markov chain (Metropolis and others 1953). Each draw begins with the deal of the last one and makes a few changes. A
change swaps two hidden tiles of two seats or, because swaps do not reach every deal, deals all of them anew. A change to a deal of
lower likelihood is accepted with the ratio of the likelihoods as its probability.

A player with random choices draws them anew for each deal, so the likelihood of a deal is an unbiased estimate. Each deal keeps the
estimate with which it was accepted. Then the chain still has the right distribution (Andrieu and Roberts 2009).
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
_ANEW = 8  # one change in eight deals all hidden tiles anew
_NO_DEAL = -1.0  # the weight before the first deal


class LikelyDeals(NamedTuple):
    """A dealer with the last deal of its chain. It serves one search of one position."""

    player: Any  # the model of the opponents; it answers choose
    doubt: float
    past: NDArray[Any]  # states: the round, played again from its lead; behind it the scratch states of the player
    out: NDArray[np.int64]  # the buffer of the player
    last: NDArray[Any]  # one state, with the last deal
    weight: NDArray[np.float64]  # one number: the likelihood of the last deal, or _NO_DEAL


def likely_deals(variant: Variant, player: Any, doubt: float, out: NDArray[np.int64]) -> LikelyDeals:
    """Return a new dealer; it is the same in all variants. player: the model of the opponents. out: a buffer of the game."""
    return LikelyDeals(player, doubt, np.zeros(1 + SCRATCH, STATE), out, np.zeros(1, STATE), np.full(1, _NO_DEAL))


@answers(deal, LikelyDeals)
@kernel
def _deal_likely(dealer, states, k, seat, rng):
    """Make the next draw. Before play begins there are no turns, so all deals are equally likely."""
    # 1. In the first draw of a search, this deal begins the chain. Later draws overwrite it.
    resample_hidden(states[k], seat, rng)
    if states[k].stage != PLAYING:
        return
    changes = _CHANGES
    if dealer.weight[0] == _NO_DEAL:
        changes = _FIRST_CHANGES
        dealer.last[0] = states[k]
        dealer.weight[0] = weight_of(dealer, states[k], seat, rng)
    are_just = passes_may_be_just(states[k], seat)
    # 2. Each change proposes a deal in states[k]. Both kinds of proposals are symmetric, so only the likelihoods decide.
    for _ in range(changes):
        if below(rng, _ANEW) == 0:
            resample_hidden(states[k], seat, rng)
        else:
            states[k] = dealer.last[0]
            if not _swap(states[k], seat, are_just, rng):
                continue
        weight = weight_of(dealer, states[k], seat, rng)
        if uniform(rng) * dealer.weight[0] < weight:  # accept
            dealer.last[0] = states[k]
            dealer.weight[0] = weight
    # 3. Whether or not the last proposal was accepted, the draw is the deal of the chain.
    states[k] = dealer.last[0]


@kernel
def _swap(s, seat, are_just, rng):
    """Swap a hidden tile of one seat with one of another. Returns False, and changes nothing, if one of them cannot hold its new tile."""
    # b may be the observer itself, whose hand is known. Then nothing is swapped.
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
    """Return the likelihood of the opponents' turns in this round, given the hands in s. Random choices of the player are drawn once."""
    # Play the round again from its lead. A turn of an opponent with a choice multiplies the likelihood; a partner's turn does not.
    past, weight = dealer.past, 1.0
    past[0] = s
    _take_back(past[0])
    for i in range(s.n_turns):
        action = int(s.turns[i])
        n_legal = popcount(legal_set(past[0]))
        if (int(past[0].turn) - seat) & 1 != 0 and n_legal > 1:
            chosen = first_action(choose(dealer.player, past, 0, dealer.out, rng))
            weight *= dealer.doubt / n_legal + (1.0 - dealer.doubt if _is_same_tile(chosen, action) else 0.0)
        apply(past[0], action)
    return weight


@kernel
def _is_same_tile(chosen, action):
    """Return whether both actions lay the same tile, at either end, or are equal."""
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
