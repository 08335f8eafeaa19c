"""Positions and actions of Dominion as text, and back. The only parser.

Actions: `play Village`, `buy Gold`, `trash Copper`, `gain Silver`, `discard Estate`, `put back Estate`, `yes`, `no`, `end`.
Chance: `draw Copper`. Piles: `7 Copper 3 Estate`, or nothing if empty.

A position is `part: value` behind semicolons. With two players, in the second turn of seat 1:
    stage: buy; node: buy; turn: 1; turns: 2 2; actions: 1; buys: 1; coins: 4; supply: 46 Copper 40 Silver ...;
    trash: ; play: 4 Copper; hand 0: 3 Copper 2 Estate; deck 0: 4 Copper 1 Estate; discard 0: ; ...
The node is what happens next. Further parts say what is in progress where something is:
    seen 0: 2 Copper             the part of the discards of seat 0 that all have seen (all, if it is not given)
    flipped 0: 3                 unseen discards of seat 0 that came from its deck
    plain 0: 2                   unseen discards of seat 0 that all know to be neither treasures nor actions
    unasked: yes                 the seat that buys could have played an action, and held none
    top 0: Silver, Estate        known cards on top of the deck of seat 0, which holds them too; the first is drawn first
    draw: 1 3 hand               seat 1 draws three more cards to hand (aside: they are revealed)
    aside: 1 Copper of 1         cards of seat 1 revealed or set aside
    loot: 1 Silver               what of the trash a Thief may still gain
    running: Throne Room 1 1 2, Village 0 1 1   cards being played: step, play in progress, plays in all; the last one is resolving
    decider: 1                   who chooses, if it is not the player whose turn it is
    registers: 1 0 1 1 0 0 -1    see effects.py: sub, victim, affected, left, last, memory, drawn
    truncated: yes               the game was broken off
    emptied: 2                   piles that have run out, if not as many as are empty now
"""

from __future__ import annotations

import re
from typing import Any

from kdenv.core.errors import BadRecord
from kdenv.core.game import did_you_mean
from kdenv.games.dominion import effects, rules
from kdenv.games.dominion.cards import (
    ACTION,
    CARDS,
    DIG,
    DISCARD,
    DRAW_TO,
    GAIN,
    GAIN_FOR_TRASHED,
    MAY_DISCARD_DECK,
    NO_CARD,
    NOTHING,
    OTHERS_DISCARD_TO,
    OTHERS_PUT_BACK,
    PLAY_TWICE,
    SPY,
    STEAL,
    TRASH,
    TREASURE,
    key_of,
)
from kdenv.games.dominion.effects import (
    AGAIN_NODE,
    ASIDE,
    ASK_NODE,
    BUY_NODE,
    DISCARD_NODE,
    DRAW_NODE,
    GAIN_NODE,
    IN_HAND,
    LOOT_NODE,
    MAX_DEPTH,
    NO_SLOT,
    OVER_NODE,
    PLAY_NODE,
    PUT_BACK_NODE,
    TRASH_NODE,
    WATCHING,
)
from kdenv.games.dominion.piles import N_TOPS
from kdenv.games.dominion.tables import (
    BUY_FIRST,
    DISCARD_FIRST,
    END,
    GAIN_FIRST,
    N_ACTIONS,
    N_KINGDOM_PILE,
    N_SLOTS,
    NO,
    PLAY_FIRST,
    PUT_BACK_FIRST,
    TRASH_FIRST,
    YES,
)

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
NODES = ("over", "draw", "play", "buy", "again", "trash", "gain", "discard", "put back", "loot", "ask")
_REGISTERS = ("sub", "victim", "affected", "left", "last", "memory", "drawn")
_PILES = ("hand", "deck", "discard")

_PHASE_OF = {PLAY_NODE: rules.ACTION_PHASE, BUY_NODE: rules.BUY_PHASE}
# What a card must be doing where a card asks.
_ASKED_BY = {
    AGAIN_NODE: (PLAY_TWICE,),
    TRASH_NODE: (TRASH,),
    GAIN_NODE: (GAIN, GAIN_FOR_TRASHED),
    DISCARD_NODE: (DISCARD, OTHERS_DISCARD_TO),
    PUT_BACK_NODE: (OTHERS_PUT_BACK,),
    LOOT_NODE: (STEAL,),
    ASK_NODE: (SPY, STEAL, DRAW_TO, MAY_DISCARD_DECK),
}


