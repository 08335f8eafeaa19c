"""Numbers of positions, counted through the verbs (perft) and by the naive rules.

Rows of a perft are depths, from the position itself on. Each has the numbers of positions at which chance, a decision, or nothing is next.
"""

import copy
import random

import pytest
from naive.kingdomino import Kingdomino

from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.search import perft

GAME = find_game("kingdomino")
PHASES = ("chance", "decide", "over")


def count(table: Table, depth: int) -> list[list[int]]:
    return perft.count(table.states, depth, GAME.max_legal, GAME.max_chances).tolist()


def count_naively(oracle: Kingdomino, depth: int) -> list[list[int]]:
    rows = [[0, 0, 0] for _ in range(depth + 1)]

    def visit(position: Kingdomino, level: int) -> None:
        phase = position.phase()
        rows[level][PHASES.index(phase)] += 1
        if level == depth or phase == "over":
            return
        for branch in sorted(position.chances()) if phase == "chance" else position.legal():
            after = copy.deepcopy(position)
            (after.apply_chance if phase == "chance" else after.apply)(branch)
            visit(after, level + 1)

    visit(oracle, 0)
    return rows


def after(decisions: int, players: int, seed: int, through_chance: bool, **options: object) -> tuple[Table, Kingdomino]:
    """Engine and oracle after this number of random decisions, and after the chance that follows if asked for."""
    table, oracle, dice = Table(GAME, players, **options), Kingdomino(players, **options), random.Random(seed)
    while oracle.phase() != "over" and (decisions > 0 or (through_chance and oracle.phase() == "chance")):
        if oracle.phase() == "chance":
            outcome = dice.choice(sorted(oracle.chances()))
            table.chance(outcome)
            oracle.apply_chance(outcome)
        else:
            action = dice.choice(oracle.legal())
            table.play(action)
            oracle.apply(action)
            decisions -= 1
    return table, oracle


@pytest.mark.parametrize("players, kings", [(4, [4]), (2, [2]), (3, [3])])
def test_the_first_draws_are_as_worked_out_by_hand(players: int, kings: list[int]) -> None:
    """48 dominoes, then 47, then 46; the seats whose king may be first."""
    rows = count(Table(GAME, players), 3)
    assert rows == [[1, 0, 0], [48, 0, 0], [48 * 47, 0, 0], [48 * 47 * 46, 0, 0]]
    drawn = Table(GAME, players)
    for domino in range(3 if players == 3 else 4):
        drawn.chance(domino)
    assert count(drawn, 1) == [[1, 0, 0], [0, *kings, 0]]


def test_the_first_round_of_four_is_as_worked_out_by_hand() -> None:
    """Any of four kings takes any of four dominoes, then any of three kings any of three ..."""
    drawn = Table(GAME, 4)
    for domino in (10, 20, 30, 40):
        drawn.chance(domino)
    rows = count(drawn, 8)
    assert [sum(row) for row in rows] == [1, 4, 16, 48, 144, 288, 576, 576, 576]
    assert [row.index(max(row)) for row in rows] == [0, 1, 0, 1, 0, 1, 0, 1, 0]


def test_the_first_placement_is_as_worked_out_by_hand() -> None:
    """A domino of two terrains: 4 squares beside the castle for one half, 3 for the other, either half: 24. A double: 12."""
    for domino, ways in ((13, 24), (11, 12)):
        table = Table(GAME, 4).at_position(
            f"round=1 stage=place turn=0 kingdoms=X,X,X,X queue={domino}:0,46:1,47:2,48:3 draft=1,2,3,4 box=5-{domino - 1},{domino + 1}-45"
        )
        assert count(table, 1)[1] == [0, ways, 0]


