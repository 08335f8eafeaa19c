"""Parameters of policies: fields that also read special words, lists of numbers, and values that have parameters again."""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, MISSING, dataclass, field
from typing import Any, Self

from kdenv.core.errors import BadOption, did_you_mean
from kdenv.core.fields import FORMS, LARGEST, Field, accepts_none, is_number, members_of, number_text
from kdenv.core.parsing import real_in
from kdenv.policies.text.grammar import Term, list_in, parse, word_in, word_of

_PLAIN = (int, float, bool, str)  # the types of parameters that are not classes of values


def param(
    help: str = "",
    *,
    default: Any = MISSING,
    least: float = -LARGEST,
    most: float = LARGEST,
    choices: Iterable[str] = (),
    words: Mapping[str, Any] = types.MappingProxyType({}),
    terms: bool = False,
    each: str = "",
    kw_only: bool = True,
) -> Any:
    """Declare a parameter: a field of a class that is marked `@named`.

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

    Args:
        help: The meaning of the parameter, in a line.
        default: Its value if none is given. Without a default, a value must be given.
        least: The smallest number that is possible.
        most: The largest number that is possible.
        choices: The only words that are possible.
        words: Special values that are written as a word, such as {"none": math.inf}.
        terms: Whether a word may have brackets, such as learned(model).
        each: The thing that a list gives a number each for, such as "round", if the type hint has tuple[int, ...].
        kw_only: If False, the value may be written without the name.

    """
    about = {"meaning": help, "least": least, "most": most, "choices": tuple(choices), "words": words, "terms": terms, "each": each}
    return field(default=default, kw_only=kw_only, metadata=about)


@dataclass(frozen=True)
class Parameter(Field):
    """One parameter of a class of values. Its type is int, float, bool, str, or a class of values."""

    _: KW_ONLY
    words: Mapping[str, Any] = field(default_factory=dict)  # special values that are written as a word
    terms: bool = False  # whether a word may have brackets
    each: str = ""  # the thing that a list gives a number each for; empty if no list is possible
    positional: bool = False

    @classmethod
    def of(cls, declared: dataclasses.Field[Any], hint: Any) -> Self:
        """The parameter that a field with this type hint declares. Raises TypeError if the type is not possible."""
        about = dict(declared.metadata)
        kinds = [kind for kind in members_of(hint) if not (about.get("each") and kind in (tuple[int, ...], tuple[float, ...]))]
        if len(kinds) != 1 or not (kinds[0] in _PLAIN or hasattr(kinds[0], "from_term")):
            raise TypeError(
                f"parameter {declared.name} is a {hint}; it may be int, float, bool, str, a class of values such as Playout, "
                "or one of them | None"
            )
        if accepts_none(hint):
            about["words"] = {"none": None, **about.get("words", {})}
        return cls(declared.name, declared.default, type=kinds[0], positional=not declared.kw_only, **about)

    def read_term(self, term: Term) -> Any:
        """Return the value that a term means. Raises BadOption if it is not possible."""
        if term.is_word and term.name in self.words:
            return self.words[term.name]
        if self.type not in _PLAIN:
            return self.type.from_term(term)
        if self.terms and not term.is_word:
            return self.check(str(term))
        if not term.is_word:
            raise BadOption(f"{self.name}={term} is not possible: {term} is not a number or word")
        numbers = list_in(term.name) if self.each else None
        if numbers is None:
            return self.read(word_in(term) if self.type is str else term.name)
        found = self._accepted([MISSING if (value := real_in(number)) is None else value for number in numbers])
        if found is MISSING:
            raise self.refused(term.name)
        return found

    def write(self, value: Any) -> str:
        """The text of a value. read_term() makes the same value of it."""
        for word, special in self.words.items():
            if value is special or value == special:
                return word
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, (int, float)):
            return number_text(value)
        if isinstance(value, tuple):
            return f"[{', '.join(map(number_text, value))}]"
        if self.terms and isinstance(value, str) and value.endswith(")") and not parse(value).is_word:
            return value
        return word_of(value) if isinstance(value, str) else str(value)

    def write_with_name(self, value: Any) -> str:
        """The text of a value between brackets: name=value, but without the name for a required parameter that may be written so."""
        return self.write(value) if self.positional and self.is_required else f"{self.name}={self.write(value)}"

    def usage(self) -> str:
        """The text of the parameter in a listing: with its choices, its default, or the kind of its value."""
        if self.type is str and self.choices:
            first = "" if self.default in (MISSING, None) else f"{self.default}|"
            return f"{self.name}={first}{'|'.join(choice for choice in self.choices if choice != self.default)}"
        if self.type is bool:
            return f"{self.name}={'yes|no' if self.default is True else 'no|yes'}"
        if self.default is MISSING or self.default is None:
            return f"{self.name}=<{FORMS.get(self.type) or self.type.family}>"
        return f"{self.name}={self.write(self.default)}"

    def possible(self, *, in_text: bool = True) -> str:
        """The values that are possible, as the end of a sentence that begins with the name."""
        if self.type not in _PLAIN:
            return f"is a {self.type.family}; {self.type.members()}"
        if self.type not in (int, float):
            return super().possible(in_text=in_text)
        words = "".join(f", or {word}" for word, value in self.words.items() if value is not None)
        if self.each:
            words += f", or a list of such numbers, one for each {self.each}: [30, 20, 10]"
        return super().possible(in_text=in_text) + words

    def _accepted(self, value: Any) -> Any:
        """The value with the type of the parameter; MISSING if it is not possible."""
        if isinstance(value, str) and value in self.words:
            return self.words[value]
        if value is None and None in self.words.values():
            return None
        if self.type not in _PLAIN:
            return self.type.as_value(value)
        if self.each and isinstance(value, (list, tuple)):
            numbers = [super(Parameter, self)._accepted(number) for number in value]
            return tuple(numbers) if numbers and MISSING not in numbers else MISSING
        if self.words and is_number(value) and any(value == special for special in self.words.values()):
            return self.type(value) if math.isfinite(value) else float(value)
        return super()._accepted(value)


def no_parameter(kind: str, name: str, known: Iterable[str]) -> BadOption:
    """The error for a name that is no parameter of this class of values."""
    takes = f"its parameters are {', '.join(known)}" if known else "it has none"
    return BadOption(f"{kind} has no parameter {name}{did_you_mean(name, known)}; {takes}")
