"""Check that a position of Kingdomino can arise: its kings, its rounds, and its numbers of dominoes and squares.

notation.py calls `check` when it has read a position. Dominoes may be missing from the box, but it never has more than the game. The
domino to which a square of a kingdom belongs is not checked.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from kdenv.core.errors import BadRecord
from kdenv.games.kingdomino import rules
from kdenv.games.kingdomino.tables import N_DOMINOES


def check(s: Any, n_box: int, kingdoms: list[Collection[tuple[int, int]]]) -> None:
    """Raise BadRecord if the position is impossible. kingdoms: by seat, the squares laid, without the castle at (0, 0)."""
    _check_stage(s, n_box)
    _check_kings(s)
    for seat, squares in enumerate(kingdoms):
        _check_kingdom(s, seat, squares)
    on_table = sum(int(domino) != rules.NO_DOMINO for row in ("queue", "draft") for domino in s[row])
    drawn = int(s["round"]) * int(s["kings"]) + int(s["n_drawn"])
    if n_box > N_DOMINOES - max(drawn, on_table):
        raise BadRecord(f"the box holds {n_box} dominoes, but {drawn} of {N_DOMINOES} have been drawn by then")


def _check_stage(s: Any, n_box: int) -> None:
    """Check that the queue, the draft and the box fit the stage. Kernels trust this; else they would write outside their arrays."""
    stage, kings, turn, n_drawn = int(s["stage"]), int(s["kings"]), int(s["turn"]), int(s["n_drawn"])
    last, first = int(s["round"]) == int(s["n_drafts"]), int(s["round"]) == 0
    queued = [int(king) for king in s["queue_king"]].count(rules.NOBODY) == 4 - kings
    picked = sum(int(king) != rules.NOBODY for king in s["draft_king"])
    if first and s["queue"].any():
        raise BadRecord("nothing is in the queue in round 0: its dominoes are those picked in the round before")
    rounds_to_draw = int(s["n_drafts"]) - int(s["round"]) - (stage != rules.DRAWING)
    needs = max(0, rounds_to_draw) * kings - (n_drawn if stage == rules.DRAWING else 0)
    if n_box < needs:
        raise BadRecord(f"the box holds {n_box} dominoes, but {needs} are still to be drawn")
    if not first and stage != rules.FINISHED and not queued:
        raise BadRecord(f"queue needs {kings} dominoes, each with the seat that owns it")
    if stage in (rules.PLACING, rules.PICKING, rules.CALLING) and not last and (n_drawn != kings or picked != turn):
        raise BadRecord(f"draft needs {kings} dominoes with a king on {turn} of them at turn={turn}")
    if stage == rules.DRAWING and (n_drawn >= kings or last or turn or picked):
        raise BadRecord("nothing is left to draw: a draft is drawn at turn=0, before anybody picks, and not in the last round")
    if stage != rules.FINISHED and turn >= kings:
        raise BadRecord(f"turn={turn} is past the last king of the round; turns are 0 to {kings - 1}")
    if (stage == rules.CALLING and not first) or (stage == rules.PLACING and first):
        raise BadRecord("kings are called in round 0 only, dominoes placed from round 1 on")
    if last and (stage == rules.PICKING or n_drawn):
        raise BadRecord("nothing is picked in the last round")
    if stage == rules.FINISHED and (not last or turn != kings):
        raise BadRecord(f"the game is over after the last king of the last round, that is round={s['n_drafts']} turn={kings}")
    if (stage == rules.PICKING and first) != (s["caller"] != rules.NOBODY):
        raise BadRecord("caller= is the seat that picks in round 0: it belongs to stage=pick there, and to nothing else")


def _check_kings(s: Any) -> None:
    """Check that every seat has equally many kings, and that the kings whose turn is over stand in the draft."""
    players, kings, turn = int(s["players"]), int(s["kings"]), int(s["turn"])
    each = kings // players
    queued = [int(king) for king in s["queue_king"] if king != rules.NOBODY]
    picked = [int(king) for king in s["draft_king"] if king != rules.NOBODY]
    if queued and sorted(queued) != sorted(list(range(players)) * each):
        raise BadRecord(f"the kings on the queue are those of seats {_listing(queued)}, but every seat has {each}")
    if s["round"] == 0:
        calling = [int(s["caller"])] if s["stage"] == rules.PICKING else []
        crowded = [seat for seat in range(players) if (picked + calling).count(seat) > each]
        if crowded:
            raise BadRecord(f"seat {crowded[0]} picks more often than it has kings, which are {each}")
    elif s["round"] < s["n_drafts"] and sorted(picked) != sorted(queued[:turn]):
        raise BadRecord(f"the kings on the draft are those of seats {_listing(picked)}, but by then {_listing(queued[:turn])} have picked")


def _listing(seats: list[int]) -> str:
    return ", ".join(map(str, sorted(seats))) or "nobody"


def n_placed(s: Any, seat: int) -> int:
    """The number of dominoes that this seat has had to place so far."""
    each, turn = int(s["kings"]) // int(s["players"]), int(s["turn"])
    if s["stage"] == rules.FINISHED:
        return int(s["n_drafts"]) * each
    owners = [int(king) for king in s["queue_king"][: turn + (s["stage"] == rules.PICKING)]]
    return max(0, int(s["round"]) - 1) * each + owners.count(seat)


def _check_kingdom(s: Any, seat: int, squares: Collection[tuple[int, int]]) -> None:
    """Check that a kingdom has grown from its castle, two squares at a time."""
    n, most = len(squares), n_placed(s, seat)
    if n % 2:
        raise BadRecord(f"kingdom {seat} has {n} squares besides its castle; dominoes have two each")
    if n > 2 * most:
        raise BadRecord(f"kingdom {seat} has {n} squares, but its seat has placed {most} dominoes by then")
    reached, waiting = {(0, 0)}, [(0, 0)]
    while waiting:
        x, y = waiting.pop()
        for beside in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if beside in squares and beside not in reached:
                reached.add(beside)
                waiting.append(beside)
    if len(reached) != n + 1:
        raise BadRecord(f"kingdom {seat} has squares that are not connected with its castle")
    xs, ys = zip(*reached, strict=True)
    if (min(xs), max(xs), min(ys), max(ys)) != tuple(int(s[side][seat]) for side in ("left", "right", "top", "bottom")):
        raise BadRecord(f"kingdom {seat} has an empty row or column at its border; leave it out")
