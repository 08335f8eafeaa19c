"""All policies that can play a game, in groups, with what can be completed and explained about each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kdenv.core.game import Game
from kdenv.policies.base import Policy, SearchPolicy
from kdenv.policies.players import RulePolicy, rule_class
from kdenv.policies.text.parameter import Parameter
from kdenv.policies.text.value import Value, classes, rows

GROUPS = ("players", "searches", "papers", "others")


class Entry(NamedTuple):
    """A policy that can play a game."""

    group: str  # of GROUPS: players of the game, searches, searches of papers, learned and other policies
    name: str
    usage: str  # how it is written, with its parameters
    meaning: str  # in a line
    source: str  # the paper it comes from; empty if from none
    parameters: Mapping[str, Parameter]

    def completions(self, parameter: str) -> list[str]:
        """The words that may follow `parameter=`; none if it is a number."""
        p = self.parameters[parameter]
        words = [*p.choices, *(word for word, value in p.words.items() if value is not None)]
        if p.type is bool:
            words += ["yes", "no"]
        if issubclass(p.type, Value):
            words += [cls.kind for cls in classes(p.type)]
        return words


def listing(game: Game) -> list[Entry]:
    """Every policy that can play this game, in the order of the groups."""
    found = [_entry("players", cls) for name in game.knowledge.players if (cls := rule_class(name, (game,))) is not None]
    kinds = [cls for cls in classes(Policy) if not cls.obstacle(game)]
    found += [_entry("searches", cls) for cls in kinds if issubclass(cls, SearchPolicy)]
    for name, row in rows(Policy):
        playout = row.parameters.get("playout")
        is_played_here = not isinstance(playout, str) or _is_playout_of(playout, game)
        if is_played_here and not row.cls.obstacle(game):
            found.append(Entry("papers", name, name, row.meaning, row.source, row.cls.parameters()))
    return found + [_entry("others", cls) for cls in kinds if not issubclass(cls, SearchPolicy)]


def _entry(group: str, cls: type[Value]) -> Entry:
    return Entry(group, cls.kind, cls.usage(), cls.meaning(), cls.source, cls.parameters())


def _is_playout_of(text: str, game: Game) -> bool:
    """Whether the playouts of this text can be played in the game; a player's name alone tells, so no other game is asked."""
    name = text.partition("(")[0]
    if name in game.knowledge.players:
        return True
    cls = next((cls for cls in classes(Value) if cls.kind == name), None)
    return cls is not None and not issubclass(cls, RulePolicy) and not cls.obstacle(game)
