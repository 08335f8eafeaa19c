"""Fields: named values with a type, bounds or choices, a default and a meaning.

Parameters of policies, options of games, settings of trainings, keys of leagues and parameters of environments are fields. A field checks
a value from Python, reads a value from text, and lists the values that it may have. Each value that it refuses gets the same kind of
sentence: the name, the value, and the remedy.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, MISSING, dataclass, field
from functools import cache
from numbers import Real
from typing import Any, Self, Union, get_args, get_origin, get_type_hints

import numpy as np

from kdenv.core.errors import BadOption, did_you_mean, shown
from kdenv.core.parsing import real_in

LARGEST = 1e18  # the bound of numbers that have no other bound: an int64 holds it
LARGEST_SEED = (1 << 63) - 1

FORMS = {int: "whole number", float: "number", str: "text", bool: "yes or no", list: "list", dict: "table of names and values"}
_SPELLINGS = {True: ("yes", "true", "on", "1"), False: ("no", "false", "off", "0")}


@dataclass(frozen=True)
class Field:
    """A named value: its type, the values that it may have, its default and its meaning.

    If there are `choices`, only they are possible. `least` and `most` are the bounds of numbers, both inclusive.
    """

    name: str  # empty if sentences should not begin with it
    default: Any = field(default_factory=lambda: MISSING)  # MISSING if the value must be given
    meaning: str = ""  # in a line
    choices: Sequence[Any] = ()
    _: KW_ONLY
    type: Any = str  # int, float, bool, str, or another class, or a tuple of classes
    least: float = -LARGEST
    most: float = LARGEST
    optional: bool = False  # None is possible, too
    form: str = ""  # the possible values in words, where type and bounds do not say enough: "a list of names"

    @classmethod
    def of(cls, declared: dataclasses.Field[Any], hint: Any) -> Self:
        """The field that a field of a dataclass with this type hint declares. Its metadata is what declare() was given."""
        kinds = [get_origin(kind) or kind for kind in members_of(hint)]
        kind = kinds[0] if len(kinds) == 1 else tuple(kinds)
        default = declared.default if declared.default_factory is MISSING else declared.default_factory()
        return cls(declared.name, default, type=kind, optional=accepts_none(hint), **declared.metadata)

    @property
    def is_required(self) -> bool:
        """True if it has no default, so that it must be given."""
        return self.default is MISSING

    def check(self, value: Any) -> Any:
        """Return a value from Python with the type of the field. Raises BadOption if it is not possible."""
        found = self._accepted(value)
        if found is MISSING:
            raise self.refused(value, in_text=False)
        return found

    def read(self, word: str) -> Any:
        """Return the value that a text means. Raises BadOption if it is not possible."""
        choices = self.choices or (_SPELLINGS if self.type is bool else ())
        found: Any = MISSING
        if word in choices:
            found = word
        elif choices:
            found = next((choice for choice in choices if word.lower() in spellings(choice)), MISSING)
        else:
            value = real_in(word) if self.type in (int, float) else word
            found = MISSING if value is None else self._accepted(value)
        if found is MISSING:
            raise self.refused(word)
        return found

    def refused(self, value: Any, *, in_text: bool = True) -> BadOption:
        """The error for a value that is not possible."""
        words = [choice for choice in self.choices if isinstance(choice, str)]
        return refused(self.name, value, self.possible(in_text=in_text), words)

    def possible(self, *, in_text: bool = True) -> str:
        """The values that are possible, as the end of a sentence that begins with the name, such as "is a number from 0 to 1"."""
        if self.choices or self.type is bool:
            choices = self.choices or (True, False)
            return f"may be {listing([spellings(each)[0] if in_text else str(each) for each in choices])}"
        if self.form:
            return f"is {self.form}"
        form = f"is a {FORMS[self.type]}"
        if self.type not in (int, float) or self.least == -LARGEST:
            return form
        return f"{form} from {_bound(self.least)} " + (f"to {_bound(self.most)}" if self.most != LARGEST else "on")

    def _accepted(self, value: Any) -> Any:
        """The value with the type of the field; MISSING if it is not possible."""
        if value is None and self.optional:
            return None
        if self.choices and not isinstance(value, np.ndarray):  # comparing an array gives an array
            return next((each for each in self.choices if value == each and isinstance(value, bool) == isinstance(each, bool)), MISSING)
        if self.type is bool:
            return bool(value) if isinstance(value, (bool, np.bool_)) else MISSING
        if self.type is int or self.type is float:
            is_possible = is_number(value) and self.least <= value <= self.most and (self.type is float or value == int(value))
            return self.type(value) if is_possible else MISSING
        is_text = isinstance(value, str)  # which would be a sequence, too
        return value if isinstance(value, self.type) and (self.type is str or not is_text) else MISSING


def declare(meaning: str = "", *, default: Any = MISSING, default_factory: Any = MISSING, **about: Any) -> Any:
    """Declare a field of a dataclass, with what Field takes, such as least=1. Its type hint gives the type."""
    given: Any = {"default_factory": default_factory} if default is MISSING else {"default": default}
    return field(metadata={"meaning": meaning, **about}, **given)


@cache
def fields_of(cls: type) -> Mapping[str, Field]:
    """The fields of a dataclass, by name."""
    hints = get_type_hints(cls)
    return {each.name: Field.of(each, hints[each.name]) for each in dataclasses.fields(cls)}


def check_fields(instance: Any, fields: Mapping[str, Field]) -> None:
    """Check the values of a frozen dataclass, and convert them to the types of their fields. Defaults are not checked."""
    values = instance.__dict__
    for name, each in fields.items():
        value = values[name]
        if value is not each.default and (checked := each.check(value)) is not value:
            object.__setattr__(instance, name, checked)


def refused(name: str, value: Any, remedy: str, known: Iterable[str] = ()) -> BadOption:
    """The error for a value that is not possible, such as "depth=0 is not possible; depth is a whole number from 1 to 12".

    The remedy is the end of a sentence that begins with the name. `known` are the words among which a similar one is looked for.
    """
    hint = did_you_mean(value, known) if isinstance(value, str) else ""
    return BadOption(f"{f'{name}=' if name else ''}{shown(value)} is not possible{hint}; {name or 'it'} {remedy}")


def check_seed(seed: Any) -> None:
    """Raise BadOption for a seed that is neither None nor a whole number from 0 up."""
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0):
        raise BadOption(f"seed={shown(seed)} is not possible; seed may be a whole number from 0 up")


def seeds_of(seed: int | Sequence[int | None] | None, n: int) -> list[int | None] | None:
    """Return one seed for each of n games: those of a list, or a number and the ones after it."""
    if seed is None:
        return None
    if isinstance(seed, (Sequence, np.ndarray)):
        for each in seed:
            check_seed(each)
        if len(seed) != n:
            raise BadOption(f"seed= lists {len(seed)} seeds for {n} games; give one for each game, or one number")
        return list(seed)
    check_seed(seed)
    return [int(seed) + i for i in range(n)]


def listing(words: Sequence[Any]) -> str:
    """The words as a choice: "a, b or c"."""
    return " or ".join(part for part in (", ".join(map(str, words[:-1])), str(words[-1])) if part)


def spellings(choice: Any) -> tuple[str, ...]:
    """The texts that mean a choice, in lower case. Errors and listings use the first."""
    return _SPELLINGS[choice] if isinstance(choice, bool) else (str(choice).lower(),)


def is_number(value: Any) -> bool:
    """True for a number of Python or NumPy, but not for a bool."""
    return type(value) is int or type(value) is float or (isinstance(value, Real) and not isinstance(value, bool))


def number_text(value: float) -> str:
    """The text of a number. Reading it gives the same number."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def members_of(hint: Any) -> list[Any]:
    """The types that a type hint allows, beside None."""
    return [kind for kind in get_args(hint) if kind is not types.NoneType] if _is_union(hint) else [hint]


def accepts_none(hint: Any) -> bool:
    """True if a type hint allows None."""
    return _is_union(hint) and types.NoneType in get_args(hint)


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType)


def _bound(number: float) -> str:
    return f"{number:g}" if isinstance(number, float) else str(number)
