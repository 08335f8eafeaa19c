"""The grammar of policies as text: `name`, `name(value)`, `name(parameter=value, ...)`; values may be such texts themselves.

Here are terms, how they are read, and the numbers and words that parameters must be; what the names mean is in kinds.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from kdenv.core.errors import BadOption
from kdenv.core.game import did_you_mean

_TOKEN = re.compile(r"\s*([(),=]|[^\s(),=]+)")


class Term(NamedTuple):
    """A parsed text: a name with parameters; a bare word is a name without any."""

    name: str
    positional: list[Term]
    named: dict[str, Term]

    def __str__(self) -> str:
        parts = [*map(str, self.positional), *(f"{key}={value}" for key, value in self.named.items())]
        return f"{self.name}({', '.join(parts)})" if parts else self.name


def parse(text: str) -> Term:
    """Split a text into names and parameters."""
    tokens = _tokens(text)
    term = _term(text, tokens)
    rest = next(tokens, None)
    if rest is not None:
        raise BadOption(f"policy {text!r}: {rest!r} is too much; write name(parameter=value, ...)")
    return term


class _Tokens:
    """The tokens of a text, with a look at the next one."""

    def __init__(self, tokens: Iterator[str]) -> None:
        self._tokens = tokens
        self.next: str | None = next(tokens, None)

    def __iter__(self) -> _Tokens:
        return self

    def __next__(self) -> str:
        token = self.next
        if token is None:
            raise StopIteration
        self.next = next(self._tokens, None)
        return token


def _tokens(text: str) -> _Tokens:
    return _Tokens(match[1] for match in _TOKEN.finditer(text.rstrip()))


def _term(text: str, tokens: _Tokens) -> Term:
    name = next(tokens, "")
    if not name or name in "(),=":
        raise BadOption(f"policy {text!r}: a name is missing{f' before {name!r}' if name else ''}; write name(parameter=value, ...)")
    term = Term(name, [], {})
    if tokens.next != "(":
        return term
    next(tokens)
    while tokens.next != ")":
        value = _term(text, tokens)
        if tokens.next == "=":
            next(tokens)
            if value.positional or value.named:
                raise BadOption(f"policy {text!r}: {value} is no name of a parameter; write name=value")
            if value.name in term.named:
                raise BadOption(f"policy {text!r}: {value.name} is given twice")
            term.named[value.name] = _term(text, tokens)
        elif term.named:
            raise BadOption(f"policy {text!r}: {value} comes after parameters with names; write name=value")
        else:
            term.positional.append(value)
        if tokens.next == ",":
            next(tokens)
        elif tokens.next != ")":
            raise BadOption(f"policy {text!r}: a closing bracket is missing")
    next(tokens)
    return term


def literal(term: Term) -> Any:
    """The number, truth value or word that a term without parameters is."""
    if term.positional or term.named:
        raise BadOption(f"{term} is not a number or word")
    for kind in (int, float):
        try:
            return kind(term.name)
        except ValueError:
            continue
    over, _, under = term.name.partition("/")
    if over.isdecimal() and under.isdecimal() and int(under) > 0:
        return int(over) / int(under)
    return {"yes": True, "no": False}.get(term.name, term.name)


def number(name: str, term: Term, least: float, *, whole: bool = False) -> Any:
    """The number a parameter must be."""
    value = literal(term)
    # Neither nan nor infinity, and nothing that float() or an int64 cannot hold.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value < 1e18 or (whole and value != int(value)):
        raise BadOption(f"{name}={term} is not possible; {name} is a {'whole ' if whole else ''}number from {least:g} on")
    return int(value) if whole else float(value)


def truth(name: str, term: Term) -> bool:
    """The yes or no a parameter must be."""
    value = literal(term)
    if not isinstance(value, bool):
        raise BadOption(f"{name}={term} is not possible; {name} may be yes or no")
    return value


def word(name: str, term: Term, words: Iterable[str]) -> str:
    """One of these words."""
    if str(term) not in words:
        raise BadOption(f"{name}={term} is not possible; {name} may be {', '.join(words)}")
    return str(term)


def no_parameter(policy: str, name: str, known: list[str]) -> BadOption:
    """The error for a parameter that a policy does not have."""
    takes = f"its parameters are {', '.join(known)}" if known else "it has none"
    return BadOption(f"{policy} has no parameter {name}{did_you_mean(name, known)}; {takes}")
