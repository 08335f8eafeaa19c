"""Gives policies another budget, so that they can be compared with little time and with much."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kdenv.core.errors import BadOption, shown
from kdenv.policies import Policy, policy
from kdenv.policies.text.grammar import number_of, parse

_UNITS = {"ms": 0.001, "s": 1.0}
_NAMES = ("playouts", "seconds", "nodes", "game_seconds")


class Budget(NamedTuple):
    """A budget as policies have it, by the name of its parameter."""

    name: str
    amount: float

    def __str__(self) -> str:
        return f"{self.amount:g}s" if self.name == "seconds" else f"{self.name}={self.amount:.15g}"

    def given_to(self, text: Any) -> Any:
        """Give a policy this budget in place of its own. A policy that has no such parameter is left as it is."""
        try:
            made = policy(text)
        except BadOption:
            if not isinstance(text, str):
                raise
            made = policy(self._in_text(text))  # a search that must be given a budget
        amount = int(self.amount) if self.name in ("playouts", "nodes") else self.amount
        return made.having(**{self.name: amount}) if isinstance(made, Policy) and self.name in made.alternatives else text

    def _in_text(self, text: str) -> str:
        """A text of a policy, with this budget as its only one."""
        term = parse(text)
        named = {name: value for name, value in term.named.items() if name not in _NAMES}
        return str(term._replace(named={**named, self.name: parse(number_of(self.amount))}))


def budgets(words: str) -> list[Budget]:
    """The budgets in words such as "0.01s,100ms" or "playouts=100,1000"; a number without a unit is one of playouts."""
    found = []
    name = "playouts"
    for word in filter(None, (part.strip() for part in words.split(","))):
        before, _, number = word.rpartition("=")
        unit = next((unit for unit in _UNITS if number.endswith(unit)), "")
        name = "seconds" if unit else before or name
        try:
            amount = float(number.removesuffix(unit)) * _UNITS.get(unit, 1.0)
        except ValueError:
            amount = math.nan
        whole = name not in ("playouts", "nodes") or amount == amount // 1
        if name not in _NAMES or not 0 < amount < math.inf or not whole or (unit and before not in ("", "seconds")):
            raise BadOption(f"{shown(word)} is not a budget; write for example 0.01s, 10ms, playouts=100 or nodes=100")
        found.append(Budget(name, amount))
    if not found:
        raise BadOption("there are no budgets; write for example 0.01s,0.1s or playouts=100,1000")
    return found
