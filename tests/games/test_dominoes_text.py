"""Do positions, actions, records, observations and drawings of dominoes say what is on the table, and reject what is not?"""

import random
import re
from itertools import combinations, pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from kdenv.core.errors import BadOption, BadRecord, IllegalAction
from kdenv.core.record import replay
from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.games.dominoes import encoding, rules
from kdenv.games.dominoes.line_layout import REACH, Laid, lay_out
from kdenv.games.dominoes.notation import tiles_in
from kdenv.games.dominoes.tables import CALL, N_ACTIONS, PASS

GAME = find_game("dominoes")
# Seat 0 has all with a 0, seat 1 the other 1s and 2-2, seat 2 the other 2s, 3-3, 3-4 and 3-5, seat 3 the rest.
HANDS = "0-0.0-1.0-2.0-3.0-4.0-5.0-6,1-1.1-2.1-3.1-4.1-5.1-6.2-2,2-3.2-4.2-5.2-6.3-3.3-4.3-5,3-6.4-4.4-5.4-6.5-5.5-6.6-6"
VARIANTS = [{}, {"rules": "dominai_code"}, {"rules": "puerto_rico", "calls": True}, {"mode": "round", "lead": "drawn"}]


def at(turns: str, before: str = "round=1 points=10,20 leader=0", hands: str = HANDS, **options: Any) -> Table:
    return Table(GAME, **options).at_position(f"{before} hands={hands} turns={turns}")


def random_match(seed: int, **options: Any) -> Table:
    dice = random.Random(seed)
    table = Table(GAME, **options)
    while not table.over:
        if table.at_chance:
            table.chance(dice.choice(table.chances())[0])
        else:
            table.play(dice.choice(table.legal()))
    return table


def part(table: Table, seat: int, name: str) -> np.ndarray:
    """One part of an observation."""
    return table.parts(seat, "belief")[name]


# Actions


def test_an_opening_tile_is_just_named():
    assert at("").action("3-0") == 3
    assert at("").name(3) == "0-3"


def test_a_tile_names_the_end_it_covers():
    table = at("0-1")
    assert [table.name(action) for action in table.legal()] == [f"1-{i} on 1" for i in range(1, 7)]
    assert table.action("1-5 on 1") == 7 * 1 + 5


def test_the_end_may_be_left_out_where_only_one_fits():
    assert at("0-1").action("1-5") == at("0-1").action("5-1 on 1")


def test_a_tile_that_fits_both_ends_needs_one():
    table = at("0-1,1-2@1,2-4@2,4-5@4")  # ends 0 and 5
    with pytest.raises(BadRecord, match="write '0-5 on 0' or '0-5 on 5'"):
        table.action("0-5")
    assert table.action("0-5 on 0") == 5
    assert table.action("0-5 on 5") == 7 * 5


@pytest.mark.parametrize(
    "text, problem",
    [
        ("7-1", "'7-1' is no tile"),
        ("1-5 on 2", "1-5 has no 2"),
        ("5-5", "5-5 fits neither end"),
        ("lay 1-5", "is no action"),
        ("", "is no action"),
        ("1-5 on", "is no action"),
        ("1\u0661-5", "is no tile"),
    ],
)
def test_bad_words_get_one_clear_sentence(text, problem):
    with pytest.raises(BadRecord, match=re.escape(problem)):
        at("0-1").action(text)


def test_an_opening_covers_nothing():
    with pytest.raises(BadRecord, match="no tile on the table yet"):
        at("").action("0-1 on 0")
    with pytest.raises(BadRecord, match="no tile on the table yet"):
        at("").name(7)


def test_who_can_play_must_not_pass():
    with pytest.raises(IllegalAction, match=re.escape("action pass is not legal")):
        at("0-1").action("pass")


def test_who_cannot_play_passes():
    table = at("0-0")
    assert [table.name(action) for action in table.legal()] == ["pass"]


def test_a_call_is_legal_only_after_a_pass():
    assert CALL not in at("0-1", calls=True).legal()
    table = at("0-1,pass", calls=True)
    assert table.legal()[-2:] == [PASS, CALL]
    assert table.name(CALL) == "call"


