"""The rules of Kingdomino in plain, slow Python, from the rule page alone.

This is the oracle with which the compiled engine is compared. It shares no code with it and prefers the obvious to the
fast. A kingdom is a dict from (x, y) to (terrain, crowns), with the castle at (0, 0), x to the right and y down.
The players of the paper are in `kingdomino_greedy`.
"""

import csv
from collections.abc import Iterable
from functools import cache
from pathlib import Path

Square = tuple[int, int]
Half = tuple[str, int]  # terrain and crowns of one half of a domino
Kingdom = dict[Square, Half]

CASTLE = ("castle", 0)
DIRECTIONS = [(1, 0), (0, 1), (-1, 0), (0, -1)]  # right, down, left, up: 0 to 3 in the number of a placement


def read_dominoes() -> dict[int, tuple[Half, Half]]:
    """The 48 dominoes of the printed game, by number."""
    with (Path(__file__).parents[2] / "data" / "kingdomino_dominoes.csv").open(newline="") as file:
        return {
            int(row["number"]): ((row["terrain_a"], int(row["crowns_a"])), (row["terrain_b"], int(row["crowns_b"])))
            for row in csv.DictReader(file)
        }


DOMINOES = read_dominoes()


# --- Kingdoms: where a domino fits ---


@cache
def neighbours(square: Square) -> tuple[Square, ...]:
    """The four squares that share an edge with this one, in the order of DIRECTIONS."""
    x, y = square
    return tuple((x + dx, y + dy) for dx, dy in DIRECTIONS)


def fits_the_box(squares: list[Square], size: int) -> bool:
    """Do these squares lie within some box of size x size? It may slide: the castle need not be its middle."""
    columns, rows = [x for x, _ in squares], [y for _, y in squares]
    return max(columns) - min(columns) < size and max(rows) - min(rows) < size


def touches(kingdom: Kingdom, square: Square, terrain: str) -> bool:
    """Does this square share an edge with the castle or with a square of the same terrain?"""
    return any(kingdom[n][0] in ("castle", terrain) for n in neighbours(square) if n in kingdom)


def placements(kingdom: Kingdom, domino: int, size: int) -> list[tuple[Square, Square]]:
    """The places where the domino fits, as the squares of its first and second half; a double is listed both ways round."""
    (terrain_a, _), (terrain_b, _) = DOMINOES[domino]
    beside = {n for square in kingdom for n in neighbours(square)} - set(kingdom)
    beyond = {n for square in beside for n in neighbours(square)} - set(kingdom)
    return [
        (first, second)
        for first in beside | beyond
        for second in neighbours(first)
        if second not in kingdom
        and (touches(kingdom, first, terrain_a) or touches(kingdom, second, terrain_b))
        and fits_the_box([*kingdom, first, second], size)
    ]


# --- Kingdoms: points ---


def areas(kingdom: Kingdom) -> list[set[Square]]:
    """The areas: squares of one terrain joined by edges. The castle belongs to none."""
    found: list[set[Square]] = []
    left = set(kingdom) - {(0, 0)}
    while left:
        start = left.pop()
        area, front = {start}, [start]
        while front:
            for n in neighbours(front.pop()):
                if n in left and kingdom[n][0] == kingdom[start][0]:
                    left.remove(n)
                    area.add(n)
                    front.append(n)
        found.append(area)
    return found


def crowns(kingdom: Kingdom, squares: Iterable[Square]) -> int:
    """The number of crowns on these squares of the kingdom."""
    return sum(kingdom[square][1] for square in squares)


def points_of_areas(kingdom: Kingdom, areas: list[set[Square]]) -> int:
    """Squares times crowns, summed over the areas."""
    return sum(len(area) * crowns(kingdom, area) for area in areas)


