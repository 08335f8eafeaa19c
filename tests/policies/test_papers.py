"""Does every name of a paper stand for what the paper says? Each case says where the paper says it.

The values are typed from the papers' text, apart from kdenv/policies/text/papers.py, so that a wrong parameter there is noticed.
A row that is not listed here fails a test.
"""

from typing import Any

import pytest

from kdenv.policies import Policy, policy
from kdenv.policies.text.value import rows

# Gedda, Lagerkvist and Butler 2018. Playout policies: III.C; MCE: III.B.1 ("selects a child node randomly (using uniform sampling)",
# "the max child is selected"); scores: III.D; UCT: V.F ("C = 0.6 is a suitable value"), V.G ("C = 0.6", "W = 0.1"), V.B ("maximum score
# increase as tie breaker"); epsilon: V.E ("epsilon = 0.75", "random selection in 75% of the times"). The paper gives seconds; playouts are
# ours: 1,000 random ones, 100 others. Of UCT the text says WDL (V.B); the program counts sole wins, and expands in order.
PLAYOUTS_2018 = {
    "tr": "random, playouts=1000",
    "fg": "full_greedy, playouts=100",
    "pg": "player_greedy, playouts=100",
    "eg": "epsilon_greedy(epsilon=0.75), playouts=100",
}
SCORES_2018 = {"wdl": "wdl", "p": "points", "r": "relative"}
TABLES_2018 = {"mce-tr/wdl": "Table II", "mce-tr/p": "Table II", "mce-tr/r": "Tables II and III"}
TABLES_2018 |= {"mce-fg/r": "Table III", "mce-pg/r": "Table III", "mce-eg/r": "Table III"}
GEDDA = {
    f"mce-{p}/{s}": f"mce(playout={playout}, score={score}, sampling=random, choice=mean, ties=gains)"
    for p, playout in PLAYOUTS_2018.items()
    for s, score in SCORES_2018.items()
} | {
    f"{name}-{p}": f"uct(playout={playout}, score=win, select=ucb1(c=0.6), bias={bias}, weight=0.1, expand=order, chance=frozen, "
    "choice=mean, ties=gains)"
    for name, bias in (("uct", "none"), ("uctb", "progressive"), ("uctw", "win"))
    for p, playout in PLAYOUTS_2018.items()
}

# Jansen and Tollisen 2014. Table 32: simulations "UCB_orig: 10 000, UCB_mod: 100 000", scoring Win+Diff (eq. 12), C 0.7, epsilon 15,
# minimum visits 10, MPPAF true, threads 1. Tables 38, 46: UCT_mod 100 000 simulations, minimum visits 10. Tables 30, 41: UCT_orig 10 000.
# 3.4.6: minimum visits are those of "a top node". 3.4.1: "the best move is the one with the highest amount of visits". Eq. 13: total
# simulations = simulations x threads x iterations. 3.2: a single card draw is "used for the rest of the search". Eq. 1 and 8: the formulas.
# UCT_mod: 3.3 "simply skips propagating whenever the opponent makes a move", 3.4.2 "only each ancestor belonging to the same player as the
# leaf node": of the ancestors those of UCT_mod itself count a result (which the games tell: dominion/README.md).
THESIS = "score=windiff, choice=visits, ties=random, reflex=yes, whole=yes, threads=1"
UCB1, RATIO = "select=ucb1(c=0.7)", "select=ucb_ratio(c=0.7)"
FROZEN, MOD = "chance=frozen, update=all, least_below=1", "chance=frozen, update=searcher, least_below=1"
JANSEN = {
    "ucb_orig": f"bandit(playout=rollout(epsilon=0.15), {UCB1}, least=10, playouts=10000, {THESIS})",
    "ucb_mod": f"bandit(playout=rollout(epsilon=0.15), {RATIO}, least=10, playouts=100000, {THESIS})",
    "uct_orig": f"uct(playout=rollout(epsilon=0.15), {UCB1}, least=10, playouts=10000, {FROZEN}, {THESIS})",
    "uct_mod": f"uct(playout=rollout(epsilon=0.15), {RATIO}, least=10, playouts=100000, {MOD}, {THESIS})",
    # Table 23: epsilon 10, minimum visits "100 sims: 1, The rest: 10".
    "ucb_orig/t23": f"bandit(playout=rollout(epsilon=0.1), {UCB1}, least=10, playouts=10000, {THESIS})",
    # Table 49: minimum visits "UCT_orig: 10, UCB_orig: 1"; 10 000 simulations.
    "ucb_orig/t49": f"bandit(playout=rollout(epsilon=0.15), {UCB1}, least=1, playouts=10000, {THESIS})",
    # Table 21: pure win/loss (eq. 9), C 0.5, epsilon 10, minimum visits 1.
    "ucb_mod/t21": (
        "bandit(playout=rollout(epsilon=0.1), select=ucb_ratio(c=0.5), least=1, playouts=100000, "
        "score=lead, choice=visits, ties=random, reflex=yes, whole=yes)"
    ),
    # Tables 24 and 28: minimum visits 1. Tables 38 and 46: "UCT_mod: 10, UCB_mod: 1". 100 000 simulations in all.
    "ucb_mod/t28": f"bandit(playout=rollout(epsilon=0.15), {RATIO}, least=1, playouts=100000, {THESIS})",
    "uct_mod/t28": f"uct(playout=rollout(epsilon=0.15), {RATIO}, least=1, playouts=100000, {MOD}, {THESIS})",
    # Table 26: simulations "10, 20, 30", scoring "VPs", C 0.7, epsilon 15, minimum visits 1.
    "ucb_mod/t26": (
        f"bandit(playout=rollout(epsilon=0.15), {RATIO}, least=1, playouts=30, "
        "score=points, choice=visits, ties=random, reflex=yes, whole=yes)"
    ),
    "uct_mod/t26": (
        f"uct(playout=rollout(epsilon=0.15), {RATIO}, least=1, playouts=30, {MOD}, "
        "score=points, choice=visits, ties=random, reflex=yes, whole=yes)"
    ),
    # Table 35: 50 simulations, minimum visits 1.
    "ucb_mod/t35": f"bandit(playout=rollout(epsilon=0.15), {RATIO}, least=1, playouts=50, {THESIS})",
    "uct_mod/t35": f"uct(playout=rollout(epsilon=0.15), {RATIO}, least=1, playouts=50, {MOD}, {THESIS})",
    # Table 13: minimum visits "100 sims: 1, The rest: 10".
    "uct_orig/t13": f"uct(playout=rollout(epsilon=0.15), {UCB1}, least=1, playouts=100, {FROZEN}, {THESIS})",
    # Table 5: "Heuristic Greedy" (no epsilon), minimum visits 1, C and scoring multiple; Table 4 finds C = 0.7, Win+Diff best.
    "uct_mod/t5": f"uct(playout=rollout(epsilon=0), {RATIO}, least=1, playouts=100000, {MOD}, {THESIS})",
    # Tables 7 and 9: C 0.5 (0.7), epsilon 10 among others, minimum visits 1.
    "uct_mod/t9": f"uct(playout=rollout(epsilon=0.1), select=ucb_ratio(c=0.5), least=1, playouts=100000, {MOD}, {THESIS})",
    # Table 15: C 0.5, "Heuristic Greedy", minimum visits multiple; Table 14 finds 10 best.
    "uct_mod/t15": f"uct(playout=rollout(epsilon=0), select=ucb_ratio(c=0.5), least=10, playouts=100000, {MOD}, {THESIS})",
}

