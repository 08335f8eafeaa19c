"""The value of a dominoes position with all hands open, by trying everything on the naive rules.

It is the points of the team to move minus those of the other in the rest of the round, if everybody plays for that.
"""

from copy import copy

from .dominoes import hands_of, pips


def after(game, action):
    """The game after this action; the game itself stays as it is."""
    twin = copy(game)
    twin.hands = [set(hand) for hand in game.hands]
    twin.history, twin.unjust, twin.points = list(game.history), list(game.unjust), list(game.points)
    twin.apply(action)
    return twin


def gain(game, points_before, team):
    """The points of this team minus those of the other in this round."""
    ours, theirs = (game.points[t] - points_before[t] for t in (team, 1 - team))
    return ours - theirs if game.preset.winners_take_all else theirs - ours


def worth(game, depth=None):
    """The value to the team to move; after `depth` turns, the pips of the others minus its own."""
    return max(worths(game, depth).values())


def worths(game, depth=None):
    """The value of each legal action, looking `depth` turns beyond it, or to the end; the game is a single round."""
    team = game.seat() % 2
    found = {}
    for action in game.legal():
        child = after(game, action)
        if child.over:
            found[action] = gain(child, game.points, team)
        elif depth == 0:
            found[action] = pips(*hands_of(1 - team, child.hands)) - pips(*hands_of(team, child.hands))
        else:
            found[action] = -worth(child, None if depth is None else depth - 1)
    return found
