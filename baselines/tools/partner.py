"""ISMCTS of team dominoes that knows its partner's hand: what a perfect inference about the partner could be worth.

It is `ismcts` with a dealer that leaves the partner's tiles where they are, and deals the rest to the two opponents. Each consistent deal
is equally likely. It is an oracle: a match gives it a view that shows everything, and it reads nothing of that but the partner's hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.author import NotSupported, Rng, View, answers, below, bit, deal, kernel, nth, popcount
from kdenv.games.dominoes.belief import mirrored, passes_may_be_just, possible_tiles, unseen_tiles
from kdenv.games.dominoes.rules import n_tiles
from kdenv.policies.uct import Uct


class PartnerKnown(NamedTuple):
    """A dealer that knows the hand of the searching seat's partner."""

    hand: NDArray[np.uint64]  # one mirrored hand


@answers(deal, PartnerKnown)
@kernel
def _deal_to_opponents(dealer: Any, states: Any, k: int, seat: int, rng: Rng) -> None:
    """Deal what neither the seat nor its partner holds to the two opponents. Call it during play only."""
    s = states[k]
    a, partner, c = (seat + 1) & 3, (seat + 2) & 3, (seat + 3) & 3
    are_just = passes_may_be_just(s, seat)
    hidden = unseen_tiles(s, seat) & ~dealer.hand[0]
    of_a, of_c = hidden & possible_tiles(s, a, are_just), hidden & possible_tiles(s, c, are_just)
    only_a = of_a & ~of_c
    either = of_a & of_c
    to_a = only_a
    for _ in range(n_tiles(s.hands[a]) - popcount(only_a)):
        tile = bit(nth(either, below(rng, popcount(either))))
        to_a |= tile
        either &= ~tile
    s.hands[partner] = dealer.hand[0]
    s.hands[a] = mirrored(to_a)
    s.hands[c] = mirrored(hidden & ~to_a)


@dataclass(frozen=True, kw_only=True, repr=False)
class KnowsPartner(Uct):
    """UCT whose deals leave the partner's hand as it is."""

    is_oracle = True

    def needs(self, game: Any, players: int, variant: Any) -> None:
        """Check also that the game is team dominoes, and that no opponent model is given."""
        super().needs(game, players, variant)
        if game.knowledge.hidden is None or self.rivals is not None or self.chance != "information_sets":
            raise NotSupported("KnowsPartner plays dominoes with chance=information_sets and without rivals")

    def dealer(self, view: View) -> PartnerKnown:
        """Make a dealer with the hand of this seat's partner."""
        return PartnerKnown(view.states[0]["hands"][(view.seat + 2) % 4].reshape(1).copy())
