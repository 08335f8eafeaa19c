"""Lets a policy decide in the states that a server sends. A table is set up from the state, and the policy gets the view of its seat."""

from __future__ import annotations

from typing import Any

from kdenv.arena.match import failed
from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.policies import Policy


class Remote:
    """A policy that plays a seat on a server."""

    def __init__(self, player: Policy) -> None:
        self._player = player
        self._checked = False
        self._goes_on: tuple[int, Table] | None = None  # the table after the last decision, and the step at which it stands

    def __call__(self, state: dict[str, Any]) -> int:
        """The action of the policy in a state in which its seat decides."""
        table = self._table(state)
        try:
            action = table.checked_action(self._player.act(table.view(state["seat"])))
        except (Exception, SystemExit) as error:
            raise failed(str(self._player), error) from error
        table.play(action)
        self._goes_on = state["step"] + 1, table
        return action

    def _table(self, state: dict[str, Any]) -> Table:
        """A table in this state. If only the last decision has happened, it is the same table, so that the policy continues its turn."""
        game, players, options = find_game(state["game"]), state["players"], state["options"]
        if not self._checked:
            self._player.check(game, players, options)
            self._checked = True
        if self._goes_on is not None:
            step, table = self._goes_on
            if step == state["step"] and table.seat == state["seat"] and table.legal() == [each["action"] for each in state["legal"]]:
                return table
        return Table(game, players, **options).at_position(state["position"])
