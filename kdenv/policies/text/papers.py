"""The searches of papers under the names that the papers use, with the parameters and budgets that the papers give.

Each name is a value: `policy("mco") == Mce(score="wdl", game_seconds=360)`. The text of such a value is the name, with the
parameters that differ from the paper: "mctso(seconds=1)". Where a paper gives seconds on its own machine, playouts are used here. The
meaning names each parameter that the paper does not give.
"""

from __future__ import annotations

from typing import Any

from kdenv.policies.expectimax import Star25
from kdenv.policies.flat import Bandit, Mce
from kdenv.policies.hidden import Ims, Pimc
from kdenv.policies.selection import Ucb1, UcbRatio
from kdenv.policies.text.value import add_row
from kdenv.policies.uct import Uct

_GEDDA = "Gedda et al. 2018, "
_JANSEN = "Jansen and Tollisen 2014, "
_HEYDEN = "Heyden 2009, "
_KINGDOMINO, _DOMINION, _CARCASSONNE, _DOMINOES = "kingdomino", "dominion", "carcassonne", "dominoes"  # the games of the papers

# The name in the paper -> the playout, the playouts for a turn, the words for it. The paper's eG is greedy in one decision of four.
_PLAYOUTS: dict[str, tuple[Any, int, str]] = {
    "tr": ("random", 1000, "random playouts"),
    "fg": ("full_greedy", 100, "playouts by full_greedy"),
    "pg": ("player_greedy", 100, "playouts in which only the searching seat is greedy"),
    "eg": ("epsilon_greedy(epsilon=0.75)", 100, "playouts by the greedy player with three random turns in four"),
}
_SCORES = {"wdl": ("wdl", "wins"), "p": ("points", "own points"), "r": ("relative", "the share of points against the best rival")}
_MCE_TABLES = {"mce-tr/wdl": "Table II", "mce-tr/p": "Table II", "mce-tr/r": "Tables II and III"}
_MCE_TABLES |= dict.fromkeys(("mce-fg/r", "mce-pg/r", "mce-eg/r"), "Table III")
_BIASES = {
    "uct": ("none", "UCT"),
    "uctb": ("progressive", "UCT with progressive bias"),
    "uctw": ("win", "UCT with progressive win bias"),
}


def _in_paper(p: str) -> str:
    return p.upper().replace("EG", "eG")


for _p, (_playout, _n, _played) in _PLAYOUTS.items():
    for _s, (_score, _scored) in _SCORES.items():
        _row = f"mce-{_p}/{_s}"
        add_row(
            _row,
            f"Flat Monte Carlo for {_scored}, {_played}",
            f"{_GEDDA}MCE-{_in_paper(_p)}/{_s.upper()}, {_MCE_TABLES.get(_row, 'in no table')}",
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

# The thesis has one main configuration for each variant (Table 32; Tables 30, 38, 41, 46, 49, 52, 57), which has the variant's name. Rows
# with a number are the configurations that differ, by the number of their table. Its minimum visits are those of the top nodes (3.4.6), its
# wins count points alone (eq. 9), and every tree of root parallelisation has all simulations (eq. 13).
_MAIN: dict[str, Any] = {
    "playout": "rollout",  # epsilon = 15 (Table 6)
    "score": "windiff",  # eq. 12
    "least": 10,
    "choice": "visits",  # 3.4.1
    "ties": "random",
    "reflex": True,  # MPPAF
    "whole": True,
}
_UCB1, _UCB_RATIO = Ucb1(c=0.7), UcbRatio(c=0.7)
_FEW, _MANY = {"playouts": 10_000}, {"playouts": 100_000}
_VARIANTS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "ucb_orig": (Bandit, {"select": _UCB1, **_FEW}, "Flat Monte Carlo with UCB1; before the search, the rule MPPAF may decide"),
    "ucb_mod": (Bandit, {"select": _UCB_RATIO, **_MANY}, "ucb_orig with ln(N / n) in place of ln(N) / n"),
    "uct_orig": (
        Uct,
        {"select": _UCB1, "chance": "frozen", **_FEW},
        "UCT with one draw of chance for each node; before the search, the rule MPPAF may decide",
    ),
    "uct_mod": (
        Uct,
        {"select": _UCB_RATIO, "chance": "frozen", "update": "searcher", **_MANY},
        "uct_orig with ln(N / n), updating only its own nodes",
    ),
}
_ONE = {"least": 1}
_HALF_C = {"select": UcbRatio(c=0.5)}
_POINTS = {"score": "points", "least": 1, "playouts": 30}
# The tables of the configuration, its differences from the main one, and these in words. A budget of "multiple" is that of the main one.
_TABLES: dict[str, tuple[str, dict[str, Any], str]] = {
    "ucb_orig/t23": ("Table 23 (of 22)", {"playout": "rollout(epsilon=0.1)"}, "epsilon 10"),
    "ucb_orig/t49": ("Table 49 (of 48, v DoubleWitch)", _ONE, "minimum visits 1"),
    "ucb_mod/t21": (
        "Table 21 (of 20)",
        {"score": "lead", "playout": "rollout(epsilon=0.1)", **_HALF_C, **_ONE},
        "pure win/loss, C 0.5, epsilon 10, minimum visits 1",
    ),
    "ucb_mod/t28": ("Tables 24, 28, 38, 46 (of figure 25, 27, 37, 45)", _ONE, "minimum visits 1"),
    "ucb_mod/t26": ("Table 26 (of 25, one player)", _POINTS, "own points, minimum visits 1, 30 simulations (also 10 and 20)"),
    "ucb_mod/t35": ("Table 35 (of 34, v random)", {"playouts": 50, **_ONE}, "50 simulations, minimum visits 1"),
    "uct_orig/t13": ("Table 13 (of 12), 100 simulations", {"playouts": 100, **_ONE}, "100 simulations, minimum visits 1"),
    "uct_mod/t5": (
        "Table 5 (of 4)",
        {"playout": "rollout(epsilon=0)", **_ONE},
        "epsilon 0, minimum visits 1; C and the score are varied there",
    ),
    "uct_mod/t9": (
        "Tables 7, 9 (of 6, 8)",
        {"playout": "rollout(epsilon=0.1)", **_HALF_C, **_ONE},
        "C 0.5, epsilon 10, minimum visits 1; the rollout, the score and MPPAF are varied there",
    ),
    "uct_mod/t15": (
        "Table 15 (of 14)",
        {"playout": "rollout(epsilon=0)", **_HALF_C},
        "C 0.5, epsilon 0; minimum visits, the score and MPPAF are varied there",
    ),
    "uct_mod/t28": ("Tables 11, 17, 24, 28 (of 10, 16, figure 26, 27)", _ONE, "minimum visits 1"),
    "uct_mod/t26": ("Table 26 (of 25, one player)", _POINTS, "own points, minimum visits 1, 30 simulations (also 10 and 20)"),
    "uct_mod/t35": ("Table 35 (of 33, v random)", {"playouts": 50, **_ONE}, "50 simulations, minimum visits 1"),
}
for _name, (_cls, _given, _meaning) in _VARIANTS.items():
    add_row(_name, _meaning, f"{_JANSEN}{_name[:3].upper()}{_name[3:]}, Table 32", _cls, {**_MAIN, **_given}, _DOMINION)
