"""The searches of the papers under their own names, with the parameters and budgets the papers give them.

A name stands for a value: `policy("mctso") == Uct(score="wdl", game_seconds=360)`. It is written as its name, with what differs from
the row: "mctso(seconds=1)". Where a paper counts seconds on its own machine, playouts stand here; where it gives none, the row
says what was chosen.
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

# name in the paper: playout policy, playouts a turn. (The paper's eG is greedy in one decision of four.)
_PLAYOUTS: dict[str, tuple[Any, int, str]] = {
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


def _in_paper(p: str) -> str:
    return p.upper().replace("EG", "eG")


for _p, (_playout, _n, _played) in _PLAYOUTS.items():
    for _s, (_score, _scored) in _SCORES.items():
        add_row(
            f"mce-{_p}/{_s}",
            f"flat Monte Carlo for {_scored}, {_played}",
            f"{_GEDDA}MCE-{_in_paper(_p)}/{_s.upper()}, Tables II and III",
            Mce,
            {"playout": _playout, "score": _score, "sampling": "random", "playouts": _n},
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
    "flat Monte Carlo as a bandit, UCB1, MPPAF before the search",
    _JANSEN + "UCB_orig",
    Bandit,
    {"select": Ucb1(c=0.7), **_ROLLOUTS},
)
add_row(
    "ucb_mod",
    "the same with ln(N / n) in place of ln(N) / n",
    _JANSEN + "UCB_mod",
    Bandit,
    {"select": UcbRatio(c=0.7), **_ROLLOUTS},
)
add_row(
    "uct_orig",
    "UCT, one draw kept for every node, MPPAF before the search",
    _JANSEN + "UCT_orig",
    Uct,
    {"select": Ucb1(c=0.7), "chance": "frozen", **_ROLLOUTS},
)
add_row(
    "uct_mod",
    "the same with ln(N / n), updating only nodes of the leaf's owner; update=mine is the other reading",
    _JANSEN + "UCT_mod",
    Uct,
    {"select": UcbRatio(c=0.7), "chance": "frozen", "update": "owner", **_ROLLOUTS},
)

add_row("mc", "flat Monte Carlo for the margin", _HEYDEN + "MC", Mce, {"score": "margin", "game_seconds": 360})
add_row("mco", "flat Monte Carlo for the outcome", _HEYDEN + "MCo", Mce, {"score": "wdl", "game_seconds": 360})
add_row(
    "mcts",
    "UCT for the margin with C = 3, chance sampled",
    _HEYDEN + "MCTS",
    Uct,
    {"score": "margin", "select": Ucb1(c=3), "game_seconds": 360},
)
add_row(
    "mctso",
    "UCT for the outcome, chance sampled; the thesis does not give its C",
    _HEYDEN + "MCTSo",
    Uct,
    {"score": "wdl", "game_seconds": 360},
)

add_row(
    "ismcts",
    "a tree of what the seat will have seen, grown on a new draw of what is hidden for every playout",
    "Cowling, Powley and Whitehouse 2012, SO-ISMCTS",
    Uct,
    {"score": "wdl", "chance": "information_sets", "choice": "visits", "playouts": 2000},
)
add_row(
    "pimc_paper",
    "every tile is dealt by itself, and other deals for every turn",
    "the dominoes paper, PIMC (Section IV.C)",
    Pimc,
    {"deals": "paper", "common": False, "alpha": 4, "playouts": 50},
)
