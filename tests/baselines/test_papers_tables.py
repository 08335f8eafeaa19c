"""Does every line of baselines/papers/expected play what its paper says of this row of this table?

The configurations are typed here from the papers' text, apart from the lines, so that a wrong parameter or option in a line is noticed.
A row's name says what differs between the rows of its table.
"""

import re
from collections.abc import Iterator

import pytest

from baselines.papers import tables
from kdenv.policies import policy

# Jansen and Tollisen 2014. The search and the formula of each variant: Table 1. UCT_mod's updates: 3.3.
VARIANTS = {
    "ucb_orig": ("bandit", "ucb1", ""),
    "ucb_mod": ("bandit", "ucb_ratio", ""),
    "uct_orig": ("uct", "ucb1", "chance=frozen, update=all, "),
    "uct_mod": ("uct", "ucb_ratio", "chance=frozen, update=searcher, "),
}
# Tables 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 26, 28, 30, 32, 35, 38, 41, 46, 49, 57, by the table whose games they are: simulations,
# scoring, C, epsilon in %, minimum visits. A row may change one of them: see `configured`.
CONFIGURATIONS: dict[str, tuple[int, str, float, int, int]] = {
    "Table 4": (100_000, "multiple", 0, 0, 1),
    "Table 6": (100_000, "windiff", 0.5, 0, 1),
    "Table 8": (100_000, "multiple", 0.5, 10, 1),
    "Table 10": (0, "windiff", 0.7, 15, 1),
    "Table 12": (0, "windiff", 0.7, 15, 10),
    "Table 14": (100_000, "multiple", 0.5, 0, 0),
    "Table 16": (100_000, "windiff", 0.7, 15, 0),
    "Table 18": (100_000, "windiff", 0.7, 15, 10),
    "Table 20": (0, "lead", 0.5, 10, 1),
    "Table 22": (0, "windiff", 0.7, 10, 10),
    "Table 25": (0, "points", 0.7, 15, 1),
    "Table 27": (100_000, "windiff", 0.7, 15, 1),
    "Table 29": (10_000, "windiff", 0.7, 15, 10),
    "Table 33": (50, "windiff", 0.7, 15, 1),
    "Table 34": (50, "windiff", 0.7, 15, 1),
    "Table 36": (100_000, "windiff", 0.7, 15, 10),
    "Table 37": (100_000, "windiff", 0.7, 15, 1),
    "Table 39": (10_000, "windiff", 0.7, 15, 10),
    "Table 40": (10_000, "windiff", 0.7, 15, 10),
    "Table 44": (100_000, "windiff", 0.7, 15, 10),
    "Table 45": (100_000, "windiff", 0.7, 15, 1),
    "Table 47": (10_000, "windiff", 0.7, 15, 10),
    "Table 48": (10_000, "windiff", 0.7, 15, 1),
    **dict.fromkeys(("Table 53", "Table 54", "Table 55", "Table 56"), (0, "windiff", 0.7, 15, 10)),
    **dict.fromkeys(("Figure 25", "Figure 26"), (100_000, "windiff", 0.7, 15, 1)),
}
# Who plays whom; 4.3: the variants against each other.
PAIRS = {
    **dict.fromkeys((f"Table {n}" for n in (4, 6, 8, 10, 14, 16, 18, 53)), ("uct_mod", "bmfsm")),
    **dict.fromkeys(("Table 12", "Table 55"), ("uct_orig", "bmfsm")),
    **dict.fromkeys(("Table 20", "Table 54"), ("ucb_mod", "bmfsm")),
    **dict.fromkeys(("Table 22", "Table 56"), ("ucb_orig", "bmfsm")),
    "Table 25": ("uct_mod", ""),
    "Table 27": ("uct_mod", "ucb_mod"),
    "Table 29": ("uct_orig", "ucb_orig"),
    "Table 31": ("ucb_orig", "ucb_mod"),
    "Table 33": ("uct_mod", "random"),
    "Table 34": ("ucb_mod", "random"),
    "Table 36": ("uct_mod", "single_witch"),
    "Table 37": ("ucb_mod", "single_witch"),
    "Table 39": ("uct_orig", "single_witch"),
    "Table 40": ("ucb_orig", "single_witch"),
    "Table 43": ("single_witch", "double_witch"),
    "Table 44": ("uct_mod", "double_witch"),
    "Table 45": ("ucb_mod", "double_witch"),
    "Table 47": ("uct_orig", "double_witch"),
    "Table 48": ("ucb_orig", "double_witch"),
    "Section 4.5": ("single_witch", "bmfsm"),
    "Figure 25": ("ucb_mod", "bmfsm"),  # the opponent of section 3
    "Figure 26": ("uct_mod", "bmfsm"),
}
# 4.1: the test bed with a Woodcutter of more coins.
OTHERS = "village,gardens,moneylender,remodel,smithy,festival,laboratory,market,witch"
# 3.6: 40 turns at most in "the parameter setups", 999 in the experiments of section 4; Table 13: "also used 999".
FEW_TURNS = [f"Table {n}" for n in (4, 6, 8, 10, 14, 16, 18, 20, 22)]
# DominAI 2016, Algorithm 1: values times P_G, which is the paper's estimate. Its program prunes without dividing by it.
ALGORITHM_1 = ("pruning=paper", "belief=paper")
HALF = "Half of the simulations"  # not a table of the thesis: its rows again, with half of their simulations
SCORES = {"Pure win/loss": "lead", "Win+Diff": "windiff"}


