"""A custom search over the verbs, in forty lines: flat Monte Carlo by halving. It plays every game.

python examples/own_search.py

It plays out every turn, then the better half of the turns twice as often, until one is left. A kernel does the search. A class makes it a
policy: it gives the kernel the position that a seat sees, the list of turns and memory.
"""

import numpy as np

import kdenv
from kdenv.arena import Match, Summary, play
from kdenv.author import TurnPolicy, Uniform, View, kernel, list_turns, param, play_out, play_turn, resample_hidden, scores


@kernel
def _halve(states, me, turns, n, playouts, out, numbers, totals, rng):
    """Return the turn that is left. states[0] is the position; states[1] is scratch."""
    while n > 1:
        for i in range(n):
            totals[i] = 0
            for _ in range(playouts):
                states[1] = states[0]
                resample_hidden(states[1], me, rng)
                play_turn(states[1], turns[i])
                play_out(Uniform(), states, 1, out, rng)
                scores(states[1], numbers)
                totals[i] += numbers[me]
        for i in range((n + 1) // 2):  # bring the better half to the front
            best = i + totals[i:n].argmax()
            totals[i], totals[best] = totals[best], totals[i]
            turns[i], turns[best] = turns[best], turns[i]
        n, playouts = (n + 1) // 2, playouts * 2
    return turns[0]


class Halving(TurnPolicy):
    """Plays out all turns, then the better half of them twice as often, until one is left."""

    playouts: int = param("of each turn in the first round", default=4, least=1)

    def choose_turn(self, view: View) -> int:
        """The turn that is left. Random numbers come from self.rng, so that a seed gives the same game."""
        game, states = view.game, view.scratch(8)
        turns, totals = np.zeros((2, game.max_turns), np.int64)
        n = list_turns(states, 0, game.most_decisions, game.max_legal, turns)
        numbers = np.zeros(view.players, np.int64)
        return int(_halve(states, view.seat, turns, n, self.playouts, game.buffer(), numbers, totals, self.rng))


kdenv.add_policy("halving", Halving)


def main() -> None:
    """Let it play searches of the package in two games."""
    for game, line_up in (("kingdomino", ["halving", "mce(playouts=200)", "random"]), ("dominoes", ["halving(playouts=2)", "random"] * 2)):
        summary = Summary(Match(game, line_up, games=12, seed=1))
        play(summary.match, on_result=summary.add, processes=1)
        print(summary, end="\n\n")


if __name__ == "__main__":
    main()