# Heyden 2009. 6.2.1: "Each player has 6 minutes for the whole game"; 4.2: the difference of the scores (MC), or 1, 0, -1 (MCo); the
# time "is divided among the number of possible moves". 6.2.2:
# "UCT works best with C = 3. MCTS players in further experiments will use C = 3", on outcomes too, which are -1, 0, 1 (4.3.3);
# from 0 to 1 that is 1.5. 4.3: "the child of the root with the highest win rate". 4: Monte Carlo "does not need any strategic knowledge",
# so ties are not broken by points. 6.4: Star2.5 with probing factor 5 and dynamical bounds.
HEYDEN = {
    "mc": "mce(playout=random, score=margin, sampling=rotation, choice=mean, ties=random, game_seconds=360)",
    "mco": "mce(playout=random, score=wdl, sampling=rotation, choice=mean, ties=random, game_seconds=360)",
    "mcts": "uct(playout=random, score=margin, select=ucb1(c=3), chance=sampled, choice=mean, ties=random, game_seconds=360)",
    "mctso": "uct(playout=random, score=wdl, select=ucb1(c=1.5), chance=sampled, choice=mean, ties=random, game_seconds=360)",
    "star2.5/best": "star2.5(k=5, order=2, evaluate=final, deepen=yes, game_seconds=360)",
    "star2.5/fixed": "star2.5(k=5, order=2, evaluate=fixed_bounds, deepen=yes, game_seconds=360)",
}

# The dominoes paper. IV.C: PIMC samples each domino from its own distribution (Algorithm 2); figure 2: alpha = 4, 50 samples, b3 (1/3).
# V.A: "IMS players whose first moves were greedy and had depth parameters alpha = 6 and beta = 1/2".
OTHERS = {
    "ims_greedy_first": "ims(alpha=6, beta=0.5, first=greedy, pruning=paper, belief=paper)",
    "ismcts": "uct(playout=random, score=wdl, select=ucb1(c=0.7), chance=information_sets, choice=visits, playouts=2000)",
    "pimc_paper": "pimc(deals=paper, common=no, alpha=4, beta=0.3333333333333333, playouts=50)",
}
ROWS: dict[str, str] = {**GEDDA, **JANSEN, **HEYDEN, **OTHERS}


@pytest.mark.parametrize("name", ROWS)
def test_a_name_stands_for_what_its_paper_says(name: str) -> None:
    assert policy(name) == policy(ROWS[name])


def test_every_row_is_compared_with_its_paper() -> None:
    assert {name for name, _ in rows(Policy)} == ROWS.keys()


@pytest.mark.parametrize("name", [name for name in GEDDA if name.startswith("mce")])
def test_a_row_names_only_tables_that_it_is_in(name: str) -> None:
    source = dict(rows(Policy))[name].source
    assert source.endswith(TABLES_2018.get(name, "in no table"))


@pytest.mark.parametrize(
    "parameter, other", [("least", 9), ("least_below", 2), ("whole", False), ("ties", "gains"), ("choice", "mean"), ("update", "mine")]
)
def test_a_row_with_another_parameter_is_another_policy(parameter: str, other: Any) -> None:
    """The comparison above notices each of them."""
    assert policy(f"uct_mod({parameter}={other})".replace("False", "no")) != policy("uct_mod")
