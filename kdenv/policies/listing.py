"""Lists the policies that can play a game, in groups, and the playouts and selection rules that searches take as parameters.

An Entry describes one of them. `kdenv policies` prints the entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING
from typing import Any, NamedTuple

from kdenv.core.errors import BadOption, NotSupported, did_you_mean
from kdenv.core.game import Game
from kdenv.policies.base import Policy
from kdenv.policies.players import RulePolicy, rule_class
from kdenv.policies.playouts import Playout
from kdenv.policies.searching import SearchPolicy
from kdenv.policies.selection import SelectionRule
from kdenv.policies.text.grammar import shorten
from kdenv.policies.text.parameter import Parameter
from kdenv.policies.text.value import Preset, Value, classes, find, names_of, rows

GROUPS = ("players", "searches", "papers", "elsewhere", "others")  # of policies
PARTS = ("playouts", "rules")  # groups of values that policies take as parameters


class Entry(NamedTuple):
    """A policy that can play a game, or a playout or selection rule that can be used in it."""

    # Players of the game, searches, searches of papers about this game or about none in particular, searches of papers about other
    # games ("elsewhere"), other policies such as learned ones; playouts, selection rules.
    group: str
    name: str
    usage: str  # its text, with its parameters
    meaning: str  # in a line
    source: str  # the paper it comes from; empty if from none
    cls: type[Value]
    presets: Mapping[str, Any]  # the usual budget of a search; the parameters of a search of a paper

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters by name, in the order in which they are listed."""
        return self.cls.parameters()

    def default(self, parameter: str) -> str:
        """The default of a parameter as text; empty if there is none."""
        p = self.parameters[parameter]
        value = self.presets.get(parameter, p.default)
        if value is MISSING or value is None:
            return ""
        return value if isinstance(value, str) else p.write(value)


def listing(game: Game) -> list[Entry]:
    """List all policies that can play this game, in the order of GROUPS.

    >>> import kdenv
    >>> from kdenv.policies import listing
    >>> [entry.name for entry in listing(kdenv.game("dominoes")) if entry.group == "players"]
    ['greedy']
    """
    found = [_entry("players", cls) for name in game.knowledge.players if (cls := rule_class(name, (game,))) is not None]
    kinds = [cls for cls in classes(Policy) if not cls.why_not(game)]
    found += [_entry("searches", cls) for cls in kinds if issubclass(cls, SearchPolicy)]
    for name, row in rows(Policy):
        if _is_played_in(row, game) and not row.cls.why_not(game):
            group = "papers" if row.game in ("", game.name) else "elsewhere"
            found.append(Entry(group, name, name, row.meaning, row.source, row.cls, _presets(row)))
    return found + [_entry("others", cls) for cls in kinds if not issubclass(cls, SearchPolicy)]


def parts(game: Game) -> list[Entry]:
    """List all playouts and selection rules that policies can use in this game, without the players of the game, which are playouts too."""
    families = zip(PARTS, (Playout, SelectionRule), strict=True)
    return [_entry(group, cls) for group, family in families for cls in classes(family) if not cls.why_not(game)]


def entry_of(name: str, game: Game) -> Entry:
    """The policy, playout or selection rule of this name. Raises BadOption if there is none, NotSupported if this game cannot use it."""
    known = {entry.name: entry for entry in [*parts(game), *listing(game)]}  # a policy that is a playout too is explained as a policy
    if name in known:
        return known[name]
    if ":" in name:
        return _entry("others", find(name, Policy))
    remedy = f"'kdenv policies {game.name}' lists what can be used"
    if name not in names_of(Value):
        raise BadOption(f"there is no policy {shorten(name)}{did_you_mean(name, known)}; {remedy}")
    obstacle = "" if any(name == row for row, _ in rows(Value)) else find(name, Value).why_not(game)
    raise NotSupported(f"{name} {obstacle}" if obstacle else f"{name} cannot be used in {game.name}; {remedy}")


def _entry(group: str, cls: type[Value]) -> Entry:
    return Entry(group, cls.kind, cls.usage(), cls.meaning(), cls.source, cls, cls.usual)


def _presets(row: Preset) -> Mapping[str, Any]:
    has_budget = any(name in row.parameters for name in row.cls.alternatives)
    return row.parameters if has_budget else {**row.cls.usual, **row.parameters}


def _is_played_in(row: Preset, game: Game) -> bool:
    """True if this game has the playout, the evaluator and the order that a row names."""
    playout, evaluate, order = (row.parameters.get(name) for name in ("playout", "evaluate", "order"))
    known = game.knowledge
    return (
        (not isinstance(playout, str) or _is_playout_of(playout, game))
        and (evaluate is None or evaluate in known.evaluators)
        and (order is None or order in known.orders)
    )


def _is_playout_of(text: str, game: Game) -> bool:
    """True if this game can use the playout of this text. Only names are compared, so that no other game is loaded."""
    name = text.partition("(")[0]
    if name in game.knowledge.players:
        return True
    cls = next((cls for cls in classes(Value) if cls.kind == name), None)
    return cls is not None and not issubclass(cls, RulePolicy) and not cls.why_not(game)
