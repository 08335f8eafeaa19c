"""The parts that both encodings of Carcassonne have, and the kernels that write them. Seats are relative: the observer comes first."""

from kdenv.compiler.kernel import kernel
from kdenv.core.encoding import Part
from kdenv.games.carcassonne.claims import CLAIM, N_SLOTS, list_claims
from kdenv.games.carcassonne.rules import CLAIMING, DRAWING, PLACING
from kdenv.games.carcassonne.tables import MEEPLES, N_TILES, N_TYPES
from kdenv.games.carcassonne.tiles import COPIES

CLAIMS = Part((N_SLOTS,), "1 for each slot that can be claimed, none included; all 0 unless a claim is to be decided")


def seat_parts(players: int) -> dict[str, Part]:
    """Return the parts that write_seats writes."""
    return {"scores": Part((players,), "points so far / 100"), "hand": Part((players,), "meeples in hand / 7")}


def tile_parts() -> dict[str, Part]:
    """Return the parts that write_tiles writes."""
    return {
        "drawn": Part((N_TYPES,), "1 for the type of the tile to be placed"),
        "left": Part((N_TYPES,), "tiles of each type in the bag / copies in the game"),
    }


def stage_parts(players: int) -> dict[str, Part]:
    """Return the parts that write_stage writes."""
    return {
        "to_move": Part((players,), "1 for the seat that decides; all 0 at a chance node and at the end"),
        "phase": Part((3,), "1 if a tile is to be drawn; to be placed; if a claim is to be decided"),
        "progress": Part((1,), "tiles laid / 72"),
    }


@kernel
def write_seats(s, seat, out, at):
    """Write the points of every seat, then its meeples in hand. Returns the index after them."""
    players = int(s.players)
    for relative in range(players):
        out[at + relative] = s.points[(seat + relative) % players] / 100.0
        out[at + players + relative] = s.hand[(seat + relative) % players] / MEEPLES
    return at + 2 * players


@kernel
def write_tiles(s, out, at):
    """Write the tile drawn, then the tiles left in the bag. Returns the index after them."""
    if s.stage == PLACING:
        out[at + int(s.drawn)] = 1.0
    at += N_TYPES
    for tile_type in range(N_TYPES):
        out[at + tile_type] = s.bag[tile_type] / COPIES[tile_type]
    return at + N_TYPES


@kernel
def write_claims(s, out, at):
    """Write the slots that can be claimed, claiming nothing among them. Returns the index after them."""
    if s.stage == CLAIMING:
        slots = 0
        for i in range(at, list_claims(s, out, at)):
            slots |= 1 << (int(out[i]) - CLAIM)
        for slot in range(N_SLOTS):
            out[at + slot] = float((slots >> slot) & 1)
    return at + N_SLOTS


@kernel
def write_stage(s, seat, out, at):
    """Write the seat that decides, the stage, and the number of tiles laid."""
    players = int(s.players)
    if s.stage == PLACING or s.stage == CLAIMING:
        out[at + (int(s.turn) - seat) % players] = 1.0
    at += players
    if s.stage <= CLAIMING:
        out[at + int(s.stage) - DRAWING] = 1.0
    out[at + 3] = s.n_tiles / N_TILES
