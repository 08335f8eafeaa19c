"""The searches of the papers under their own names, with the parameters and budgets the papers give them.

A name stands for one of the kinds in kinds.py; whatever is given with it goes before what stands here. Where a paper
counts seconds on its own machine, playouts stand here; where it gives none, the row says what was chosen.
"""

from __future__ import annotations

from typing import NamedTuple


class Named(NamedTuple):
    """A search of a paper."""

    text: str
    meaning: str
    source: str


_GEDDA = "Gedda et al. 2018, "
_JANSEN = "Jansen and Tollisen 2014, "
_HEYDEN = "Heyden 2009, "

# name in the paper: playout policy, playouts a turn. (The paper's eG is greedy in one decision of four.)
_PLAYOUTS = {
    "tr": ("random", 1000, "random playouts"),
    "fg": ("full_greedy", 100, "playouts of FULL GREEDY"),
    "pg": ("player_greedy", 100, "playouts greedy for the searching seat only"),
    "eg": ("epsilon_greedy(epsilon=0.75)", 100, "playouts of the greedy player, three turns in four at random"),
}
_SCORES = {"wdl": ("wdl", "wins"), "p": ("points", "own points"), "r": ("relative", "own points in relation to the best rival's")}
_BIASES = {
    "uct": ("none", "UCT"),
    "uctb": ("progressive", "UCT with progressive bias"),
    "uctw": ("win", "UCT with progressive win bias"),
}

_ROLLOUTS = "playout=rollout, score=windiff, least=10, choice=visits, reflex=yes, playouts=10000"

NAMED: dict[str, Named] = {
    **{
        f"mce-{p}/{s}": Named(
            f"mce(playout={playout}, score={score}, sampling=random, playouts={n})",
            f"flat Monte Carlo for {scored}, {played}",
            _GEDDA + f"MCE-{p.upper().replace('EG', 'eG')}/{s.upper()}, Tables II and III",
        )
        for p, (playout, n, played) in _PLAYOUTS.items()
        for s, (score, scored) in _SCORES.items()
    },
    **{
        f"{name}-{p}": Named(
            f"uct(playout={playout}, score=win, select=ucb1(c=0.6), bias={bias}, weight=0.1, expand=order, chance=frozen, playouts={n})",
            f"{searched}, {played}",
            _GEDDA + f"{name.upper()}-{p.upper().replace('EG', 'eG')}, Table III",
        )
        for name, (bias, searched) in _BIASES.items()
        for p, (playout, n, played) in _PLAYOUTS.items()
    },
    "ucb_orig": Named(
        f"bandit(select=ucb1(c=0.7), {_ROLLOUTS})", "flat Monte Carlo as a bandit, UCB1, MPPAF before the search", _JANSEN + "UCB_orig"
    ),
    "ucb_mod": Named(f"bandit(select=ucb_ratio(c=0.7), {_ROLLOUTS})", "the same with ln(N / n) in place of ln(N) / n", _JANSEN + "UCB_mod"),
    "uct_orig": Named(
        f"uct(select=ucb1(c=0.7), expand=random, chance=frozen, {_ROLLOUTS})",
        "UCT, one draw kept for every node, MPPAF before the search",
        _JANSEN + "UCT_orig",
    ),
    "uct_mod": Named(
        f"uct(select=ucb_ratio(c=0.7), expand=random, chance=frozen, update=owner, {_ROLLOUTS})",
        "the same with ln(N / n), updating only nodes of the leaf's owner; update=mine is the other reading",
        _JANSEN + "UCT_mod",
    ),
    "mc": Named("mce(playout=random, score=margin, game_seconds=360)", "flat Monte Carlo for the margin", _HEYDEN + "MC"),
    "mco": Named("mce(playout=random, score=wdl, game_seconds=360)", "flat Monte Carlo for the outcome", _HEYDEN + "MCo"),
    "mcts": Named(
        "uct(playout=random, score=margin, select=ucb1(c=3), chance=sampled, game_seconds=360)",
        "UCT for the margin with C = 3, chance sampled",
        _HEYDEN + "MCTS",
    ),
    "mctso": Named(
        "uct(playout=random, score=wdl, select=ucb1(c=0.7), chance=sampled, game_seconds=360)",
        "UCT for the outcome, chance sampled; the thesis does not give its C",
        _HEYDEN + "MCTSo",
    ),
}
BUDGETS = ("playouts", "seconds", "nodes", "game_seconds")
