"""Dominion: 1 to 4 players build decks; the ten-card test bed of the thesis or any kingdom. The rules as implemented are in README.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kdenv.core.errors import BadOption
from kdenv.core.game import Game, Option, Variant
from kdenv.core.words import number_in, shown
from kdenv.games.dominion import drawing, encoding, heuristics, hidden, notation, rules
from kdenv.games.dominion.cards import ROW, kingdom_of, kingdom_rows, random_kingdom
from kdenv.games.dominion.tables import N_ACTIONS, N_KINGDOM, N_SLOTS


class _Dominion(Game):
    """Dominion draws kingdom=random from kingdom_seed when its options are read, so that every record names the cards."""

    def variant(self, players: int | None = None, **options: Any) -> tuple[int, Variant]:
        """As in Game; a random kingdom becomes its ten names."""
        if options.get("kingdom") == "random":
            options["kingdom"] = random_kingdom(_seed(options.get("kingdom_seed", 0), 0)[0])
        return super().variant(players, **options)


def _whole(name: str, value: object, least: int, most: int) -> int:
    """A number within bounds, from Python or from text."""
    number = None if isinstance(value, bool) else number_in(shown(value), least, most)
    if number is None:
        raise BadOption(f"{name}={shown(value)} is not possible; {name} may be {least} to {most}")
    return number


def _seed(value: object, players: int) -> Sequence[int]:
    return [_whole("kingdom_seed", value, 0, (1 << 62) - 1)]


GAME = _Dominion(
    name="dominion",
    title="Dominion",
    room=(rules, hidden, encoding),
    state_dtype=rules.STATE,
    players=(2, 3, 4, 1),
    options=(
        Option(
            "supply",
            "standard",
            "treasures in the supply: of the rulebook, or 44 Copper, 30 Silver, 20 Gold as in the thesis",
            ("standard", "thesis"),
        ),
        Option("curses", False, "whether one may buy, and gain by choice, a Curse", (False, True)),
        Option(
            "max_turns",
            200,
            "turns of each player after which the game is broken off (truncated)",
            encode=lambda value, players: [_whole("max_turns", value, 1, 32000)],
            decode=lambda integers: integers[0],
        ),
        Option(
            "info",
            "honest",
            "what a seat knows of the others: what it could remember, their discards too, or their hands too as in the thesis",
            ("honest", "open_discard", "thesis"),
        ),
        Option("kingdom_seed", 0, "the kingdom that kingdom=random draws", encode=_seed, decode=lambda integers: integers[0]),
        Option(
            "kingdom",
            "test_bed",
            "a set of the rulebook, random, none, or up to ten names of cards",
            encode=lambda value, players: kingdom_rows(value),
            decode=lambda integers: kingdom_of(list(integers)),
            width=N_KINGDOM * ROW,
        ),
    ),
    notation=notation,
    drawing=drawing,
    n_actions=lambda players, variant: N_ACTIONS,
    observation_size=lambda players, variant: encoding.length(players),
    max_legal=N_SLOTS + 1,
    max_turns=4096,
    max_chances=N_SLOTS,
    rule_players=heuristics.RULE_PLAYERS,
    greedy="rollout",
    reflex=heuristics.REFLEX,
    most_decisions=1,
    truncated=lambda states, k: bool(states[k]["is_truncated"]),
    margin_scale=50.0,
)
