"""`Game`: one value with everything that the rest of the package needs of a game. The package of a game exports it as GAME."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.question import must_answer
from kdenv.core.encoding import Encoding, Layout, Observer
from kdenv.core.entry_points import GAMES
from kdenv.core.errors import BadOption, did_you_mean, shown
from kdenv.core.fields import Field, listing, spellings
from kdenv.core.protocols import Drawing, LastTurn, Notation, protocol_error
from kdenv.core.questions import Knowledge, RulePlayer, choose, estimate, rank, reach
from kdenv.core.read_only import freeze_fields
from kdenv.core.turns import MAX_DECISIONS
from kdenv.core.verbs import register_rules

States = NDArray[Any]  # an array of a game's state records
Variant = NDArray[np.int64]  # the options of a game as integers, as begin() takes them


@dataclass(frozen=True)
class Option(Field):
    """One option of the rules.

    Its values are `choices`, of which `default` is one, or with type=int the whole numbers from `least` to `most`. An option with other
    values has `encode`, which turns a value into `width` integers or raises BadOption, and `decode`, which turns the integers back. Such
    an option may have the default None, and its `encode` may let None depend on the number of players.
    """

    default: Any
    encode: Callable[[Any, int], Sequence[int]] | None = None  # (value, players) -> integers
    decode: Callable[[Sequence[int]], Any] | None = None
    width: int = 1

    def __post_init__(self) -> None:
        freeze_fields(self)
        if not self.choices and self.type is not int and self.encode is None:
            raise TypeError(f"the option {self.name} has no values; give choices=, type=int or encode=")

    def to_integers(self, value: Any, players: int) -> Sequence[int]:
        """The value as integers, as `begin` takes it. Without `encode`, a number is itself and a word is its place in choices."""
        if self.encode is not None:
            return self.encode(value, players)
        found = self.read(value) if isinstance(value, str) else self.check(value)
        return [int(found)] if isinstance(found, (bool, int)) else [list(self.choices).index(found)]

    def from_integers(self, integers: Sequence[int]) -> Any:
        """The value for which to_integers returned these integers."""
        if self.decode is not None:
            return self.decode(integers)
        (number,) = integers
        if self.choices and isinstance(self.choices[0], bool):
            return bool(number)
        return self.choices[number] if self.choices and not isinstance(self.choices[0], int) else int(number)

    def values(self) -> list[str]:
        """The values that may be chosen, as a command line takes them, the default first; empty if they cannot be listed."""
        others = [choice for choice in self.choices if choice != self.default]
        return [spellings(choice)[0] for choice in (self.default, *others)] if self.choices else []


@dataclass(frozen=True, eq=False, repr=False)  # there is one Game of each game, so equality is identity
class Game:
    """One game. Its constructor checks that nothing is missing, and registers its rules with the verbs."""

    name: str  # in lower case, as in kdenv.table(name)
    title: str  # as in the environment kdenv/Title-v0
    room: Sequence[ModuleType]  # the modules that hold STATE and the kernels of the verbs (core/verbs.py)
    players: Sequence[int]  # the possible numbers of players, the default first
    options: Sequence[Option]  # the options of its rules
    notation: Notation  # writes actions and positions in words, and reads them
    drawing: Drawing  # draws positions
    encodings: Sequence[Encoding]  # write what a seat sees as numbers; the default first; add_encoding adds one
    n_actions: Callable[[int, Variant], int]  # (players, variant) -> size of the action space
    max_legal: int  # a list of legal actions is never longer than this
    max_turns: int  # a list of the possible turns of a seat is never longer than this
    max_chances: int  # a list of the outcomes of chance is never longer than this
    knowledge: Knowledge = field(default_factory=Knowledge)  # players and other parts for policies and searches
    most_decisions: int = 4  # a turn has at most this many decisions; with 1, searches choose single decisions in place of turns
    turn_of: Callable[[States], int] | None = None  # the number of the turn of states[0], where searches decide several times in a turn
    teams: Callable[[int], int] = int  # players -> number of teams; seat % teams is a seat's team
    training_encoding: str = ""  # the encoding of networks that `kdenv train` makes, if none is given; the default one if empty
    margin_scale: float = 100.0  # rewards in points (reward="margin", "score") are divided by this
    open_information: bool = False  # True if no seat has hidden information, so that an observation is the whole state
    truncated: Callable[[States, int], bool] | None = None  # the verb `truncated`, if no module of `room` has it
    details: Any = None  # a core.match_columns.MatchColumns: columns of match reports
    state_dtype: np.dtype[Any] = field(init=False)  # STATE of the modules in `room`

    def __post_init__(self) -> None:
        freeze_fields(self)
        for name, wanted in (("notation", Notation), ("drawing", Drawing)):
            if wrong := protocol_error(wanted, getattr(self, name)):
                raise TypeError(f"the {name} of {self.name} {wrong}; kdenv.author.{wanted.__name__} says what each function answers")
        for bound, most in (("max_legal", None), ("max_turns", None), ("max_chances", None), ("most_decisions", MAX_DECISIONS)):
            number = getattr(self, bound)
            if not isinstance(number, (int, np.integer)) or not 1 <= number <= (most or number):
                right = f"from 1 to {most}" if most else "from 1 up"
                raise TypeError(f"{bound} of {self.name} is {shown(number)}; it must be a whole number {right}")
        if not self.encodings:
            raise TypeError(f"{self.name} has no encoding; give encodings=(Encoding(name, layout, observe),)")
        for kind, given in ((Option, self.options), (Encoding, self.encodings)):
            for each in given:
                if not isinstance(each, kind):
                    word = kind.__name__
                    raise TypeError(f"{each!r} among the {word.lower()}s of {self.name} is no {word}; write {word}(...)")
        if self.knowledge.greedy and self.knowledge.greedy not in self.knowledge.players:
            raise TypeError(f"the greedy player of {self.name} is {self.knowledge.greedy}, which is not among the players of its knowledge")
        limit = {} if self.truncated is None else {"truncated": self.truncated}
        state = register_rules(self.name, *self.room, observe=self.encodings[0].observe, **limit)
        object.__setattr__(self, "state_dtype", state)
        for encoding in self.encodings:
            self._lay_out(encoding)
        _made[self.name] = self

    def _lay_out(self, encoding: Encoding) -> None:
        """Raise TypeError if the layout of an encoding is wrong, for the default number of players and options."""
        Observer(self, *self.variant(), encoding)

    def __repr__(self) -> str:
        return f"<game {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy a game by its name: modules cannot be pickled, and there is one Game of each game."""
        return _game_made_with, (self.room[0].__name__, self.name)

    def svg(self, states: States, k: int, seat: int | None = None, last: LastTurn | None = None, *, narrow: bool = False) -> str:
        """Return states[k] as an SVG drawing. If the last turn is given, it is marked. A narrow drawing is for a telephone."""
        return _drawn(self.drawing.svg, states, k, seat, last=last, narrow=narrow)

    def ansi(self, states: States, k: int, seat: int | None = None, last: LastTurn | None = None) -> str:
        """Return states[k] as text for a terminal. If the last turn is given, it is marked."""
        return _drawn(self.drawing.ansi, states, k, seat, last=last)

    def buffer(self) -> NDArray[np.int64]:
        """Return a new buffer with room for a list of legal actions, and for the scratch of the rule players of this game."""
        return np.empty(max(self.max_legal, self.knowledge.scratch), np.int64)

    def variant(self, players: int | None = None, **options: Any) -> tuple[int, Variant]:
        """Check a number of players and options; return the players and the options as integers."""
        n = self.players[0] if players is None else players
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n not in self.players:
            counts = listing(sorted(self.players))
            raise BadOption(f"{self.name} cannot be played by {shown(n)} players; players may be {counts}")
        self.check_names(options)
        integers: list[int] = []
        for option in self.options:
            integers += option.to_integers(options.get(option.name, option.default), int(n))
        return int(n), np.array(integers, np.int64)

    def add_encoding(self, encoding: Encoding) -> None:
        """Add an encoding from outside the game's package. Environments and models then choose it by its name.

        It is not trusted: before each call, all that the seat cannot know is replaced by a random draw.
        """
        new, known = replace(encoding, trusted=False), {each.name: each for each in self.encodings}
        old = known.get(new.name)
        if old is not None and (old.trusted or _home(old.observe) != _home(new.observe)):
            raise TypeError(f"{self.name} already has an encoding {new.name}; choose another name")
        self._lay_out(new)
        object.__setattr__(self, "encodings", tuple((known | {new.name: new}).values()))

    def add_player(self, name: str, player: RulePlayer) -> None:
        """Add a rule-based player from outside the game's package. It is then a policy and a playout of this name.

        If the same module adds a player again, as when a cell of a notebook is run twice, the new one replaces the old one. The same
        holds for evaluators, orders and encodings.
        """
        for parameter in inspect.signature(player.make).parameters.values():
            if parameter.default is parameter.empty:
                raise TypeError(f"the player {name} has a parameter {parameter.name} without a default; give every parameter one")
        must_answer(player.make(), choose)
        self._add("players", name, player)

    def add_evaluator(self, name: str, evaluator: Any) -> None:
        """Add a part that answers `estimate` and `reach`. Searches of limited depth then use it with evaluate=name."""
        must_answer(evaluator, estimate, reach)
        self._add("evaluators", name, evaluator)

    def add_order(self, name: str, order: Any) -> None:
        """Add a part that answers `rank`. Searches of limited depth then use it with order=name."""
        must_answer(order, rank)
        self._add("orders", name, order)

    def _add(self, kind: str, name: str, new: Any) -> None:
        known = getattr(self.knowledge, kind)
        if name in known and _home(known[name]) != _home(new):
            raise TypeError(f"{self.name} already has {name} among its {kind}; choose another name")
        change: dict[str, Any] = {kind: {**known, name: new}}
        object.__setattr__(self, "knowledge", replace(self.knowledge, **change))

    def encoding(self, name: str | None = None) -> Encoding:
        """Return the encoding of this name; the default if the name is None."""
        for encoding in self.encodings:
            if name is None or encoding.name == name:
                return encoding
        known = [encoding.name for encoding in self.encodings]
        raise BadOption(f"{self.name} has no encoding {shown(name)}{did_you_mean(str(name), known)}; its encodings are {', '.join(known)}")

    def observer(self, players: int, variant: Variant, encoding: str | None = None) -> Observer:
        """Return the observer for these players and options and the encoding of this name; None means the default encoding."""
        return _observer(self, players, variant.tobytes(), self.encoding(encoding))

    def layout(self, players: int | None = None, encoding: str | None = None, **options: Any) -> Layout:
        """Return the parts of an observation by name, in their order, each with its shape and meaning."""
        return self.observer(*self.variant(players, **options), encoding).layout

    def check_names(self, options: Iterable[str]) -> None:
        """Raise BadOption for a name that is not an option of this game."""
        known = [option.name for option in self.options]
        for name in options:
            if name not in known:
                raise BadOption(f"{self.name} has no option {shown(name)}{did_you_mean(name, known)}; its options are {', '.join(known)}")

    def options_of(self, variant: Variant) -> dict[str, Any]:
        """Return the options by name for which variant() returned these integers."""
        values, at = {}, 0
        for option in self.options:
            values[option.name] = option.from_integers([int(v) for v in variant[at : at + option.width]])
            at += option.width
        return values


def _home(added: Any) -> tuple[str, str]:
    """Return the module and the name of an added object. If they are equal, a cell of a notebook has added the same object again."""
    made_by = added.make if isinstance(added, RulePlayer) else added
    made_by = made_by if hasattr(made_by, "__qualname__") else type(made_by)
    return made_by.__module__, made_by.__qualname__


def _drawn(draw: Callable[..., Any], states: States, k: int, seat: int | None, **more: Any) -> str:
    """Return a drawing. Of the other arguments, the function gets those that it takes."""
    takes = inspect.signature(draw).parameters
    return str(draw(states, k, seat=seat, **{name: value for name, value in more.items() if value and name in takes}))


_made: dict[str, Game] = {}


@lru_cache(maxsize=256)
def _observer(game: Game, players: int, variant: bytes, encoding: Encoding) -> Observer:
    return Observer(game, players, np.frombuffer(variant, np.int64), encoding)


def _game_made_with(room: str, name: str) -> Game:
    """Return the game of this name, in a process that may not have made it yet: importing its module makes it."""
    import_module(room)
    GAMES.load(name)  # a process that unpickles a game may never ask for it by its name
    return _made[name]