def configured(table: str, row: str, variant: str, part: int = 1) -> str:
    """The search of a row of the thesis as text, from its configuration and what its name changes in it. `part` divides its simulations."""
    if variant not in VARIANTS:
        return variant
    if table == "Table 31":  # Table 32
        sims, score, c, epsilon, least = 10_000 if variant == "ucb_orig" else 100_000, "windiff", 0.7, 15, 10
    else:
        sims, score, c, epsilon, least = CONFIGURATIONS[table]
    trees, playout = 1, ""
    for word in row.split(", "):
        if word in SCORES:
            score = SCORES[word]
        elif found := re.fullmatch(r"C = (\S+)", word):
            c = float(found[1])
        elif found := re.match(r"([\d,]+) simulations", word):
            sims = int(found[1].replace(",", ""))
        elif found := re.fullmatch(r"minimum visits (\d+)", word):
            least = int(found[1])
        elif found := re.fullmatch(r"epsilon (\d+)", word):
            epsilon = int(found[1])
        elif found := re.match(r"(\d) trees?", word):
            trees = int(found[1])
        elif found := re.fullmatch(r"(\d) (threads?|iterations?)", word):  # eq. 13
            trees *= int(found[1])
        elif word == "random rollouts":
            playout = "random"
    if table == "Table 8" and score == "lead":  # its Pure W/L rows have "Heuristic" rollouts
        epsilon = 0
    if table in ("Table 12", "Table 22") and sims == 100:  # "100 sims: 1, The rest: 10"
        least = 1
    search, formula, tree = VARIANTS[variant]
    if search == "bandit":  # 3.5.3: threads are as effective as more simulations
        sims, trees = sims * trees, 1
    many = f"trees={trees}, " if trees > 1 else ""
    obvious = "no" if "without MPPAF" in row else "yes"
    return (
        f"{search}(playout={playout or f'rollout(epsilon={epsilon / 100})'}, select={formula}(c={c}), least={least}, "
        f"playouts={sims // part}, score={score}, {tree}{many}reflex={obvious}, choice=visits, ties=random, whole=yes)"
    )


def lines(paper: str) -> Iterator[tuple[tables.Expected, str, dict[str, str], list[str]]]:
    """The lines of a paper that are matches, with their game, options and policies."""
    for line in tables.expected_of(paper):
        kind, _, words = line.how.partition(" ")
        if kind in ("match", "seats"):
            game, options, policies = (part.strip() for part in words.split(";"))
            yield line, game, dict(option.split("=") for option in options.split()), [text.strip() for text in policies.split(" v ")]


def test_lines_of_the_dominion_thesis_play_its_configurations() -> None:
    found = set()
    for line, game, options, policies in lines("jansen2014"):
        table, row = line.row.split(", ", 1) if line.table == HALF else (line.table, line.row)
        first, second = PAIRS[table]
        if line.table == "Table 25":
            first = line.row.split(",")[0]
        wanted = [configured(table, row, variant, 2 if line.table == HALF else 1) for variant in (first, second) if variant]
        assert [policy(text) for text in policies] == [policy(text) for text in wanted], (line.table, line.row)
        if line.table == "Table 25":  # 4.2: "the kingdom cards were removed"
            assert (game, options) == ("dominion", {"kingdom": "none", "supply": "thesis"})
        else:
            turns = "40" if table in FEW_TURNS else "999"
            if line.table.startswith("Figure"):
                coins = line.row.split(", ")[1].removesuffix(" coins")
                assert options.pop("kingdom") == f"woodcutter{'' if coins == '2' else coins},{OTHERS}"
            assert (game, options) == ("dominion", {"supply": "thesis", "info": "thesis", "max_turns": turns}), (line.table, line.row)
        found.add(line.table)
    assert found == {*PAIRS, HALF}


