"""Dominion: 1 to 4 players build decks, with the ten-card test bed of the thesis or any kingdom. README.md has the rules as implemented."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from kdenv.core.game import Game, Option, Variant
from kdenv.core.questions import Knowledge, Measured
from kdenv.games.dominion import drawing, encoding, heuristics, hidden, notation, rules
from kdenv.games.dominion.cards import (
    ACTION,
    ANY,
    ATTACK,
    CURSES,
    DIG,
    DISCARD,
    DRAW_AS_MANY,
    DRAW_TO,
    GAIN,
    GAIN_CARD,
    GAIN_FOR_TRASHED,
    MANY,
    MAY,
    MAY_DISCARD_DECK,
    OTHERS_DISCARD_TO,
    OTHERS_DRAW,
    OTHERS_GAIN,
    OTHERS_PUT_BACK,
    PLAY_TWICE,
    REACTION,
    ROW,
    SPY,
    STEAL,
    TO_DECK,
    TO_DISCARD,
    TO_HAND,
    TRASH,
    TRASH_FOR_COINS,
    TRASH_THIS,
    TREASURE,
    VICTORY,
    Card,
    add_card,
    kingdom_of,
    kingdom_rows,
    random_kingdom,
)
from kdenv.games.dominion.match_columns import DETAILS
from kdenv.games.dominion.tables import COPPER, CURSE, DUCHY, ESTATE, GOLD, N_ACTIONS, N_KINGDOM, N_SLOTS, PROVINCE, SILVER

__all__ = [  # the game, and what one needs to write a card
    "ACTION",
    "ANY",
    "ATTACK",
    "COPPER",
    "CURSE",
    "CURSES",
    "DIG",
    "DISCARD",
    "DRAW_AS_MANY",
    "DRAW_TO",
    "DUCHY",
    "ESTATE",
    "GAIN",
    "GAIN_CARD",
    "GAIN_FOR_TRASHED",
    "GAME",
    "GOLD",
    "MANY",
    "MAY",
    "MAY_DISCARD_DECK",
    "OTHERS_DISCARD_TO",
    "OTHERS_DRAW",
    "OTHERS_GAIN",
    "OTHERS_PUT_BACK",
    "PLAY_TWICE",
    "PROVINCE",
    "REACTION",
    "SILVER",
    "SPY",
    "STEAL",
    "TO_DECK",
    "TO_DISCARD",
    "TO_HAND",
    "TRASH",
    "TRASH_FOR_COINS",
    "TRASH_THIS",
    "TREASURE",
    "VICTORY",
    "Card",
    "add_card",
]


# The policies behind `strongest`; the matches that chose them are in README.md. The network was trained on the first test bed, so
# the rows without it are for other kingdoms.
_NETWORK = "ppo(dominion-ppo)"
_BROKEN_OFF = f"playout={_NETWORK}, leaf=learned(dominion), turns=12"
_SEARCH = f"mce({_BROKEN_OFF}, base={_NETWORK}, score=goal, sampling=halving, common=yes, seconds={{seconds}})"
_TRAINED_FOR = MappingProxyType({"kingdom": "test_bed", "supply": "standard", "curses": False})
STRONGEST = (
    Measured(0.01, _SEARCH, _TRAINED_FOR),
    Measured(0.01, "ucb_orig(seconds={seconds})"),
    Measured(0.005, _SEARCH, _TRAINED_FOR),
    Measured(0, _NETWORK, _TRAINED_FOR),
    Measured(0, "double_witch"),
    Measured(0, "big_money"),
)


class _Dominion(Game):
    """The game with kingdom=random: it is drawn from kingdom_seed when the options are read, so that every record names the cards."""

    def variant(self, players: int | None = None, **options: Any) -> tuple[int, Variant]:
        """Read the options as Game does, with the names of ten cards in the place of kingdom=random."""
        if options.get("kingdom") == "random":
            options["kingdom"] = random_kingdom(_KINGDOM_SEED.to_integers(options.get("kingdom_seed", 0), 0)[0])
        return super().variant(players, **options)


_KINGDOM_SEED = Option("kingdom_seed", 0, "the kingdom that kingdom=random draws", type=int, least=0, most=(1 << 62) - 1)

GAME = _Dominion(
    name="dominion",
    title="Dominion",
    room=(rules, hidden),
    players=(2, 3, 4, 1),
    options=(
        Option(
            "supply",
            "standard",
            "treasures in the supply: of the rulebook, or 44 Copper, 30 Silver, 20 Gold as in the thesis",
            ("standard", "thesis"),
        ),
        Option("curses", False, "whether Curses may be bought, and gained by choice", (False, True)),
        Option(
            "max_turns",
            200,
            "turns of each player after which the game is broken off (truncated)",
            type=int,
            least=1,
            most=32_000,
        ),
        Option(
            "info",
            "honest",
            "knowledge about other seats: as far as one could remember, with their discards, or with their hands too as in the thesis",
            ("honest", "open_discard", "thesis"),
        ),
        _KINGDOM_SEED,
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
    encodings=encoding.ENCODINGS,
    n_actions=lambda players, variant: N_ACTIONS,
    max_legal=N_SLOTS + 1,
    max_turns=4096,
    max_chances=N_SLOTS,
    knowledge=Knowledge(players=heuristics.RULE_PLAYERS, greedy="rollout", reflex=heuristics.REFLEX, strongest=STRONGEST),
    most_decisions=1,
    turn_of=lambda states: int(states[0]["turns"].sum()),
    margin_scale=50.0,
    details=DETAILS,
)
