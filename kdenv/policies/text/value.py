"""Values: objects with a name and parameters, such as policies, playouts and selection rules.

A class marked `@named("uct")` is a frozen dataclass, and each of its fields is a parameter (parameter.py). The fields give the text,
equality, hashing, JSON and the listing. So `Uct(playout=FullGreedy(), seconds=1)` and the text "uct(playout=full_greedy, seconds=1)" are
the same value. A row gives a name to one value of such a class; the searches of papers are rows. This module does not know the
use of a value.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, dataclass_transform, get_type_hints

from kdenv.core.entry_points import POLICIES
from kdenv.core.errors import BadOption, KdenvError, NotSupported, describe_error, did_you_mean, shown
from kdenv.core.fields import check_fields
from kdenv.core.game import Game, Variant
from kdenv.policies.text.grammar import Term, parse, shorten
from kdenv.policies.text.parameter import Parameter, no_parameter, param

V = TypeVar("V", bound="Value")
_KIND = "kind"  # the key in JSON whose value is the name

# Names that a parameter may not have, because every value has an attribute of this name.
_RESERVED = {_KIND, "family", "source", "text", "memory", "rng", "n_playouts", "usual", "alternatives"}


@dataclass(frozen=True)
class Preset:
    """A value with a name, such as a search of a paper: its class and its parameters."""

    meaning: str
    source: str
    cls: type[Value]
    parameters: Mapping[str, Any]
    game: str = ""  # the name of the game of the source; empty if the source is about no particular game

    @cached_property
    def value(self) -> Value:
        """The value. It is made at first use, because making it may import games for their players."""
        return self.cls(**self.parameters)


class Finder(NamedTuple):
    """A way to find classes that are made at first use."""

    base: type[Value]  # all these classes derive from it
    find: Callable[[str], type[Value] | None]
    names: Callable[[], Iterable[str]]


_classes: dict[str, type[Value]] = {}  # by name
_rows: dict[str, Preset] = {}  # by name
_finders: list[Finder] = []


class Value:
    """The base class of everything that is written as a text with parameters."""

    kind: ClassVar[str] = ""  # its name in texts
    family: ClassVar[str] = "value"  # the word for its family in sentences, such as "policy"
    remedy: ClassVar[str] = ""  # the end of an error about a value that is not of the family; if empty, its members are named
    source: ClassVar[str] = ""  # the paper it comes from
    alternatives: ClassVar[tuple[str, ...]] = ()  # such as budgets: giving one removes the defaults of the others
    usual: ClassVar[Mapping[str, Any]] = {}  # the values of these parameters if none of them is given
    _parameters: ClassVar[Mapping[str, Parameter]] = {}

    def __init_subclass__(cls, **more: Any) -> None:
        """Clear the inherited name, which belongs to the class above. @named gives this class its name."""
        super().__init_subclass__(**more)
        cls.kind = ""

    @classmethod
    def parameters(cls) -> Mapping[str, Parameter]:
        """The parameters by name, in the order in which they are listed."""
        return cls._parameters

    @classmethod
    def meaning(cls) -> str:
        """The meaning in a line: the first paragraph of the docstring, without the full stop."""
        return " ".join(inspect.cleandoc(cls.__doc__ or "").partition("\n\n")[0].split()).removesuffix(".")

    @classmethod
    def stands_for(cls, game: Game) -> list[str]:
        """The values that this name means in this game, one in a line; empty if it means itself."""
        return []

    @classmethod
    def usage(cls) -> str:
        """The text with all parameters, for a listing."""
        parts = [
            f"<{p.name}>" if p.positional and p.is_required else p.usage() for p in cls.parameters().values() if p.name not in cls.usual
        ]
        parts[len(parts) :] = [f"{name}={value}" for name, value in cls.usual.items()]
        return f"{cls.kind}({', '.join(parts)})" if parts else cls.kind

    @classmethod
    def members(cls) -> str:
        """The end of an error about a value that is not of the family."""
        if cls.remedy:
            return cls.remedy
        *others, last = names_of(cls)
        return f"a {cls.family} is {', '.join(others)} or {last}"

    def __post_init__(self) -> None:
        """Check every parameter that differs from its default, and convert it to the right type."""
        check_fields(self, self._parameters)
        if self.usual and all(getattr(self, name) is None for name in self.alternatives):
            for name, value in self.usual.items():
                object.__setattr__(self, name, value)

    # Text

    @classmethod
    def from_term(cls, term: Term) -> Self:
        """The value of a parsed text. Raises BadOption if it is no value of this class."""
        row, found = _rows.get(term.name), class_of(term, cls)
        known = found.parameters()
        in_order = [p.name for p in known.values() if p.positional]
        if len(term.positional) > len(in_order):
            raise BadOption(f"{term}: {_how_to_write(found, in_order)}")
        given = dict(zip(in_order, term.positional, strict=False))
        for name, value in term.named.items():
            if name not in known:
                raise no_parameter(term.name, shorten(name), known)
            if name in given:
                raise BadOption(f"{term}: {name} is given twice, once without its name")
            given[name] = value
        for name, p in known.items():
            if name not in given and p.is_required:
                raise BadOption(f"{term}: {name} is missing; write {found.usage()}")
        values = {name: known[name].read_term(value) for name, value in given.items()}
        try:
            made = found(**values) if row is None else with_preset(term.name, copy(row.value)).with_parameters(**values)
        except KdenvError:
            raise
        except Exception as error:
            raise BadOption(f"{term} cannot be made: {describe_error(error)}") from error
        assert isinstance(made, cls)
        return made

    @classmethod
    def as_value(cls, value: Any) -> Self:
        """The value itself, or the value of a text. Raises BadOption for anything else."""
        if isinstance(value, str):
            return cls.from_term(parse(value))
        if isinstance(value, cls):
            return value
        if isinstance(value, type):
            raise BadOption(f"{value.__name__} is a class; write {value.__name__}(...) for a {cls.family} with these parameters")
        if isinstance(value, Value):
            raise _is_none_of(str(value), type(value), cls)
        raise BadOption(f"{shown(value)} is no {cls.family}; {cls.members()}")

    def __str__(self) -> str:
        parts = [self._parameters[name].write_with_name(value) for name, value in self.given().items()]
        name = self.row or self.kind or type(self).__name__
        return f"{name}({', '.join(parts)})" if parts else name

    @property
    def text(self) -> str:
        """The text of this value, with only the parameters that differ from the defaults."""
        return str(self)

    def __repr__(self) -> str:
        parts = [f"{name}={value!r}" for name, value in _differences(self, None).items()]
        return f"{type(self).__name__}({', '.join(parts)})"

    @property
    def row(self) -> str:
        """The name of the row that the value was made from; its text begins with it. Empty if there is none."""
        return str(self.__dict__.get("_row", ""))

    def given(self) -> dict[str, Any]:
        """The parameters that differ from the defaults, or from the row that the value was made from."""
        return _differences(self, _rows[self.row].value if self.row else None)

    def with_parameters(self, **changes: Any) -> Self:
        """A copy with these parameters changed. A budget among the changes replaces any other budget."""
        replaced = self.alternatives if any(name in changes for name in self.alternatives) else ()
        kept = {name: getattr(self, name) for name in self._parameters if name not in replaced}
        made = type(self)(**{**kept, **changes})
        return with_preset(self.row, made) if self.row else made

    # JSON

    def to_json(self) -> dict[str, Any]:
        """All parameters, defaults included, as a dict for the json module; from_json reads it."""
        if not self.kind:
            raise BadOption(f'{type(self).__name__} has no name, so it cannot be written as JSON; mark the class @named("a_name")')
        return {_KIND: self.kind, **{name: _as_json(p, getattr(self, name)) for name, p in self._parameters.items()}}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """The value for which to_json returned this dict. Raises BadOption for other data."""
        if not isinstance(data, Mapping) or not isinstance(data.get(_KIND), str):
            raise BadOption(f"{shown(data)} is no {cls.family}; in JSON one is an object with its name as {_KIND!r} and its parameters")
        found = find(data[_KIND], cls)
        values = {}
        for name, value in data.items():
            if name != _KIND:
                if name not in found.parameters():
                    raise no_parameter(found.kind, shorten(str(name)), found.parameters())
                values[name] = found.parameters()[name].type.from_json(value) if isinstance(value, Mapping) else value
        for name, p in found.parameters().items():
            if name not in values and p.is_required:
                raise BadOption(f"{found.kind}: {name} is missing; write {found.usage()}")
        return found(**values)

    # Games

    @classmethod
    def why_not(cls, game: Game) -> str:
        """The reason why no value of this class can be used in this game; empty if one can. A sentence with its name before it."""
        return ""

    def refuse(self, game: Game) -> None:
        """Raise NotSupported if there is an obstacle in this game."""
        obstacle = self.why_not(game)
        if obstacle:
            raise NotSupported(f"{self} {obstacle}")

    def needs(self, game: Game, players: int, variant: Variant) -> None:
        """Raise NotSupported or BadOption if this value, or a value among its parameters, cannot be used in this game with these rules."""
        self.refuse(game)
        for name, p in self._parameters.items():
            if isinstance(p.type, type) and issubclass(p.type, Value) and getattr(self, name) is not None:
                getattr(self, name).needs(game, players, variant)


# Classes and rows by name


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(param,))
def named(name: str, source: str = "", *, listed: bool = True) -> Callable[[type[V]], type[V]]:
    """Make a class a frozen dataclass whose fields are parameters. Texts write it with this name; `source` is the paper it comes from.

    The first paragraph of its docstring is its meaning in the listing. If `listed` is False, texts do not find the class by its name.

    >>> import kdenv
    >>> from kdenv.author import Policy, named, param
    >>> @named("from_the_end")
    ... class FromTheEnd(Policy):
    ...     "Takes a legal action counted from the last."
    ...     place: int = param("0 is the last", default=0, least=0, most=3)
    ...     def act(self, view):
    ...         return view.legal()[-1 - self.place]
    >>> kdenv.policy("from_the_end(place=2)") == FromTheEnd(place=2)
    True
    """
    return partial(_name, name=name, source=source, listed=listed)


def _name(cls: type[V], name: str, source: str, listed: bool) -> type[V]:
    if not cls.__dict__.get("__doc__"):
        raise TypeError(f"{cls.__name__} has no docstring; its first paragraph is what the listing says about {name}")
    if not parse(name).is_word:
        raise TypeError(f"{name!r} is no name for {cls.__name__}; a name is a word without brackets, commas and spaces")
    if listed:
        _check_free(name, cls)
    made = dataclass(frozen=True, kw_only=True, repr=False)(cls)
    made.kind, made.source = name, source
    hints, order = get_type_hints(made), {home: i for i, home in enumerate(made.__mro__)}
    known = [(field, next(home for home in made.__mro__ if field.name in inspect.get_annotations(home))) for field in fields(made)]  # type: ignore[arg-type]
    known.sort(key=lambda pair: (pair[0].kw_only, order[pair[1]]))
    made._parameters = {field.name: Parameter.of(field, hints[field.name]) for field, _ in known}
    made.alternatives = tuple(name for name in made.alternatives if name in made._parameters)
    for taken in sorted(_RESERVED & made._parameters.keys()):
        raise TypeError(f"{cls.__name__} has a parameter {taken}, which every value has already; choose another name")
    for hidden, home in ((name, home) for name in made._parameters for home in made.__mro__ if _has_method(home, name)):
        raise TypeError(f"{cls.__name__} has a parameter {hidden}, which would hide a method of {home.__name__}; choose another name")
    for method in sorted(getattr(cls, "__abstractmethods__", ())):
        takes = ", ".join(inspect.signature(getattr(cls, method)).parameters)
        raise TypeError(f"{cls.__name__} has no method {method}({takes}), which a {cls.family} of this kind needs")
    if listed:
        add_class(name, made)
    return made


def _has_method(cls: type, name: str) -> bool:
    """True if this class itself has a method or property of this name, and not a field."""
    found = vars(cls).get(name)
    is_method = inspect.isroutine(found) or isinstance(found, (property, cached_property, classmethod, staticmethod))
    return is_method and name not in inspect.get_annotations(cls)


def add_class(name: str, cls: type[Value]) -> None:
    """Let texts find this class by its name. Raises TypeError if the name is taken, or is not the name of the class."""
    _check_free(name, cls)
    if cls.kind != name:
        raise TypeError(f"{cls.__name__} has the name {cls.kind} already; use that one in place of {name}")
    _classes[name] = cls


def _check_free(name: str, cls: type[Value]) -> None:
    """Raise TypeError if something else has this name. A class that is defined again, as in a notebook, replaces the old one."""
    other = _classes.get(name)
    if name in _rows or (other is not None and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__)):
        raise TypeError(f"there already is a {name}; choose another name for {cls.__name__}")


def add_row(name: str, meaning: str, source: str, cls: type[Value], parameters: Mapping[str, Any], game: str = "") -> None:
    """Give a name to the value of this class with these parameters. `game` is the game of the source, if it is about one."""
    if name in _rows or name in _classes:
        raise TypeError(f"there already is a {name}; choose another name")
    _rows[name] = Preset(meaning, source, cls, parameters, game)


def with_preset(name: str, value: V) -> V:
    """Let the text of the value begin with the name of this row; return the value. It is changed in place, so it must not be shared yet."""
    value.__dict__["_row"] = name
    return value


def add_finder(finder: Finder) -> None:
    """Look up names that no class has with this finder."""
    _finders.append(finder)


def find(name: str, family: type[V]) -> type[V]:
    """The class of this name. Raises BadOption if there is none, or if it does not derive from `family`."""
    if name not in _classes:
        POLICIES.load(name)
    found = _classes.get(name) or next((cls for finder in _finders if (cls := finder.find(name)) is not None), None)
    if found is None:
        raise BadOption(f"there is no {family.family} {shorten(name)}{did_you_mean(name, names_of(family))}; {family.members()}")
    if not issubclass(found, family):
        raise _is_none_of(name, found, family)
    return found


def classes(family: type[V]) -> Iterator[type[V]]:
    """All listed classes that derive from this one, including those of installed packages."""
    POLICIES.load()
    return (cls for cls in _classes.values() if issubclass(cls, family))


def rows(family: type[Value]) -> Iterator[tuple[str, Preset]]:
    """All rows whose values are of this class, with their names."""
    return ((name, row) for name, row in _rows.items() if issubclass(row.cls, family))


def names_of(family: type[Value], *, asking_games: bool = True) -> list[str]:
    """The names with which the text of such a value may begin. Players of games are among them if asking_games."""
    found = [*(cls.kind for cls in classes(family)), *(name for name, _ in rows(family))]
    return (
        found
        if not asking_games
        else [*found, *(name for finder in _finders if issubclass(finder.base, family) for name in finder.names())]
    )


def class_of(term: Term, family: type[V]) -> type[V]:
    """The class of a parsed text: the class of this name, or the class of the row of this name."""
    row = _rows.get(term.name)
    if row is None:
        return find(term.name, family)
    if not issubclass(row.cls, family):
        raise _is_none_of(term.name, row.cls, family)
    return row.cls


# Details


def _differences(value: Value, base: Value | None) -> dict[str, Any]:
    budgets = {name: getattr(value, name) for name in value.alternatives if getattr(value, name) is not None}
    usual = base is None and budgets == value.usual
    found = {}
    for name, p in value.parameters().items():
        mine = getattr(value, name)
        differs = mine != (p.default if base is None else getattr(base, name))
        if differs and (name not in value.alternatives or (mine is not None and not usual)):
            found[name] = mine
    return found


def _as_json(p: Parameter, value: Any) -> Any:
    if isinstance(value, Value):
        return value.to_json()
    if isinstance(value, tuple):
        return list(value)
    return p.write(value) if isinstance(value, float) and not math.isfinite(value) else value


def _is_none_of(name: str, found: type[Value], family: type[Value]) -> BadOption:
    return BadOption(f"{shorten(name)} is no {family.family} but a {found.family}; {family.members()}")


def _how_to_write(found: type[Value], in_order: list[str]) -> str:
    if not found.parameters():
        return f"{found.kind} has no parameters"
    return f"parameters{f' after {in_order[-1]}' if in_order else ''} are written name=value, as in {found.usage()}"
