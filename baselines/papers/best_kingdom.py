"""The most points of a kingdom of 3 x 3, 5 x 5 or 7 x 7. It is laid with the 48 dominoes and without bonuses.

    python -m baselines.papers.best_kingdom    # the bound, and the kingdoms that reach it

The bound ignores where dominoes lie. An area scores squares times crowns, so the areas of a terrain score the most if they are one area.
So no kingdom scores more than the sum over terrains of (its squares) x (its crowns). A domino has crowns on one half at most. For given
numbers of crowns c[t] of each terrain, the dominoes with crowns can therefore be chosen for each terrain separately. A domino then adds c
of its one terrain and c of its other. `most_by_counting` does this for every possible c. No kingdom scores more than this bound, but
perhaps none scores as much. best_kingdoms.txt has the best that `search` found.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kdenv.author import below, kernel, make_rng, uniform
from kdenv.games.kingdomino import DOMINOES, TERRAINS

Integers = NDArray[np.int64]

KINGDOMS = Path(__file__).with_name("best_kingdoms.txt")
SIZES = (3, 5, 7)
_HALVES = np.array([(a, crowns_a, b, crowns_b) for (a, crowns_a), (b, crowns_b) in DOMINOES])
_N_TERRAINS = len(TERRAINS)
_NOTHING = -(10**6)  # worth of what cannot be chosen


def most_by_counting(n: int) -> int:
    """The largest sum over terrains of squares times crowns that n dominoes can have, wherever they lie."""
    most = [0] * _N_TERRAINS  # crowns of each terrain in the box
    for one, crowns_of_one, other, crowns_of_other in _HALVES.tolist():
        most[one] += crowns_of_one
        most[other] += crowns_of_other
    best = 0
    for crowns in itertools.product(*(range(each + 1) for each in most)):
        if 2 * n * max(crowns) <= best:  # no square adds more than the largest number of crowns
            continue
        best = max(best, int(_most_with(np.array(crowns), n, _HALVES, np.zeros((n + 1, 11), np.int64), np.zeros((2, n + 1), np.int64))))
    return best


@kernel
def _most_with(crowns: Integers, n: int, halves: Integers, chosen: Integers, sums: Integers) -> int:
    """The largest sum of crowns[terrain] over the squares of n dominoes that have exactly these crowns; far below 0 if there are none.

    Scratch: chosen[j, k] is the most for j dominoes with k crowns of a terrain. sums has the most for j dominoes of the terrains so far.
    """
    sums[0, :] = _NOTHING
    sums[0, 0] = 0
    for terrain in range(-1, _N_TERRAINS):  # -1: the dominoes without crowns
        wanted = 0 if terrain < 0 else crowns[terrain]
        chosen[:, :] = _NOTHING
        chosen[0, 0] = 0
        for i in range(halves.shape[0]):
            mine = halves[i, 1] + halves[i, 3]
            of = -1 if mine == 0 else halves[i, 0] if halves[i, 1] else halves[i, 2]
            if of == terrain:
                worth = crowns[halves[i, 0]] + crowns[halves[i, 2]]
                for j in range(n, 0, -1):
                    for k in range(wanted, mine - 1, -1):
                        chosen[j, k] = max(chosen[j, k], chosen[j - 1, k - mine] + worth)
        sums[1, :] = _NOTHING
        for j in range(n + 1):
            for more in range(n + 1 - j):
                sums[1, j + more] = max(sums[1, j + more], sums[0, j] + chosen[more, wanted])
        for j in range(n + 1):
            sums[0, j] = sums[1, j]
    return int(sums[0, n])


# Kingdoms that reach the bound


def search(size: int, castle: int, seed: int, steps: int) -> tuple[int, str]:
    """The best full kingdom with the castle on this square that simulated annealing finds: its points, and its text."""
    squares = np.array(_filled(size, castle))
    numbers = np.array(make_permutation(seed, len(DOMINOES)), np.int64)
    terrain, crowns = np.zeros(size * size, np.int64), np.zeros(size * size, np.int64)
    best = np.zeros((len(squares), 3), np.int64)
    found = _anneal(size, castle, squares, numbers, steps, _HALVES, make_rng(seed), terrain, crowns, np.zeros(size * size, np.int64), best)
    return int(found), text_of(size, best)


def make_permutation(seed: int, n: int) -> list[int]:
    """The numbers below n in an order of this seed."""
    rng, left, found = make_rng(seed), list(range(n)), []
    while left:
        found.append(left.pop(int(below(rng, len(left)))))
    return found


def _filled(size: int, castle: int) -> list[tuple[int, int]]:
    """The squares of dominoes that fill the board around this castle. There are none unless its row and column have an even sum."""

    def rest(taken: frozenset[int]) -> list[tuple[int, int]] | None:
        square = next((each for each in range(size * size) if each not in taken), None)
        if square is None:
            return []
        for other in (square + 1,) * (square % size + 1 < size) + (square + size,):
            if other < size * size and other not in taken:
                found = rest(taken | {square, other})
                if found is not None:
                    return [(square, other), *found]
        return None

    return rest(frozenset({castle})) or []


@kernel
def _anneal(
    size: int,
    castle: int,
    squares: Integers,
    numbers: Integers,
    steps: int,
    halves: Integers,
    rng: NDArray[np.uint64],
    terrain: Integers,
    crowns: Integers,
    room: Integers,
    best: Integers,
) -> int:
    """Change single things at random, mostly for the better, and write the best kingdom to `best`: squares and number of each domino.

    The array `squares` has the two squares of each domino. The dominoes that lie are the first of `numbers`.
    """
    n = squares.shape[0]
    value = _value(size, castle, squares, numbers, halves, terrain, crowns, room)
    most = -1
    for step in range(steps):
        heat = 4.0 * (1.0 - (step % 2_000_000) / 2_000_000) + 0.15
        kind, i, j = below(rng, 4), below(rng, n), below(rng, n)
        if kind == 1:
            j = n + below(rng, numbers.shape[0] - n)
        if kind == 3 and not _turn(size, squares, i, j):
            continue
        if kind == 2:
            squares[i, 0], squares[i, 1] = squares[i, 1], squares[i, 0]
        elif kind < 2:
            numbers[i], numbers[j] = numbers[j], numbers[i]
        new = _value(size, castle, squares, numbers, halves, terrain, crowns, room)
        if new >= value or uniform(rng) < np.exp((new - value) / heat):
            value = new
            if value > most:
                most = value
                for k in range(n):
                    best[k, 0], best[k, 1], best[k, 2] = squares[k, 0], squares[k, 1], numbers[k]
        elif kind == 3:
            _turn(size, squares, i, j)
        elif kind == 2:
            squares[i, 0], squares[i, 1] = squares[i, 1], squares[i, 0]
        else:
            numbers[i], numbers[j] = numbers[j], numbers[i]
    return most


@kernel
def _turn(size: int, squares: Integers, i: int, j: int) -> bool:
    """Turn two dominoes that lie side by side, if they do. Done twice, it changes nothing."""
    if i == j:
        return False
    a, b, c, d = squares[i, 0], squares[i, 1], squares[j, 0], squares[j, 1]
    if abs(a - b) != abs(c - d):
        return False
    across = size if abs(a - b) == 1 else 1  # the step from one to the other
    if abs(a - c) == across and abs(b - d) == across:
        beside_a, beside_b = c, d
    elif abs(a - d) == across and abs(b - c) == across:
        beside_a, beside_b = d, c
    else:
        return False
    if across == 1 and a // size != beside_a // size:
        return False
    squares[i, 0], squares[i, 1] = a, beside_a
    if beside_a == c:
        squares[j, 0], squares[j, 1] = b, beside_b
    else:
        squares[j, 0], squares[j, 1] = beside_b, b
    return True


@kernel
def _value(
    size: int, castle: int, squares: Integers, numbers: Integers, halves: Integers, terrain: Integers, crowns: Integers, room: Integers
) -> int:
    """The points of a kingdom, less ten for each domino that cannot be laid. terrain is 0 for the castle."""
    n = squares.shape[0]
    terrain[castle], crowns[castle] = 0, 0
    for i in range(n):
        for half in range(2):
            terrain[squares[i, half]] = halves[numbers[i], 2 * half] + 1
            crowns[squares[i, half]] = halves[numbers[i], 2 * half + 1]
    points = 0
    for start in range(size * size):
        room[start] = 0
    for start in range(size * size):
        if room[start] == 0 and terrain[start]:
            points += _points_of_area(size, start, terrain, crowns, room)
    return int(points - 10 * (n - n_laid(size, castle, squares, terrain, room)))


@kernel
def _points_of_area(size: int, start: int, terrain: Integers, crowns: Integers, room: Integers) -> int:
    """Squares times crowns of the area of this square, whose squares are marked with 1 in room."""
    room[start] = 1
    n, sum_of_crowns, grows = 1, crowns[start], True
    while grows:
        grows = False
        for square in range(size * size):
            if room[square] == 0 and terrain[square] == terrain[start]:
                column = square % size
                near = (square >= size and room[square - size] == 1 and terrain[square - size] == terrain[start]) or (
                    square + size < size * size and room[square + size] == 1 and terrain[square + size] == terrain[start]
                )
                near = near or (column > 0 and room[square - 1] == 1 and terrain[square - 1] == terrain[start])
                near = near or (column + 1 < size and room[square + 1] == 1 and terrain[square + 1] == terrain[start])
                if near:
                    room[square] = 1
                    n += 1
                    sum_of_crowns += crowns[square]
                    grows = True
    return int(n * sum_of_crowns)


@kernel
def n_laid(size: int, castle: int, squares: Integers, terrain: Integers, room: Integers) -> int:
    """The number of these dominoes that can be laid by the rules, one after the other, from the castle."""
    for square in range(size * size):
        room[square] = 0
    room[castle] = 1
    laid, before = 0, -1
    while laid != before:
        before = laid
        for i in range(squares.shape[0]):
            if room[squares[i, 0]] == 0:
                fits = False
                for half in range(2):
                    square = squares[i, half]
                    column = square % size
                    for step in (-size, -1, 1, size):
                        if (step == -1 and column == 0) or (step == 1 and column + 1 == size):
                            continue
                        near = square + step
                        if 0 <= near < size * size and room[near] and (near == castle or terrain[near] == terrain[square]):
                            fits = True
                if fits:
                    room[squares[i, 0]], room[squares[i, 1]] = 1, 1
                    laid += 1
    return laid


def text_of(size: int, dominoes: Integers) -> str:
    """A kingdom as text: on every square the number of its domino, and which half; # for the castle. Rows from the top."""
    words = ["#"] * (size * size)
    for one, other, number in dominoes.tolist():
        words[one], words[other] = f"{number + 1}a", f"{number + 1}b"
    return "\n".join(" ".join(f"{word:>3}" for word in words[row : row + size]) for row in range(0, size * size, size))


