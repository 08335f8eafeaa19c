"""Policies as text, and back: `name`, `name(value)`, `name(parameter=value, ...)`; values may be policies themselves.

Here is the list of all policies that are not rule-based players of one game (those are in the game's heuristics).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from kdenv.core.errors import BadOption
from kdenv.core.game import Game, did_you_mean
from kdenv.games import find_game, names
from kdenv.policies.base import Policy

_TOKEN = re.compile(r"\s*([(),=]|[^\s(),=]+)")


class Term(NamedTuple):
    """A parsed text: a name with parameters; a bare word is a name without any."""

    name: str
    positional: list[Term]
    named: dict[str, Term]

    def __str__(self) -> str:
        parts = [*map(str, self.positional), *(f"{key}={value}" for key, value in self.named.items())]
        return f"{self.name}({', '.join(parts)})" if parts else self.name


@dataclass(frozen=True)
class Kind:
    """A kind of policy: make(text, ...) builds it from parameters that are Terms; `usage` shows them."""

    make: Callable[..., Policy]
    usage: str
    meaning: str
    source: str = ""
    needs_hidden: bool = False  # whether it plays only games that offer a solver and beliefs (core.hidden)


def policy(text: str) -> Policy:
    """What plays as this text says, for example mce(playout=full_greedy, seconds=0.5)."""
    term = parse(text)
    if term.name in KINDS:
        return _call(KINDS[term.name].make, term, KINDS[term.name].usage)
    return rule_policy(term)


def rule_policy(term: Term) -> Policy:
    """A rule-based player, of whichever games have one of this name."""
    from kdenv.policies.simple import RulePolicy

    having = [game for game in map(find_game, names()) if term.name in game.rule_players]
    if not having:
        known = [*KINDS, *(name for game in map(find_game, names()) for name in game.rule_players)]
        raise BadOption(f"there is no policy {term.name}{did_you_mean(term.name, known)}; 'kdenv policies <game>' lists them")
    if term.positional:
        raise BadOption(f"{term}: parameters are written name=value")
    parameters = {key: literal(value) for key, value in term.named.items()}
    # Games may have players of one name that take different parameters: those meant are the ones that take these.
    takes = {game.name: list(inspect.signature(game.rule_players[term.name].make).parameters) for game in having}
    meant = [game for game in having if parameters.keys() <= set(takes[game.name])]
    if not meant:
        known = list(dict.fromkeys(name for names in takes.values() for name in names))
        unknown = next((name for name in parameters if name not in known), "these parameters together")
        raise _no_parameter(term.name, unknown, known)
    return RulePolicy(str(term), {game.name: game.rule_players[term.name].make(**parameters) for game in meant})


def _no_parameter(policy: str, name: str, known: list[str]) -> BadOption:
    takes = f"its parameters are {', '.join(known)}" if known else "it has none"
    return BadOption(f"{policy} has no parameter {name}{did_you_mean(name, known)}; {takes}")


def _call(make: Callable[..., Policy], term: Term, usage: str) -> Policy:
    """Call the maker, telling a wrong parameter in one sentence."""
    known = list(inspect.signature(make).parameters)[1:]
    for name in term.named:
        if name not in known:
            raise _no_parameter(term.name, name, known)
    try:
        inspect.signature(make).bind(str(term), *term.positional, **term.named)
    except TypeError as error:
        raise BadOption(f"{term}: {error}; write {usage}") from None
    return make(str(term), *term.positional, **term.named)


# Text


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


# The kinds of policies


def _random(text: str) -> Policy:
    from kdenv.policies.simple import RandomPolicy

    return RandomPolicy(text)


_RANDOM, _RELATIVE, _NO = (Term(word, [], {}) for word in ("random", "relative", "no"))


def _mce(
    text: str, playout: Term = _RANDOM, score: Term = _RELATIVE, playouts: Term | None = None, seconds: Term | None = None
) -> Policy:
    from kdenv.policies.searching import MonteCarlo

    return MonteCarlo(text, _playout(playout), str(score), _budget(text, playouts, seconds))


def _budget(text: str, playouts: Term | None, seconds: Term | None) -> Any:
    from kdenv.search.budget import Budget

    if (playouts is None) == (seconds is None):
        raise BadOption(f"{text}: give a budget for a decision, either playouts=<number> or seconds=<number>")
    if playouts is not None:
        return Budget(playouts=number("playouts", playouts, 1, whole=True))
    assert seconds is not None
    return Budget(seconds=number("seconds", seconds, 0.001))


PLAYOUTS = ("random", "player_greedy", "epsilon_greedy")  # besides the rule players of each game


def _playout(term: Term) -> Any:
    from kdenv.policies.searching import Playout
    from kdenv.policies.simple import RulePolicy

    if term.name in ("random", "player_greedy"):
        if term.positional or term.named:
            raise BadOption(f"{term}: {term.name} has no parameters")
        return Playout(term.name, str(term))
    if term.name == "epsilon_greedy":
        unknown = [name for name in term.named if name != "epsilon"]
        if unknown or term.positional:
            raise BadOption(f"{term}: write epsilon_greedy(epsilon=0.75)")
        epsilon = number("epsilon", term.named.get("epsilon", Term("0.75", [], {})), 0)
        if epsilon > 1:
            raise BadOption(f"epsilon={epsilon:g} is not possible; epsilon is a probability, from 0 to 1")
        return Playout("epsilon_greedy", str(term), epsilon=epsilon)
    if term.name in KINDS:
        raise BadOption(f"{term.name} is no playout; a playout is {', '.join(PLAYOUTS)} or a rule-based player")
    rule = rule_policy(term)
    assert isinstance(rule, RulePolicy)
    return Playout("rule", str(term), rule)


_PAPER, _EXACT, _WDL, _VISITS = (Term(word, [], {}) for word in ("paper", "exact", "wdl", "visits"))
_THIRD, _YES = Term("1/3", [], {}), Term("yes", [], {})


def _depth(alpha: Term | None, beta: Term) -> Any:
    from kdenv.policies.determinizing import Depth

    return Depth(None if alpha is None else number("alpha", alpha, 1), number("beta", beta, 0))


def _samples(name: str, samples: Term | None, seconds: Term | None, default: int) -> Any:
    """A budget of deals: so many, by default `default`, or as many as the seconds allow."""
    from kdenv.search.budget import Budget

    if samples is not None and seconds is not None:
        raise BadOption(f"{name}={samples} and seconds={seconds} are two budgets; give one")
    if seconds is not None:
        return Budget(seconds=number("seconds", seconds, 0.001))
    return Budget(playouts=default if samples is None else number(name, samples, 1, whole=True))


def _ismcts(
    text: str,
    iterations: Term | None = None,
    seconds: Term | None = None,
    playout: Term = _RANDOM,
    score: Term = _WDL,
    c: Term | None = None,
    final: Term = _VISITS,
) -> Policy:
    from kdenv.policies.determinizing import Ismcts

    exploration = 0.7 if c is None else number("c", c, 0)
    budget = _samples("iterations", iterations, seconds, 2000)
    return Ismcts(text, budget, _playout(playout), str(score), exploration, str(final))


def _pimc(
    text: str,
    samples: Term | None = None,
    seconds: Term | None = None,
    alpha: Term | None = None,
    beta: Term = _THIRD,
    deals: Term = _EXACT,
    common: Term = _YES,
) -> Policy:
    from kdenv.policies.determinizing import Pimc

    return Pimc(text, _samples("samples", samples, seconds, 50), truth("common", common), _depth(alpha, beta), str(deals))


def _pimc_paper(text: str, samples: Term | None = None, alpha: Term | None = None, beta: Term = _THIRD) -> Policy:
    return _pimc(text, samples, None, alpha or Term("4", [], {}), beta, _PAPER, Term("no", [], {}))


def _flat(
    text: str,
    samples: Term | None = None,
    seconds: Term | None = None,
    playout: Term = _RANDOM,
    score: Term = _WDL,
    common: Term = _YES,
) -> Policy:
    from kdenv.policies.determinizing import FlatDeals

    return FlatDeals(text, _samples("samples", samples, seconds, 100), truth("common", common), _playout(playout), str(score))


def _ims(text: str, alpha: Term | None = None, beta: Term = _THIRD, pruning: Term = _PAPER, belief: Term = _PAPER) -> Policy:
    from kdenv.policies.determinizing import Ims

    return Ims(text, _depth(alpha or Term("5", [], {}), beta), str(pruning), str(belief))


def _oracle(text: str, alpha: Term | None = None, beta: Term = _THIRD) -> Policy:
    from kdenv.policies.determinizing import Oracle

    return Oracle(text, _depth(alpha, beta))


def _ppo(text: str, path: Term, sample: Term = _NO) -> Policy:
    from kdenv.policies.learned import LearnedPolicy

    sampled = literal(sample)
    if not isinstance(sampled, bool):
        raise BadOption(f"sample={sample} is not possible; sample may be yes or no")
    return LearnedPolicy(text, str(path), sampled)


KINDS = {
    "random": Kind(_random, "random", "every legal action alike"),
    "mce": Kind(
        _mce,
        "mce(playout=random|player_greedy|epsilon_greedy(epsilon=0.75)|<rule player>, score=relative|wdl|points|margin, "
        "playouts=<number> or seconds=<number>)",
        "flat Monte Carlo: the turn whose playouts go best on average, all turns tried equally often",
        "Gedda et al. 2018, MCE-TR, MCE-FG, MCE-PG, MCE-eG; WDL, P, R",
    ),
    "ismcts": Kind(
        _ismcts,
        "ismcts(iterations=2000 or seconds=<number>, playout=random, score=wdl|points|margin|relative, c=0.7, final=visits|mean)",
        "one tree of what the seat will have seen, grown on a new draw of what is hidden for every iteration",
        "Cowling, Powley and Whitehouse 2012, SO-ISMCTS",
    ),
    "pimc": Kind(
        _pimc,
        "pimc(samples=50 or seconds=<number>, alpha=<depth; to the end without>, beta=1/3, deals=exact|paper, common=yes|no)",
        "deals are drawn and solved as if open, the same ones for all turns or not; the best mean",
        needs_hidden=True,
    ),
    "pimc_paper": Kind(
        _pimc_paper,
        "pimc_paper(samples=50, alpha=4, beta=1/3)",
        "pimc(deals=paper, common=no): every tile dealt by itself, and other deals for every turn",
        "the dominoes paper, PIMC (Section IV.C)",
        needs_hidden=True,
    ),
    "flat_deals": Kind(
        _flat,
        "flat_deals(samples=100 or seconds=<number>, playout=random, score=wdl|points|margin|relative, common=yes|no)",
        "flat Monte Carlo where every turn is played out once on each deal drawn, the same ones for all turns or not; the best mean",
    ),
    "ims": Kind(
        _ims,
        "ims(alpha=5, beta=1/3, pruning=paper|none|sound, belief=paper|exact)",
        "negamax over what everybody may hold, weighted by how probable it is, to depth alpha * 2 ** (beta * (turns so far // 4))",
        "the dominoes paper, IMS (Algorithm 1)",
        needs_hidden=True,
    ),
    "oracle": Kind(
        _oracle,
        "oracle(alpha=<depth; to the end without>, beta=1/3)",
        "sees all hands and plays perfectly against perfect play; where the arena allows it",
        "the dominoes paper, negamax oracle",
        needs_hidden=True,
    ),
    "ppo": Kind(
        _ppo,
        "ppo(<model.zip of MaskablePPO, exported .npz, or the name of a shipped model>, sample=no|yes)",
        "a learned policy: the most probable legal action, or one sampled",
    ),
}


def listing(game: Game) -> list[tuple[str, str, str]]:
    """All policies that can play this game: how they are written, what they do, and where they come from."""
    rows = [(kind.usage, kind.meaning, kind.source) for kind in KINDS.values() if game.hidden or not kind.needs_hidden]
    for name, rule in game.rule_players.items():
        parameters = ", ".join(f"{key}={parameter.default}" for key, parameter in inspect.signature(rule.make).parameters.items())
        rows.append((f"{name}({parameters})" if parameters else name, rule.meaning, rule.source))
    return rows
