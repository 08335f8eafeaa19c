"""The compiled rules of Carcassonne with the interface of the oracle (naive/carcassonne.py), so that one test holds both."""

from __future__ import annotations

import re

import numpy as np

from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.games.carcassonne import claims


class CompiledCarcassonne:
    """One game in progress on a table of kdenv. Actions and outcomes have the same numbers in both engines."""

    def __init__(self, players: int = 2, unplaceable: str = "return") -> None:
        self.table = Table(find_game("carcassonne"), players, unplaceable=unplaceable)

    @property
    def state(self) -> np.void:
        return self.table.states[0]

    def phase(self) -> str:
        return "over" if self.table.over else "chance" if self.table.at_chance else "decide"

    def seat(self) -> int:
        return int(self.state["turn"])

    def legal(self) -> list[int]:
        return self.table.legal()

    def apply(self, action: int) -> None:
        self.table.play(action)

    def chances(self) -> dict[int, int]:
        return {outcome: int(self.state["bag"][outcome]) for outcome, _ in self.table.chances()}

    def apply_chance(self, outcome: int) -> None:
        self.table.chance(outcome)

    def scores(self) -> list[int]:
        return self.table.scores()

    def standings(self) -> list[int]:
        return self.table.standings()

    def meeples(self) -> list[int]:
        return self.state["hand"][: self.table.players].tolist()

    def set_bag(self, letters: str) -> None:
        """Leave only these tiles in the bag, one of each."""
        bag = "bag=" + ",".join(f"{letter}1" for letter in sorted(letters))
        self.table.at_position(re.sub(r"bag=\S*", bag, self.table.position()))

    def smallest_slot(self, slot: int) -> int:
        """The smallest slot that may be claimed for the feature of this slot of the newest tile; this slot itself if none may be."""

        def feature(slot: int) -> tuple[int, int]:
            return claims.kind_at(self.state, tile, slot), claims.feature_at(self.state, tile, slot)

        tile = int(self.state["n_tiles"]) - 1
        if slot == claims.ON_CLOISTER:
            return slot
        open_slots = [action - claims.CLAIM for action in self.legal()]
        same = [other for other in open_slots if claims.NO_MEEPLE < other < claims.ON_CLOISTER and feature(other) == feature(slot)]
        return min(same, default=slot)
