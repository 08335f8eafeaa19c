"""Parameters of policies: their types, bounds and choices, and how their values are checked, read from text and written."""

from __future__ import annotations

import math
import types
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field
from numbers import Real
from typing import Any, Union, get_args, get_origin

from kdenv.core.errors import BadOption, did_you_mean
from kdenv.policies.text.grammar import Term, list_in, number_in, number_of, parse, shown, word_in, word_of

_PLAIN = (int, float, bool, str)  # the types of parameters that are not classes of values
_LARGEST = 1e18  # the bound of numbers that have no other bound: an int64 holds it


def param(
    help: str = "",
    *,
    default: Any = MISSING,
    least: float = -_LARGEST,
    most: float = _LARGEST,
    choices: Iterable[str] = (),
    words: Mapping[str, Any] = types.MappingProxyType({}),
    terms: bool = False,
    each: str = "",
    kw_only: bool = True,
) -> Any:
    """Declare a parameter: a field of a class that is marked `@named`. `help` says in a line what it means.

    least, most: the bounds of a number, both inclusive. choices: the words that are possible. words: special values that are written as a
    word, such as {"none": math.inf}. terms: whether a word may have brackets, such as learned(model). each: of what there may be a number
    each, such as "round", if the type hint has tuple[int, ...]. If kw_only is False, the value may be written without the name.

    >>> import kdenv
    >>> from kdenv.author import Policy, named, param
    >>> @named("careful")
    ... class Careful(Policy):
    ...     "Takes the first legal action."
    ...     care: float = param("how careful it is", default=0.5, least=0, most=1)
    ...     def act(self, view):
    ...         return view.legal()[0]
    >>> kdenv.policy("careful(care=2)")
    Traceback (most recent call last):
    kdenv.core.errors.BadOption: ...
    """
    about = {"help": help, "least": least, "most": most, "choices": tuple(choices), "words": words, "terms": terms, "each": each}
    return field(default=default, kw_only=kw_only, metadata=about)


