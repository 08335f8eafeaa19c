"""Tables of Dominion set up for a test: hands, decks and piles in notation, everything else as at the start."""

from typing import Any

from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.games.dominion.notation import pile_text

GAME = find_game("dominion")


def at(kingdom: str, hand: str, deck: str = "", discard: str = "", others: tuple[str, ...] = ("5 Copper",), **parts: Any) -> Table:
    """Seat 0 is to play an action of its hand; `others` are the hands of the other seats. Parts of the position may be given."""
    options = {name: parts.pop(name) for name in ("info", "curses", "max_turns") if name in parts}
    table = Table(GAME, 1 + len(others), kingdom=kingdom.split(", "), **options)
    position = dict(part.split(":", 1) for part in table.position().split("; "))
    position |= {"stage": "action", "node": "play", "turns": " ".join(["1"] * (1 + len(others))), "actions": "1", "buys": "1"}
    position |= {"hand 0": hand, "deck 0": deck, "discard 0": discard}
    for seat, other in enumerate(others, 1):
        position |= {f"hand {seat}": other, f"deck {seat}": ""}
    position.pop("draw", None)
    short = parts.pop("supply", {})
    supply = {card: int(n) for n, card in (pile.split(" ", 1) for pile in _piles(position["supply"]))} | short
    position["supply"] = " ".join(f"{n} {card}" for card, n in supply.items() if n)
    position |= {name.replace("_", " "): str(value) for name, value in parts.items()}
    return table.at_position("; ".join(f"{name}: {value}" for name, value in position.items()))


def _piles(text: str) -> list[str]:
    """`7 Copper 3 Throne Room` as ['7 Copper', '3 Throne Room']."""
    piles: list[str] = []
    for word in text.split():
        if word.isdecimal():
            piles.append(word)
        else:
            piles[-1] += f" {word}"
    return piles


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


def top(table: Table, seat: int) -> list[str]:
    """The known cards on top of a deck, the uppermost first."""
    s = table.states[0]
    return [GAME.notation.card_name(s, slot) for slot in s["top"][seat][: s["n_top"][seat]][::-1]]
