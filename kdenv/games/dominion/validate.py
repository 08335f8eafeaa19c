"""Refuse positions of Dominion that contradict themselves: in their piles, their counters or the cards being played.

notation.py calls `check` when it has read a position, because kernels check nothing. A position that is accepted must not make them
leave their arrays or run for ever. Cards may be missing (for an endgame to study), but there are never more than the game has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.bits import popcount
from kdenv.core.errors import BadRecord
from kdenv.games.dominion import progress
from kdenv.games.dominion.cards import (
    ATTACK,
    CARDS,
    DIG,
    DISCARD,
    DRAW_AS_MANY,
    DRAW_TO,
    GAIN,
    GAIN_FOR_TRASHED,
    HOW,
    MAX_COST,
    MAY,
    MAY_DISCARD_DECK,
    N_STEPS,
    NO_CARD,
    NOTHING,
    NUMBER,
    OTHERS_DISCARD_TO,
    OTHERS_DRAW,
    OTHERS_PUT_BACK,
    PLAY_TWICE,
    REACTION,
    SPY,
    STEAL,
    TRASH,
    TRASH_FOR_COINS,
    TRASH_THIS,
    TREASURE,
    WHAT,
)
from kdenv.games.dominion.progress import (
    AGAIN_NODE,
    ASK_NODE,
    BUY_NODE,
    DISCARD_NODE,
    DRAW_NODE,
    GAIN_NODE,
    IN_HAND,
    LOOT_NODE,
    MAX_DEPTH,
    NO_SLOT,
    NOT_TRASHED,
    OVER_NODE,
    PLAY_NODE,
    PUT_BACK_NODE,
    TRASH_NODE,
    WATCHING,
)
from kdenv.games.dominion.rules import ACTION_PHASE, BUY_PHASE, CLEAN_UP, OPENING
from kdenv.games.dominion.tables import EMPTY_PILES_TO_END, HAND_SIZE, N_SLOTS, PROVINCE

Counts = NDArray[np.int64]

NODES = ("over", "draw", "play", "buy", "again", "trash", "gain", "discard", "put back", "loot", "ask")
# The stages in which a node can be. A node that is not listed belongs to the action phase.
_PARTS = {OVER_NODE: (CLEAN_UP,), DRAW_NODE: (OPENING, ACTION_PHASE, CLEAN_UP), BUY_NODE: (BUY_PHASE,)}
# The steps that ask at a node.
_ASKED_BY = {
    AGAIN_NODE: (PLAY_TWICE,),
    TRASH_NODE: (TRASH,),
    GAIN_NODE: (GAIN, GAIN_FOR_TRASHED),
    DISCARD_NODE: (DISCARD, OTHERS_DISCARD_TO),
    PUT_BACK_NODE: (OTHERS_PUT_BACK,),
    LOOT_NODE: (STEAL,),
    ASK_NODE: (SPY, STEAL, DRAW_TO, MAY_DISCARD_DECK),
}
# The steps that deal with one seat after another, and the nodes at which they do so.
_ROUND_THE_TABLE = {
    OTHERS_DISCARD_TO: (DISCARD_NODE,),
    OTHERS_PUT_BACK: (PUT_BACK_NODE,),
    OTHERS_DRAW: (DRAW_NODE,),
    SPY: (DRAW_NODE, ASK_NODE),
    STEAL: (DRAW_NODE, ASK_NODE, LOOT_NODE),
}


def card_name(s: Any, slot: int) -> str:
    """Return the name of the card in a slot; '-' for an empty place in the kingdom."""
    number = int(s["card"][slot])
    return "-" if number == NO_CARD else CARDS[number].name


def step_or_nothing(s: Any) -> tuple[int, int, int, int]:
    """Return the step in progress: what, number, type, how. It is NOTHING if no step is left or no card is being played."""
    depth = int(s["depth"])
    step = int(s["run_step"][depth - 1]) if depth else N_STEPS
    if step >= N_STEPS:
        return NOTHING, 0, 0, 0
    what, number, kind, how = (int(part) for part in s["steps"][int(s["run_slot"][depth - 1]), step])
    return what, number, kind, how


def times_played_again(s: Any, slot: int, step: int) -> int:
    """Return the number of times that this step plays another card; 0 if it plays none."""
    what, number, _, _ = (int(part) for part in s["steps"][slot, step])
    return number if what == PLAY_TWICE else 0


def most_in_a_turn(s: Any, totals: Counts, name: str) -> int:
    """Return a bound on the actions, buys or coins of a turn: those at its start and those of all cards if played."""
    gives = s[f"{name}_of"].astype(int)
    if name == "coins":
        steps = s["steps"].astype(int)
        gives = gives + (steps[:, :, HOW] * (steps[:, :, WHAT] == TRASH_FOR_COINS)).sum(axis=1)
    return int((gives * totals).sum()) * _most_times(s) + (name != "coins")


def _most_times(s: Any) -> int:
    """Return the most times that a card in play may be played in a turn."""
    return max(1, *(times_played_again(s, slot, step) for slot in range(N_SLOTS) for step in range(N_STEPS)))


def check(s: Any, totals: Counts, laid_out: Counts) -> None:
    """Raise BadRecord for a position that cannot be. By slot, totals are all cards of the game, laid_out those of its supply at first."""
    _check_piles(s, totals, laid_out)
    _check_part_of_turn(s)
    _check_running(s)
    doing = step_or_nothing(s)
    if s["node"] in _ASKED_BY and doing[0] not in _ASKED_BY[int(s["node"])]:
        raise BadRecord(f"node: {NODES[s['node']]} needs a card in running: whose step asks this")
    _check_affected(s, doing)
    _check_aside(s, doing)
    if (s["node"] == DRAW_NODE) != (s["draw_left"] > 0):
        raise BadRecord("draw: is given where a card is drawn next, and only there")
    if s["node"] == DRAW_NODE:
        _check_draw(s, doing)
    else:
        _check_choice(s, doing)


def _hand_size(s: Any, seat: int) -> int:
    return int(s["hand"][seat].astype(int).sum())


def _check_piles(s: Any, totals: Counts, laid_out: Counts) -> None:
    """Check that there are not too many cards of a kind, and none in a pile where it cannot be."""
    here = s["supply"].astype(int) + s["trash"] + s["owned"].astype(int).sum(axis=0)
    for slot in range(N_SLOTS):
        if here[slot] > totals[slot]:
            raise BadRecord(f"all piles together have {here[slot]} {card_name(s, slot)}; the game has {totals[slot]}")
        if s["supply"][slot] > laid_out[slot]:
            raise BadRecord(f"supply: has {s['supply'][slot]} {card_name(s, slot)}; the game begins with {laid_out[slot]}")
    if (s["loot"] > s["trash"]).any():
        raise BadRecord("loot: has cards that are not in the trash")
    if s["stage"] == BUY_PHASE and s["held"][int(s["turn"])] & s["of_type"][TREASURE]:
        raise BadRecord("treasures are in hand in the buy phase; they are played when it begins")


def _check_part_of_turn(s: Any) -> None:
    """Check that stage, node, turns taken and the end of the game fit each other."""
    node, stage, turn, players = int(s["node"]), int(s["stage"]), int(s["turn"]), int(s["players"])
    if stage not in _PARTS.get(node, (ACTION_PHASE,)):
        raise BadRecord(f"node: {NODES[node]} belongs to another stage")
    turns = s["turns"][:players].tolist()
    taken = 0 if stage == OPENING else turns[turn]
    if (stage != OPENING and not taken) or turns != [taken - (seat > turn and taken > 0) for seat in range(players)]:
        raise BadRecord(
            f"turns: {' '.join(map(str, turns))} cannot be in the turn of seat {turn}: seats take turns from 0 on, none in the opening"
        )
    if stage == OPENING and turn:
        raise BadRecord(f"turn: {turn} cannot be in the opening; seat 0 begins")
    if stage in (OPENING, CLEAN_UP) and s["play"].any():
        raise BadRecord("cards are in play, but it is neither the action nor the buy phase")
    ended = s["supply"][PROVINCE] == 0 or s["n_empty"] >= EMPTY_PILES_TO_END
    broken_off = turns[turn] >= s["max_turns"] and turn == players - 1
    if node == OVER_NODE and not (ended or broken_off):
        raise BadRecord("a game is over when the Provinces or three piles are gone or all turns are taken, which is not so")
    if node == DRAW_NODE and stage == CLEAN_UP and (ended or broken_off):
        raise BadRecord("nobody draws after the last turn: the game is over")
    s["is_truncated"] = node == OVER_NODE and not ended
    if node == OVER_NODE and _hand_size(s, turn):
        raise BadRecord(f"seat {turn} has cards in hand after its clean-up, though the game is over")
    if (node == PLAY_NODE and not s["actions"]) or (node == BUY_NODE and not s["buys"]):
        raise BadRecord(f"node: {NODES[node]} needs actions or buys")


def _check_running(s: Any) -> None:
    """Check that cards being played are in play (or in the trash, if they trash themselves), and that each has played the next one."""
    depth = int(s["depth"])
    if depth and (s["stage"] != ACTION_PHASE or s["node"] in (PLAY_NODE, BUY_NODE)):
        raise BadRecord("running: has cards being played, but nothing of a card happens next")
    in_play, in_trash = s["play"].astype(int), s["trash"].astype(int)
    for d in range(depth):
        slot, step, play, plays = (int(s[name][d]) for name in ("run_slot", "run_step", "run_play", "run_plays"))
        name = card_name(s, slot)
        if d < depth - 1 and not (step and times_played_again(s, slot, step - 1)):
            raise BadRecord(f"running: {name} at step {step} does not play the card after it")
        if not 0 <= play < plays:
            raise BadRecord(f"running: {name} is played {plays} times, counted from 0, so it is not in play {play}")
        trashes = [i for i in range(N_STEPS) if s["steps"][slot, i, WHAT] == TRASH_THIS]
        pile = in_trash if trashes and (play > 0 or step > trashes[0]) else in_play
        pile[slot] -= 1
        if pile[slot] < 0:
            raise BadRecord(f"running: {name} is not among the cards in play")


def _check_affected(s: Any, doing: tuple[int, int, int, int]) -> None:
    """Check that a seat is affected only by a card that deals with seats in turn and can touch it, the seat on turn only by a Spy."""
    what, node, turn, victim, affected = doing[0], int(s["node"]), int(s["turn"]), int(s["victim"]), int(s["affected"])
    nodes = _ROUND_THE_TABLE.get(what, ())
    if victim and node not in nodes:
        raise BadRecord(f"affected: {affected} cannot be: no card being played deals with a seat now")
    if not victim and node in nodes and node != DRAW_NODE:
        raise BadRecord("the position lacks affected:, the seat that the card deals with")
    if not victim:
        return
    if affected == turn and what != SPY:
        raise BadRecord(f"affected: {affected} cannot be: the card deals with the other seats")
    is_attack = int(s["of_type"][ATTACK]) >> int(s["run_slot"][int(s["depth"]) - 1]) & 1
    holds_reaction = int(s["held"][affected]) & int(s["of_type"][REACTION])
    if is_attack and holds_reaction and affected != turn and what != OTHERS_DRAW:
        raise BadRecord(f"affected: {affected} cannot be: seat {affected} holds a reaction, so no attack touches it")
    if what == OTHERS_DISCARD_TO:  # of a larger hand so many cards would be chosen that hardly a deal of unseen cards had them
        most = _largest_hand_of_others(s)
        for seat in range(int(s["players"])):
            if seat != turn and _hand_size(s, seat) > most:
                raise BadRecord(f"hand {seat}: has {_hand_size(s, seat)} cards; seats that are not on turn have at most {most}")


def _largest_hand_of_others(s: Any) -> int:
    """Return the most cards in hand of a seat that is not on turn: its five, and those that cards in play let it draw."""
    steps = s["steps"].astype(int)
    draws = (steps[:, :, NUMBER] * (steps[:, :, WHAT] == OTHERS_DRAW)).sum(axis=1)
    return HAND_SIZE + int((draws * s["play"]).sum()) * _most_times(s)


def _check_aside(s: Any, doing: tuple[int, int, int, int]) -> None:
    """Check that cards lie aside, and loot waits, only if the card being played has put them there."""
    what, number, kind, _ = doing
    aside, owner = s["aside"].astype(int), int(s["draw_seat"])
    if aside.any() and what not in (SPY, STEAL, DIG, DRAW_TO):
        raise BadRecord("cards lie aside, but no card being played puts them there")
    if s["loot"].any() and what != STEAL:
        raise BadRecord("loot: is given, but no card being played steals")
    if not aside.any():
        return
    of_kind = np.array([int(s["of_type"][kind]) >> slot & 1 for slot in range(N_SLOTS)])
    if owner != (int(s["affected"]) if what in (SPY, STEAL) else int(s["turn"])):
        raise BadRecord("the cards aside are not of the seat that the card deals with")
    if (what in (SPY, STEAL) and not s["victim"]) or (what == DIG and s["sub"] != WATCHING):
        raise BadRecord("cards lie aside, but the card being played has not revealed any yet")
    if what == DIG and (aside * of_kind).sum() >= number:
        raise BadRecord(f"as many cards are revealed as the card looks for ({number}), but it would reveal another")
    if what == DRAW_TO and (aside * (1 - of_kind)).any():
        raise BadRecord("a card lies aside that the card being played does not set aside")
    if what == STEAL and aside.sum() > number:
        raise BadRecord(f"{aside.sum()} cards lie aside; the card reveals {number}")


def _check_draw(s: Any, doing: tuple[int, int, int, int]) -> None:
    """Check that the rules or the card being played ask for this draw: its seat, its number of cards, and where they go."""
    what, number, _, _ = doing
    seat, n, turn, stage, depth = (int(s[name]) for name in ("draw_seat", "draw_left", "turn", "stage", "depth"))
    to_hand, n_aside = s["draw_to"] == IN_HAND, int(s["aside"].astype(int).sum())
    if not s["n_deck"][seat] or s["n_top"][seat]:
        raise BadRecord(f"seat {seat} draws by chance from a deck that holds cards of which none is known to be on top")
    if stage in (OPENING, CLEAN_UP):
        fits = to_hand and (seat == turn or stage == OPENING) and _hand_size(s, seat) + n == HAND_SIZE
    elif s["victim"]:
        wanted = {SPY: 1, STEAL: number - n_aside, OTHERS_DRAW: n if n <= number else 0}[what]
        fits = seat == s["affected"] and to_hand == (what == OTHERS_DRAW) and n == wanted and not (what == SPY and n_aside)
    elif s["sub"] == WATCHING:
        fits = what in (DIG, DRAW_TO) and seat == turn and n == 1 and to_hand == (what == DRAW_TO)
        fits = fits and (what == DIG or _hand_size(s, seat) < number)
    else:
        fits = seat == turn and to_hand and n <= _most_drawn(s, depth)
    if not fits:
        raise BadRecord(f"draw: seat {seat} cannot have {n} more cards to draw: neither the rules nor a card being played asks for that")


def _most_drawn(s: Any, depth: int) -> int:
    """Return the number of cards that the card played last, or the step done last, lets its player draw."""
    if not depth:
        return max(0, *(int(s["cards_of"][slot]) for slot in range(N_SLOTS) if s["play"][slot] and s["steps"][slot, 0, WHAT] == NOTHING), 0)
    slot, step = int(s["run_slot"][depth - 1]), int(s["run_step"][depth - 1])
    if step == 0:
        return int(s["cards_of"][slot])
    before, number = (int(part) for part in s["steps"][slot, step - 1, :2])
    return number * int(s["memory"]) if before == DRAW_AS_MANY else 0


def _check_choice(s: Any, doing: tuple[int, int, int, int]) -> None:
    """Check that there is something to choose, and that the card that asks is there."""
    what, number, kind, how = doing
    node, decider, left = int(s["node"]), int(s["decider"]), int(s["left"])
    if node == AGAIN_NODE and s["depth"] >= MAX_DEPTH:
        raise BadRecord(f"running: has {s['depth']} cards, so that none can be played again")
    if node in (OVER_NODE, BUY_NODE):
        return
    if node == ASK_NODE:
        _check_question(s, what, kind)
        return
    if popcount(progress.choices(s)) < (2 if node in (PUT_BACK_NODE, LOOT_NODE) else 1):
        raise BadRecord(f"node: {NODES[node]} offers nothing to choose")
    if node == GAIN_NODE and what == GAIN_FOR_TRASHED and not 0 <= s["memory"] <= MAX_COST:
        raise BadRecord(f"memory: {s['memory']} is not the cost of the card that was trashed")
    if node not in (TRASH_NODE, DISCARD_NODE):
        return
    if left < 1:
        raise BadRecord("a card asks to choose cards, but none are left to choose")
    if what == OTHERS_DISCARD_TO:
        return  # left was counted from the hand
    chosen = (s["memory"] != NOT_TRASHED) if what == TRASH else int(s["memory"])
    if left > number - chosen or (what == DISCARD and how == MAY and left != number - chosen):
        raise BadRecord(f"left: {left} cannot be: the card lets {number} be chosen")
    in_hand = sum(int(s["hand"][decider][slot]) for slot in range(int(s["last"]), N_SLOTS) if int(s["of_type"][kind]) >> slot & 1)
    if how != MAY and left > in_hand:
        raise BadRecord(f"left: {left} cannot be: only {in_hand} cards can still be chosen")


def _check_question(s: Any, what: int, kind: int) -> None:
    """Check that the card in question is there."""
    turn, drawn = int(s["turn"]), int(s["drawn"])
    if what == SPY and int(s["aside"].astype(int).sum()) != 1:
        raise BadRecord("Spy asks about one card aside")
    if what == STEAL and (not s["loot"].any() or s["aside"].any()):
        raise BadRecord("there is nothing to gain of what was trashed")
    if what == MAY_DISCARD_DECK and not s["n_deck"][turn]:
        raise BadRecord(f"the deck of seat {turn} is empty, so it cannot be discarded")
    if what == DRAW_TO and (drawn == NO_SLOT or not s["hand"][turn][drawn] or not int(s["of_type"][kind]) >> drawn & 1):
        raise BadRecord("drawn: is needed, the card just drawn to the hand that the question is about")
