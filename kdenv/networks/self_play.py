"""Games of compiled players against each other: the loop that learning and measuring share, and the names of their statistics."""

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import next64
from kdenv.core.margins import best_rival, share_of_win
from kdenv.core.questions import choose
from kdenv.core.turns import play_turn_while_deciding
from kdenv.core.verbs import CHANCE, OVER, apply_chance, begin, phase, resample_hidden, sample_chance, scores, seat, standings

N_SUMS = 4
GAMES, POSITIONS, SQUARED_ERRORS, TOO_LONG = range(N_SUMS)  # the indices of Learner.sums
NO_GUIDE = -1  # in guides.which: the network itself decides


@kernel
def comes_to_decide(states, chance, dice):
    """Carry out chance in the game states[0] until a seat decides; return False if the game is over then.

    Afterwards states[1] is the game as this seat sees it, with the information hidden from it drawn anew by `dice`.
    """
    s = states[0]
    while phase(s) == CHANCE:
        apply_chance(s, sample_chance(s, chance))
    if phase(s) == OVER:
        return False
    states[1] = s
    resample_hidden(states[1], seat(s), dice)
    return True


@kernel
def measure_games(player, states, players, teams, variant, n_deals, out, margins, wins, numbers, chance, dice):
    """Play games of the first player of a Seated against the second. In each of n_deals deals the first plays every team once.

    Writes the margin and the share of the win of the first player's team in every game. Chance is the same in all games of a deal.
    """
    s = states[0]
    n = 0
    for _ in range(n_deals):
        deal = next64(chance)
        for team in range(teams):
            chance[0] = deal | np.uint64(1)
            for each in range(players):
                player.which[each] = 0 if each % teams == team else 1
            begin(s, players, variant)
            while comes_to_decide(states, chance, dice):
                play_turn_while_deciding(s, choose(player, states, 1, out, dice), seat(s))
            scores(s, numbers)
            margins[n] = float(numbers[team] - best_rival(numbers, team, teams))
            standings(s, numbers)
            wins[n] = share_of_win(numbers, team, teams)
            n += 1