# The position: players, options, random decisions before it, their seed, and whether chance follows them; then the depth.
GOLDEN: dict[str, tuple[int, dict, int, int, bool, int]] = {
    "first round": (4, {}, 0, 1, True, 6),
    "first placements": (4, {}, 4, 1, True, 3),
    "on 3 x 3, dominoes to draw": (2, {"size": 3, "dominoes": 8}, 4, 1, False, 2),
    "on 3 x 3, the last round": (2, {"size": 3, "dominoes": 8}, 12, 1, True, 4),
    "on 7 x 7, a full table": (2, {"size": 7, "dominoes": 48}, 60, 1, True, 3),
    "on 7 x 7, dominoes to draw": (2, {"size": 7, "dominoes": 48}, 60, 1, False, 3),
    "three players, before the last round": (3, {}, 66, 0, True, 4),
    "three players, the last round": (3, {}, 69, 0, True, 3),
    "four players, the last round": (4, {}, 92, 9, True, 4),
    "two players, the last but one round": (2, {}, 36, 4, True, 4),
}
# Too deep for the naive rules.
DEEP: dict[str, tuple[int, dict, int, int, bool, int]] = {
    "on 3 x 3, from the first draft to the second pick": (2, {"size": 3, "dominoes": 8}, 4, 1, True, 8),
    "two players, the last two rounds": (2, {}, 36, 0, True, 12),
}
COUNTS: dict[str, list[list[int]]] = {
    "first round": [[0, 1, 0], [4, 0, 0], [0, 12, 0], [36, 0, 0], [0, 72, 0], [144, 0, 0], [0, 144, 0]],
    "first placements": [[0, 1, 0], [0, 12, 0], [0, 48, 0], [0, 576, 0]],
    "on 3 x 3, dominoes to draw": [[1, 0, 0], [44, 0, 0], [1892, 0, 0]],
    "on 3 x 3, the last round": [[0, 1, 0], [0, 2, 0], [0, 4, 0], [0, 24, 0], [0, 0, 24]],
    "on 7 x 7, a full table": [[0, 1, 0], [0, 7, 0], [0, 28, 0], [0, 352, 0]],
    "on 7 x 7, dominoes to draw": [[1, 0, 0], [16, 0, 0], [240, 0, 0], [3360, 0, 0]],
    "three players, before the last round": [[0, 1, 0], [0, 2, 0], [0, 12, 0], [0, 12, 0], [0, 19, 0]],
    "three players, the last round": [[0, 1, 0], [0, 3, 0], [0, 3, 0], [0, 0, 6]],
    "four players, the last round": [[0, 1, 0], [0, 6, 0], [0, 6, 0], [0, 12, 0], [0, 0, 12]],
    "two players, the last but one round": [[0, 1, 0], [0, 4, 0], [0, 16, 0], [0, 112, 0], [0, 336, 0]],
    "on 3 x 3, from the first draft to the second pick": [
        [0, 1, 0],
        [0, 12, 0],
        [0, 48, 0],
        [0, 256, 0],
        [0, 768, 0],
        [0, 18432, 0],
        [0, 36864, 0],
        [0, 528384, 0],
        [0, 528384, 0],
    ],
    "two players, the last two rounds": [
        [0, 1, 0],
        [0, 2, 0],
        [0, 8, 0],
        [0, 20, 0],
        [0, 60, 0],
        [0, 180, 0],
        [0, 360, 0],
        [0, 600, 0],
        [0, 600, 0],
        [0, 600, 0],
        [0, 1380, 0],
        [0, 2220, 0],
        [0, 0, 2732],
    ],
}


@pytest.mark.parametrize("name", GOLDEN)
def test_engine_oracle_and_golden_counts_agree(name: str) -> None:
    players, options, decisions, seed, through_chance, depth = GOLDEN[name]
    table, oracle = after(decisions, players, seed, through_chance, **options)
    rows = count(table, depth)
    assert rows == count_naively(oracle, depth)
    assert rows == COUNTS[name]


@pytest.mark.parametrize("name", DEEP)
def test_deep_counts_are_golden(name: str) -> None:
    players, options, decisions, seed, through_chance, depth = DEEP[name]
    table, _ = after(decisions, players, seed, through_chance, **options)
    assert count(table, depth) == COUNTS[name]


def test_a_rule_broken_by_one_placement_changes_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the comparison above with an oracle that lacks one legal action."""
    table, oracle = after(92, 4, 9, True)
    legal = Kingdomino.legal
    monkeypatch.setattr(Kingdomino, "legal", lambda self: legal(self)[: max(1, len(legal(self)) - (len(self.line) == 4))])
    assert count(table, 4) != count_naively(oracle, 4)