for _name, (_table, _given, _meaning) in _TABLES.items():
    _of = _name.partition("/")[0]
    _cls, _usual, _ = _VARIANTS[_of]
    add_row(_name, f"{_of} with {_meaning}", f"{_JANSEN}{_table}", _cls, {**_MAIN, **_usual, **_given}, _DOMINION)

# Section 4 says that her Monte Carlo knows nothing of strategy, and she gives no rule for turns of equal worth. The points that they gain
# at once would be such knowledge: MCo, all of whose turns seem lost when it is behind, would be a much better player with them.
_SIX_MINUTES: dict[str, Any] = {"ties": "random", "game_seconds": 360}
add_row("mc", "Flat Monte Carlo for the margin of points", _HEYDEN + "MC", Mce, {"score": "margin", **_SIX_MINUTES}, _CARCASSONNE)
add_row("mco", "Flat Monte Carlo for wins", _HEYDEN + "MCo", Mce, {"score": "wdl", **_SIX_MINUTES}, _CARCASSONNE)
add_row(
    "mcts",
    "UCT for the margin of points with C = 3; chance is sampled at every visit",
    _HEYDEN + "MCTS",
    Uct,
    {"score": "margin", "select": Ucb1(c=3), **_SIX_MINUTES},
    _CARCASSONNE,
)
add_row(
    "mctso",
    "UCT for wins with C = 3 on outcomes of -1, 0 and 1, which is 1.5 on 0, 1/2 and 1; chance is sampled at every visit",
    _HEYDEN + "MCTSo",
    Uct,
    {"score": "wdl", "select": Ucb1(c=1.5), **_SIX_MINUTES},
    _CARCASSONNE,
)
_STAR: dict[str, Any] = {"k": 5, "order": "2", "game_seconds": 360}
add_row(
    "star2.5/best",
    "her best player: probing factor 5, order 2, the final weights, bounds that follow the points",
    _HEYDEN + "Star2.5 of Table 6.8",
    Star25,
    {"evaluate": "final", **_STAR},
    _CARCASSONNE,
)
add_row(
    "star2.5/fixed",
    "the same with fixed bounds of +-2000, the player that seems to resign",
    _HEYDEN + "Star2.5 of 6.4, before its mend",
    Star25,
    {"evaluate": "fixed_bounds", **_STAR},
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
    "ims_greedy_first",
    "IMS whose first moves are greedy",
    "DominAI 2016, V.A: alpha 6, beta 1/2, with a greedy first move",
    Ims,
    {"alpha": 6, "beta": 0.5, "first": "greedy"},
    _DOMINOES,
)
add_row(
    "pimc_paper",
    "Perfect information Monte Carlo in which tiles are dealt one by one, and every turn is tried on other deals",
    "DominAI 2016, PIMC (Section IV.C)",
    Pimc,
    {"deals": "paper", "common": False, "alpha": 4, "playouts": 50},
    _DOMINOES,
)