@pytest.mark.parametrize("action", [-1, 51, 2.5, "6-6", None])
def test_what_is_no_action_is_illegal(action):
    with pytest.raises(IllegalAction, match="is not legal in dominoes position"):
        at("0-1").play(action)


# Rules in notation


def test_a_right_call_costs_the_offenders_team_50():
    table = at("0-1,pass", calls=True)  # seat 1 had 1s
    table.play(table.action("call"))
    assert table.scores() == [-10, -70, -10, -70]


def test_a_wrong_call_costs_the_callers_team_50():
    table = at("0-0,pass", calls=True)
    table.play(table.action("call"))
    assert table.scores() == [-60, -20, -60, -20]


def test_a_call_may_be_about_any_pass_since_the_callers_last_turn():
    table = at("0-1,pass,pass,pass", calls=True)
    table.play(table.action("call"))  # seat 1 had 1s, seats 2 and 3 neither
    assert table.scores() == [-10, -70, -10, -70]


def test_a_call_is_not_about_what_happened_before():
    table = at("0-1,pass,pass,pass,0-2@0,1-2@2", calls=True)
    table.play(table.action("call"))  # seat 2 calls seat 3, which had neither 0 nor 1; seat 1 has played since
    assert table.scores() == [-60, -20, -60, -20]


def blocked(rules: str) -> list[int]:
    """The points after 0-0, passes by all and, as calls make possible, one by seat 0 with 68 against 100 pips in hand."""
    table = at("0-0,pass,pass,pass" if rules != "dominai_code" else "0-0,pass,pass", rules=rules, calls=True)
    table.play(PASS)
    return table.scores()


def test_four_passes_end_a_round_and_the_heavier_team_pays():
    assert blocked("paper") == [-10, -120, -10, -120]


def test_three_passes_do_in_the_papers_program():
    assert blocked("dominai_code") == [-10, -120, -10, -120]


def test_a_match_of_ten_thousand_rounds_can_still_be_written():
    table, dice = at("", before="round=9999 points=0,0 leader=0", hands=",,,"), np.random.default_rng(4)
    table.run_chance(dice)
    before = table.scores()
    while table.scores() == before:
        table.play(table.legal()[0])
        table.run_chance(dice)
    assert table.position().startswith("round=9999 ")
    assert table.at_position(table.position()).position() == table.position()


def test_openspiel_counts_the_difference():
    assert blocked("openspiel") == [110, -110, 110, -110]


def test_in_puerto_rico_the_lighter_team_takes_all():
    assert blocked("puerto_rico") == [178, 20, 178, 20]


# Positions and records


def test_every_position_of_a_match_can_be_written_and_read():
    for seed, options in enumerate([*VARIANTS, {"calls": True}, {"rules": "openspiel"}]):
        dice = random.Random(seed)
        table = Table(GAME, **options)
        for _ in range(400):
            twin = Table(GAME, **options).at_position(table.position())
            assert (twin.states == table.states).all(), table.position()
            if table.over:
                break
            if table.at_chance:
                table.chance(dice.choice(table.chances())[0])
            else:
                table.play(dice.choice(table.legal()))


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_a_record_can_be_played_again(options):
    table = random_match(3, **options)
    *_, again = replay(table.record(), find_game)
    assert (again.states == table.states).all()
    assert again.events() == table.events()


def test_a_later_round_can_be_played_alone():
    table = at("0-1", before="round=5 points=0,0 leader=0", mode="round")
    assert table.seat == 1
    assert not table.at_chance


