"""A compiled player in twenty lines, at the table, in playouts inside a search, and as an opponent in an environment.

python examples/own_player.py

It is a NamedTuple and a kernel. The kernel gets a position, and returns the turn that the player takes, packed into an integer. It may
write to the next position of the array and to `out`, and cannot allocate memory. It is compiled at its first use.
"""

from typing import NamedTuple

import gymnasium

import kdenv
from kdenv.arena import Match, Summary, play
from kdenv.author import apply, kernel, legal, packed, plays, scores, seat


class Keen(NamedTuple):
    """Takes the action that brings the most points at once, and the first or last of equal ones."""

    last: bool = False


@plays(Keen)
@kernel
def _choose_keenly(player, states, k, out, rng):
    me, n = seat(states[k]), legal(states[k], out)
    best, most = 0, -1_000_000
    for i in range(n):
        legal(states[k], out)  # again, as scores has written to out
        action = out[i]
        states[k + 1] = states[k]
        apply(states[k + 1], action)
        scores(states[k + 1], out)
        if out[me] > most or (player.last and out[me] == most):
            best, most = action, out[me]
    return packed(best)


kdenv.add_player("kingdomino", "keen", Keen)


def main() -> None:
    """Let it play random opponents and a search whose playouts it plays. Then meet it in an environment."""
    summary = Summary(Match("kingdomino", ["keen", "keen(last=yes)", "mce(playout=keen, playouts=60)", "random"], games=40, seed=1))
    play(summary.match, on_result=summary.add)
    print(summary)
    environment = gymnasium.make("kdenv/Kingdomino-v0", opponents="keen", seat="rotate")
    _, info = environment.reset(seed=1)
    print(f"the learner has {info['action_mask'].sum()} legal actions")


if __name__ == "__main__":
    main()
