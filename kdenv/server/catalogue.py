"""What can be played here: the games with their options, and the programs that may sit in a seat."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from kdenv.core.errors import KdenvError
from kdenv.core.game import Game
from kdenv.policies.listing import listing
from kdenv.server import texts
from kdenv.server.settings import Settings

# Programs of three strengths. The first of each that can play a game with the usual options is recommended; {greedy} is the game's own.
_RECOMMENDED = {
    "beginner": ("{greedy}", "random"),
    "club": ("mce(playouts=200)",),
    "strongest": ("strongest(seconds=2)", "mce(playout={greedy}, seconds=2)", "ismcts(seconds=2)", "mce(seconds=2)"),
}


def rules_of(game: Game) -> dict[str, Any]:
    """A game, the numbers of players, and its options with their meanings."""
    return {
        "game": game.name,
        "title": game.title,
        "players": list(game.players),
        "hides": not game.open_information,
        "clickable": hasattr(game.drawing, "targets"),
        "options": [
            {"name": option.name, "meaning": option.meaning, "values": option.values(), "default": _text(option.default)}
            for option in game.options
        ],
    }


def policies_of(game: Game, settings: Settings) -> dict[str, Any]:
    """The programs of a game in groups, each with its meaning, and those of recommended strength."""
    return {
        "recommended": [{"strength": strength, "policy": text} for strength, text in _recommended(game, settings)],
        "policies": [
            {"name": entry.name, "usage": entry.usage, "meaning": entry.meaning, "group": entry.group, "source": entry.source}
            for entry in listing(game)
        ],
    }


@lru_cache
def _recommended(game: Game, settings: Settings) -> list[tuple[str, str]]:
    found = []
    for strength, candidates in _RECOMMENDED.items():
        for candidate in candidates:
            text = candidate.format(greedy=game.knowledge.greedy or "random")
            try:
                texts.checked(text, game, game.players[0], {}, settings, settings.limits.search_seconds)
            except KdenvError:
                continue
            found.append((strength, text))
            break
    return found


def _text(value: Any) -> str | None:
    return None if value is None else ("yes" if value else "no") if isinstance(value, bool) else str(value)