def card_name(s: Any, slot: int) -> str:
    """The name of the card in a slot; '-' for an empty place in the kingdom."""
    number = int(s["card"][slot])
    return "-" if number == NO_CARD else CARDS[number].name


def slot_from(s: Any, name: str) -> int:
    """The slot of a card of this game."""
    names = [key_of(card_name(s, slot)) for slot in range(N_SLOTS)]
    if key_of(name) != key_of("-") and key_of(name) in names:
        return names.index(key_of(name))
    known = [card_name(s, slot) for slot in range(N_SLOTS) if s["card"][slot] != NO_CARD]
    raise BadRecord(f"there is no {name!r} in this game{did_you_mean(name.title(), known)}; its cards are {', '.join(known)}")


def action_text(states: Any, k: int, action: int) -> str:
    """The action in words."""
    for word, number in _WORDS.items():
        if action == number:
            return word
    if not PLAY_FIRST <= action < N_ACTIONS:
        raise BadRecord(f"{action} is no action; actions are 0 to {N_ACTIONS - 1}")
    verb = list(_VERBS)[(action - PLAY_FIRST) // N_SLOTS]
    return f"{verb} {card_name(states[k], (action - PLAY_FIRST) % N_SLOTS)}"


def action_from(states: Any, k: int, text: str) -> int:
    """The action these words mean; whether it is legal is not checked."""
    words = " ".join(text.split())
    if words.lower() in _WORDS:
        return _WORDS[words.lower()]
    for verb, first in _VERBS.items():
        if words.lower().startswith(verb + " "):
            return first + slot_from(states[k], words[len(verb) + 1 :])
    raise BadRecord(f"{text!r} is no action; write play, buy, trash, gain, discard or 'put back' and a card, or yes, no or end")


def chance_text(states: Any, k: int, outcome: int) -> str:
    """An outcome of chance in words."""
    return f"draw {card_name(states[k], outcome)}"


def chance_from(states: Any, k: int, text: str) -> int:
    """The outcome these words mean; whether it is possible is not checked."""
    verb, _, name = " ".join(text.split()).partition(" ")
    if verb.lower() != "draw":
        raise BadRecord(f"{text!r} is nothing that chance does; it is 'draw Copper'")
    return slot_from(states[k], name)


# Positions


def pile_text(s: Any, pile: Any) -> str:
    """A pile as `7 Copper 3 Estate`."""
    return " ".join(f"{int(n)} {card_name(s, slot)}" for slot, n in enumerate(pile) if n)


def position_text(states: Any, k: int) -> str:
    """The position in one line."""
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
        parts.append(("draw", f"{s['draw_seat']} {s['draw_left']} {'hand' if s['draw_to'] == IN_HAND else 'aside'}"))
    if s["aside"].any():
        parts.append(("aside", f"{pile_text(s, s['aside'])} of {s['draw_seat']}"))
    if s["loot"].any():
        parts.append(("loot", pile_text(s, s["loot"])))
    if s["depth"]:
        running = (f"{card_name(s, s['run_slot'][d])} {s['run_step'][d]} {s['run_play'][d]} {s['run_plays'][d]}" for d in range(s["depth"]))
        parts.append(("running", ", ".join(running)))
        parts.append(("registers", " ".join(str(s[name]) for name in _REGISTERS)))
    if s["node"] > DRAW_NODE and s["decider"] != s["turn"]:
        parts.append(("decider", s["decider"]))
    if s["unasked"]:
        parts.append(("unasked", "yes"))
    if s["is_truncated"]:
        parts.append(("truncated", "yes"))
    if s["n_empty"] != _n_empty(s):
        parts.append(("emptied", s["n_empty"]))
    return "; ".join(f"{name}: {value}" for name, value in parts)


def _n_empty(s: Any) -> int:
    """How many piles of the supply are empty that are not so from the start."""
    n = sum(s["supply"][slot] == 0 and s["card"][slot] != NO_CARD for slot in range(N_SLOTS))
    return int(n - (s["players"] == 1))  # one player has no Curses


def position_from(text: str, states: Any, k: int) -> None:
    """Write the position into states[k], where begin() has been called with the players and options."""
    s = states[k]
    players = int(s["players"])
    parts = _parts(text, players)
    for name in ("stage", "node"):
        words = STAGES if name == "stage" else NODES
        if parts[name] not in words:
            raise BadRecord(f"{name}: {parts[name]} is not one of {', '.join(words)}")
        s[name] = words.index(parts[name])
    s["turn"] = _number("turn", parts["turn"], 0, players - 1)
    turns = parts["turns"].split()
    if len(turns) != players:
        raise BadRecord(f"turns: {parts['turns']} is not {players} numbers")
    s["turns"][:players] = [_number("turns", n, 0, 32000) for n in turns]
    for name in ("actions", "buys", "coins"):
        s[name] = _number(name, parts[name], 0, 9999)
    for name in ("supply", "trash", "play", "loot"):
        s[name] = _pile(s, name, parts.get(name, ""))
    _read_draw(s, parts, players)
    s["owned"] = 0
    for seat in range(players):
        _read_seat(s, parts, seat)
    s["laid"] = sum(1 << slot for slot in range(N_SLOTS) if s["play"][slot] > 0)
    s["stocked"] = sum(1 << slot for slot in range(N_SLOTS) if s["supply"][slot] > 0)
    s["n_empty"] = _number("emptied", parts["emptied"], 0, N_SLOTS) if "emptied" in parts else max(0, _n_empty(s))
    s["is_truncated"] = parts.get("truncated") == "yes"
    _read_unasked(s, parts)
    s["decider"] = _number("decider", parts["decider"], 0, players - 1) if "decider" in parts else s["turn"]
    _read_running(s, parts)
    _check(s)


def _parts(text: str, players: int) -> dict[str, str]:
    """The parts of a position by name."""
    needed = ["stage", "node", "turn", "turns", "actions", "buys", "coins", "supply", "trash", "play"]
    needed += [f"{pile} {seat}" for seat in range(players) for pile in _PILES]
    known = [*needed, "draw", "aside", "loot", "running", "registers", "decider", "unasked", "truncated", "emptied"]
    known += [f"{name} {seat}" for seat in range(players) for name in ("seen", "flipped", "plain", "top")]
    parts: dict[str, str] = {}
    for part in text.split(";"):
        name, colon, value = part.partition(":")
        name = " ".join(name.split())
        if not colon or name not in known:
            raise BadRecord(f"{part.strip()[:40]!r} is no part of a position{did_you_mean(name, known)}; the parts are {', '.join(known)}")
        if name in parts:
            raise BadRecord(f"the position has {name}: twice")
        parts[name] = " ".join(value.split())
    for name in needed:
        if name not in parts:
            raise BadRecord(f"the position lacks {name}:")
    return parts


def _number(name: str, text: str, least: int, most: int) -> int:
    if not re.fullmatch(r"-?\d{1,6}", text) or not least <= int(text) <= most:
        raise BadRecord(f"{name}: {text} is not a number from {least} to {most}")
    return int(text)


def _pile(s: Any, name: str, text: str) -> list[int]:
    """The counts of `7 Copper 3 Estate`."""
    counts = [0] * N_SLOTS
    entries = re.findall(r"(\d+) ([^\d]+)", text)
    if " ".join(f"{n} {card.strip()}" for n, card in entries) != text:
        raise BadRecord(f"{name}: {text!r} is not a pile such as '7 Copper 3 Estate'")
    for n, card in entries:
        slot = slot_from(s, card.strip())
        if counts[slot]:
            raise BadRecord(f"{name}: lists {card.strip()} twice")
        counts[slot] = _number(name, n, 0, 120)
    return counts


def _read_draw(s: Any, parts: dict[str, str], players: int) -> None:
    """Cards to be drawn, and those that lie aside."""
    s["draw_seat"], s["draw_left"], s["draw_to"] = 0, 0, IN_HAND
    if "draw" in parts:
        words = parts["draw"].split()
        if len(words) != 3 or words[2] not in ("hand", "aside"):
            raise BadRecord(f"draw: {parts['draw']} is not a seat, how many cards, and hand or aside")
        s["draw_seat"] = _number("draw", words[0], 0, players - 1)
        s["draw_left"] = _number("draw", words[1], 1, 999)
        s["draw_to"] = IN_HAND if words[2] == "hand" else ASIDE
    pile, of, seat = parts.get("aside", "").partition(" of ")
    s["aside"] = _pile(s, "aside", pile)
    if of:
        owner = _number("aside", seat, 0, players - 1)
        if "draw" in parts and owner != s["draw_seat"]:
            raise BadRecord(f"cards of seat {owner} lie aside while seat {s['draw_seat']} draws")
        s["draw_seat"] = owner
    elif pile:
        raise BadRecord(f"aside: {pile} does not say whose cards these are: 'of' and the seat")


def _read_seat(s: Any, parts: dict[str, str], seat: int) -> None:
    """The piles of one seat."""
    for pile in _PILES:
        s[pile][seat] = _pile(s, f"{pile} {seat}", parts[f"{pile} {seat}"])
    s["open"][seat] = _pile(s, f"seen {seat}", parts[f"seen {seat}"]) if f"seen {seat}" in parts else s["discard"][seat]
    if (s["open"][seat] > s["discard"][seat]).any():
        raise BadRecord(f"seen {seat}: has cards that are not in its discards")
    n_unseen = int(s["discard"][seat].astype(int).sum() - s["open"][seat].astype(int).sum())
    s["flipped"][seat] = _number(f"flipped {seat}", parts.get(f"flipped {seat}", "0"), 0, n_unseen)
    treasures = int(s["of_type"][1])
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
    s["held"][seat] = sum(1 << slot for slot in range(N_SLOTS) if s["hand"][seat][slot] > 0)
    total = sum(s[pile][seat].astype(int) for pile in _PILES)
    if seat == s["turn"]:
        total = total + s["play"]
    if seat == s["draw_seat"]:
        total = total + s["aside"]
    if (total > 127).any():
        raise BadRecord(f"seat {seat} has more than 127 of a card")
    s["owned"][seat] = total


def _read_unasked(s: Any, parts: dict[str, str]) -> None:
    """Whether the seat that buys is known to hold no action."""
    s["unasked"] = parts.get("unasked") == "yes"
    held = int(s["held"][s["turn"]]) & (int(s["of_type"][ACTION]) | int(s["of_type"][TREASURE]))
    if s["unasked"] and (s["stage"] != rules.BUY_PHASE or s["actions"] == 0 or held):
        raise BadRecord("unasked: yes is for the buy phase of a seat with actions left and neither an action nor a treasure in hand")


def _read_running(s: Any, parts: dict[str, str]) -> None:
    """The cards being played, and how far the last one is."""
    cards = [card.strip() for card in parts.get("running", "").split(",") if card.strip()]
    if len(cards) > MAX_DEPTH - 1:
        raise BadRecord(f"running: has {len(cards)} cards; {MAX_DEPTH - 1} is the most")
    s["depth"] = len(cards)
    for name in ("run_slot", "run_step", "run_play", "run_plays"):
        s[name] = 0
    for d, card in enumerate(cards):
        name, *numbers = card.rsplit(" ", 3)
        if len(numbers) != 3:
            raise BadRecord(f"running: {card!r} is not a card, its step, its play and its number of plays")
        slot = slot_from(s, name)
        plays = _number("running", numbers[2], 1, 9)
        s["run_slot"][d], s["run_plays"][d] = slot, plays
        s["run_play"][d] = _number("running", numbers[1], 0, plays - 1)
        s["run_step"][d] = _number("running", numbers[0], 0, 3)
    replayers = {slot for slot in range(N_SLOTS) if PLAY_TWICE in s["steps"][slot, :, 0]}
    for slot in replayers:
        if (s["owned"][:, slot] > N_KINGDOM_PILE).any():
            raise BadRecord(f"a seat has more than {N_KINGDOM_PILE} {card_name(s, slot)}")
    slots = [int(slot) for slot in s["run_slot"][: len(cards)]]
    if not replayers.issuperset(slots[:-1]) or any(slots.count(slot) > s["play"][slot] for slot in replayers):
        raise BadRecord(f"running: {parts.get('running')} are not cards in play of which each plays the next")
    registers = parts.get("registers", f"0 0 0 0 0 0 {NO_SLOT}").split()
    if len(registers) != len(_REGISTERS):
        raise BadRecord(f"registers: needs {len(_REGISTERS)} numbers: {', '.join(_REGISTERS)}")
    players = int(s["players"])
    bounds = {"sub": (0, 3), "victim": (0, players), "affected": (0, players - 1), "left": (0, 999), "last": (0, N_SLOTS - 1)}
    for name, number in zip(_REGISTERS, registers, strict=True):
        s[name] = _number(name, number, *bounds.get(name, (-1, 999 if name == "memory" else N_SLOTS - 1)))


def _check(s: Any) -> None:
    """What is in progress must fit what happens next, or kernels would run off their arrays."""
    node, stage, depth = int(s["node"]), int(s["stage"]), int(s["depth"])
    turn, decider = int(s["turn"]), int(s["decider"])
    what = _step(s)
    if depth and stage != rules.ACTION_PHASE:
        raise BadRecord("cards are being played, but it is not the action phase")
    if node == OVER_NODE and (stage != rules.CLEAN_UP or depth):
        raise BadRecord("a game is over in the clean-up")
    if (node == DRAW_NODE) != bool(s["draw_left"]):
        raise BadRecord("draw: is given where a card is drawn next, and only there")
    if node == DRAW_NODE:
        _check_draw(s, what)
    if node in (PLAY_NODE, BUY_NODE) and (depth or decider != turn or stage != _PHASE_OF[node]):
        raise BadRecord(f"node: {NODES[node]} needs its phase, and no card being played")
    if node in _ASKED_BY and what not in _ASKED_BY[node]:
        raise BadRecord(f"node: {NODES[node]} needs a card in running: whose step asks this")
    if node > BUY_NODE and node not in (DISCARD_NODE, PUT_BACK_NODE) and decider != turn:
        raise BadRecord(f"decider: {decider} cannot be: it is seat {turn} that chooses")
    if node in (DISCARD_NODE, PUT_BACK_NODE) and decider != (turn if what == DISCARD else s["affected"]):
        raise BadRecord(f"decider: {decider} is not the seat the card asks")
    if node > DRAW_NODE and node not in (BUY_NODE, ASK_NODE) and not int(effects.choices(s)):
        raise BadRecord(f"node: {NODES[node]} offers nothing to choose")
    if (node == PLAY_NODE and not s["actions"]) or (node == BUY_NODE and not s["buys"]):
        raise BadRecord(f"node: {NODES[node]} needs actions or buys")
    if node in (TRASH_NODE, DISCARD_NODE) and s["left"] <= 0:
        raise BadRecord("a card asks to choose cards, but none are left to choose")
    if (node == LOOT_NODE or (node == ASK_NODE and what == SPY)) and int(s["draw_seat"]) != int(s["affected"]):
        raise BadRecord("the cards aside are not of the seat that the card affects")
    if node == ASK_NODE:
        _check_question(s, what)
    if s["aside"].any() and what not in (SPY, STEAL, DIG, DRAW_TO):
        raise BadRecord("cards lie aside, but no card being played puts them there")
    if (s["loot"] > s["trash"]).any():
        raise BadRecord("loot: has cards that are not in the trash")


def _step(s: Any) -> int:
    """What the card that is resolving is doing."""
    depth = int(s["depth"])
    if not depth:
        return NOTHING
    step = int(s["run_step"][depth - 1])
    return int(s["steps"][int(s["run_slot"][depth - 1]), step, 0]) if step < s["steps"].shape[1] else NOTHING


def _check_draw(s: Any, what: int) -> None:
    seat = int(s["draw_seat"])
    if not s["n_deck"][seat] or s["n_top"][seat]:
        raise BadRecord(f"seat {seat} draws by chance from a deck that holds cards of which none is known to be on top")
    if (s["draw_to"] == ASIDE or s["sub"] == WATCHING) and what not in (SPY, STEAL, DIG, DRAW_TO):
        raise BadRecord("cards are revealed only while a card being played reveals them")
    if s["stage"] == rules.BUY_PHASE:
        raise BadRecord("no card is drawn in the buy phase")


def _check_question(s: Any, what: int) -> None:
    """A question must have the card it is about."""
    turn, drawn = int(s["turn"]), int(s["drawn"])
    if what == SPY and int(s["aside"].astype(int).sum()) != 1:
        raise BadRecord("Spy asks about one card aside")
    if what == DRAW_TO and (drawn == NO_SLOT or not s["hand"][turn][drawn]):
        raise BadRecord("the card just drawn is not in hand")
    if what == STEAL and not s["loot"][int(s["last"])]:
        raise BadRecord("there is nothing to gain of what was trashed")