def read(text: str) -> tuple[int, int, Integers]:
    """The size, the square of the castle, and the squares and number of each domino of such a text. Raises ValueError if it is none."""
    rows = [line.split() for line in text.strip().splitlines()]
    words = [word for row in rows for word in row]
    size, at = len(rows), {word: square for square, word in enumerate(words)}
    numbers = [int(word[:-1]) for word in words if word.endswith("a")]
    if len(words) != size * size or len(at) != len(words) or set(at) != {"#", *(f"{n}{half}" for n in numbers for half in "ab")}:
        raise ValueError("this is no kingdom: each of its squares has a half of a domino, once, or the castle")
    squares = [(at[f"{n}a"], at[f"{n}b"]) for n in numbers]
    if any(abs(a - b) != size and (abs(a - b) != 1 or a // size != b // size) for a, b in squares):
        raise ValueError("this is no kingdom: the halves of a domino lie side by side")
    return size, at["#"], np.array([(a, b, n - 1) for (a, b), n in zip(squares, numbers, strict=True)])


def points_of(text: str) -> int:
    """The points of a kingdom, without bonuses. Raises ValueError if it cannot be laid by the rules."""
    size, castle, dominoes = read(text)
    squares, numbers = dominoes[:, :2].copy(), dominoes[:, 2].copy()
    terrain, crowns, room = (np.zeros(size * size, np.int64) for _ in range(3))
    points = _value(size, castle, squares, numbers, _HALVES, terrain, crowns, room)
    if n_laid(size, castle, squares, terrain, room) != len(numbers):
        raise ValueError("this kingdom cannot be laid: a domino never lies beside the castle or its own terrain")
    return int(points)


def best_found(size: int) -> int:
    """The points of the best kingdom of this size in best_kingdoms.txt."""
    return max(points_of(text) for text in kingdoms() if read(text)[0] == size)


def kingdoms() -> list[str]:
    """The texts of the kingdoms in best_kingdoms.txt. Lines with a colon say where a kingdom is from."""
    blocks = KINGDOMS.read_text(encoding="utf-8").split("\n\n")
    return ["\n".join(line for line in block.splitlines() if ":" not in line) for block in blocks]


def main() -> None:
    """Print the bounds and the best kingdoms, or search for better ones."""
    parser = argparse.ArgumentParser(prog="python -m baselines.papers.best_kingdom", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--search", type=int, metavar="SEEDS", help="search with this number of seeds, and print better kingdoms")
    parsed = parser.parse_args()
    for size in SIZES:
        bound = most_by_counting(size * size // 2)
        print(f"{size} x {size}: at most {bound} points; the best kingdom found has {best_found(size)}", flush=True)
    most = dict.fromkeys(SIZES, 0)
    for seed in range(parsed.search or 0):
        for size in SIZES:
            for castle in (each for each in range(size * size) if (each // size + each % size) % 2 == 0):
                points, text = search(size, castle, seed, 2_000_000)
                if points > most[size]:
                    most[size] = points
                    print(f"\n{size} x {size}, castle on square {castle}, seed {seed}: {points} points\n{text}", flush=True)


if __name__ == "__main__":
    main()
