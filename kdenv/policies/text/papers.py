"""The searches of papers under the names that the papers use, with the parameters and budgets that the papers give.

Each name stands for a value: `policy("mctso") == Uct(score="wdl", game_seconds=360)`. The text of such a value is the name, with the
parameters that differ from the paper: "mctso(seconds=1)". Where a paper gives seconds on its own machine, playouts are used here. Where a
paper does not give a parameter, the meaning says so.
"""

from __future__ import annotations

from typing import Any

from kdenv.policies.deals import Pimc
from kdenv.policies.flat import Bandit, Mce
from kdenv.policies.selection import Ucb1, UcbRatio
from kdenv.policies.text.value import add_row
from kdenv.policies.uct import Uct

_GEDDA = "Gedda et al. 2018, "
_JANSEN = "Jansen and Tollisen 2014, "
_HEYDEN = "Heyden 2009, "
_KINGDOMINO, _DOMINION, _CARCASSONNE, _DOMINOES = "kingdomino", "dominion", "carcassonne", "dominoes"  # what the papers are about

# The name in the paper -> the playout, the playouts for a turn, the words for it. The paper's eG is greedy in one decision of four.
_PLAYOUTS: dict[str, tuple[Any, int, str]] = {
    "tr": ("random", 1000, "random playouts"),
    "fg": ("full_greedy", 100, "playouts by full_greedy"),
    "pg": ("player_greedy", 100, "playouts in which only the searching seat is greedy"),
    "eg": ("epsilon_greedy(epsilon=0.75)", 100, "playouts by the greedy player with three random turns in four"),
}
_SCORES = {"wdl": ("wdl", "wins"), "p": ("points", "own points"), "r": ("relative", "the share of points against the best rival")}
_BIASES = {
    "uct": ("none", "UCT"),
    "uctb": ("progressive", "UCT with progressive bias"),
    "uctw": ("win", "UCT with progressive win bias"),
}


def _in_paper(p: str) -> str:
    return p.upper().replace("EG", "eG")


for _p, (_playout, _n, _played) in _PLAYOUTS.items():
    for _s, (_score, _scored) in _SCORES.items():
        add_row(
            f"mce-{_p}/{_s}",
            f"Flat Monte Carlo for {_scored}, {_played}",
            f"{_GEDDA}MCE-{_in_paper(_p)}/{_s.upper()}, Tables II and III",
            Mce,
            {"playout": _playout, "score": _score, "sampling": "random", "playouts": _n},
            _KINGDOMINO,
        )
_TABLE_III: dict[str, Any] = {"score": "win", "select": Ucb1(c=0.6), "weight": 0.1, "expand": "order", "chance": "frozen"}
for _name, (_bias, _searched) in _BIASES.items():
    for _p, (_playout, _n, _played) in _PLAYOUTS.items():
        add_row(
            f"{_name}-{_p}",
            f"{_searched}, {_played}",
            f"{_GEDDA}{_name.upper()}-{_in_paper(_p)}, Table III",
            Uct,
            {"playout": _playout, "bias": _bias, "playouts": _n, **_TABLE_III},
            _KINGDOMINO,
        )

_ROLLOUTS: dict[str, Any] = {
    "playout": "rollout",
    "score": "windiff",
    "least": 10,
    "choice": "visits",
    "reflex": True,
    "playouts": 10000,
}
add_row(
    "ucb_orig",
    "Flat Monte Carlo with UCB1; before the search, the rule MPPAF may decide",
    _JANSEN + "UCB_orig",
    Bandit,
    {"select": Ucb1(c=0.7), **_ROLLOUTS},
    _DOMINION,
)
add_row(
    "ucb_mod",
    "ucb_orig with ln(N / n) in place of ln(N) / n",
    _JANSEN + "UCB_mod",
    Bandit,
    {"select": UcbRatio(c=0.7), **_ROLLOUTS},
    _DOMINION,
)
add_row(
    "uct_orig",
    "UCT with one draw of chance for each node; before the search, the rule MPPAF may decide",
    _JANSEN + "UCT_orig",
    Uct,
    {"select": Ucb1(c=0.7), "chance": "frozen", **_ROLLOUTS},
    _DOMINION,
)
add_row(
    "uct_mod",
    "uct_orig with ln(N / n), updating only nodes of the leaf's owner; update=mine is the other reading of the paper",
    _JANSEN + "UCT_mod",
    Uct,
    {"select": UcbRatio(c=0.7), "chance": "frozen", "update": "owner", **_ROLLOUTS},
    _DOMINION,
)

add_row("mc", "Flat Monte Carlo for the margin of points", _HEYDEN + "MC", Mce, {"score": "margin", "game_seconds": 360}, _CARCASSONNE)
add_row("mco", "Flat Monte Carlo for wins", _HEYDEN + "MCo", Mce, {"score": "wdl", "game_seconds": 360}, _CARCASSONNE)
add_row(
    "mcts",
    "UCT for the margin of points with C = 3; chance is sampled at every visit",
    _HEYDEN + "MCTS",
    Uct,
    {"score": "margin", "select": Ucb1(c=3), "game_seconds": 360},
    _CARCASSONNE,
)
add_row(
    "mctso",
    "UCT for wins; chance is sampled at every visit; the thesis does not give its C",
    _HEYDEN + "MCTSo",
    Uct,
    {"score": "wdl", "game_seconds": 360},
    _CARCASSONNE,
)

add_row(
    "ismcts",
    "Information set MCTS: a tree of all that the seat has seen; hidden things are drawn anew for every playout",
    "Cowling, Powley and Whitehouse 2012, SO-ISMCTS",
    Uct,
    {"score": "wdl", "chance": "information_sets", "choice": "visits", "playouts": 2000},
)
add_row(
    "pimc_paper",
    "Perfect information Monte Carlo in which tiles are dealt one by one, and every turn is tried on other deals",
    "DominAI 2016, PIMC (Section IV.C)",
    Pimc,
    {"deals": "paper", "common": False, "alpha": 4, "playouts": 50},
    _DOMINOES,
)
