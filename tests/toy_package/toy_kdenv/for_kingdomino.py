"""A compiled player of Kingdomino, and an encoding for it."""

from typing import NamedTuple

import kdenv
from kdenv.author import Encoding, Part, kernel, legal, packed, plays, seat


class First(NamedTuple):
    """Takes the first legal action, or the last one."""

    last: bool = False


@plays(First)
@kernel
def _first(player, states, k, out, rng):
    n = legal(states[k], out)
    return packed(out[n - 1 if player.last else 0])


def _layout(players, options):
    return {"mover": Part((4,), "1 for who is to move, from me on")}


@kernel
def _observe(states, k, looker, out):
    for i in range(4):
        out[i] = 0.0
    out[(seat(states[k]) - looker) % 4] = 1.0


kdenv.add_player("kingdomino", "toy_first", First)
kdenv.add_encoding("kingdomino", Encoding("toy_mover", _layout, _observe))
