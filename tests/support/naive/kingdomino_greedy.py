"""Between which turns do FULL GREEDY and GPRD of the 2018 paper choose at random?

Answered for the rules in `kingdomino`, as the authors' program really decides (`variant="paper"`) and repaired
(`variant="fixed"`). A turn is a tuple of actions: (pick,) in the first round, (place,) in the last, else (place, pick).
"""

from .kingdomino import DOMINOES, Kingdom, Kingdomino, Square, neighbours

Turn = tuple[int, ...]


def full_greedy_turns(game: Kingdomino, variant: str) -> set[Turn]:
    """FULL GREEDY: the best kingdom once the old domino *and* the picked one right after it are placed.

    The game must be at the beginning of a turn. A turn whose pick would not fit is out, if any other's would. If no
    pick of any turn would, and in the last round, the paper's program takes all turns to be equally good; the fixed one
    looks at the placement alone.
    """
    if game.round <= 2:
        return turns_with_most_crowns(game)
    turns = turns_with_kingdoms(game)
    look_aheads = [(turn, after) for turn, kingdom in turns for after in kingdoms_with_pick(game, turn, kingdom)]
    if look_aheads:
        return best_turns(game, look_aheads)
    return {turn for turn, _ in turns} if variant == "paper" else best_turns(game, turns)


def gprd_turns(game: Kingdomino, variant: str) -> set[Turn]:
    """GPRD: the best kingdom once the old domino is placed, whatever is picked, whether or not that will fit.

    The game must be at the beginning of a turn. Both variants are the same: GPRD of the paper is greedy in the last
    round too, so there is nothing to repair.
    """
    if game.round <= 2:
        return turns_with_most_crowns(game)
    return best_turns(game, turns_with_kingdoms(game))


# --- The turns and what they lead to ---


def turns_with_kingdoms(game: Kingdomino) -> list[tuple[Turn, Kingdom]]:
    """Every turn open to the seat to move, with its kingdom after the placement."""
    if game.round == 1:
        return [((pick,), game.kingdoms[game.seat()]) for pick in game.picks()]
    domino, seat = game.line[0]
    kingdoms = {place: game.kingdom_after(game.kingdoms[seat], domino, place) for place in game.legal()}
    if not game.kings:
        return [((place,), kingdom) for place, kingdom in kingdoms.items()]
    return [((place, pick), kingdom) for place, kingdom in kingdoms.items() for pick in game.picks()]


def kingdoms_with_pick(game: Kingdomino, turn: Turn, kingdom: Kingdom) -> list[Kingdom]:
    """The kingdom with the domino picked in this turn placed too, in every way; none if it does not fit."""
    if not game.kings:
        return []
    picked = domino_of(game, turn[-1])
    return [game.kingdom_after(kingdom, picked, place) for place in game.places(kingdom, picked)]


def domino_of(game: Kingdomino, pick: int) -> int:
    """The number of the domino that this pick takes."""
    return game.draft[pick - game.pick_action(0)]


# --- How the turns are judged ---


def turns_with_most_crowns(game: Kingdomino) -> set[Turn]:
    """In the first two rounds: any placement, and a pick with the most crowns on one of its two squares.

    Rounds are rounds of the table: with two players both kings of a seat act this way in the second round.
    """
    crowns = {pick: max(half[1] for half in DOMINOES[domino_of(game, pick)]) for pick in game.picks()}
    most = max(crowns.values())
    return {turn for turn, _ in turns_with_kingdoms(game) if crowns[turn[-1]] == most}


def best_turns(game: Kingdomino, look_aheads: list[tuple[Turn, Kingdom]]) -> set[Turn]:
    """The turns that lead to a tidy kingdom with the most points; if none is tidy, to any with the most points."""
    tidy = [(turn, kingdom) for turn, kingdom in look_aheads if is_tidy(kingdom, game.size)]
    points = [(turn, game.points_of(kingdom)) for turn, kingdom in tidy or look_aheads]
    most = max(n for _, n in points)
    return {turn for turn, n in points if n == most}


def is_tidy(kingdom: Kingdom, size: int) -> bool:
    """Does the kingdom lie within the box around its castle, without a hole in it?"""
    reach = range(-(size // 2), size // 2 + 1)
    box = {(x, y) for x in reach for y in reach}
    return box.issuperset(kingdom) and not any(is_hole(kingdom, square, box) for square in box.difference(kingdom))


def is_hole(kingdom: Kingdom, square: Square, box: set[Square]) -> bool:
    """Is this empty square beyond the reach of any domino? No neighbour is empty and in the box, or the castle."""
    return not any(n == (0, 0) or (n in box and n not in kingdom) for n in neighbours(square))
