"""Checks the texts of policies that strangers send: the names in them, and their cost.

The text is checked before a policy is made of it, because making a policy imports the module and reads the file that it names.
"""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kdenv.core.errors import BadOption, KdenvError, NotSupported, shown
from kdenv.core.game import Game
from kdenv.core.parsing import real_in
from kdenv.policies import Policy, policy
from kdenv.policies.learned import shipped_models
from kdenv.policies.text.grammar import Term, parse, word_in
from kdenv.policies.text.value import Value, class_of, names_of
from kdenv.server.settings import ServerSettings

_SECOND = re.compile(r"\s+\d+\s*$")  # "greedy 2" is what a second program is called
_PLACES = ":/\\"  # a word with them is the place of a module or file, unless it is a name of a policy (mce-fg/r) or a number (1/3)


def checked(text: str, game: Game, players: int, options: dict[str, Any], settings: ServerSettings, seconds: float) -> Policy:
    """The policy of a text, if it may decide here within `seconds`. Raises a KdenvError if not."""
    limits = settings.limits
    if len(text) > limits.policy:
        raise BadOption(f"this policy has {len(text):,} letters; a policy may have {limits.policy}")
    for term in _terms(parse(text)):
        _check_names(term, settings.policies)
    made = policy(text)
    for value in _values(made):
        _check_cost(value, limits.search_size, seconds)
    if made.is_oracle:
        raise NotSupported(f"{made} sees what is hidden, and nobody does so here; choose another policy")
    made.check(game, players, options)
    return made


def checked_search(text: str, game: Game, players: int, options: dict[str, Any], settings: ServerSettings) -> Policy:
    """Do the same for a policy that analyses a position."""
    made = checked(text, game, players, options, settings, settings.limits.analysis_seconds)
    if type(made).search is Policy.search:
        raise NotSupported(f"{made} does not search and has nothing to tell about its choices; ask a search, such as mce(seconds=1)")
    return made


def is_program(name: str) -> bool:
    """True if a name is that of a program, as a second one at a table is called, or with parameters. Nothing is made of it."""
    written = _SECOND.sub("", unicodedata.normalize("NFKC", name).partition("(")[0]).strip().casefold()
    return written in (known.casefold() for known in names_of(Policy))


def _terms(term: Term) -> Iterator[Term]:
    """A term and all terms inside it, also those of a text in quotation marks, because evaluate="learned(x)" loads a model."""
    yield term
    for inside in (*term.positional, *term.named.values()):
        yield from _terms(inside)
    if term.name.startswith('"'):
        try:
            quoted = parse(word_in(term))
        except BadOption:
            return  # it is a word and no text of a policy
        yield from _terms(quoted)


def _check_names(term: Term, folder: Path | None) -> None:
    """Refuse a term that names a module or a file, unless it lies in the folder that the operator allows."""
    is_place = any(letter in term.name for letter in _PLACES) and real_in(term.name) is None
    if is_place and term.name not in names_of(Value, asking_games=False):
        module, colon, _ = term.name.partition(":")
        if not (folder is not None and colon and _is_inside(module, folder)):
            fault = "is not allowed here" if folder is None else "is not in the folder of --policies"
            raise BadOption(f"{shown(term.name)} names a module or a file, which {fault}; 'kdenv policies' lists policies")
        return
    if term.is_word:
        return
    try:
        parameters = class_of(term, Value).parameters()
    except KdenvError:
        return  # policy() raises the error
    if "model" in parameters:
        first = term.named.get("model") or (term.positional[0] if term.positional else None)
        if first is not None:
            _check_model(first, folder)


def _check_model(term: Term, folder: Path | None) -> None:
    name = word_in(term) if term.is_word else str(term)
    known = shipped_models()
    if name in known:
        return
    if folder is None or not (folder / name).resolve().is_relative_to(folder.resolve()):
        raise BadOption(f"{shown(name)} is no model of this server; its models are {', '.join(known)}")


def _is_inside(module: str, folder: Path) -> bool:
    """True if a module would be imported from this folder. Nothing is imported for this check."""
    top = module.partition(".")[0]
    try:
        found = importlib.util.find_spec(top) if top.isidentifier() else None
    except (ImportError, ValueError):
        return False
    return found is not None and found.origin is not None and Path(found.origin).resolve().is_relative_to(folder.resolve())


def _values(value: Value) -> Iterator[Value]:
    """A policy, and the values among its parameters."""
    yield value
    for name in value.parameters():
        inside = getattr(value, name)
        if isinstance(inside, Value):
            yield from _values(inside)


def _check_cost(value: Value, size: int, seconds: float) -> None:
    """Refuse numbers that would let a decision take too long or too much memory. pool.py limits its time, too."""
    for name, parameter in value.parameters().items():
        given = getattr(value, name)
        if given is None or isinstance(given, bool):
            continue
        if name == "game_seconds":
            raise BadOption(f"{value}: this server gives no time for whole games; write seconds=<number> for a decision")
        if name in ("seconds", "turn_seconds") and given > seconds:
            raise BadOption(f"{value}: {name}={given:g} is not possible on this server; a decision may take {seconds:g}")
        if name == "threads" and given > 1:
            raise BadOption(f"{value}: threads={given} is not possible on this server; a search has 1")
        most = max(given) if isinstance(given, tuple) else given
        if parameter.type is int and isinstance(most, int) and most > size:
            raise BadOption(f"{value}: {name}={most} is not possible on this server; it may be at most {size:,}")
