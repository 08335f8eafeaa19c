"""Policies as text, and back: `name`, `name(value)`, `name(parameter=value, ...)`; values may be policies themselves.

Here is the list of all policies that are not rule-based players of one game (those are in the game's heuristics).
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from kdenv.core.errors import BadOption
from kdenv.core.game import Game, did_you_mean
from kdenv.games import find_game, names
from kdenv.policies.base import Policy
from kdenv.policies.papers import BUDGETS, NAMED

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
    hidden: bool = True  # whether it can play games that hide something


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


def rule_policy(term: Term) -> Policy:
    """A rule-based player, of whichever games have one of this name."""
    from kdenv.policies.simple import RulePolicy

    having = [game for game in map(find_game, names()) if term.name in game.rule_players]
    if not having:
        known = [*KINDS, *NAMED, *(name for game in map(find_game, names()) for name in game.rule_players)]
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
    return {"yes": True, "no": False}.get(term.name, term.name)


def number(name: str, term: Term, least: float, *, whole: bool = False) -> Any:
    """The number a parameter must be."""
    value = literal(term)
    # Neither nan nor infinity, and nothing that float() or an int64 cannot hold.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value < 1e18 or (whole and value != int(value)):
        raise BadOption(f"{name}={term} is not possible; {name} is a {'whole ' if whole else ''}number from {least:g} on")
    return int(value) if whole else float(value)


# The kinds of policies


def _random(text: str) -> Policy:
    from kdenv.policies.simple import RandomPolicy

    return RandomPolicy(text)


_RANDOM, _RELATIVE, _NO, _MEAN, _ONE = (Term(word, [], {}) for word in ("random", "relative", "no", "mean", "1"))
_UCB1, _NONE, _TENTH, _INFINITE = (Term(word, [], {}) for word in ("ucb1", "none", "0.1", "inf"))
_SAMPLED, _ALL = (Term(word, [], {}) for word in ("sampled", "all"))
_USUAL = {"ucb1": 0.7, "ucb_ratio": 0.7, "ucb1_tuned": 1.0, "thompson": 0.5}  # the parameter of a selection rule


def _mce(
    text: str,
    playout: Term = _RANDOM,
    score: Term = _RELATIVE,
    choice: Term = _MEAN,
    reflex: Term = _NO,
    threads: Term = _ONE,
    playouts: Term | None = None,
    seconds: Term | None = None,
    game_seconds: Term | None = None,
) -> Policy:
    from kdenv.policies.searching import MonteCarlo

    budget = _budget(text, playouts, seconds, game_seconds)
    return MonteCarlo(text, _playout(playout), str(score), budget, _final(choice, _ONE, reflex, threads, threads))


def _bandit(
    text: str,
    playout: Term = _RANDOM,
    score: Term = _RELATIVE,
    select: Term = _UCB1,
    least: Term = _ONE,
    choice: Term = _MEAN,
    reflex: Term = _NO,
    threads: Term = _ONE,
    playouts: Term | None = None,
    seconds: Term | None = None,
    game_seconds: Term | None = None,
) -> Policy:
    from kdenv.policies.searching import MonteCarlo

    budget = _budget(text, playouts, seconds, game_seconds)
    return MonteCarlo(text, _playout(playout), str(score), budget, _final(choice, least, reflex, threads, threads), _rule(select))


def _uct(
    text: str,
    playout: Term = _RANDOM,
    score: Term = _RELATIVE,
    select: Term = _UCB1,
    bias: Term = _NONE,
    weight: Term = _TENTH,
    fpu: Term = _INFINITE,
    least: Term = _ONE,
    expand: Term = _RANDOM,
    chance: Term = _SAMPLED,
    update: Term = _ALL,
    choice: Term = _MEAN,
    reflex: Term = _NO,
    trees: Term | None = None,
    threads: Term = _ONE,
    playouts: Term | None = None,
    seconds: Term | None = None,
    nodes: Term | None = None,
    game_seconds: Term | None = None,
) -> Policy:
    from kdenv.policies.trees import BIASES, CHANCES, EXPANSIONS, UPDATES, Growth, TreeSearch

    rule, biased = _rule(select), BIASES[_word("bias", bias, BIASES)]
    if biased is not None:
        rule = biased(rule, number("weight", weight, 0))
    growth = Growth(
        _word("chance", chance, CHANCES),
        _word("expand", expand, EXPANSIONS),
        number("fpu", fpu, -math.inf),
        _word("update", update, UPDATES),
    )
    budget = _budget(text, playouts, seconds, game_seconds, nodes)
    final = _final(choice, least, reflex, trees or threads, threads)
    return TreeSearch(text, _playout(playout), str(score), budget, final, rule, growth)


def _final(choice: Term, least: Term, reflex: Term, workers: Term, threads: Term) -> Any:
    from kdenv.policies.searching import CHOICES, Final

    n_workers, n_threads = number("trees", workers, 1, whole=True), number("threads", threads, 1, whole=True)
    if n_workers < n_threads:
        raise BadOption(f"trees={n_workers} is not possible with threads={n_threads}; each thread needs a tree")
    at_least = number("least", least, 1, whole=True)
    return Final(_word("choice", choice, CHOICES), at_least, _word("reflex", reflex, ("yes", "no")) == "yes", n_workers, n_threads)


def _rule(term: Term) -> Any:
    """A selection rule: its name, with its only parameter if it is not the usual one."""
    from kdenv.search.select import RULES

    name = _word("select", Term(term.name, [], {}), RULES)
    (parameter,) = RULES[name]._fields
    unknown = [key for key in term.named if key != parameter]
    if unknown or term.positional:
        raise BadOption(f"{term}: write {name}({parameter}={_USUAL[name]:g})")
    return RULES[name](number(parameter, term.named.get(parameter, Term(str(_USUAL[name]), [], {})), 0))


def _word(name: str, term: Term, words: Iterable[str]) -> str:
    """One of these words."""
    if str(term) not in words:
        raise BadOption(f"{name}={term} is not possible; {name} may be {', '.join(words)}")
    return str(term)


def _budget(text: str, playouts: Term | None, seconds: Term | None, game_seconds: Term | None = None, nodes: Term | None = None) -> Any:
    from kdenv.search.budget import Budget

    given = {"playouts": playouts, "seconds": seconds, "game_seconds": game_seconds, "nodes": nodes}
    budget = {name: term for name, term in given.items() if term is not None}
    if len(budget) != 1:
        raise BadOption(
            f"{text}: give a budget, one of playouts=<number>, seconds=<number>, nodes=<number> (of searches with a tree) "
            "for a decision, or game_seconds=<number> for a whole game"
        )
    [(name, term)] = budget.items()
    return Budget(**{name: number(name, term, 0.001) if "seconds" in name else number(name, term, 1, whole=True)})


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


_TWO, _FIVE = (Term(word, [], {}) for word in ("2", "5"))
_LIMITS = (
    "depth=<turns> and/or one of nodes=<number>, seconds=<number>, game_seconds=<number>, "
    "evaluate=<evaluator of the game>|margin, order=<order of the game>|0, table=no|yes"
)


def _looks_ahead(cuts: bool, probes: int) -> Callable[..., Policy]:
    """How Expectimax (no cuts), Star1 (no probes) and Star2 (one) are made."""

    def make(
        text: str,
        depth: Term | None = None,
        nodes: Term | None = None,
        seconds: Term | None = None,
        game_seconds: Term | None = None,
        evaluate: Term | None = None,
        order: Term | None = None,
        table: Term = _NO,
    ) -> Policy:
        return _lookahead(text, cuts, probes, (depth, nodes, seconds, game_seconds), evaluate, order, table)

    return make


def _star2_5(
    text: str,
    k: Term = _FIVE,
    depth: Term | None = None,
    nodes: Term | None = None,
    seconds: Term | None = None,
    game_seconds: Term | None = None,
    evaluate: Term | None = None,
    order: Term | None = None,
    table: Term = _NO,
) -> Policy:
    return _lookahead(text, True, number("k", k, 1, whole=True), (depth, nodes, seconds, game_seconds), evaluate, order, table)


def _lookahead(
    text: str, cuts: bool, probes: int, limits: tuple[Term | None, ...], evaluate: Term | None, order: Term | None, table: Term
) -> Policy:
    from kdenv.policies.lookahead import MOST_DEPTH, Limits, Lookahead

    depth, nodes, seconds, game_seconds = limits
    if sum(limit is not None for limit in limits[1:]) > 1:
        raise BadOption(f"{text}: nodes, seconds and game_seconds exclude each other; give one of them")
    if all(limit is None for limit in limits):
        depth = _TWO
    deepest = None if depth is None else number("depth", depth, 1, whole=True)
    if deepest is not None and deepest > MOST_DEPTH:
        raise BadOption(f"depth={deepest} is not possible; depth is at most {MOST_DEPTH} turns")
    uses_table = literal(table)
    if not isinstance(uses_table, bool):
        raise BadOption(f"table={table} is not possible; table may be yes or no")
    given = Limits(
        deepest,
        None if nodes is None else number("nodes", nodes, 1, whole=True),
        None if seconds is None else number("seconds", seconds, 0.001),
        None if game_seconds is None else number("game_seconds", game_seconds, 0.001),
    )
    parts = {name: str(term) for name, term in (("evaluate", evaluate), ("order", order)) if term is not None}
    return Lookahead(text, given, cuts=cuts, probes=probes, table=uses_table, **parts)


def _ppo(text: str, path: Term, sample: Term = _NO) -> Policy:
    from kdenv.policies.learned import LearnedPolicy

    sampled = literal(sample)
    if not isinstance(sampled, bool):
        raise BadOption(f"sample={sample} is not possible; sample may be yes or no")
    return LearnedPolicy(text, str(path), sampled)


_PLAYED = (
    "playout=random|player_greedy|epsilon_greedy(epsilon=0.75)|<rule player>, score=relative|wdl|win|windiff|points|margin"
)
_SELECTED = "select=ucb1(c=0.7)|ucb_ratio(c=0.7)|ucb1_tuned(c=1)|thompson(spread=0.5), least=1"
_AROUND = "reflex=no|yes, threads=1"
_BUDGETS = "playouts=<number> or seconds=<number> or game_seconds=<number>"

KINDS = {
    "random": Kind(_random, "random", "every legal action alike"),
    "mce": Kind(
        _mce,
        f"mce({_PLAYED}, choice=mean|visits, {_AROUND}, {_BUDGETS})",
        "flat Monte Carlo: the turn whose playouts go best on average, all turns tried equally often",
        "Gedda et al. 2018, MCE-TR, MCE-FG, MCE-PG, MCE-eG; WDL, P, R",
    ),
    "bandit": Kind(
        _bandit,
        f"bandit({_PLAYED}, {_SELECTED}, choice=mean|visits, {_AROUND}, {_BUDGETS})",
        "flat Monte Carlo whose playouts go to the turns that promise most; least: playouts of every turn before that",
        "Jansen and Tollisen 2014, UCB",
    ),
    "uct": Kind(
        _uct,
        f"uct({_PLAYED}, {_SELECTED}, bias=none|progressive|win, weight=0.1, fpu=inf, expand=random|order, chance=sampled|frozen|open, "
        f"update=all|owner|mine, choice=mean|visits, trees=<as many as threads>, {_AROUND}, {_BUDGETS} or nodes=<number>)",
        "a tree of the turns that promise most; chance sampled, drawn once for every node (frozen), or no part of the nodes (open)",
        "Gedda et al. 2018, UCT, UCTB, UCTW; Jansen and Tollisen 2014, UCT; Heyden 2009, MCTS",
    ),
    "ppo": Kind(
        _ppo,
        "ppo(<model.zip of MaskablePPO, exported .npz, or the name of a shipped model>, sample=no|yes)",
        "a learned policy: the most probable legal action, or one sampled",
    ),
    "expectimax": Kind(
        _looks_ahead(False, 0),
        f"expectimax({_LIMITS})",
        "looks ahead some turns (2 unless told), deepening: chance by its odds, everybody else against this seat",
        "Heyden 2009, Expectimax",
        hidden=False,
    ),
    "star1": Kind(
        _looks_ahead(True, 0),
        f"star1({_LIMITS})",
        "the same as expectimax with fewer nodes: bounds cut chances short",
        "Heyden 2009, Star1",
        hidden=False,
    ),
    "star2": Kind(
        _looks_ahead(True, 1),
        f"star2({_LIMITS})",
        "the same with fewer still: the first turn after every outcome is tried first",
        "Heyden 2009, Star2",
        hidden=False,
    ),
    "star2.5": Kind(
        _star2_5,
        f"star2.5(k=5, {_LIMITS})",
        "the same, with the first k turns after every outcome; her best player is star2.5(k=5, game_seconds=360)",
        "Heyden 2009, Star2.5",
        hidden=False,
    ),
}


def listing(game: Game) -> list[tuple[str, str, str]]:
    """All policies that can play this game: how they are written, what they do, and where they come from."""
    rows = [(kind.usage, kind.meaning, kind.source) for kind in KINDS.values() if kind.hidden or game.open_information]
    for name, paper in NAMED.items():
        playout = parse(paper.text).named["playout"].name
        if playout in game.rule_players or (playout in PLAYOUTS and (playout == "random" or game.greedy)):
            rows.append((f"{name} = {paper.text}", paper.meaning, paper.source))
    for name, rule in game.rule_players.items():
        parameters = ", ".join(f"{key}={parameter.default}" for key, parameter in inspect.signature(rule.make).parameters.items())
        rows.append((f"{name}({parameters})" if parameters else name, rule.meaning, rule.source))
    return rows
