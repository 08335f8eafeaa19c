"""Write positions and actions of dominoes as text, and read them. No other file reads or writes this notation.

Tiles are written with the smaller number first. Actions: `6-6` opens a round, `3-5 on 3` covers a 3 (the 5 is the new end),
`pass`, `call`. Chance: `3-5` is the tile that is dealt; after `lead 2` seat 2 leads.

A position is words: `round=2 points=35,60 leader=1 hands=0-0.0-3.1-2.2-4.3-5.4-6.5-5,1-1.2-6,, turns=` (seat 1 is being dealt its
tiles). `points` are those of team 0 and team 1 when this round began, `hands` the tiles dealt to each seat this round. `turns` are the
turns of this round, the leader's first, such as turns=6-6,3-6@6,pass; they are empty as long as tiles are dealt.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from kdenv.core.errors import BadRecord, shown
from kdenv.core.parsing import read_number, read_words
from kdenv.core.verbs import apply_at, legal_at
from kdenv.games.dominoes import rules
from kdenv.games.dominoes.tables import BIT_OF_TILE, CALL, DOUBLE_SIX, HAND, MIRRORED, MOST_ROUNDS, N_ACTIONS, N_TILES, PASS, SUITS, TILES

_ALL_PIPS = sum(a + b for a, b in TILES)
_WORDS = {"pass": PASS, "call": CALL}


def tile_name(tile: int) -> str:
    """Return the name of a tile, such as 3-5."""
    a, b = TILES[tile]
    return f"{a}-{b}"


def tile_from(text: str) -> int:
    """Return the tile of this name. Either number may be first."""
    match = re.fullmatch(r"([0-6])-([0-6])", text)
    if not match:
        raise BadRecord(f"{shown(text)!r} is no tile; tiles are 0-0, 0-1 to 6-6")
    a, b = sorted(map(int, match.groups()))
    return TILES.index((a, b))


def tiles_in(hand: Any) -> list[int]:
    """Return the numbers of the tiles of a hand or a set, ascending."""
    return [tile for tile in range(N_TILES) if int(hand) >> int(BIT_OF_TILE[tile]) & 1]


def action_text(states: Any, k: int, action: int) -> str:
    """Write the action in words, as it is named in states[k]."""
    for word, number in _WORDS.items():
        if action == number:
            return word
    if not 0 <= action < PASS:
        raise BadRecord(f"{action} is no action; actions are 0 to {CALL}")
    c, e = divmod(int(action), SUITS)
    tile = f"{min(c, e)}-{max(c, e)}"
    if states[k]["left"] != rules.NO_END:
        return f"{tile} on {c}"
    if c > e:
        raise BadRecord(f"{action} covers a {c}, but there is no tile on the table yet")
    return tile


def action_from(states: Any, k: int, text: str) -> int:
    """Return the action that these words mean in states[k]. It need not be legal. A tile that fits one end only needs no `on`."""
    s = states[k]
    match text.split():
        case [word] if word in _WORDS:
            return _WORDS[word]
        case [name]:
            tile = TILES[tile_from(name)]
            if s["left"] == rules.NO_END:
                return SUITS * tile[0] + tile[1]
            ends = {int(s["left"]), int(s["right"])} & set(tile)
            if len(ends) != 1:
                raise BadRecord(
                    f"{name} fits both ends; write '{name} on {tile[0]}' or '{name} on {tile[1]}'" if ends else f"{name} fits neither end"
                )
            return _covering(tile, ends.pop())
        case [name, "on", end]:
            tile = TILES[tile_from(name)]
            if s["left"] == rules.NO_END:
                raise BadRecord(f"there is no tile on the table yet; write just '{name}'")
            if end not in map(str, tile):
                raise BadRecord(f"{name} has no {end} to lay on a {end}")
            return _covering(tile, int(end))
    raise BadRecord(f"{shown(text)!r} is no action; write '6-6' to open a round, '3-5 on 3', 'pass' or 'call'")


def _covering(tile: tuple[int, int], end: int) -> int:
    return SUITS * end + (tile[1] if tile[0] == end else tile[0])


def chance_text(states: Any, k: int, outcome: int) -> str:
    """Write the outcome in words: the tile that is dealt, or the seat that leads."""
    if not 0 <= outcome < N_TILES + 4:
        raise BadRecord(f"{outcome} is nothing that chance does; tiles are 0 to {N_TILES - 1}, then come the seats that may lead")
    return tile_name(int(outcome)) if outcome < N_TILES else f"lead {outcome - N_TILES}"


def chance_from(states: Any, k: int, text: str) -> int:
    """Return the outcome in these words. It need not be possible."""
    match = re.fullmatch(r"lead ([0-3])", text)
    return N_TILES + int(match[1]) if match else tile_from(text)


# Positions


def position_text(states: Any, k: int) -> str:
    """Write the position in one line."""
    s = states[k]
    words = [f"round={s['n_rounds']}", f"points={s['before'][0]},{s['before'][1]}"]
    if s["leader"] != rules.NOBODY:
        words.append(f"leader={s['leader']}")
    words.append(
        "hands=" + ",".join(".".join(map(tile_name, tiles_in(int(s["hands"][seat]) | int(s["played"][seat])))) for seat in range(4))
    )
    words.append("turns=" + ",".join(_turns_text(s)))
    return " ".join(words)


def _turns_text(s: Any) -> list[str]:
    turns: list[str] = []
    opened = False
    for action in map(int, s["turns"][: int(s["n_turns"])]):
        if action in _WORDS.values():
            turns.append("pass" if action == PASS else "call")
        else:
            c, e = divmod(action, SUITS)
            turns.append(f"{min(c, e)}-{max(c, e)}" + (f"@{c}" if opened else ""))
            opened = True
    return turns


def position_from(text: str, states: Any, k: int) -> None:
    """Read a position into states[k], which begin() has set up for the players and options. BadRecord if it cannot be."""
    words = read_words(text, ("round", "points", "leader", "hands", "turns"), optional=("leader",))
    s = states[k]
    s["n_rounds"] = read_number("round=", words["round"], MOST_ROUNDS)
    _read_points(s, words["points"])
    n_dealt = _read_hands(s, words["hands"])
    _read_leader(s, words.get("leader"), n_dealt)
    turns = words["turns"].split(",") if words["turns"] else []
    if n_dealt < N_TILES:
        if turns:
            raise BadRecord(f"only {n_dealt} of {N_TILES} tiles are dealt, but turns={shown(words['turns'])} have been taken")
        return
    s["stage"] = rules.PLAYING
    s["turn"] = s["leader"]
    for turn in turns:
        _play_again(states, k, turn)


def _read_points(s: Any, text: str) -> None:
    points = text.split(",")
    if len(points) != 2:
        raise BadRecord(f"points={shown(text)} is not the points of two teams, such as points=35,60")
    most = 0 if s["n_rounds"] == 0 or s["mode"] == rules.ROUND else int(rules.target(s)) - 1
    for team in range(2):
        s["points"][team] = s["before"][team] = read_number("points=", points[team], most)
    n_rounds = int(s["n_rounds"])
    if int(s["points"].sum()) > _ALL_PIPS * n_rounds:
        raise BadRecord(f"points={text} are too many for {n_rounds} rounds; a round brings {_ALL_PIPS} at most")


def _read_hands(s: Any, text: str) -> int:
    """Read the hands; all other tiles are still to be dealt. Returns the number of tiles dealt."""
    hands = text.split(",")
    if len(hands) != 4:
        raise BadRecord(f"hands= has {len(hands)} hands; there are four, separated by commas, each with dots between its tiles")
    dealt: list[int] = []
    for seat, hand in enumerate(hands):
        tiles = [tile_from(name) for name in hand.split(".")] if hand else []
        wanted = min(HAND, max(0, len(dealt) + len(tiles) - HAND * seat))
        if len(tiles) > HAND or len(tiles) != wanted:
            raise BadRecord(f"seat {seat} has {len(tiles)} tiles; the deal gives seven to seat 0, then seven to seat 1, and so on")
        dealt += tiles
        s["hands"][seat] = np.bitwise_or.reduce(MIRRORED[BIT_OF_TILE[tiles]]) if tiles else np.uint64(0)
    if len(set(dealt)) < len(dealt):
        twice = next(tile for tile in dealt if dealt.count(tile) > 1)
        raise BadRecord(f"tile {tile_name(twice)} is dealt twice")
    s["undealt"] = sum(1 << tile for tile in range(N_TILES) if tile not in dealt)
    s["turn"] = len(dealt) // HAND
    return len(dealt)


def _read_leader(s: Any, text: str | None, n_dealt: int) -> None:
    """Read the leader and set the stage. leader= must be given unless a draw, or the hands of the first round, will decide who leads."""
    if s["n_rounds"] > 0 or s["lead"] == rules.DRAWN:
        if text is not None:
            s["leader"] = read_number("leader=", text, 3)
            s["stage"] = rules.DEALING
        elif s["n_rounds"] > 0 or n_dealt:
            raise BadRecord("the position lacks leader=, which nothing else in it says")
        return
    s["stage"] = rules.DEALING
    if rules.led_by_double_six(s):
        holders = [seat for seat in range(4) if int(s["hands"][seat]) & int(DOUBLE_SIX)]
        s["leader"] = holders[0] if n_dealt == N_TILES else rules.NOBODY
    if text is not None and text != str(s["leader"]):
        raise BadRecord(
            f"leader={shown(text)} is wrong: "
            + ("nobody leads before all is dealt" if s["leader"] == rules.NOBODY else f"seat {s['leader']} leads the first round")
        )


def _play_again(states: Any, k: int, turn: str) -> None:
    """Carry out one of turns=. BadRecord if it is not legal."""
    s = states[k]
    if s["stage"] != rules.PLAYING:
        raise BadRecord(f"the round is over before {shown(turn)}, the turn that follows in turns=")
    seat, action = int(s["turn"]), action_from(states, k, turn.replace("@", " on ", 1))
    legal = np.zeros(N_ACTIONS, np.int64)
    if action not in legal[: legal_at(states, k, legal)]:
        raise BadRecord(f"seat {seat} cannot {turn if action in _WORDS.values() else 'play ' + turn} in turn {int(s['n_turns']) + 1}")
    n_turns = int(s["n_turns"])
    apply_at(states, k, action)
    if s["n_turns"] <= n_turns:
        raise BadRecord(f"{turn} ends the round in turns=, but not the match; write the next round")
