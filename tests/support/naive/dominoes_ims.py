"""The imperfect minimax search of the dominoes paper, with a table of probabilities for every tile, in plain Python.

`held[tile]` is the probability of each seat having it. The value of a move is minus that of the position after it, times the
probability of the tile being there. A seat passes if it can have nothing that fits. The estimate is pips expected with the
others minus pips expected with the own team; when a team is out, the pips expected with the other.
"""

from .dominoes import PASS, fits, next_seat, other_half, play
from .dominoes_deals import ends_after


class Imagined:
    """A point of an imagined game: the beliefs about the tiles, and the line."""

    tile = 0.0  # the value of a tile laid more than by the other team, if tiles count

    def __init__(self, may_hold, left, ends, passes, turn, blocked, table):
        """may_hold: the seats that may hold each tile; left: tiles left to each seat; table(may_hold, left) -> held."""
        self.may_hold, self.left, self.ends, self.passes, self.turn = may_hold, left, ends, passes, turn
        self.blocked, self.table = blocked, table
        self.held = table(may_hold, left)

    def out(self):
        return self.left[(self.turn + 3) % 4] == 0

    def ended(self):
        return self.out() or self.passes == self.blocked

    def moves(self):
        """Every move that may be possible, with its probability: the heaviest first, equals by number."""
        found = {}
        for tile, held in self.held.items():
            if held[self.turn] > 1e-9 and fits(tile, self.ends):
                for action in self.ways(tile):
                    found[action] = held[self.turn]
        if not found:
            return {PASS: 1.0}
        return dict(sorted(found.items(), key=lambda item: (-sum(divmod(item[0], 7)), item[0])))

    def ways(self, tile):
        if self.ends is None:
            return [play(*tile)]
        return [play(end, other_half(tile, end)) for end in set(self.ends) if end in tile]

    def after(self, action):
        if action == PASS:
            return Imagined(self.may_hold, self.left, self.ends, self.passes + 1, next_seat(self.turn), self.blocked, self.table)
        tile = tuple(sorted(divmod(action, 7)))
        may_hold = {other: seats for other, seats in self.may_hold.items() if other != tile}
        left = [n - (seat == self.turn) for seat, n in enumerate(self.left)]
        return Imagined(may_hold, left, ends_after(self.ends, action), 0, next_seat(self.turn), self.blocked, self.table)

    def estimate(self):
        expected = [sum(sum(tile) * held[seat] for tile, held in self.held.items()) for seat in range(4)]
        own, others = (expected[self.turn + k & 3] + expected[self.turn + k + 2 & 3] for k in (0, 1))
        laid = self.tile * (self.left[self.turn - 1] + self.left[self.turn - 3] - self.left[self.turn] - self.left[self.turn - 2])
        return laid - own if self.out() else laid + others - own


def paper_table(may_hold, left):
    """Each tile in proportion to the tiles left to the seats that may hold it."""
    return {
        tile: [left[s] * (s in seats) / sum(left[t] for t in seats) if s in seats else 0.0 for s in range(4)]
        for tile, seats in may_hold.items()
    }


def exact_table(may_hold, left):
    """By writing out every deal: tiles that may be with the same seats are alike, but here each is dealt by itself."""
    times = {tile: [0, 0, 0, 0] for tile in may_hold}
    tiles = sorted(may_hold, key=lambda tile: len(may_hold[tile]))
    total = _deal(tiles, 0, may_hold, list(left), [], times)
    return {tile: [n / total for n in row] for tile, row in times.items()}


def _deal(tiles, at, may_hold, left, dealt, times):
    if at == len(tiles):
        for tile, seat in zip(tiles, dealt, strict=True):
            times[tile][seat] += 1
        return 1
    total = 0
    for seat in may_hold[tiles[at]]:
        if left[seat]:
            left[seat] -= 1
            total += _deal(tiles, at + 1, may_hold, left, [*dealt, seat], times)
            left[seat] += 1
    return total


def search(node, depth, paper_pruning=False):
    """The worth of each move at this point."""
    best, found = float("-inf"), {}
    for action, chance in node.moves().items():
        found[action] = -chance * _worth(node.after(action), depth - 1, paper_pruning, -float("inf"), -best)
        best = max(best, found[action])
    return found


def _worth(node, depth, pruning, alpha, beta):
    if depth == 0 or node.ended():
        return node.estimate()
    best = float("-inf")
    for action, chance in node.moves().items():
        value = -chance * _worth(node.after(action), depth - 1, pruning, -beta, -alpha)
        best, alpha = max(best, value), max(alpha, value)
        if pruning and alpha >= beta:
            break
    return best
