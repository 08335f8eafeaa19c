"""A custom playout, with which searches play positions to their ends. Most decisions are random, and some are those of the greedy player.

python examples/own_playout.py

It is a NamedTuple and a kernel, like a player (own_player.py). A class makes the NamedTuple for the seat that searches. The class gives it
a name and parameters, so every search takes it as playout=hurried.
"""

from typing import Any, NamedTuple

from kdenv.arena import Match, Summary, play
from kdenv.author import Playout, View, below, choose, kernel, legal, named, packed, param, plays, uniform


class Hurry(NamedTuple):
    """Decides at random, but with probability `care` as another player."""

    careful: Any
    care: float


@plays(Hurry)
@kernel
def _hurry(player, states, k, out, rng):
    if uniform(rng) < player.care:
        return choose(player.careful, states, k, out, rng)
    return packed(out[below(rng, legal(states[k], out))])


@named("hurried")
class Hurried(Playout):
    """Playouts of random decisions, some of which the greedy player of the game makes."""

    care: float = param("the share of decisions that the greedy player makes", default=0.2, least=0, most=1)

    def player(self, view: View) -> Hurry:
        """The compiled player for all seats; the seat of the view searches."""
        knowledge = view.game.knowledge
        return Hurry(knowledge.players[knowledge.greedy].make(), self.care)


def main() -> None:
    """Let searches with this playout play one with random playouts."""
    line_up = ["mce(playout=hurried, playouts=60)", "mce(playout=hurried(care=0.5), playouts=60)", "mce(playouts=60)", "random"]
    summary = Summary(Match("kingdomino", line_up, games=12, seed=1))
    play(summary.match, on_result=summary.add, processes=1)
    print(summary)


if __name__ == "__main__":
    main()