@pytest.mark.parametrize(
    "text, problem",
    [
        ("round=1 points=0,0 hands=,,, turns= x=1", "'x' is no part of a position"),
        ("round=1 points=0,0 hands=,,,", "the position lacks turns="),
        ("round=1 points=0,0 hands=,,, turns=", "the position lacks leader="),
        ("round=1 points=0,0 leader=4 hands=,,, turns=", "leader=4 is not a number from 0 to 3"),
        ("round=-1 points=0,0 leader=0 hands=,,, turns=", "round=-1 is not a number"),
        ("round=\u0661 points=0,0 leader=0 hands=,,, turns=", "is not a number"),
        ("round=1 points=0,100 leader=0 hands=,,, turns=", "points=100 is not a number from 0 to 99"),
        ("round=0 points=0,1 hands=,,, turns=", "points=1 is not a number from 0 to 0"),
        ("round=1 points=0 leader=0 hands=,,, turns=", "points=0 is not the points of two teams"),
        ("round=1 points=0,0 leader=0 hands=,, turns=", "hands= has 3 hands"),
        ("round=1 points=0,0 leader=0 hands=0-0,0-1,, turns=", "seat 1 has 1 tiles; the deal gives seven to seat 0"),
        ("round=1 points=0,0 leader=0 hands=0-0.0-0,,, turns=", "tile 0-0 is dealt twice"),
        ("round=1 points=0,0 leader=0 hands=0-0.9-9,,, turns=", "'9-9' is no tile"),
        ("round=1 points=0,0 leader=0 hands=0-0,,, turns=0-0", "only 1 of 28 tiles are dealt"),
        (f"round=0 points=0,0 leader=0 hands={HANDS} turns=", "leader=0 is wrong: seat 3 leads the first round"),
        (f"round=0 points=0,0 hands={HANDS} turns=5-6", "seat 3 cannot play 5-6 in turn 1"),
        (f"round=1 points=0,0 leader=0 hands={HANDS} turns=0-0,0-1@0", "seat 1 cannot play 0-1@0 in turn 2"),
        (f"round=1 points=0,0 leader=0 hands={HANDS} turns=0-1,pass", "seat 1 cannot pass in turn 2"),
        (f"round=1 points=0,0 leader=0 hands={HANDS} turns=0-1,jump", "'jump' is no tile"),
    ],
)
def test_a_position_that_cannot_be_is_rejected_with_its_reason(text, problem):
    with pytest.raises(BadRecord, match=re.escape(problem)):
        Table(GAME).at_position(text)


def test_options_are_checked():
    with pytest.raises(BadOption, match="rules=texas is not possible; rules may be paper, dominai_code, openspiel or puerto_rico"):
        Table(GAME, rules="texas")
    with pytest.raises(BadOption, match="dominoes cannot be played by 2 players"):
        Table(GAME, 2)


# Observations and history


@pytest.mark.parametrize("name, size", [("tiles", 195), ("belief", 279)])
def test_an_observation_has_the_size_announced(name, size):
    assert Table(GAME).observation(0, name).shape == (size,)


def test_belief_is_added_to_what_is_seen_without_it():
    table = at("0-1,1-2@1,2-3@2,3-6@3,0-0@0,1-6@6")
    assert np.array_equal(table.observation(2, "belief")[:195], table.observation(2))


def test_an_observation_shows_the_table_from_the_seat():
    table = at("0-1,1-2@1,2-3@2,3-6@3,0-0@0,1-6@6")
    assert part(table, 2, "hand").sum() == 6
    assert [tuple(np.flatnonzero(row).tolist()) for row in part(table, 2, "played")] == [(14,), (21,), (0, 1), (8, 12)]
    assert part(table, 2, "ends").tolist() == [0.5, 0.5, 0, 0, 0, 0, 0]
    assert (part(table, 2, "hand_sizes") * 7).round().tolist() == [6, 6, 5, 5]
    assert part(table, 2, "leader").tolist() == [0, 0, 1, 0]
    assert part(table, 2, "to_move").tolist() == [1, 0, 0, 0]
    assert part(table, 2, "points") == pytest.approx([0.1, 0.2])
    assert part(table, 3, "points") == pytest.approx([0.2, 0.1])


def test_an_observation_shows_what_a_pass_has_shown():
    table = at("0-1,1-2@1,2-3@2,3-6@3,0-0@0,1-6@6,pass")
    assert np.flatnonzero(part(table, 3, "lacks")[3]).tolist() == [0, 1]
    assert part(table, 3, "passed").tolist() == [0, 0, 0, 1]
    assert part(table, 3, "passes") == 0.25


def test_what_turns_out_a_lie_is_forgotten():
    table = at("0-1,pass,pass,pass,0-2@0,1-2@1", calls=True)
    assert int(table.states[0]["lacks"][1]) == 0b1  # it claimed to have no 0 and no 1


