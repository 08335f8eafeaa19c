"""Every policy that can play a game, from the registries, each with a budget so small that all of them can be asked; and their answers.

A new kind of policy, row of a paper or rule-based player is in the list without an edit.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from random_games import random_game

from kdenv.compiler.random import make_rng
from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.game import Game
from kdenv.core.table import Table
from kdenv.core.view import OracleView
from kdenv.games import find_game
from kdenv.policies import Policy, SearchPolicy, SelectionRule, Strongest, Uct, listing, policy
from kdenv.policies.learned import shipped_models
from kdenv.policies.text.value import classes

# What makes a search small, by the name of the parameter; one of them is given.
SMALL = {"playouts": 24, "depth": 1, "alpha": 2, "seconds": 0.001}


def policies_for(game: Game) -> list[str]:
    """The text of every policy that can play this game."""
    texts: list[str] = []
    for entry in listing(game):
        if entry.name in ("ppo", "learned"):
            texts += [text for model in shipped_models() if _fits(text := f"{entry.name}({model})", game)]
        elif entry.name == "strongest":
            texts.append(_strongest(game))
        else:
            limits = [f"{limit}={least}" for limit, least in SMALL.items() if limit in entry.parameters]
            texts += [f"{entry.name}({limits[0]})" if limits else entry.name]
    return texts + list(_variants())


def answer(asked: Policy, table: Table) -> tuple[Any, ...]:
    """What a policy decides at this table and, if it searches, what it found out about every turn: always from the same seed."""
    assert table.seat is not None
    view = OracleView(table, table.seat) if asked.is_oracle else table.view(table.seat)
    asked.reset(11)
    action = int(asked.act(view))
    asked.reset(11)
    try:
        found = asked.search(view)
    except NotSupported:
        return (action,)
    costs = {name: cost for name, cost in found.cost.items() if name != "seconds"}
    return action, str(found.candidates), str(costs)


def answers_of_all(name: str) -> dict[str, tuple[Any, ...]]:
    """The decisions of every policy in the middle of a random game."""
    table = random_game(find_game(name), 1, decisions=12)
    table.run_chance(make_rng(1))
    return {text: answer(policy(text), table) for text in policies_for(table.game)}


def _strongest(game: Game) -> str:
    """What `strongest` stands for. The time of a search is not the same each time, so a number of playouts takes its place."""
    found = Strongest(seconds=0.001).best(game, *game.variant())
    return str(replace(found, seconds=None, playouts=SMALL["playouts"]) if isinstance(found, SearchPolicy) else found)  # type: ignore[type-var]


def _variants() -> Iterator[str]:
    """Every selection rule; every kind of tree: alone, in a root ensemble, and with all that it can learn from playouts."""
    budget = f"playouts={SMALL['playouts']}"
    for rule in classes(SelectionRule):
        if rule.needs_priors:
            continue
        yield f"bandit({'score=win, ' * rule.is_for_outcomes}select={rule.kind}, {budget})"
    for chance in Uct.parameters()["chance"].choices:
        yield f"uct(chance={chance}, {budget})"
        yield f"uct(chance={chance}, trees=3, {budget})"
        yield f"uct(chance={chance}, playout=mast, rave=10, {budget})"


def _fits(text: str, game: Game) -> bool:
    """True if a model was trained on this game."""
    try:
        policy(text).needs(game, *game.variant())
    except (BadOption, NotSupported):
        return False
    return True
