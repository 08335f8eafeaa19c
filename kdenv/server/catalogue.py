"""The catalogue: the games with their options, and the programs that may take a seat."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from kdenv.core.errors import KdenvError
from kdenv.core.game import Game
from kdenv.policies import Policy
from kdenv.policies.learned import shipped_models
from kdenv.policies.listing import Entry, listing
from kdenv.server import models, policy_limits
from kdenv.server.settings import ServerSettings

# Programs of three strengths. The first of each that can play a game with the usual options is recommended; {greedy} is the game's own.
_RECOMMENDED = {
    "beginner": ("{greedy}", "random"),
    "club": ("mce(playouts=200)",),
    "strongest": (
        *("strongest(seconds={seconds:g})", "mce(playout={greedy}, seconds={seconds:g})"),
        *("ismcts(seconds={seconds:g})", "mce(seconds={seconds:g})"),
    ),
}
_SECONDS = 2.0  # of the strongest, if the server allows as much
_USUAL_SECONDS = 1.0  # of a search without a budget, if the server allows as much


def rules_of(game: Game) -> models.GameRules:
    """A game, the numbers of players, and its options with their meanings."""
    return {
        "game": game.name,
        "title": game.title,
        "players": list(game.players),
        "hides": not game.open_information,
        "clickable": hasattr(game.drawing, "targets"),
        "colours": list(getattr(game.drawing, "SEAT_COLOURS", ())),
        "options": [
            {"name": option.name, "meaning": option.meaning, "values": option.values(), "default": _text(option.default)}
            for option in game.options
        ],
    }


@lru_cache
def policies_of(game: Game, settings: ServerSettings) -> models.Policies:
    """The programs that the server accepts at a table of the usual players and options, and those of recommended strength.

    `policy` is a complete text for a seat. `analyses` is true if it may analyse a position.
    """
    return {
        "recommended": [
            {"strength": strength, **offer}
            for strength, candidates in _RECOMMENDED.items()
            for offer in _accepted((_filled(each, game, settings) for each in candidates), game, settings)[:1]
        ],
        "policies": [
            {"name": entry.name, "usage": entry.usage, "meaning": entry.meaning, "group": entry.group, "source": entry.source, **offer}
            for entry in listing(game)
            for offer in _offers(entry, game, settings)
        ],
    }


def _filled(candidate: str, game: Game, settings: ServerSettings) -> str:
    return candidate.format(greedy=game.knowledge.greedy or "random", seconds=min(_SECONDS, settings.limits.search_seconds))


def _offers(entry: Entry, game: Game, settings: ServerSettings) -> list[models.Offer]:
    """The complete texts of a listed policy: its name, its name with a budget, or its name with each model that fits."""
    if "model" in entry.parameters:
        return _accepted((f"{entry.name}({model})" for model in shipped_models()), game, settings)
    budget = min(_USUAL_SECONDS, settings.limits.search_seconds, settings.limits.analysis_seconds)
    return _accepted((entry.name, f"{entry.name}(seconds={budget:g})"), game, settings)[:1]


def _accepted(candidates: Iterable[str], game: Game, settings: ServerSettings) -> list[models.Offer]:
    """The texts that the server accepts, and for each whether it may analyse."""
    table = game, game.players[0], dict[str, Any](), settings
    return [
        {"policy": text, "analyses": _is_accepted(policy_limits.checked_search, text, *table)}
        for text in candidates
        if _is_accepted(policy_limits.checked, text, *table, settings.limits.search_seconds)
    ]


def _is_accepted(check: Callable[..., Policy], *given: Any) -> bool:
    try:
        check(*given)
    except KdenvError:
        return False
    return True


def _text(value: Any) -> str | None:
    return None if value is None else ("yes" if value else "no") if isinstance(value, bool) else str(value)
