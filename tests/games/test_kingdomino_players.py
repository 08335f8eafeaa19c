"""Do FULL GREEDY and GPRD choose between exactly the turns of the naive version, and of the paper's own program?"""

import random

import numpy as np
import pytest
from naive.kingdomino import Kingdomino
from naive.kingdomino_greedy import full_greedy_turns, gprd_turns
from test_naive_kingdomino import CHANGED_BY_THEIR_LABELLING, TRACES, replay, turns_of

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import make_rng
from kdenv.core.errors import BadOption
from kdenv.core.questions import choose_at
from kdenv.core.table import Table
from kdenv.core.turns import first_action, rest_of
from kdenv.games import find_game
from kdenv.games.kingdomino import best_turns, heuristics


@kernel
def _greedy_turns(states, looks_ahead, repaired, by_crowns, out):
    return heuristics.greedy_turns(states[0], looks_ahead, repaired, by_crowns, out)


def engine_turns(table: Table, which: str, variant: str = "fixed") -> set[tuple[int, ...]]:
    """The turns between which the compiled player chooses, unpacked."""
    out = table.game.buffer()
    n = _greedy_turns(table.states, int(which == "fg"), int(variant == "fixed"), int(variant != "text"), out)
    unpacked = [unpack(turn) for turn in out[best_turns.TURNS :][:n].tolist()]
    assert len(set(unpacked)) == len(unpacked), "a turn is listed twice"
    return set(unpacked)


def unpack(turn: int) -> tuple[int, ...]:
    actions = []
    while turn:
        actions.append(int(first_action(turn)))
        turn = int(rest_of(turn))
    return tuple(actions)


def follow(oracle: Kingdomino, table: Table, done: int, log: list) -> int:
    """Carry out on the table what has happened in the oracle since; `log` is filled by a recording oracle."""
    for is_chance, number in log[done:]:
        if is_chance:
            table.chance(number)
        else:
            table.play(number)
    return len(log)


class Recording(Kingdomino):
    """An oracle that writes down what happens."""

    def __init__(self, *args, **options) -> None:
        super().__init__(*args, **options)
        self.log: list[tuple[bool, int]] = []

    def apply_chance(self, outcome: int) -> None:
        self.log.append((True, outcome))
        super().apply_chance(outcome)

    def apply(self, action: int) -> None:
        self.log.append((False, action))
        super().apply(action)


@pytest.mark.parametrize("number", TRACES)
def test_choices_are_those_of_the_papers_program(number: int) -> None:
    oracle, table, done = Recording(), Table(find_game("kingdomino"), 4), 0
    for position in replay(number, oracle):
        done = follow(oracle, table, done, oracle.log)
        listed = set(turns_of(position, "moves", oracle))
        assert set(listed) >= engine_turns(table, "fg", "paper")
        if (number, position["t"]) not in CHANGED_BY_THEIR_LABELLING:
            assert engine_turns(table, "fg", "paper") == set(turns_of(position, "fg", oracle)), table.position()
        assert engine_turns(table, "gprd") == set(turns_of(position, "gprd", oracle)), table.position()


@pytest.mark.parametrize(
    "players, options",
    [(4, {}), (3, {}), (2, {}), (2, {"size": 7, "dominoes": 48}), (4, {"size": 3}), (2, {"middle": False, "harmony": False})],
)
@pytest.mark.parametrize("seed", range(2))
def test_choices_are_those_of_the_naive_players(players: int, options: dict, seed: int) -> None:
    """In games of greedy turns with random ones mixed in, so that tidy and untidy kingdoms both occur."""
    dice = random.Random(seed)
    oracle, table = Kingdomino(players, **options), Table(find_game("kingdomino"), players, **options)
    while oracle.phase() != "over":
        if oracle.phase() == "chance":
            weights = oracle.chances()
            [outcome] = dice.choices(list(weights), list(weights.values()))
            oracle.apply_chance(outcome)
            table.chance(outcome)
            continue
        expected = {"fixed": full_greedy_turns(oracle, "fixed"), "paper": full_greedy_turns(oracle, "paper")}
        for variant, turns in expected.items():
            assert engine_turns(table, "fg", variant) == turns, (variant, table.position())
        assert engine_turns(table, "gprd") == gprd_turns(oracle, "fixed"), table.position()
        turn = dice.choice(sorted(expected["fixed"])) if dice.random() < 0.7 else ()
        while True:
            seat = oracle.seat()
            action = turn[0] if turn else dice.choice(oracle.legal())
            turn = turn[1:]
            oracle.apply(action)
            table.play(action)
            if oracle.phase() != "decide" or oracle.seat() != seat or not oracle.has_placed:
                break


def test_full_greedy_is_repaired_unless_it_is_to_play_as_in_the_paper() -> None:
    make = heuristics.RULE_PLAYERS["full_greedy"].make
    assert make() == make(variant="fixed") == heuristics.Greedy(looks_ahead=1, repaired=1, by_crowns=1)
    assert make(variant="paper") == heuristics.Greedy(looks_ahead=1, repaired=0, by_crowns=1)
    with pytest.raises(BadOption, match="variant may be fixed or paper"):
        make(variant="papers")


def test_full_greedy_takes_any_of_the_turns_it_likes_equally_well() -> None:
    table, rng = Table(find_game("kingdomino")), make_rng(1)
    for outcome in (0, 1, 2, 3, 0):  # four doubles without crowns, and king 0 picks first
        table.chance(outcome)
    liked = engine_turns(table, "fg")
    assert len(liked) == 4
    states, out = np.zeros(2, table.game.state_dtype), table.game.buffer()
    states[0] = table.states[0]
    chosen = {unpack(int(choose_at(heuristics.Greedy(1, 1, 1), states, 0, out, rng))) for _ in range(200)}
    assert chosen == liked


def test_gprd_of_the_text_picks_at_random_from_the_first_round_on() -> None:
    """Section III.A: it "selects dominoes randomly from the current draft"; the program picks by crowns in the first two rounds."""
    table = Table(find_game("kingdomino"))
    table.run_chance(make_rng(4))
    for round_ in (0, 1):
        while table.states[0]["round"] < round_:
            table.decide(table.legal()[-1], make_rng(5))
        picks = {which: {turn[-1] for turn in engine_turns(table, "gprd", which)} for which in ("text", "program")}
        assert picks["program"] < picks["text"] and len(picks["text"]) == 4


@pytest.mark.parametrize("players, dominoes", [(2, 4), (3, 3), (4, 4)])
@pytest.mark.parametrize("which", ["fg", "gprd"])
def test_in_a_game_of_one_draft_nobody_picks_by_crowns_when_nothing_is_left_to_pick(players: int, dominoes: int, which: str) -> None:
    for seed in range(10):
        table, rng = Table(find_game("kingdomino"), players, dominoes=dominoes), make_rng(seed)
        table.run_chance(rng)
        while not table.over:
            liked = engine_turns(table, which)
            assert liked and {turn[0] for turn in liked} <= set(table.legal())
            if table.states[0]["round"] == 1:
                out = table.game.buffer()
                n = _greedy_turns(table.states, int(which == "fg"), 1, 0, out)  # without crowns
                assert {len(turn) for turn in liked} == {1} and liked == {unpack(turn) for turn in out[best_turns.TURNS :][:n].tolist()}
            table.decide(min(liked)[0], rng)
