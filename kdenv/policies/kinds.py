"""All policies that are not rule-based players of one game (those are in the game's heuristics): their parameters and meanings.

Adding a policy is a maker and a line in KINDS. What a maker needs is imported when it is called.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kdenv.core.errors import BadOption
from kdenv.core.game import Game, did_you_mean
from kdenv.games import find_game, names
from kdenv.policies.base import Policy
from kdenv.policies.papers import NAMED
from kdenv.policies.text import Term, literal, no_parameter, number, truth, word


@dataclass(frozen=True)
class Kind:
    """A kind of policy: make(text, ...) builds it from parameters that are Terms; `usage` shows them."""

    make: Callable[..., Policy]
    usage: str
    meaning: str
    source: str = ""
    plays: Callable[[Game], bool] = lambda game: True  # which games it can play


def _is_open(game: Game) -> bool:
    """Games that hide nothing."""
    return game.open_information


def _offers_solver(game: Game) -> bool:
    """Games that offer a solver and beliefs for what they hide (core.hidden)."""
    return game.hidden is not None


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
        raise no_parameter(term.name, unknown, known)
    return RulePolicy(str(term), {game.name: game.rule_players[term.name].make(**parameters) for game in meant})


def _random(text: str) -> Policy:
    from kdenv.policies.simple import RandomPolicy

    return RandomPolicy(text)


_RANDOM, _RELATIVE, _NO, _MEAN, _ONE = (Term(word, [], {}) for word in ("random", "relative", "no", "mean", "1"))
_UCB1, _NONE, _TENTH = (Term(word, [], {}) for word in ("ucb1", "none", "0.1"))
_SAMPLED, _ALL, _ROTATION = (Term(word, [], {}) for word in ("sampled", "all", "rotation"))
_USUAL = {"ucb1": 0.7, "ucb_ratio": 0.7, "ucb1_tuned": 1.0, "thompson": 0.5}  # the parameter of a selection rule


def _mce(
    text: str,
    playout: Term = _RANDOM,
    score: Term = _RELATIVE,
    playouts: Term | None = None,
    seconds: Term | None = None,
    game_seconds: Term | None = None,
    sampling: Term = _ROTATION,
    choice: Term = _MEAN,
    reflex: Term = _NO,
    threads: Term = _ONE,
) -> Policy:
    from kdenv.policies.searching import EVEN, MonteCarlo

    budget = _budget(text, playouts, seconds, game_seconds)
    final = _final(choice, _ONE, reflex, threads, threads)
    return MonteCarlo(text, _playout(playout), str(score), budget, final, word("sampling", sampling, EVEN))


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
    fpu: Term = _NONE,
    least: Term = _ONE,
    expand: Term = _RANDOM,
    chance: Term = _SAMPLED,
    update: Term = _ALL,
    rave: Term = _NO,
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

    rule, biased = _rule(select), BIASES[word("bias", bias, BIASES)]
    if biased is not None:
        rule = biased(rule, number("weight", weight, 0))
    if str(bias) == "win" and str(score) in ("points", "margin", "windiff"):
        raise BadOption(f"bias=win is not possible with score={score}; it needs worths between 0 and 1: score may be wdl, win, relative")
    growth = Growth(
        word("chance", chance, CHANCES),
        word("expand", expand, EXPANSIONS),
        math.inf if str(fpu) == "none" else number("fpu", fpu, -1e9),
        word("update", update, UPDATES),
        0.0 if str(rave) == "no" else number("rave", rave, 0),
    )
    budget = _budget(text, playouts, seconds, game_seconds, nodes)
    final = _final(choice, least, reflex, trees or threads, threads)
    return TreeSearch(text, _playout(playout, learns=True), str(score), budget, final, rule, growth)


def _final(choice: Term, least: Term, reflex: Term, workers: Term, threads: Term) -> Any:
    from kdenv.policies.searching import CHOICES, Final

    n_workers, n_threads = number("trees", workers, 1, whole=True), number("threads", threads, 1, whole=True)
    if n_workers < n_threads:
        raise BadOption(f"trees={n_workers} is not possible with threads={n_threads}; each thread needs a tree")
    at_least = number("least", least, 1, whole=True)
    return Final(word("choice", choice, CHOICES), at_least, word("reflex", reflex, ("yes", "no")) == "yes", n_workers, n_threads)


def _rule(term: Term) -> Any:
    """A selection rule: its name, with its only parameter if it is not the usual one."""
    from kdenv.search.select import RULES

    name = word("select", Term(term.name, [], {}), RULES)
    (parameter,) = RULES[name]._fields
    unknown = [key for key in term.named if key != parameter]
    if unknown or term.positional:
        raise BadOption(f"{term}: write {name}({parameter}={_USUAL[name]:g})")
    return RULES[name](number(parameter, term.named.get(parameter, Term(str(_USUAL[name]), [], {})), 0))


def _budget(text: str, playouts: Term | None, seconds: Term | None, game_seconds: Term | None = None, nodes: Term | None = None) -> Any:
    from kdenv.search.budget import Budget

    given = {"playouts": playouts, "seconds": seconds, "game_seconds": game_seconds, "nodes": nodes}
    budget = {name: term for name, term in given.items() if term is not None}
    if len(budget) != 1:
        raise BadOption(
            f"{text}: give one budget: playouts=<number>, seconds=<number> or (of searches with a tree) nodes=<number> "
            "for a decision, or game_seconds=<number> for a whole game"
        )
    [(name, term)] = budget.items()
    return Budget(**{name: number(name, term, 0.001) if "seconds" in name else number(name, term, 1, whole=True)})


PLAYOUTS = ("random", "player_greedy", "epsilon_greedy", "mast")  # besides the rule players of each game
_EPSILONS = {"epsilon_greedy": "0.75", "mast": "0.4"}  # of playouts that are random now and then


def _playout(term: Term, *, learns: bool = False) -> Any:
    """How playouts are played; `learns`: by a search that players of playouts can learn from."""
    from kdenv.policies.searching import Playout
    from kdenv.policies.simple import RulePolicy

    if term.name in ("random", "player_greedy"):
        if term.positional or term.named:
            raise BadOption(f"{term}: {term.name} has no parameters")
        return Playout(term.name, str(term))
    if term.name in _EPSILONS:
        if term.name == "mast" and not learns:
            raise BadOption(f"playout={term} is not possible here; it learns from a tree: uct(playout={term}, ...)")
        unknown = [name for name in term.named if name != "epsilon"]
        if unknown or term.positional:
            raise BadOption(f"{term}: write {term.name}(epsilon={_EPSILONS[term.name]})")
        epsilon = number("epsilon", term.named.get("epsilon", Term(_EPSILONS[term.name], [], {})), 0)
        if epsilon > 1:
            raise BadOption(f"epsilon={epsilon:g} is not possible; epsilon is a probability, from 0 to 1")
        return Playout(term.name, str(term), epsilon=epsilon)
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
    given = Limits(
        deepest,
        None if nodes is None else number("nodes", nodes, 1, whole=True),
        None if seconds is None else number("seconds", seconds, 0.001),
        None if game_seconds is None else number("game_seconds", game_seconds, 0.001),
    )
    parts = {name: str(term) for name, term in (("evaluate", evaluate), ("order", order)) if term is not None}
    return Lookahead(text, given, cuts=cuts, probes=probes, table=truth("table", table), **parts)


_PAPER, _EXACT, _WDL, _VISITS = (Term(word, [], {}) for word in ("paper", "exact", "wdl", "visits"))
_THIRD, _YES = Term("1/3", [], {}), Term("yes", [], {})


def _depth(alpha: Term | None, beta: Term) -> Any:
    from kdenv.policies.determinizing import Depth

    return Depth(None if alpha is None else number("alpha", alpha, 1), number("beta", beta, 0))


def _or_usual(usual: int, playouts: Term | None, *others: Term | None) -> Term | None:
    """The playouts given; if no budget is, the usual number of them."""
    return Term(str(usual), [], {}) if playouts is None and not any(others) else playouts


def _ismcts(
    text: str,
    playout: Term = _RANDOM,
    score: Term = _WDL,
    select: Term = _UCB1,
    fpu: Term = _NONE,
    least: Term = _ONE,
    expand: Term = _RANDOM,
    update: Term = _ALL,
    rave: Term = _NO,
    choice: Term = _VISITS,
    reflex: Term = _NO,
    trees: Term | None = None,
    threads: Term = _ONE,
    playouts: Term | None = None,
    seconds: Term | None = None,
    nodes: Term | None = None,
    game_seconds: Term | None = None,
) -> Policy:
    """UCT on information sets."""
    playouts = _or_usual(2000, playouts, seconds, nodes, game_seconds)
    chance = Term("information_sets", [], {})
    bias = _NONE, _TENTH, fpu, least, expand, chance
    return _uct(text, playout, score, select, *bias, update, rave, choice, reflex, trees, threads, playouts, seconds, nodes, game_seconds)


def _pimc(
    text: str,
    playouts: Term | None = None,
    seconds: Term | None = None,
    alpha: Term | None = None,
    beta: Term = _THIRD,
    deals: Term = _EXACT,
    common: Term = _YES,
) -> Policy:
    from kdenv.policies.determinizing import Pimc

    return Pimc(text, _budget(text, _or_usual(50, playouts, seconds), seconds), truth("common", common), _depth(alpha, beta), str(deals))


def _pimc_paper(text: str, playouts: Term | None = None, alpha: Term | None = None, beta: Term = _THIRD) -> Policy:
    return _pimc(text, playouts, None, alpha or Term("4", [], {}), beta, _PAPER, Term("no", [], {}))


def _flat(
    text: str,
    playouts: Term | None = None,
    seconds: Term | None = None,
    playout: Term = _RANDOM,
    score: Term = _WDL,
    common: Term = _YES,
) -> Policy:
    from kdenv.policies.determinizing import FlatDeals

    budget = _budget(text, _or_usual(100, playouts, seconds), seconds)
    return FlatDeals(text, budget, truth("common", common), _playout(playout), str(score))


def _ims(text: str, alpha: Term | None = None, beta: Term = _THIRD, pruning: Term = _PAPER, belief: Term = _PAPER) -> Policy:
    from kdenv.policies.determinizing import Ims

    return Ims(text, _depth(alpha or Term("5", [], {}), beta), str(pruning), str(belief))


def _oracle(text: str, alpha: Term | None = None, beta: Term = _THIRD) -> Policy:
    from kdenv.policies.determinizing import Oracle

    return Oracle(text, _depth(alpha, beta))


def _ppo(text: str, path: Term, sample: Term = _NO) -> Policy:
    from kdenv.policies.learned import LearnedPolicy

    return LearnedPolicy(text, str(path), truth("sample", sample))


_PLAYED = "playout=random|player_greedy|epsilon_greedy(epsilon=0.75)|<rule player>, score=relative|wdl|win|windiff|points|margin"
_SELECTED = "select=ucb1(c=0.7)|ucb_ratio(c=0.7)|ucb1_tuned(c=1)|thompson(spread=0.5), least=1"
_AROUND = "reflex=no|yes, threads=1"
_BUDGETS = "playouts=<number> or seconds=<number> or game_seconds=<number>"

KINDS = {
    "random": Kind(_random, "random", "every legal action alike"),
    "mce": Kind(
        _mce,
        f"mce({_PLAYED}, sampling=rotation|random, choice=mean|visits, {_AROUND}, {_BUDGETS})",
        "flat Monte Carlo: the turn whose playouts go best on average, all turns tried equally often, in rotation or by chance",
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
        f"uct({_PLAYED} or playout=mast(epsilon=0.4), {_SELECTED}, bias=none|progressive|win, weight=0.1, fpu=none|<number>, "
        "expand=random|order, chance=sampled|frozen|open|information_sets, "
        "update=all|owner|mine, rave=no|<visits after which both means count alike>, "
        f"choice=mean|visits, trees=<as many as threads>, {_AROUND}, {_BUDGETS} or nodes=<number>)",
        "a tree of the turns that look best; chance sampled, drawn once for every node (frozen), no part of the nodes (open), or as far as "
        "the seat sees it (information_sets); rave: playouts in which a turn comes later count for it; mast: playouts take actions that "
        "have done well",
        "Gedda et al. 2018, UCT, UCTB, UCTW; Jansen and Tollisen 2014, UCT; Heyden 2009, MCTS",
    ),
    "ismcts": Kind(
        _ismcts,
        "ismcts(the parameters of uct but bias, weight and chance, with score=wdl, choice=visits and playouts=2000 unless told)",
        "uct(chance=information_sets): a tree of what the seat will have seen, grown on a new draw of what is hidden for every iteration",
        "Cowling, Powley and Whitehouse 2012, SO-ISMCTS",
    ),
    "pimc": Kind(
        _pimc,
        "pimc(playouts=50 or seconds=<number>, alpha=<depth; to the end without>, beta=1/3, deals=exact|paper, common=yes|no)",
        "deals are drawn and solved as if open, the same ones for all turns or not; the best mean",
        plays=_offers_solver,
    ),
    "pimc_paper": Kind(
        _pimc_paper,
        "pimc_paper(playouts=50, alpha=4, beta=1/3)",
        "pimc(deals=paper, common=no): every tile dealt by itself, and other deals for every turn",
        "the dominoes paper, PIMC (Section IV.C)",
        plays=_offers_solver,
    ),
    "flat_deals": Kind(
        _flat,
        "flat_deals(playouts=100 or seconds=<number>, playout=random, score=wdl|points|margin|relative, common=yes|no)",
        "flat Monte Carlo where every turn is played out once on each deal drawn, the same ones for all turns or not; the best mean",
    ),
    "ims": Kind(
        _ims,
        "ims(alpha=5, beta=1/3, pruning=paper|none|sound, belief=paper|exact)",
        "negamax over what everybody may hold, weighted by how probable it is, to depth alpha * 2 ** (beta * (turns so far // 4))",
        "the dominoes paper, IMS (Algorithm 1)",
        plays=_offers_solver,
    ),
    "oracle": Kind(
        _oracle,
        "oracle(alpha=<depth; to the end without>, beta=1/3)",
        "sees all hands and plays perfectly against perfect play; where the arena allows it",
        "the dominoes paper, negamax oracle",
        plays=_offers_solver,
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
        plays=_is_open,
    ),
    "star1": Kind(
        _looks_ahead(True, 0),
        f"star1({_LIMITS})",
        "the same as expectimax with fewer nodes: bounds cut chances short",
        "Heyden 2009, Star1",
        plays=_is_open,
    ),
    "star2": Kind(
        _looks_ahead(True, 1),
        f"star2({_LIMITS})",
        "the same with fewer still: the first turn after every outcome is tried first",
        "Heyden 2009, Star2",
        plays=_is_open,
    ),
    "star2.5": Kind(
        _star2_5,
        f"star2.5(k=5, {_LIMITS})",
        "the same, with the first k turns after every outcome; her best player is star2.5(k=5, game_seconds=360)",
        "Heyden 2009, Star2.5",
        plays=_is_open,
    ),
}
