"""The strength of a network: games in kernels against a compiled player, with the same deals from the place of every team."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kdenv.compiler.random import derive_seed, make_rng
from kdenv.core.errors import BadOption
from kdenv.core.game import Game, Variant
from kdenv.networks.self_play import measure_games
from kdenv.policies import policy
from kdenv.policies.compiled_opponents import seated

_STATES = 3
_95 = 1.96


class Opponent:
    """A compiled player that takes the seats of all other teams."""

    def __init__(self, text: str, game: Game, players: int, variant: Variant, deals: int) -> None:
        self.text, self._game, self._players, self._variant, self._deals = text, game, players, variant, deals
        found = policy(text)
        found.needs(game, players, variant)
        self._player = found.compiled(game, players)
        if self._player is None:
            raise BadOption(f"{text} has no compiled form, so strength cannot be measured against it; choose a rule player or a network")
        self._teams = game.teams(players)

    def play(self, player: Any) -> tuple[float, float, float, float]:
        """The mean margin of this player and its 95 % interval, and its share of games won with its interval. Deals are always the same."""
        n = self._deals * self._teams
        margins, wins = np.zeros(n), np.zeros(n)
        states, numbers = np.zeros(_STATES, self._game.state_dtype), np.zeros(self._players, np.int64)
        chance, dice = make_rng(derive_seed("chance", 1)), make_rng(derive_seed("policy", 1))
        table = self._players, self._teams, self._variant
        measure_games(
            seated([player, self._player], self._players),
            states,
            *table,
            self._deals,
            self._game.buffer(),
            margins,
            wins,
            numbers,
            chance,
            dice,
        )
        return *self._with_interval(margins), *self._with_interval(wins)

    def _with_interval(self, numbers: Any) -> tuple[float, float]:
        """The mean, and half of its 95 % interval. Games of one deal share their luck, so deals are the samples."""
        of_deals = numbers.reshape(self._deals, self._teams).mean(axis=1)
        spread = float(of_deals.std(ddof=1)) if self._deals > 1 else math.nan
        return float(of_deals.mean()), _95 * spread / math.sqrt(self._deals)