@dataclass(frozen=True)
class Parameter:
    """One parameter of a class of values."""

    name: str
    type: Any  # int, float, bool, str, or a class of values
    default: Any  # MISSING if it must be given
    help: str
    least: float
    most: float
    choices: tuple[str, ...]
    words: Mapping[str, Any]  # special values that are written as a word
    terms: bool  # whether a word may have brackets
    each: str  # of what a list gives a number each; empty if no list is possible
    positional: bool

    @property
    def is_required(self) -> bool:
        """Whether it must be given, because it has no default."""
        return self.default is MISSING

    def check(self, value: Any) -> Any:
        """The value with the right type. Raises BadOption if it is not possible."""
        if isinstance(value, str) and value in self.words:
            return self.words[value]
        if value is None and None in self.words.values():
            return None
        if self.each and isinstance(value, (list, tuple)):
            return self._list(value, value)
        if self.type is int or self.type is float:
            return self._number(value, value)
        if self.type is str:
            if not isinstance(value, str) or (self.choices and value not in self.choices):
                raise self._refuse(value)
            return value
        if self.type is bool:
            if not isinstance(value, bool):
                raise self._refuse(value)
            return value
        return self.type.as_value(value)

    def read(self, term: Term) -> Any:
        """The value that a term stands for. Raises BadOption if it is not possible."""
        if term.is_word and term.name in self.words:
            return self.words[term.name]
        if self.type not in _PLAIN:
            return self.type.from_term(term)
        if self.terms and not term.is_word:
            return self.check(str(term))
        if not term.is_word:
            raise BadOption(f"{self.name}={term} is not possible: {term} is not a number or word")
        if self.type is str:
            return self.check(word_in(term))
        if self.type is bool:
            return self.check({"yes": True, "no": False}.get(term.name, term.name))
        words = list_in(term.name) if self.each else None
        if words is not None:
            return self._list([number_in(word) for word in words], term.name)
        return self._number(number_in(term.name), term.name)

    def write(self, value: Any) -> str:
        """The text of a value; read() makes the same value of it."""
        for word, special in self.words.items():
            if value is special or value == special:
                return word
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, (int, float)):
            return number_of(value)
        if isinstance(value, tuple):
            return f"[{', '.join(map(number_of, value))}]"
        if self.terms and isinstance(value, str) and value.endswith(")") and not parse(value).is_word:
            return value
        return word_of(value) if isinstance(value, str) else str(value)

    def write_with_name(self, value: Any) -> str:
        """The text of a value between brackets: name=value, but without the name for a required parameter that may be written so."""
        return self.write(value) if self.positional and self.is_required else f"{self.name}={self.write(value)}"

    def usage(self) -> str:
        """How the parameter is written, for a listing: with its choices, its default, or the kind of its value."""
        if self.type is str and self.choices:
            first = "" if self.default in (MISSING, None) else f"{self.default}|"
            return f"{self.name}={first}{'|'.join(choice for choice in self.choices if choice != self.default)}"
        if self.type is bool:
            return f"{self.name}={'yes|no' if self.default is True else 'no|yes'}"
        if self.default is MISSING or self.default is None:
            return f"{self.name}=<{self.meaning_of_value()}>"
        return f"{self.name}={self.write(self.default)}"

    def meaning_of_value(self) -> str:
        """The kind of its value, in a word or two."""
        if self.type in (int, float):
            return "whole number" if self.type is int else "number"
        return "word" if self.type is str else "yes or no" if self.type is bool else str(self.type.family)

    def possible(self) -> str:
        """What the value may be: the end of a sentence that begins with the name of the parameter."""
        if self.type not in _PLAIN:
            return f"is a {self.type.family}; {self.type.members()}"
        if self.type is bool:
            return "may be yes or no"
        if self.type is str:
            return f"may be {', '.join(self.choices)}" if self.choices else "is a word"
        words = "".join(f", or {word}" for word, value in self.words.items() if value is not None)
        number = "a whole number" if self.type is int else "a number"
        if self.each:
            words += f", or a list of such numbers, one for each {self.each}: [30, 20, 10]"
        if self.least > -_LARGEST and self.most < _LARGEST:
            return f"is {number} from {self.least:g} to {self.most:g}{words}"
        return f"is {number} from {self.least:g} on{words}" if self.least > -_LARGEST else f"is {number}{words}"

    def _number(self, value: Any, given: Any) -> Any:
        """The value as a number of the parameter's type. Numbers outside the bounds are refused, as are nan and infinity."""
        is_number = type(value) is int or type(value) is float or (isinstance(value, Real) and not isinstance(value, bool))
        if is_number and any(value == special for special in self.words.values()):
            return self.type(value) if math.isfinite(value) else float(value)
        if not is_number or not self.least <= value <= self.most or (self.type is int and value != int(value)):
            raise self._refuse(given)
        return self.type(value)

    def _list(self, values: Iterable[Any], given: Any) -> tuple[Any, ...]:
        """The values as numbers of the parameter's type. A list without numbers is refused, and so is one with a wrong number."""
        numbers = list(values)
        try:
            found = tuple(self._number(value, value) for value in numbers)
        except BadOption:
            raise self._refuse(given) from None
        if not found:
            raise self._refuse(given)
        return found

    def _refuse(self, value: Any) -> BadOption:
        close = did_you_mean(value, self.choices) if isinstance(value, str) else ""
        return BadOption(f"{self.name}={shown(value)} is not possible{close}; {self.name} {self.possible()}")


def parameter(name: str, hint: Any, field: Field[Any]) -> Parameter:
    """The parameter that a field with this name and type hint declares. Raises TypeError if the type is not possible."""
    usual = {"help": "", "least": -_LARGEST, "most": _LARGEST, "choices": (), "words": {}, "terms": False, "each": ""}
    about: dict[str, Any] = {**usual, **field.metadata}
    kinds = [kind for kind in get_args(hint) if kind is not types.NoneType] if _is_union(hint) else [hint]
    if about["each"]:
        kinds = [kind for kind in kinds if kind not in (tuple[int, ...], tuple[float, ...])]
    if len(kinds) != 1 or not (kinds[0] in _PLAIN or hasattr(kinds[0], "from_term")):
        raise TypeError(
            f"parameter {name} is a {hint}; it may be int, float, bool, str, a class of values such as Playout, or one of them | None"
        )
    if _is_union(hint):
        about["words"] = {"none": None, **about["words"]}
    return Parameter(name=name, type=kinds[0], default=field.default, positional=not field.kw_only, **about)


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType)


def no_parameter(kind: str, name: str, known: Iterable[str]) -> BadOption:
    """The error for a name that is no parameter of this class of values."""
    takes = f"its parameters are {', '.join(known)}" if known else "it has none"
    return BadOption(f"{kind} has no parameter {name}{did_you_mean(name, known)}; {takes}")
