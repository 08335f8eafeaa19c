"""Policies from text, and the list of them: `policy("mce(playout=full_greedy, seconds=0.5)")`.

The grammar is in text.py, what the names mean in kinds.py and papers.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

from kdenv.core.errors import BadOption
from kdenv.core.game import Game
from kdenv.policies.base import Policy
from kdenv.policies.kinds import KINDS, PLAYOUTS, rule_policy
from kdenv.policies.papers import BUDGETS, NAMED
from kdenv.policies.text import Term, no_parameter, parse


def policy(text: str) -> Policy:
    """What plays as this text says, for example mce(playout=full_greedy, seconds=0.5)."""
    term = parse(text)
    if term.name in KINDS:
        return _call(KINDS[term.name].make, term, KINDS[term.name].usage)
    if term.name in NAMED:
        return _named_policy(term)
    return rule_policy(term)


def _named_policy(term: Term) -> Policy:
    """A search of a paper; a budget given takes the place of the paper's."""
    base = parse(NAMED[term.name].text)
    has_budget = any(name in term.named for name in BUDGETS)
    usual = {name: value for name, value in base.named.items() if not (has_budget and name in BUDGETS)}
    full = Term(base.name, term.positional, {**usual, **term.named})
    named = _call(KINDS[base.name].make, full, f"{term.name}(parameter=value, ...) with the parameters of {KINDS[base.name].usage}")
    named.text = str(term)
    return named


def _call(make: Callable[..., Policy], term: Term, usage: str) -> Policy:
    """Call the maker, telling a wrong parameter in one sentence."""
    known = list(inspect.signature(make).parameters)[1:]
    for name in term.named:
        if name not in known:
            raise no_parameter(term.name, name, known)
    try:
        inspect.signature(make).bind(str(term), *term.positional, **term.named)
    except TypeError as error:
        raise BadOption(f"{term}: {error}; write {usage}") from None
    return make(str(term), *term.positional, **term.named)


def listing(game: Game) -> list[tuple[str, str, str]]:
    """All policies that can play this game: how they are written, what they do, and where they come from."""
    rows = [(kind.usage, kind.meaning, kind.source) for kind in KINDS.values() if kind.plays(game)]
    for name, paper in NAMED.items():
        playout = parse(paper.text).named["playout"].name
        if playout in game.knowledge.players or (playout in PLAYOUTS and (playout == "random" or game.knowledge.greedy)):
            rows.append((name, f"{paper.meaning}: {paper.text}", paper.source))
    for name, rule in game.knowledge.players.items():
        parameters = ", ".join(f"{key}={parameter.default}" for key, parameter in inspect.signature(rule.make).parameters.items())
        rows.append((f"{name}({parameters})" if parameters else name, rule.meaning, rule.source))
    return rows