def test_belief_in_an_observation_is_the_exact_marginals():
    table = at("0-0,pass,pass,pass")
    shares = part(table, 0, "belief")
    assert (shares[:, [0, 1, 2, 3, 4, 5, 6]] == 0).all()
    assert shares[:, 7:] == pytest.approx(1 / 3)


def test_history_is_lossless():
    for seed in range(5):
        dice = random.Random(seed)
        table = Table(GAME, mode="round", calls=seed % 2 == 1)
        table.run_chance(np.random.default_rng(seed))
        leader, actions = table.seat, []
        while not table.over:
            actions.append(dice.choice(table.legal()))
            table.play(actions[-1])
        out = np.zeros(rules.MOST_TURNS, np.int64)
        n = encoding.history(table.states, 0, 2, out)
        assert [(int(x) // N_ACTIONS, int(x) % N_ACTIONS) for x in out[:n]] == [((leader + i - 2) % 4, a) for i, a in enumerate(actions)]


def test_a_seat_sees_only_the_tiles_it_is_dealt():
    table = Table(GAME)
    table.run_chance(np.random.default_rng(1))
    seen = [event.number for event in table.view(2).events()]
    assert [number for number in seen if number is not None] == [event.number for event in table.events()][14:21]
    assert sorted(seen[14:21]) == tiles_in(table.states[0]["hands"][2])


# Drawings


def test_a_drawing_for_a_seat_hides_the_other_hands():
    table = at("0-1")
    for seat in range(4):
        states = table.view(seat).states
        assert GAME.drawing.svg(table.states, 0, seat) == GAME.drawing.svg(states, 0, seat)
        assert GAME.drawing.ansi(table.states, 0, seat) == GAME.drawing.ansi(states, 0, seat)
    assert "[0|2] [0|3]" in GAME.drawing.ansi(table.states, 0, 0)
    assert "[0|2] [0|3]" not in GAME.drawing.ansi(table.states, 0, 1)


def test_the_line_is_read_from_left_to_right_and_back():
    table = random_match(5, mode="round")
    rows = [row for row in str(table).splitlines() if row.strip().startswith("[")]
    pips = re.findall(r"\d\|\d", rows[0]) + [pair[::-1] for pair in reversed(re.findall(r"\d\|\d", rows[1]))]
    assert all(left[2] == right[0] for left, right in pairwise(pips))
    assert len(pips) == sum(len(tiles_in(played)) for played in table.states[0]["played"])


def boxes(placed: list) -> list[tuple[float, float, float, float]]:
    return [(min(a.x, b.x) - 0.5, min(a.y, b.y) - 0.5, max(a.x, b.x) + 0.5, max(a.y, b.y) + 0.5) for a, b, _ in placed]


@pytest.mark.parametrize("n_left", [0, 5, 12, 24])
@pytest.mark.parametrize("seed", range(10))
def test_tiles_of_the_snake_neither_overlap_nor_leave_the_table(seed, n_left):
    dice = random.Random(seed)
    line = [Laid(0, 0 if dice.random() < 0.25 else 1, turn) for turn in range(25)]
    placed = boxes(lay_out(line, n_left))
    for left, top, right, bottom in placed:
        assert max(-left, right) <= REACH
        assert max(-top, bottom) <= 6
    for a, b in combinations(placed, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a, b)


def test_a_drawing_is_well_formed_at_every_stage():
    over = [random_match(seed, mode="round", calls=seed % 2 == 1) for seed in range(4)]
    for table in (Table(GAME), Table(GAME, lead="drawn"), at("0-1"), at("0-1,pass", calls=True), *over):
        ElementTree.fromstring(table.svg())
        assert str(table)


def test_the_numbers_of_a_drawing_are_in_the_letters_of_all_drawings():
    """They are the points of both teams, the round and the four seats. Each letter that is used is defined once."""
    drawing = at("0-1").svg()
    assert re.findall(r'aria-label="(\d+)"', drawing) == ["10", "20", "2", "0", "1", "2", "3"]
    defined = re.findall(r'<path id="(k\d+)"', drawing)
    assert sorted(defined) == sorted(set(re.findall(r'href="#(k\d+)"', drawing)))
