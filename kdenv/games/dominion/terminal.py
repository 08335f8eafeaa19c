"""Positions of Dominion as coloured text for a terminal."""

from __future__ import annotations

from typing import Any

from kdenv.games.dominion.cards import ACTION, ATTACK, CURSES, NO_CARD, REACTION, TREASURE, VICTORY
from kdenv.games.dominion.notation import card_name, pile_text
from kdenv.games.dominion.scene import heading, mover, points, sees_hand, winners
from kdenv.games.dominion.tables import N_BASIC, N_SLOTS

_RESET, _BOLD, _DIM = "\x1b[0m", "\x1b[1m", "\x1b[2m"
_INKS = {TREASURE: "\x1b[33m", VICTORY: "\x1b[32m", CURSES: "\x1b[35m", ATTACK: "\x1b[31m", REACTION: "\x1b[34m", ACTION: "\x1b[36m"}


def ansi(states: Any, k: int, seat: int | None = None) -> str:
    """Draw the table in lines of text, with colours by type of card."""
    s = states[k]
    lines = [f"{_BOLD}Dominion{_RESET}  {heading(s)}", f"actions {s['actions']}  buys {s['buys']}  coins {s['coins']}", ""]
    for first, last in ((0, 3), (3, N_BASIC), (N_BASIC, 12), (12, N_SLOTS)):
        piles = [_pile_line(s, slot) for slot in range(first, last) if s["card"][slot] != NO_CARD]
        lines += ["  ".join(piles)] if piles else []
    lines.append("")
    for of, score in enumerate(points(states, k)):
        n_hand, n_discard = (int(s[pile][of].astype(int).sum()) for pile in ("hand", "discard"))
        hand = (_coloured(s, s["hand"][of]) or "none") if sees_hand(s, seat, of) else f"{n_hand} cards"
        mark = ">" if of == mover(s) else "*" if of in winners(states, k) else " "
        top = f" (top {card_name(s, int(s['top'][of][s['n_top'][of] - 1]))})" if s["n_top"][of] else ""
        who = f"{mark} {_BOLD}player {of}{_RESET} {score:3} points"
        lines.append(f"{who}  deck {s['n_deck'][of]:2}{top}  discards {n_discard:2}  hand: {hand}")
        for pile in ("play", "aside"):
            if s[pile].any() and of == (s["turn"] if pile == "play" else s["draw_seat"]):
                lines.append(f"    {pile}: {_coloured(s, s[pile])}")
    if s["trash"].any():
        lines += ["", f"{_DIM}trash: {pile_text(s, s['trash'])}{_RESET}"]
    return "\n".join(lines) + "\n"


def _ink(s: Any, slot: int) -> str:
    return next((ink for kind, ink in _INKS.items() if int(s["of_type"][kind]) >> slot & 1), "")


def _pile_line(s: Any, slot: int) -> str:
    """Write one pile: its cost, its name and the cards left."""
    left = int(s["supply"][slot])
    ink = _ink(s, slot) if left else _DIM
    return f"{s['cost'][slot]} {ink}{card_name(s, slot):<12}{_RESET}{left:3}"


def _coloured(s: Any, pile: Any) -> str:
    return ", ".join(f"{int(n)} {_ink(s, slot)}{card_name(s, slot)}{_RESET}" for slot, n in enumerate(pile) if n)
