"""The kinds of values in requests. They check what a client sends, and describe themselves in the OpenAPI description.

A value that is not possible is refused with one sentence that names it and what would be right.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kdenv.core.errors import did_you_mean, shown
from kdenv.server.errors import RequestError


@dataclass(frozen=True)
class Kind(ABC):
    """A kind of value."""

    meaning: str
    default: Any = None
    required: bool = False

    @abstractmethod
    def check(self, name: str, value: Any) -> Any:
        """The value, if it is of this kind. RequestError if not."""

    def read(self, name: str, text: str) -> Any:
        """The value that a text in a query stands for."""
        return self.check(name, text)

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """The kind as JSON Schema has it."""


@dataclass(frozen=True)
class Text(Kind):
    """A text of a bounded length, or one of some words."""

    most: int = 100
    choices: tuple[str, ...] = ()

    def check(self, name: str, value: Any) -> str:
        if not isinstance(value, str) or len(value) > self.most or not _is_unicode(value):
            raise _wrong(name, value, f"a text of at most {self.most} letters")
        if self.choices and value not in self.choices:
            raise _wrong(name, value, f"one of {', '.join(self.choices)}")
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.choices)} if self.choices else {"type": "string", "maxLength": self.most}


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number within bounds."""

    least: int = 0
    most: int = 1_000_000

    def check(self, name: str, value: Any) -> int:
        if isinstance(value, float) and math.isfinite(value) and value == int(value):
            value = int(value)  # JSON has one kind of number
        if isinstance(value, bool) or not isinstance(value, int) or not self.least <= value <= self.most:
            raise _wrong(name, value, f"a whole number from {self.least} to {self.most}")
        return value

    def read(self, name: str, text: str) -> int:
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal()) or len(digits) > 18:
            raise _wrong(name, text, f"a whole number from {self.least} to {self.most}")
        return self.check(name, int(text))

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True)
class Flag(Kind):
    """True or false."""

    def check(self, name: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise _wrong(name, value, "true or false")
        return value

    def read(self, name: str, text: str) -> bool:
        if text not in ("true", "false"):
            raise _wrong(name, text, "true or false")
        return text == "true"

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Items(Kind):
    """A list of values of one kind."""

    of: Kind = Whole("")
    least: int = 0
    most: int = 16

    def check(self, name: str, value: Any) -> list[Any]:
        if not isinstance(value, list) or not self.least <= len(value) <= self.most:
            raise _wrong(name, value, f"a list of {self.least} to {self.most}")
        return [self.of.check(f"{name}[{i}]", each) for i, each in enumerate(value)]

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.of.schema(), "minItems": self.least, "maxItems": self.most}


@dataclass(frozen=True)
class Options(Kind):
    """The options of a game by name: texts, whole numbers and flags. The game checks them itself."""

    def check(self, name: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict) or len(value) > 20:
            raise _wrong(name, value, 'an object with at most 20 options of the game, such as {"size": 3}')
        for key, each in value.items():
            if not isinstance(each, (str, int, bool)) or (isinstance(each, str) and len(each) > 1000) or not _is_unicode(key):
                raise _wrong(f"{name}.{shown(key)}", each, "a text, a whole number, true or false")
        return value

    def schema(self) -> dict[str, Any]:
        values = {"anyOf": [{"type": "string", "maxLength": 1000}, {"type": "integer"}, {"type": "boolean"}]}
        return {"type": "object", "maxProperties": 20, "additionalProperties": values}


Fields = Mapping[str, Kind]


def read_query(fields: Fields, given: list[tuple[str, str]]) -> dict[str, Any]:
    """The values in a query. RequestError if it has others, or one twice."""
    values = {name: kind.default for name, kind in fields.items()}
    seen: set[str] = set()
    for name, text in given:
        _check_known(fields, name, seen)
        seen.add(name)
        values[name] = fields[name].read(name, text)
    _check_complete(fields, seen)
    return values


def read_body(fields: Fields, given: Any) -> dict[str, Any]:
    """The values in the body of a request, which is a JSON object. RequestError if it is not, or if it has others."""
    if not isinstance(given, dict):
        raise RequestError(422, f"the body must be a JSON object with {', '.join(fields) or 'nothing in it'}")
    values = {name: kind.default for name, kind in fields.items()}
    seen: set[str] = set()
    for name, value in given.items():
        _check_known(fields, name, seen)
        seen.add(name)
        values[name] = fields[name].check(name, value)
    _check_complete(fields, seen)
    return values


def _check_known(fields: Fields, name: str, seen: set[str]) -> None:
    if name not in fields:
        known = ", ".join(fields) or "none"
        raise RequestError(422, f"{shown(_printable(name))!r} is not known here{did_you_mean(name, fields)}; what may be given: {known}")
    if name in seen:
        raise RequestError(422, f"{name} is given twice")


def _check_complete(fields: Fields, seen: set[str]) -> None:
    for name, kind in fields.items():
        if kind.required and name not in seen:
            raise RequestError(422, f"{name} is missing: {kind.meaning}")


def _wrong(name: str, value: Any, right: str) -> RequestError:
    return RequestError(422, f"{name}={shown(_printable(value))} is not possible; it must be {right}")


def _is_unicode(text: str) -> bool:
    """Check that the text can be written as UTF-8 and holds no NUL, at which SQLite would cut it."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _printable(value: Any) -> str:
    return str(value).encode("utf-8", "replace").decode("utf-8")
