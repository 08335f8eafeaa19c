"""Lets a policy decide in the states that a server sends: a table is set up as the state says, and the policy gets the view of its seat."""

from __future__ import annotations

from typing import Any

from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.policies import Policy


class Remote:
    """A policy that plays a seat on a server."""

    def __init__(self, player: Policy) -> None:
        self._player = player
        self._checked = False

    def __call__(self, state: dict[str, Any]) -> int:
        """The action of the policy in a state in which its seat decides."""
        game, players, options = find_game(state["game"]), state["players"], state["options"]
        if not self._checked:
            self._player.check(game, players, options)
            self._checked = True
        table = Table(game, players, **options).at_position(state["position"])
        return int(self._player.act(table.view(state["seat"])))
