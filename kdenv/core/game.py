"""`Game`: everything the rest of the package needs to know about a game, in one value. A room exports one as GAME."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any, NewType

import numpy as np
from numpy.typing import NDArray

from kdenv.core.errors import BadOption
from kdenv.core.hidden import Hidden
from kdenv.core.player import RulePlayer
from kdenv.core.protocol import register_rules
from kdenv.core.words import shown

Seat = NewType("Seat", int)
Action = NewType("Action", int)
Outcome = NewType("Outcome", int)
States = NDArray[Any]  # an array of a game's state records
Variant = NDArray[np.int64]  # the options of a game as integers, as begin() takes them


@dataclass(frozen=True)
class Option:
    """One choice about the rules: its name, its default, what it may be, and what it means in a line.

    `choices` lists the values allowed; `default` is one of them or None, which means "by number of players".
    An option whose values cannot be listed gives `encode`, which turns a value into `width` integers
    or raises BadOption, and `decode`, its inverse.
    """

    name: str
    default: Any
    meaning: str
    choices: Sequence[Any] = ()
    encode: Callable[[Any, int], Sequence[int]] | None = None  # (value, players) -> integers
    decode: Callable[[Sequence[int]], Any] | None = None
    width: int = 1

    def to_integers(self, value: Any, players: int) -> Sequence[int]:
        """The value as begin() takes it: by `encode`, else itself if a number, else its place in choices."""
        if self.encode is not None:
            return self.encode(value, players)
        value = self._as_choice(value)
        return [int(value)] if isinstance(value, (bool, int)) else [list(self.choices).index(value)]

    def from_integers(self, integers: Sequence[int]) -> Any:
        """The value that to_integers made these of."""
        if self.decode is not None:
            return self.decode(integers)
        (number,) = integers
        if isinstance(self.choices[0], bool):
            return bool(number)
        return int(number) if isinstance(self.choices[0], int) else self.choices[number]

    def _as_choice(self, value: Any) -> Any:
        """The choice that a value from Python or a word from the command line means."""
        for choice in self.choices:
            if value == choice and isinstance(value, bool) == isinstance(choice, bool):
                return choice
            if isinstance(value, str) and value.lower() in _words(choice):
                return choice
        listing = ", ".join(_words(choice)[0] for choice in self.choices)
        raise BadOption(f"{self.name}={shown(value)} is not possible; {self.name} may be {listing}")


def _words(choice: Any) -> tuple[str, ...]:
    if isinstance(choice, bool):
        return ("yes", "true", "on", "1") if choice else ("no", "false", "off", "0")
    return (str(choice).lower(),)


@dataclass(frozen=True)
class Game:
    """One game. Making it registers its rules with the verbs."""

    name: str  # as in kdenv.table(name)
    title: str  # as in kdenv/Title-v0
    room: Sequence[ModuleType]  # the modules that hold STATE and the verbs
    players: Sequence[int]  # the numbers of players it can be played by, the default first
    options: Sequence[Option]
    notation: ModuleType  # action_text, action_from, chance_text, chance_from, position_text, position_from
    drawing: ModuleType  # ansi(states, k, names), svg(states, k, ...)
    n_actions: Callable[[int, Variant], int]  # (players, variant) -> size of the action space
    observation_size: Callable[[int, Variant], int]
    max_legal: int  # buffers of this size hold any list of legal actions,
    max_turns: int  # ... of whole turns open to a seat,
    max_chances: int  # ... of outcomes of chance
    state_dtype: np.dtype[Any]
    rule_players: Mapping[str, RulePlayer] = field(default_factory=dict)  # by name, as in "full_greedy(variant=paper)"
    greedy: str = ""  # the rule player that playouts called greedy use
    # How many teams there are with this many players, if not as many as players; seat % teams is a seat's team.
    teams: Callable[[int], int] = int
    scratch: int = 0  # the int64 numbers that the choosers of rule players need as `out`, if more than max_legal
    # What the players of this game's papers do at the table without thinking, before any search: a player that answers 0
    # where it has nothing to say.
    reflex: RulePlayer | None = None
    most_decisions: int = 4  # of a turn, for searches that think in turns; 1: this game thinks in single decisions
    hidden: Hidden | None = None  # what it offers to searches that solve deals or weigh beliefs
    margin_scale: float = 100.0  # the divisor of reward="margin" and reward="score"
    open_information: bool = False  # nothing is hidden from anybody, so what one seat observes is the whole state
    # Whether a game that is over was broken off (as by a limit of turns), not ended by its rules; None: it never is.
    truncated: Callable[[States, int], bool] | None = None
    evaluators: Mapping[str, Any] = field(default_factory=dict)  # for searches of limited depth (core.lookahead), the usual one first
    orders: Mapping[str, Any] = field(default_factory=dict)  # in which such searches try turns, the usual one first

    def __post_init__(self) -> None:
        register_rules(self.name, *self.room)
        _made[self.name] = self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied by name: modules do not pickle, and there is one Game of each game."""
        return _game_made_with, (self.room[0].__name__, self.name)

    def buffer(self) -> NDArray[np.int64]:
        """A new buffer for legal actions and whatever else the rule players work with."""
        return np.empty(max(self.max_legal, self.scratch), np.int64)

    def variant(self, players: int | None = None, **options: Any) -> tuple[int, Variant]:
        """Check a number of players and options; return the players and the options as integers."""
        n = self.players[0] if players is None else players
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n not in self.players:
            counts = _listing(sorted(self.players))
            raise BadOption(f"{self.name} cannot be played by {shown(n)} players; players may be {counts}")
        known = [option.name for option in self.options]
        for name in options:
            if name not in known:
                raise BadOption(f"{self.name} has no option {name}{did_you_mean(name, known)}; its options are {', '.join(known)}")
        integers: list[int] = []
        for option in self.options:
            integers += option.to_integers(options.get(option.name, option.default), int(n))
        return int(n), np.array(integers, np.int64)

    def options_of(self, variant: Variant) -> dict[str, Any]:
        """The options by name that variant() made these integers of."""
        values, at = {}, 0
        for option in self.options:
            values[option.name] = option.from_integers([int(v) for v in variant[at : at + option.width]])
            at += option.width
        return values


_made: dict[str, Game] = {}


def _game_made_with(room: str, name: str) -> Game:
    """The game of this name; importing this module of its room makes it."""
    import_module(room)
    return _made[name]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """' (did you mean ...?)' if a known word is close, else nothing: for the middle of an error message."""
    close = difflib.get_close_matches(word, list(known), 1) if len(word) < 100 else []  # it takes long for long words
    return f" (did you mean {close[0]}?)" if close else ""


def _listing(counts: Sequence[int]) -> str:
    return ", ".join(map(str, counts[:-1])) + f" or {counts[-1]}" if len(counts) > 1 else str(counts[0])