def bonus_for_middle(kingdom: Kingdom, size: int) -> int:
    """10 if no square is more than size // 2 rows or columns from the castle, else 0 ("Middle Kingdom")."""
    return 10 if all(abs(x) <= size // 2 and abs(y) <= size // 2 for x, y in kingdom) else 0


def bonus_for_harmony(kingdom: Kingdom, size: int) -> int:
    """5 if every square of the box is filled, the castle's included, else 0 ("Harmony")."""
    return 5 if len(kingdom) == size * size else 0


# --- The game: drafts, kings and turns ---


class Kingdomino:
    """One game in progress. Actions and outcomes are not checked: ask `legal` and `chances`.

    `unseen` dominoes are in the pile or back in the box, nobody knows which. `draft` is what there is to pick from,
    ascending, and `kings` the seat whose king stands on each domino of it, or None. `line` is the line of kings on
    the dominoes still to be placed in this round, (domino, seat), the next one first.
    """

    def __init__(
        self,
        players: int = 4,
        size: int = 5,
        dominoes: int | None = None,
        middle: bool = True,
        harmony: bool = True,
        tiebreak: str = "shared",
    ) -> None:
        self.size, self.middle, self.harmony, self.tiebreak = size, middle, harmony, tiebreak
        self.draft_size = 3 if players == 3 else 4
        self.drafts_left = ({4: 48, 3: 36, 2: 24}[players] if dominoes is None else dominoes) // self.draft_size
        self.discard = 4 * (2 * size - 1) ** 2
        self.kingdoms: list[Kingdom] = [{(0, 0): CASTLE} for _ in range(players)]
        self.unseen = set(DOMINOES)
        self.kings_in_hand = [self.draft_size // players] * players
        self.king_drawn: int | None = None
        self.round = 1
        self.line: list[tuple[int, int]] = []
        self.has_placed = False
        self._open_draft()

    def _open_draft(self) -> None:
        """Make room for the next draft, if one is left; chance then draws its dominoes."""
        self.draft: list[int] = []
        self.kings: list[int | None] = []
        if self.drafts_left > 0:
            self.drafts_left -= 1
            self.kings = [None] * self.draft_size

    def phase(self) -> str:
        """ "chance" while a domino or a king is to be drawn, "decide" when a seat must act, "over" at the end."""
        if self.draws_domino() or self.draws_king():
            return "chance"
        return "decide" if self.round == 1 or self.line else "over"

    def seat(self) -> int:
        """The seat that decides."""
        if self.round == 1:
            assert self.king_drawn is not None, "nobody decides before a king is drawn"
            return self.king_drawn
        return self.line[0][1]

    # --- Chance ---

    def draws_domino(self) -> bool:
        """Is the draft still short of a domino?"""
        return len(self.draft) < len(self.kings)

    def draws_king(self) -> bool:
        """Is it open whose king is next? Only in the first round is that left to chance."""
        return self.round == 1 and self.king_drawn is None

    def chances(self) -> dict[int, int]:
        """Outcome to weight: domino number - 1 while a draft is drawn, else the seat of the next king.

        Every unseen domino is as likely as any other, and so is every king still in hand.
        """
        if self.draws_domino():
            return {domino - 1: 1 for domino in sorted(self.unseen)}
        return {seat: kings for seat, kings in enumerate(self.kings_in_hand) if kings > 0}

    def apply_chance(self, outcome: int) -> None:
        """The table draws this domino, or a king of this seat."""
        if self.draws_domino():
            self.unseen.remove(outcome + 1)
            self.draft = sorted([*self.draft, outcome + 1])
        else:
            self.kings_in_hand[outcome] -= 1
            self.king_drawn = outcome

    # --- Decisions ---

    def legal(self) -> list[int]:
        """The actions of the seat to decide, ascending: where its domino fits, or the discard, or what it may pick."""
        if self.round == 1 or self.has_placed:
            return self.picks()
        domino, seat = self.line[0]
        return self.places(self.kingdoms[seat], domino) or [self.discard]

    def picks(self) -> list[int]:
        """The dominoes of the draft without a king."""
        return [self.pick_action(slot) for slot, king in enumerate(self.kings) if king is None]

    def places(self, kingdom: Kingdom, domino: int) -> list[int]:
        """The placements of the domino in the kingdom. Both ways round a double is one outcome: the smaller number."""
        first_half, second_half = DOMINOES[domino]
        found = set()
        for first, second in placements(kingdom, domino, self.size):
            names = [self.place_action(first, second)]
            if first_half == second_half:
                names.append(self.place_action(second, first))
            found.add(min(names))
        return sorted(found)

    def apply(self, action: int) -> None:
        """The seat to decide places, discards or picks. Its turn ends with the pick, if there is a draft."""
        if self.round == 1 or self.has_placed:
            self.kings[action - self.pick_action(0)] = self.seat()
            self._end_turn()
        else:
            domino, seat = self.line[0]
            self.kingdoms[seat] = self.kingdom_after(self.kingdoms[seat], domino, action)
            self.has_placed = True
            if not self.kings:
                self._end_turn()

    def _end_turn(self) -> None:
        """The next king in line; when all have moved on to the draft, the next round."""
        self.king_drawn = None
        self.has_placed = False
        self.line = self.line[1:]
        if self.kings and None not in self.kings:
            self.round += 1
            self.line = [(domino, seat) for domino, seat in zip(self.draft, self.kings, strict=True) if seat is not None]
            self._open_draft()

    def kingdom_after(self, kingdom: Kingdom, domino: int, action: int) -> Kingdom:
        """A new kingdom: this one with the domino placed as the action says, or this one if that is the discard."""
        if action == self.discard:
            return kingdom
        first, second = self.squares_of(action)
        first_half, second_half = DOMINOES[domino]
        return {**kingdom, first: first_half, second: second_half}

    # --- The numbers of the actions ---

    def place_action(self, first: Square, second: Square) -> int:
        """The number of placing the first half on one square and the second half on the other, beside it."""
        (x, y), far = first, self.size - 1
        cell = (y + far) * (2 * far + 1) + (x + far)
        return cell * 4 + DIRECTIONS.index((second[0] - x, second[1] - y))

    def squares_of(self, action: int) -> tuple[Square, Square]:
        """The squares of the first and the second half in this placement."""
        cell, direction = divmod(action, 4)
        row, column = divmod(cell, 2 * self.size - 1)
        first = column - (self.size - 1), row - (self.size - 1)
        return first, neighbours(first)[direction]

    def pick_action(self, slot: int) -> int:
        """The number of picking the domino in this slot of the draft, counted from 0."""
        return self.discard + 1 + slot

    # --- The result ---

    def points_of(self, kingdom: Kingdom) -> int:
        """The points of this kingdom, with the bonuses that are played with."""
        points = points_of_areas(kingdom, areas(kingdom))
        if self.middle:
            points += bonus_for_middle(kingdom, self.size)
        if self.harmony:
            points += bonus_for_harmony(kingdom, self.size)
        return points

    def scores(self) -> list[int]:
        """Points per seat, now."""
        return [self.points_of(kingdom) for kingdom in self.kingdoms]

    def standings(self) -> list[tuple[int, ...]]:
        """Per seat what is compared to rank the seats: the higher the better, equal in a tie.

        Points; the official tie-break adds the squares of the largest area, then the crowns of the whole kingdom.
        """
        if self.tiebreak == "shared":
            return [(points,) for points in self.scores()]
        return [(self.points_of(kingdom), max(map(len, areas(kingdom)), default=0), crowns(kingdom, kingdom)) for kingdom in self.kingdoms]