def test_lines_of_the_kingdomino_paper_play_its_configurations() -> None:
    """V.C, V.D, V.G: one player against three TR or FG. V.F: C for UCT, and W for UCTW with C = 0.6."""
    rules = {"TR": "random", "GPRD": "gprd", "FG": "full_greedy(variant=paper)"}
    n = 0
    for line, game, options, policies in lines("gedda2018"):
        name, *_ = line.row.split(" v ")[0].split(",")
        others = "random" if "v three TR" in line.row else "full_greedy(variant=paper)"
        budget = re.search(r"playouts=(\[[^]]*\])", line.how)
        given = [f"playouts={budget[1]}"] if budget else []
        if found := re.search(r"C = (\S+)", line.row):
            given.append(f"select=ucb1(c={found[1]})")
        if found := re.search(r"W = (\S+)", line.row):
            given.append(f"weight={found[1]}")
        wanted = rules.get(name) or f"{name.lower()}({', '.join(given)})"
        assert policies[1:] == [others] * 3 and policy(policies[0]) == policy(wanted), line.row
        assert (game, options) == ("kingdomino", {}) and (budget is not None) == (name not in rules)
        n += 1
    assert n > 350


def test_lines_of_the_carcassonne_thesis_play_its_configurations() -> None:
    """6.2.1: MC v MCo. 6.2.2: MCTS with C = ... v MC, MCTS v MCTSo. 6.4: Star2.5 with k = 5 v MCTS with C = 3.

    Budgets: the playouts a turn with which MC makes its 63.6 points; ten seconds at the 42,000 nodes a second of Table 6.4.
    """
    pairs = {
        "6.1": ("mc(playouts=220)", "mco(playouts=220)"),
        "6.3": ("mcts(playouts=220, select=ucb1(c=3))", "mctso(playouts=220, select=ucb1(c=1.5))"),
        "6.8": ("star2.5/best(nodes=420000, k=5)", "mcts(playouts=220, select=ucb1(c=3))"),
    }
    places = {**{f"Table {n}": n for n in pairs}, "Figure 6.1": "6.1", "Figure 6.2": "6.1", "Figure 6.3": "6.3", "Figure 6.4": "6.3"}
    places |= {"Figure 6.7": "6.8", "Figure 6.8": "6.8"}
    n = 0
    for line, game, options, policies in lines("heyden2009"):
        if line.table == "Table 6.2":
            c = re.search(r"C = ([\d.]+)", line.row)
            assert c is not None
            wanted = [
                f"uct(score=margin, select=ucb1(c={c[1]}), ties=random, playouts=220)",
                "mce(score=margin, ties=random, playouts=220)",
            ]
        elif line.table == "Section 6.4":
            wanted = ["star2.5(k=5, order=2, evaluate=fixed_bounds, nodes=420000)", "mcts(playouts=220)"]
        elif line.row.startswith("a random player"):
            wanted = ["random", "random"]
        else:
            wanted = list(pairs[places[line.table]])
        found = [policy(text) for text in policies]
        assert (game, options) == ("carcassonne", {}) and found == [policy(text) for text in wanted], line.row
        n += 1
    assert n > 100


def test_lines_of_the_dominoes_paper_play_its_configurations() -> None:
    """Rows say alpha, beta (b3 is 1/3, b2 is 1/2) and deals. IV.D: 5 and 3; V.A: 6 and 1/2; V.B: 5 and 1/3, 50 deals."""
    n = 0
    for line, game, options, policies in lines("dominai2016"):
        beta = re.search(r"beta (\d)(?:/(\d))?", line.row)
        depth = [f"alpha={number}" for number in re.findall(r"alpha (\d)", line.row)]
        depth += [f"beta={int(beta[1]) / int(beta[2] or 1)}"] if beta else []
        deals = re.search(r"(\d+) deals", line.row)
        pimc = f"pimc_paper({', '.join([*depth, *([f'playouts={deals[1]}'] if deals else [])])})"
        names = {
            "oracle": f"oracle({', '.join(depth)})",
            "IMS": f"ims({', '.join([*depth, *ALGORITHM_1])})",
            "PIMC": pimc,
            "greedy": "greedy",
        }
        names["IMS with greedy first moves"] = f"ims(alpha=6, beta=0.5, first=greedy, {', '.join(ALGORITHM_1)})"
        first, second = (side.split(",")[0] for side in line.row.split(" v "))
        wanted = [policy(names[side]) for side in (first, second)] * 2
        assert [policy(text) for text in policies] == wanted, line.row
        rules = "paper" if line.table == "By the text's rules" else "dominai_code"
        assert (game, options) == ("dominoes", {"rules": rules, "mode": "round", "lead": "drawn"})
        assert line.how.startswith("seats") == (line.table not in ("By the text's rules", "With changing seats"))
        n += 1
    assert n > 20


@pytest.mark.parametrize(
    "table, row, wrong",
    [
        ("Table 10", "5,000 simulations", "uct_mod/t28(playouts=2200, least=10)"),
        ("Table 20", "5,000 simulations", "ucb_mod/t21(playouts=2200, score=windiff)"),
        ("Table 22", "100 simulations", "ucb_orig/t23(playouts=100)"),
        ("Table 54", "25,000 simulations, 2 threads, 1 iteration", "ucb_mod(playouts=25000)"),
    ],
)
def test_a_wrong_parameter_is_noticed(table: str, row: str, wrong: str) -> None:
    assert policy(wrong) != policy(configured(table, row, PAIRS[table][0]))
