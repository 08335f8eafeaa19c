"""The encodings of Kingdomino: the position as a vector of numbers. Seats are relative: the observer comes first.

`planes`, which is here, shows the kingdoms square by square. `prospects` (prospects.py) has areas and gains, which a small network cannot
compute from squares.

The window of a kingdom has W x W squares, W = 2 * size - 1, with the castle in its middle. Rows run from top to bottom. A domino is
15 numbers: number / 48, then for each half its terrain (6 numbers) and crowns / 3. `layout` describes the parts.
"""

from collections.abc import Mapping
from typing import Any

from kdenv.compiler.bits import ONE, has, lowest
from kdenv.compiler.kernel import kernel
from kdenv.core.encoding import Encoding, Part, clear
from kdenv.games.kingdomino import prospects
from kdenv.games.kingdomino.board import NONE, column_of, row_of
from kdenv.games.kingdomino.rules import NO_DOMINO, NOBODY, PICKING, PLACING, points_of_kingdom
from kdenv.games.kingdomino.rules import seat as seat_to_move
from kdenv.games.kingdomino.tables import CROWNS_A, CROWNS_B, N_DOMINOES, N_TERRAINS, TERRAIN_A, TERRAIN_B

N_PLANES = N_TERRAINS + 1  # the planes of one kingdom
DOMINO = 1 + 2 * (N_TERRAINS + 1)  # the numbers of one domino


def layout(players: int, options: Mapping[str, Any]) -> dict[str, Part]:
    """Return the parts of the vector by name, in their order."""
    window = 2 * options["size"] - 1
    return {
        "kingdoms": Part(
            (players, N_PLANES, window, window),
            "by seat, six planes, 1 where that terrain lies (field, forest, water, pasture, clay, mine), then crowns / 3",
        ),
        "scores": Part((players,), "points now / 100"),
        "queue": Part((4, DOMINO + players), "the dominoes taken last round, ascending, not placed yet: the domino, 1 for its owner"),
        "draft": Part((4, DOMINO + players), "the new draft, ascending: the domino, 1 for the seat whose king stands on it (all 0: free)"),
        "in_hand": Part((DOMINO,), "the domino that the seat to move places now; 0 while it picks"),
        "unseen": Part((N_DOMINOES,), "1 for every domino that has not been drawn: the pile is this set, there is no order"),
        "to_move": Part((players,), "1 for the seat that decides; all 0 at a chance node and at the end"),
        "progress": Part((3,), "round / rounds; 1 if the decision is a placement; 1 if it is a pick"),
    }


@kernel
def observe(states, k, seat, out):
    """Write the observation of the seat in states[k] to out."""
    s = states[k]
    clear(out)
    players = int(s.players)
    at = 0
    for relative in range(players):
        at = _write_kingdom(s, (seat + relative) % players, out, at)
    for relative in range(players):
        out[at + relative] = points_of_kingdom(s, (seat + relative) % players) * 0.01
    at += players
    # The queue without the dominoes that have been placed: those of earlier turns, and that of this turn while its seat picks.
    for slot in range(4):
        gone = slot < s.turn or (slot == s.turn and s.stage == PICKING)
        if s.queue[slot] != NO_DOMINO and not gone:
            _write_domino(int(s.queue[slot]), out, at)
            out[at + DOMINO + (int(s.queue_king[slot]) - seat) % players] = 1.0
        at += DOMINO + players
    for slot in range(4):
        if s.draft[slot] != NO_DOMINO:
            _write_domino(int(s.draft[slot]), out, at)
            if s.draft_king[slot] != NOBODY:
                out[at + DOMINO + (int(s.draft_king[slot]) - seat) % players] = 1.0
        at += DOMINO + players
    if s.stage == PLACING:
        _write_domino(int(s.queue[s.turn]), out, at)
    at += DOMINO
    unseen = s.unseen
    while unseen != NONE:
        out[at + lowest(unseen)] = 1.0
        unseen &= unseen - ONE
    at += N_DOMINOES
    if s.stage == PLACING or s.stage == PICKING:
        out[at + (seat_to_move(s) - seat) % players] = 1.0
    at += players
    out[at] = s.round / s.n_drafts
    out[at + 1] = 1.0 if s.stage == PLACING else 0.0
    out[at + 2] = 1.0 if s.stage == PICKING else 0.0


@kernel
def _write_kingdom(s, seat, out, at):
    """Write the planes of one kingdom from out[at] on, which holds 0. Returns the index after them."""
    size = int(s.size)
    window = 2 * size - 1
    plane = window * window
    left, top = int(s.left[seat]), int(s.top[seat])
    for terrain in range(N_TERRAINS):
        squares = s.land[seat, terrain]
        while squares != NONE:
            b = lowest(squares)
            squares &= squares - ONE
            cell = (row_of(b, top) + size - 1) * window + column_of(b, left) + size - 1
            out[at + terrain * plane + cell] = 1.0
            crowns = (1 if has(s.crowns[seat, 0], b) else 0) + (2 if has(s.crowns[seat, 1], b) else 0)
            out[at + N_TERRAINS * plane + cell] = crowns / 3.0
    return at + N_PLANES * plane


@kernel
def _write_domino(number, out, at):
    """Write the 15 numbers of a domino from out[at] on, which holds 0."""
    out[at] = number / 48.0
    out[at + 1 + int(TERRAIN_A[number])] = 1.0
    out[at + 7] = CROWNS_A[number] / 3.0
    out[at + 8 + int(TERRAIN_B[number])] = 1.0
    out[at + 14] = CROWNS_B[number] / 3.0


ENCODINGS = (
    Encoding("planes", layout, observe, "the kingdoms as planes, the dominoes as rows of numbers"),
    Encoding(
        "prospects",
        prospects.layout,
        prospects.observe,
        "areas, shapes, and the points that dominoes could add; for small networks",
        part=prospects.remembered,
    ),
)
