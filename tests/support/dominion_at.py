"""Tables of Dominion set up for a test: hands, decks and piles in notation, everything else as at the start."""

import re
from typing import Any

from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.games.dominion.notation import pile_text

GAME = find_game("dominion")


def at(kingdom: str, hand: str, deck: str = "", discard: str = "", others: tuple[str, ...] = ("5 Copper",), **parts: Any) -> Table:
    """Seat 0 is to play an action of its hand; `others` are the hands of the other seats. Parts of the position may be given.

    What the seats have is taken from the supply, as far as it goes.
    """
    options = {name: parts.pop(name) for name in ("info", "curses", "max_turns") if name in parts}
    table = Table(GAME, 1 + len(others), kingdom=kingdom.split(", "), **options)
    position = dict(part.split(":", 1) for part in table.position().split("; "))
    seats = 1 + len(others)
    game = {card: n + seats * {"Copper": 7, "Estate": 3}.get(card, 0) for card, n in _counts(position["supply"]).items()}
    turn = int(parts.get("turn", 0))
    turns = " ".join("1" if seat <= turn else "0" for seat in range(seats))
    position |= {"stage": "action", "node": "play", "turns": turns, "actions": "1", "buys": "1"}
    position |= {"hand 0": hand, "deck 0": deck, "discard 0": discard}
    for seat, other in enumerate(others, 1):
        position |= {f"hand {seat}": other, f"deck {seat}": ""}
    position.pop("draw", None)
    short = parts.pop("supply", {})
    position |= {name.replace("_", " "): str(value) for name, value in parts.items()}
    gone = [_counts(value) for name, value in position.items() if name.split()[0] in ("hand", "deck", "discard", "play", "trash")]
    supply = {card: min(n, _counts(position["supply"])[card], n - sum(pile.get(card, 0) for pile in gone)) for card, n in game.items()}
    position["supply"] = " ".join(f"{n} {card}" for card, n in (supply | short).items() if n)
    return table.at_position("; ".join(f"{name}: {value}" for name, value in position.items()))


def _counts(text: str) -> dict[str, int]:
    """`7 Copper 3 Throne Room` as {"Copper": 7, "Throne Room": 3}."""
    return {card.strip(): int(n) for n, card in re.findall(r"(\d+) ([^\d]+)", text)}


def go(table: Table, *moves: str) -> Table:
    """Carry out actions and draws given in words."""
    for move in moves:
        if move.startswith("draw "):
            table.chance(GAME.notation.chance_from(table.states, 0, move))
        else:
            table.play(table.action(move))
    return table


def legal(table: Table) -> list[str]:
    """The legal actions in words."""
    return [table.name(action) for action in table.legal()]


def pile(table: Table, name: str, seat: int = 0) -> str:
    """A pile of a seat, or the play area, supply, trash ..., in words."""
    s = table.states[0]
    return pile_text(s, s[name][seat] if s[name].ndim == 2 else s[name])


def number(table: Table, name: str) -> int:
    """One number of the state: actions, buys, coins."""
    return int(table.states[0][name])
