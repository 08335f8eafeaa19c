"""Games of Carcassonne written down as tests: turn by turn, with given tiles, for the oracle and for the compiled rules.

An engine takes `players` and `unplaceable`. Actions and outcomes have their numbers of the rule page. x counts cells to the
east of the start tile and y to the north.
"""

from compiled_carcassonne import CompiledCarcassonne
from naive.carcassonne import Carcassonne

ENGINES = {"naive": Carcassonne, "compiled": CompiledCarcassonne}

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWX"
SLOTS = [None, "N", "E", "S", "W", "NW", "NE", "SE", "SW", "cloister"]
NO_MEEPLE = 3844
FILLING_ORDER = "ABDEFGHIJKLMNOPQRSTUVWXC"  # C, four city edges, fits only where others have left cities open


def placement(x, y, rotation):
    """The action that places the drawn tile x cells east and y north of the start tile."""
    return ((15 - y) * 31 + 15 + x) * 4 + rotation


def place(game, letter, x, y, rotation):
    """Draw this tile and place it; the claim is still to be made, if there is one."""
    game.apply_chance(LETTERS.index(letter))
    action = placement(x, y, rotation)
    assert action in game.legal(), f"{letter} at ({x}, {y}) turned {rotation} does not fit"
    game.apply(action)


def is_claiming(game):
    """Is the seat to decide on a claim, not on a placement?"""
    return game.phase() == "decide" and game.legal()[0] == NO_MEEPLE


def claims(game):
    """The claims open to the seat that has just placed a tile, as names of slots."""
    return [SLOTS[action - NO_MEEPLE] for action in game.legal()] if is_claiming(game) else [None]


def claim(game, slot):
    """Make the claim with this name; None, or no decision at all, for no meeple."""
    assert slot in claims(game), f"{slot} cannot be claimed; open: {claims(game)}"
    if is_claiming(game):
        game.apply(NO_MEEPLE + SLOTS.index(slot))


def play(engine, turns, **variant):
    """The game after these turns, each (tile, x, y, rotation, claim) or without claim."""
    game = engine(**variant)
    for letter, x, y, rotation, *slot in turns:
        place(game, letter, x, y, rotation)
        claim(game, slot[0] if slot else None)
    return game


def finish(game, keep=""):
    """Draw and place all other tiles, except those kept, to the south of the start tile's row and without a meeple.

    What a test has built to the north stays as it is, for its end scoring. Of the placements the greatest number is
    the southernmost.
    """
    while game.phase() == "chance":
        left = {LETTERS[tile]: copies for tile, copies in game.chances().items()}
        letters = [letter for letter in FILLING_ORDER if left.get(letter, 0) > keep.count(letter)]
        if not letters:
            break
        game.apply_chance(LETTERS.index(letters[0]))
        southernmost = max(game.legal())
        assert southernmost >= placement(-15, -1, 0), f"{letters[0]} fits only beside the test's own tiles"
        game.apply(southernmost)
        claim(game, None)
    return game
