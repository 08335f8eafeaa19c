"""Makes policies and playouts of the rule-based players of games: `full_greedy(variant=paper)`, or FullGreedy(variant="paper").

Games list their players (core/questions.py, RulePlayer). Each name has one class, which is made when it is first needed. Its fields are
the parameters of the game's `make`, with their defaults. Players of the same name in several games have one class.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from kdenv.compiler.random import make_rng
from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.game import Game
from kdenv.core.parsing import in_capitals
from kdenv.core.questions import RulePlayer, choose_at
from kdenv.core.view import View
from kdenv.games import find_game, names
from kdenv.policies.base import TurnPolicy
from kdenv.policies.playouts import Playout
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import Finder, add_finder, named


class RulePolicy(TurnPolicy, Playout):
    """A rule-based player of one game, or of several games that have a player of this name."""

    _takes: ClassVar[Mapping[Game, Iterable[str]]] = {}  # the games that have such a player, and the parameters that it takes there

    def __post_init__(self) -> None:
        """Make the compiled players of all games whose player of this name takes the given parameters."""
        super().__post_init__()
        given = self.given()
        players, refused = {}, None
        for game, takes in self._takes.items():
            if given.keys() <= set(takes):
                try:
                    players[game.name] = game.knowledge.players[self.kind].make(**given)
                except BadOption as error:
                    refused = error
        if not players:
            raise refused or BadOption(f"{self}: no game has a {self.kind} that takes these parameters together")
        object.__setattr__(self, "_players", players)

    def choose_turn(self, view: View) -> int:
        """The packed turn that the player chooses, or the first actions of it."""
        turn: int = choose_at(self.compiled(view.game, view.players), view.scratch(2), 0, view.game.buffer(), self.memory.rng)
        return turn

    def prepare(self, view: View) -> None:
        """Compile the player for this game by one decision, without using the policy's random generator."""
        choose_at(self.compiled(view.game, view.players), view.scratch(2), 0, view.game.buffer(), make_rng(0))

    def compiled(self, game: Game, players: int) -> Any:
        """The compiled player for this game; NotSupported if there is none with these parameters."""
        having: Mapping[str, Any] = self.__dict__["_players"]
        if game.name not in having:
            self.refuse(game)
        return having[game.name]

    def player(self, view: View) -> Any:
        """The compiled player, which decides for all seats."""
        return self.compiled(view.game, view.players)

    def refuse(self, game: Game) -> None:
        """Raise NotSupported if the game has no such player with these parameters."""
        having: Mapping[str, Any] = self.__dict__["_players"]
        if game.name not in having:
            others = ", ".join(game.knowledge.players) or "none"
            raise NotSupported(f"{self} plays {' and '.join(having)}, not {game.name}, whose rule-based players are {others}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by the name of the player, because its class is in no module."""
        return _remade, (self.kind, {name: getattr(self, name) for name in self.parameters()})


_made: dict[tuple[str, ...], tuple[list[RulePlayer], type[RulePolicy]]] = {}  # by the names of the player and of the games


def rule_class(name: str, games: tuple[Game, ...] = ()) -> type[RulePolicy] | None:
    """The class of the players of this name in these games, or in all games if none are given; None if no game has such a player."""
    having = tuple(game for game in games or map(find_game, names()) if name in game.knowledge.players)
    if not having:
        return None
    key = name, *(game.name for game in having)
    rules = [game.knowledge.players[name] for game in having]
    known, cls = _made.get(key, ([], RulePolicy))
    if known != rules:
        cls = _new_class(name, having)
        _made[key] = rules, cls
    return cls


def class_named(name: str) -> type[RulePolicy] | None:
    """The class of players with this name in Python, such as FullGreedy for full_greedy; None if there is none."""
    return next((rule_class(each) for each in rule_names() if in_capitals(each) == name), None)


def rule_names() -> list[str]:
    """The names of the rule-based players of all games."""
    return list(dict.fromkeys(name for game in map(find_game, names()) for name in game.knowledge.players))


def _new_class(name: str, games: tuple[Game, ...]) -> type[RulePolicy]:
    """Make a class whose fields are the parameters that the players of this name take in these games."""
    fields: dict[str, Any] = {}
    types: dict[str, Any] = {}
    takes = {game: inspect.signature(game.knowledge.players[name].make).parameters for game in games}
    for game in games:
        for parameter, taken in takes[game].items():
            if parameter not in fields:
                fields[parameter], types[parameter] = taken.default, type(taken.default)
            elif fields[parameter] != taken.default:  # the default is None, and each game uses its own default
                fields[parameter], types[parameter] = None, types[parameter] | None
    rules = [game.knowledge.players[name] for game in games]
    sources = list(dict.fromkeys(rule.source for rule in rules if rule.source))
    meanings = [rule.meaning if len(games) == 1 else f"{game.title}: {rule.meaning}" for game, rule in zip(games, rules, strict=True)]
    body = {
        "__doc__": "; ".join(meanings),
        "__module__": rules[0].make.__module__,
        "__annotations__": types,
        "_takes": {game: tuple(takes[game]) for game in games},
        **{parameter: param(default=default) for parameter, default in fields.items()},
    }
    return named(name, "; ".join(sources), listed=False)(type(in_capitals(name), (RulePolicy,), body))


def _remade(name: str, values: dict[str, Any]) -> RulePolicy:
    cls = rule_class(name)
    if cls is None:
        raise BadOption(f"there is no rule-based player {name} in this process; import or add the game that has it first")
    return cls(**values)


add_finder(Finder(RulePolicy, rule_class, rule_names))
