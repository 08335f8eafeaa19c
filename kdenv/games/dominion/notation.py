"""Write positions and actions of Dominion as text, and read them. No other code parses them.

Actions: `play Village`, `buy Gold`, `trash Copper`, `gain Silver`, `discard Estate`, `put back Estate`, `yes`, `no`, `end`.
Chance: `draw Copper`. Piles: `7 Copper 3 Estate`, or nothing if empty.

A position is a list of `part: value` with semicolons between them. With two players, in the second turn of seat 1:

    `stage: buy; node: buy; turn: 1; turns: 2 2; actions: 1; buys: 1; coins: 4; supply: 46 Copper 40 Silver ...;
    trash: ; play: 4 Copper; hand 0: 3 Copper 2 Estate; deck 0: 4 Copper 1 Estate; discard 0: ; ...`

The node is the next event: a choice, a draw or the end. Cards may be missing, but there are never more than the game has
(validate.py refuses all else that cannot be). Further parts are given where something is in progress or known:

* `seen 0: 2 Copper`: the part of the discards of seat 0 that all have seen (if it is not given, all of them).
* `flipped 0: 3`: the number of unseen discards of seat 0 that came from its deck.
* `plain 0: 2`: the number of unseen discards of seat 0 that all know to be neither treasures nor actions.
* `unasked: yes`: the seat that buys had actions left, but no action card in hand.
* `top 0: Silver, Estate`: known cards on top of deck 0, which counts them too; the first is drawn first.
* `draw: 1 3 hand`: seat 1 draws three more cards to hand (aside: they are revealed; watched: a Library looks at them).
* `aside: 1 Copper of 1`: cards of seat 1 revealed or set aside.
* `loot: 1 Silver`: the part of the trash that a Thief may still gain.
* `running: Throne Room 1 0, Village 0 1`: the cards being played, the last one resolving. The numbers are its step and its play, from 0.
* `affected: 1`: the seat that the card deals with (Militia, Spy, ...).
* `left: 2`: the number of cards still to be trashed or discarded.
* `last: Silver`: the card that was chosen last; those before it in the order of slots can no longer be chosen.
* `memory: 2`: the number of cards discarded, or the cost of the card trashed (-1: none was trashed).
* `drawn: Village`: the card that a Library asks about.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from kdenv.core.errors import BadRecord, did_you_mean, shown
from kdenv.core.parsing import check_length, read_number
from kdenv.games.dominion import validate
from kdenv.games.dominion.cards import ACTION, CARDS, DIG, DRAW_TO, NO_CARD, OTHERS_DISCARD_TO, SPY, STEAL, TRASH, TREASURE, key_of
from kdenv.games.dominion.piles import N_TOPS
from kdenv.games.dominion.progress import (
    ASIDE,
    ASK_NODE,
    AT_START,
    DISCARD_NODE,
    DRAW_NODE,
    IN_HAND,
    LOOT_NODE,
    MAX_DEPTH,
    NO_SLOT,
    NOT_TRASHED,
    PUT_BACK_NODE,
    STARTED,
    TAKEN,
    TRASH_NODE,
    WATCHING,
)
from kdenv.games.dominion.rules import BUY_PHASE
from kdenv.games.dominion.tables import (
    BUY_FIRST,
    DISCARD_FIRST,
    END,
    GAIN_FIRST,
    N_ACTIONS,
    N_SLOTS,
    NO,
    PLAY_FIRST,
    PUT_BACK_FIRST,
    TRASH_FIRST,
    YES,
)
from kdenv.games.dominion.validate import NODES, step_or_nothing, times_played_again
from kdenv.games.dominion.validate import card_name as card_name

_VERBS = {
    "play": PLAY_FIRST,
    "buy": BUY_FIRST,
    "trash": TRASH_FIRST,
    "gain": GAIN_FIRST,
    "discard": DISCARD_FIRST,
    "put back": PUT_BACK_FIRST,
}
_WORDS = {"end": END, "yes": YES, "no": NO}
STAGES = ("opening", "action", "buy", "clean-up")
_PILES = ("hand", "deck", "discard")
_WATCHED = "watched"  # a Library draws to hand and looks at each card


def slot_from(s: Any, name: str) -> int:
    """Return the slot of the card with this name. BadRecord if this game has none."""
    names = [key_of(card_name(s, slot)) for slot in range(N_SLOTS)]
    if key_of(name) != key_of("-") and key_of(name) in names:
        return names.index(key_of(name))
    known = [card_name(s, slot) for slot in range(N_SLOTS) if s["card"][slot] != NO_CARD]
    raise BadRecord(f"there is no {shown(name)!r} in this game{did_you_mean(shown(name).title(), known)}; its cards are {', '.join(known)}")


def action_text(states: Any, k: int, action: int) -> str:
    """Write the action in words. It need not be legal."""
    for word, number in _WORDS.items():
        if action == number:
            return word
    if not PLAY_FIRST <= action < N_ACTIONS:
        raise BadRecord(f"{action} is no action; actions are 0 to {N_ACTIONS - 1}")
    verb = list(_VERBS)[(action - PLAY_FIRST) // N_SLOTS]
    return f"{verb} {card_name(states[k], (action - PLAY_FIRST) % N_SLOTS)}"


def action_from(states: Any, k: int, text: str) -> int:
    """Return the action in these words. It need not be legal."""
    words = " ".join(text.split())
    if words.lower() in _WORDS:
        return _WORDS[words.lower()]
    for verb, first in _VERBS.items():
        if words.lower().startswith(verb + " "):
            return first + slot_from(states[k], words[len(verb) + 1 :])
    raise BadRecord(f"{shown(text)!r} is no action; write play, buy, trash, gain, discard or 'put back' and a card, or yes, no or end")


def chance_text(states: Any, k: int, outcome: int) -> str:
    """Write an outcome of chance in words."""
    return f"draw {card_name(states[k], outcome)}"


def chance_from(states: Any, k: int, text: str) -> int:
    """Return the outcome in these words. It need not be possible."""
    verb, _, name = " ".join(text.split()).partition(" ")
    if verb.lower() != "draw":
        raise BadRecord(f"{shown(text)!r} is nothing that chance does; it is 'draw Copper'")
    return slot_from(states[k], name)


# Positions


def pile_text(s: Any, pile: Any) -> str:
    """Write a pile as in `7 Copper 3 Estate`."""
    cards = s["card"]
    return " ".join([f"{pile[slot]} {CARDS[cards[slot]].name}" for slot in pile.nonzero()[0].tolist()])


def position_text(states: Any, k: int) -> str:
    """Write the position in one line."""
    s = states[k]
    players = int(s["players"])
    parts = [
        ("stage", STAGES[s["stage"]]),
        ("node", NODES[s["node"]]),
        ("turn", s["turn"]),
        ("turns", " ".join(str(s["turns"][seat]) for seat in range(players))),
        *((name, s[name]) for name in ("actions", "buys", "coins")),
        *((name, pile_text(s, s[name])) for name in ("supply", "trash", "play")),
    ]
    for seat in range(players):
        parts += [(f"{pile} {seat}", pile_text(s, s[pile][seat])) for pile in _PILES]
        if (s["open"][seat] != s["discard"][seat]).any():
            parts.append((f"seen {seat}", pile_text(s, s["open"][seat])))
        if s["flipped"][seat]:
            parts.append((f"flipped {seat}", s["flipped"][seat]))
        if s["plain"][seat]:
            parts.append((f"plain {seat}", s["plain"][seat]))
        if s["n_top"][seat]:
            top = s["top"][seat][: s["n_top"][seat]][::-1]
            parts.append((f"top {seat}", ", ".join(card_name(s, slot) for slot in top)))
    if s["draw_left"]:
        where = _WATCHED if s["sub"] == WATCHING and s["draw_to"] == IN_HAND else "hand" if s["draw_to"] == IN_HAND else "aside"
        parts.append(("draw", f"{s['draw_seat']} {s['draw_left']} {where}"))
    if s["aside"].any():
        parts.append(("aside", f"{pile_text(s, s['aside'])} of {s['draw_seat']}"))
    if s["loot"].any():
        parts.append(("loot", pile_text(s, s["loot"])))
    if s["depth"]:
        parts += _running_parts(s)
    if s["unasked"]:
        parts.append(("unasked", "yes"))
    return "; ".join([f"{name}: {value}" for name, value in parts])


def _running_parts(s: Any) -> list[tuple[str, Any]]:
    """Return the parts about the cards being played and the progress of the last one, unless they follow from the rest of the position."""
    cards = (f"{card_name(s, s['run_slot'][d])} {s['run_step'][d]} {s['run_play'][d]}" for d in range(s["depth"]))
    parts: list[tuple[str, Any]] = [("running", ", ".join(cards))]
    trashing = s["node"] == TRASH_NODE
    if s["victim"]:
        parts.append(("affected", s["affected"]))
    if s["node"] in (TRASH_NODE, DISCARD_NODE) and not s["victim"]:
        parts.append(("left", s["left"]))
    if s["memory"] != NOT_TRASHED if trashing else s["last"] and s["node"] == DISCARD_NODE:
        parts.append(("last", card_name(s, s["last"])))
    if s["memory"] and not trashing:
        parts.append(("memory", s["memory"]))
    if s["node"] == ASK_NODE and s["drawn"] != NO_SLOT:
        parts.append(("drawn", card_name(s, s["drawn"])))
    return parts


def position_from(text: str, states: Any, k: int) -> None:
    """Read a position into states[k], which begin() has set up for the players and options. BadRecord if it cannot be."""
    check_length(text)
    s = states[k]
    players = int(s["players"])
    laid_out = s["supply"].astype(np.int64)
    totals = laid_out + s["owned"].astype(np.int64).sum(axis=0)
    parts = _parts(text, players)
    for name, words in (("stage", STAGES), ("node", NODES)):
        if parts[name] not in words:
            raise BadRecord(f"{name}: {shown(parts[name])} is not one of {', '.join(words)}")
        s[name] = words.index(parts[name])
    s["turn"] = _number("turn", parts["turn"], 0, players - 1)
    turns = parts["turns"].split()
    if len(turns) != players:
        raise BadRecord(f"turns: {shown(parts['turns'])} is not {players} numbers")
    s["turns"][:players] = [_number("turns", n, 0, int(s["max_turns"])) for n in turns]
    for name in ("actions", "buys", "coins"):
        s[name] = _number(name, parts[name], 0, validate.most_in_a_turn(s, totals, name))
    for name in ("supply", "trash", "play", "loot"):
        s[name] = _pile(s, name, parts.get(name, ""), totals)
    _read_draw(s, parts, players, totals)
    s["owned"] = 0
    for seat in range(players):
        _read_seat(s, parts, seat, totals)
    s["laid"] = _bits(s["play"])
    s["stocked"] = _bits(s["supply"])
    s["n_empty"] = ((s["supply"] == 0) & (laid_out > 0)).sum()
    _read_unasked(s, parts)
    _read_running(s, parts)
    _read_progress(s, parts, int(totals.sum()))
    validate.check(s, totals, laid_out)


def _bits(pile: Any) -> int:
    """Return the slots of a pile that have cards, as bits."""
    return sum(1 << slot for slot in range(N_SLOTS) if pile[slot] > 0)


def _parts(text: str, players: int) -> dict[str, str]:
    """Return the parts of a position by name. BadRecord if one is unknown, missing or given twice."""
    needed = ["stage", "node", "turn", "turns", "actions", "buys", "coins", "supply", "trash", "play"]
    needed += [f"{pile} {seat}" for seat in range(players) for pile in _PILES]
    known = [*needed, "draw", "aside", "loot", "running", "unasked", *_PROGRESS]
    known += [f"{name} {seat}" for seat in range(players) for name in ("seen", "flipped", "plain", "top")]
    parts: dict[str, str] = {}
    for part in text.split(";"):
        name, colon, value = part.partition(":")
        name = " ".join(name.split())
        if not colon or name not in known:
            close = did_you_mean(shown(name), known)
            raise BadRecord(f"{shown(part.strip())!r} is no part of a position{close}; the parts are {', '.join(known)}")
        if name in parts:
            raise BadRecord(f"the position has {name}: twice")
        parts[name] = " ".join(value.split())
    for name in needed:
        if name not in parts:
            raise BadRecord(f"the position lacks {name}:")
    return parts


def _number(name: str, text: str, least: int, most: int) -> int:
    return read_number(f"{name}: ", text, most, least)


def _pile(s: Any, name: str, text: str, totals: validate.Counts) -> list[int]:
    """Read a pile such as `7 Copper 3 Estate` as counts by slot."""
    counts = [0] * N_SLOTS
    entries = re.findall(r"(\d+) ([^\d]+)", text)
    if " ".join(f"{n} {card.strip()}" for n, card in entries) != text:
        raise BadRecord(f"{name}: {shown(text)!r} is not a pile such as '7 Copper 3 Estate'")
    for n, card in entries:
        slot = slot_from(s, card.strip())
        if counts[slot]:
            raise BadRecord(f"{name}: lists {card.strip()} twice")
        counts[slot] = _number(f"{name}: {card.strip()}", n, 0, int(totals[slot]))
    return counts


def _read_draw(s: Any, parts: dict[str, str], players: int, totals: validate.Counts) -> None:
    """Read the draw in progress and the cards aside."""
    s["draw_seat"], s["draw_left"], s["draw_to"] = 0, 0, IN_HAND
    if "draw" in parts:
        words = parts["draw"].split()
        if len(words) != 3 or words[2] not in ("hand", "aside", _WATCHED):
            raise BadRecord(f"draw: {shown(parts['draw'])} is not a seat, how many cards, and hand, aside or {_WATCHED}")
        s["draw_seat"] = _number("draw", words[0], 0, players - 1)
        s["draw_left"] = _number("draw", words[1], 1, int(totals.sum()))
        s["draw_to"] = ASIDE if words[2] == "aside" else IN_HAND
    pile, of, seat = parts.get("aside", "").partition(" of ")
    s["aside"] = _pile(s, "aside", pile, totals)
    if of:
        owner = _number("aside", seat, 0, players - 1)
        if "draw" in parts and owner != s["draw_seat"]:
            raise BadRecord(f"cards of seat {owner} lie aside while seat {s['draw_seat']} draws")
        s["draw_seat"] = owner
    elif pile:
        raise BadRecord(f"aside: {shown(pile)} does not say whose cards these are: 'of' and the seat")


def _read_seat(s: Any, parts: dict[str, str], seat: int, totals: validate.Counts) -> None:
    """Read the piles of one seat, and the part of them that others know."""
    for pile in _PILES:
        s[pile][seat] = _pile(s, f"{pile} {seat}", parts[f"{pile} {seat}"], totals)
    s["open"][seat] = s["discard"][seat]
    if f"seen {seat}" in parts:
        s["open"][seat] = _pile(s, f"seen {seat}", parts[f"seen {seat}"], totals)
    if (s["open"][seat] > s["discard"][seat]).any():
        raise BadRecord(f"seen {seat}: has cards that are not in its discards")
    n_unseen = int(s["discard"][seat].astype(int).sum() - s["open"][seat].astype(int).sum())
    s["flipped"][seat] = _number(f"flipped {seat}", parts.get(f"flipped {seat}", "0"), 0, n_unseen)
    treasures = int(s["of_type"][TREASURE])
    n_treasures = sum(int(s["discard"][seat][slot]) - int(s["open"][seat][slot]) for slot in range(N_SLOTS) if treasures >> slot & 1)
    if n_treasures > s["flipped"][seat]:
        raise BadRecord(
            f"seat {seat} has unseen treasures in its discards, but they come from a flipped deck only: say seen {seat}: or flipped {seat}:"
        )
    actions = int(s["of_type"][ACTION])
    n_others = sum(
        int(s["discard"][seat][slot]) - int(s["open"][seat][slot]) for slot in range(N_SLOTS) if not (treasures | actions) >> slot & 1
    )
    s["plain"][seat] = _number(f"plain {seat}", parts.get(f"plain {seat}", "0"), 0, min(n_others, n_unseen - int(s["flipped"][seat])))
    top = [slot_from(s, name.strip()) for name in parts.get(f"top {seat}", "").split(",") if name.strip()]
    if len(top) > N_TOPS or any(top.count(slot) > s["deck"][seat][slot] for slot in top):
        raise BadRecord(f"top {seat}: has cards that are not in its deck, or more than {N_TOPS}")
    s["n_top"][seat] = len(top)
    s["top"][seat] = [*top[::-1], *[0] * (N_TOPS - len(top))]
    s["n_deck"][seat] = s["deck"][seat].astype(int).sum()
    s["held"][seat] = _bits(s["hand"][seat])
    total = sum(s[pile][seat].astype(int) for pile in _PILES)
    if seat == s["turn"]:
        total = total + s["play"]
    if seat == s["draw_seat"]:
        total = total + s["aside"]
    s["owned"][seat] = np.minimum(total, totals + 1)  # more than the game has is refused when all piles are read


_PROGRESS = ("affected", "left", "last", "memory", "drawn")


def _read_unasked(s: Any, parts: dict[str, str]) -> None:
    """Read the flag of a seat that buys and is known to have held no action."""
    s["unasked"] = parts.get("unasked") == "yes"
    held = int(s["held"][s["turn"]]) & (int(s["of_type"][ACTION]) | int(s["of_type"][TREASURE]))
    if s["unasked"] and (s["stage"] != BUY_PHASE or s["actions"] == 0 or held):
        raise BadRecord("unasked: yes is for the buy phase of a seat with actions left and neither an action nor a treasure in hand")


def _read_running(s: Any, parts: dict[str, str]) -> None:
    """Read the cards being played."""
    cards = [card.strip() for card in parts.get("running", "").split(",") if card.strip()]
    if len(cards) > MAX_DEPTH:
        raise BadRecord(f"running: has {len(cards)} cards; {MAX_DEPTH} is the most")
    s["depth"] = len(cards)
    for name in ("run_slot", "run_step", "run_play", "run_plays"):
        s[name] = 0
    plays = 1  # the number of plays of a card, which the card before it sets
    for d, card in enumerate(cards):
        name, *numbers = card.rsplit(" ", 2)
        if len(numbers) != 2:
            raise BadRecord(f"running: {shown(card)!r} is not a card, its step, and which of its plays this is")
        slot = s["run_slot"][d] = slot_from(s, name)
        s["run_plays"][d] = plays
        step = s["run_step"][d] = _number("running", numbers[0], 0, s["steps"].shape[1])
        s["run_play"][d] = _number("running", numbers[1], 0, plays - 1)
        plays = max(1, times_played_again(s, slot, step - 1)) if step else 1


def _read_progress(s: Any, parts: dict[str, str], n_cards: int) -> None:
    """Read the registers of the card that is resolving (see progress.py), or compute them from the rest of the position."""
    node, turn, players = int(s["node"]), int(s["turn"]), int(s["players"])
    what, number, kind, _ = step_or_nothing(s)
    for name in _PROGRESS:
        if name in parts and not s["depth"]:
            raise BadRecord(f"{name}: is given, but no card is being played (running:)")
    if "left" in parts and (node not in (TRASH_NODE, DISCARD_NODE) or what == OTHERS_DISCARD_TO):
        raise BadRecord("left: is given, but no card lets its player trash or discard cards now")
    s["affected"] = s["victim"] = 0
    if "affected" in parts:
        s["affected"] = _number("affected", parts["affected"], 0, players - 1)
        s["victim"] = (int(s["affected"]) - turn) % players + 1
    s["sub"] = _how_far(s, parts, what)
    s["decider"] = s["affected"] if node == PUT_BACK_NODE or (node == DISCARD_NODE and what == OTHERS_DISCARD_TO) else turn
    s["last"] = slot_from(s, parts["last"]) if "last" in parts else 0
    s["drawn"] = slot_from(s, parts["drawn"]) if "drawn" in parts else NO_SLOT
    s["memory"] = _number("memory", parts.get("memory", "0"), NOT_TRASHED, n_cards)
    s["left"] = _number("left", parts.get("left", "0"), 0, 127)
    if node == TRASH_NODE and what == TRASH:
        if "memory" in parts:
            raise BadRecord("memory: follows from last: while cards are trashed")
        s["memory"] = s["cost"][s["last"]] if "last" in parts else NOT_TRASHED
    if what == OTHERS_DISCARD_TO and s["victim"]:
        s["left"] = max(0, int(s["hand"][int(s["affected"])].astype(int).sum()) - number)
    elif what == DIG and s["sub"] == WATCHING:
        s["left"] = number - sum(int(s["aside"][slot]) for slot in range(N_SLOTS) if int(s["of_type"][kind]) >> slot & 1)
    elif what == STEAL and s["sub"] == TAKEN:
        s["victim"] = players if s["victim"] else 0
        s["last"] = next((slot for slot in range(N_SLOTS) if s["loot"][slot]), 0)


def _how_far(s: Any, parts: dict[str, str], what: int) -> int:
    """Return the register `sub`, which follows from the node and the kind of step."""
    node = int(s["node"])
    if node in (TRASH_NODE, DISCARD_NODE, LOOT_NODE) or (node == DRAW_NODE and what in (SPY, STEAL) and s["victim"]):
        return STARTED
    if node == ASK_NODE and what in (STEAL, DRAW_TO):
        return TAKEN
    if node == DRAW_NODE and (parts.get("draw", "").endswith(_WATCHED) or (what == DIG and s["draw_to"] == ASIDE)):
        return WATCHING
    return AT_START
