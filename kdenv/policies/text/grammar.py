"""The grammar of policies as text: `name`, `name(value)` or `name(parameter=value, ...)`, where a value may be such a text, too.

A word with brackets, commas or spaces, such as the path of a file, is written in double quotes, as in JSON. value.py finds
the meaning of the names. A list of numbers, [30, 20, 10], is one word here.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from kdenv.core.errors import BadOption, shown

_LIST = r'\[[^\[\]()="]*\](?=\s*(?:[,)]|$))'
_TOKEN = re.compile(rf'\s*([(),=]|"(?:[^"\\]|\\.)*"|{_LIST}|[^\s(),="]+|")')
_PLAIN = re.compile(r'[^\s(),="]+')
_SIGNS = "(),="
_DEEPEST = 20  # the most brackets inside each other
_SHOWN = 120  # the most letters of a text that an error quotes


class Term(NamedTuple):
    """A parsed text: a name with parameters. A bare word is a name without parameters."""

    name: str
    positional: list[Term]
    named: dict[str, Term]

    def __str__(self) -> str:
        parts = [*map(str, self.positional), *(f"{key}={value}" for key, value in self.named.items())]
        return f"{self.name}({', '.join(parts)})" if parts else self.name

    @property
    def is_word(self) -> bool:
        """True if the term has no parameters."""
        return not (self.positional or self.named)


def parse(text: str) -> Term:
    """Parse a text. Raises BadOption if it does not follow the grammar."""
    tokens = _TOKEN.findall(text)
    tokens.append("")
    term, at = _term(text, tokens, 0, 0)
    if tokens[at]:
        raise _wrong(text, f"{shorten(tokens[at])!r} is too much; write name(parameter=value, ...)")
    return term


def _term(text: str, tokens: list[str], at: int, depth: int) -> tuple[Term, int]:
    """The term that starts at tokens[at], and the index of the token after it."""
    name = tokens[at]
    if not name or name in _SIGNS:
        raise _wrong(text, f"a name is missing{f' before {name!r}' if name else ''}; write name(parameter=value, ...)")
    if name == '"':
        raise _wrong(text, "a closing quotation mark is missing")
    at += 1
    positional: list[Term] = []
    named: dict[str, Term] = {}
    if tokens[at] != "(":
        return Term(name, positional, named), at
    if depth == _DEEPEST:
        raise _wrong(text, f"there are brackets inside more than {_DEEPEST} others; no policy needs that")
    at += 1
    while tokens[at] != ")":
        value, at = _term(text, tokens, at, depth + 1)
        if tokens[at] == "=":
            if value.positional or value.named:
                raise _wrong(text, f"{value} is no name of a parameter; write name=value")
            if value.name in named:
                raise _wrong(text, f"{shorten(value.name)} is given twice")
            named[value.name], at = _term(text, tokens, at + 1, depth + 1)
        elif named:
            raise _wrong(text, f"{shorten(str(value))} comes after parameters with names; write name=value")
        else:
            positional.append(value)
        if tokens[at] == ",":
            at += 1
        elif tokens[at] != ")":
            raise _wrong(text, "a closing bracket is missing")
    return Term(name, positional, named), at + 1


def _wrong(text: str, what: str) -> BadOption:
    return BadOption(f"policy {shorten(text)!r}: {what}")


def list_in(word: str) -> list[str] | None:
    """The words of a list such as [30, 20, 10]; None if the word is no list."""
    if not (word.startswith("[") and word.endswith("]")):
        return None
    return [each.strip() for each in word[1:-1].split(",")] if word[1:-1].strip() else []


def word_in(term: Term) -> str:
    """The word of a term without parameters, without its quotation marks."""
    if not term.name.startswith('"'):
        return term.name
    try:
        return str(json.loads(term.name))
    except ValueError:
        raise BadOption(f"{shorten(term.name)} is not a word in quotation marks as JSON has them") from None


def word_of(value: str) -> str:
    """The text of a word: in quotation marks if it could be read as something else."""
    return value if _PLAIN.fullmatch(value) else json.dumps(value)


def shorten(text: str) -> str:
    """The text, or only its beginning if it is too long for an error."""
    return shown(text, _SHOWN)
