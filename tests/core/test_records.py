"""Is a game written down the game read back, and is every text that is none refused in one sentence?"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import three_shells
from hypothesis import given, settings
from hypothesis import strategies as st
from mutants import look_at_everything, mutants
from random_games import KINGDOMINO_VARIANTS, play_on, random_game

from kdenv.core.errors import BadOption, BadRecord, IllegalAction, KdenvError
from kdenv.core.game import Game
from kdenv.core.record import replay
from kdenv.core.table import Table
from kdenv.games import find_game

KINGDOMINO = find_game("kingdomino")


def find(name: str) -> Game:
    return three_shells.GAME if name == "three_shells" else find_game(name)


def read(text: str) -> Table:
    """The table a record ends with."""
    *_, last = replay(text, find)
    return last


def refusal(text: str) -> str:
    """What is said of a text that is no record; one line."""
    with pytest.raises(BadRecord) as error:
        read(text)
    message = str(error.value)
    assert message and "\n" not in message
    return message


# --- Round trips ---


seeds = st.integers(0, 2**32)


@given(st.sampled_from(KINGDOMINO_VARIANTS), seeds, st.none() | st.integers(0, 30))
@settings(max_examples=30, deadline=None)
def test_a_record_read_and_written_again_is_the_same(variant: tuple[int, dict], seed: int, decisions: int | None) -> None:
    players, options = variant
    table = random_game(KINGDOMINO, seed, players, decisions, **options)
    again = read(table.record())
    assert again.record() == table.record()
    assert again.states.tobytes() == table.states.tobytes()
    assert again.options == table.options


@given(st.sampled_from(KINGDOMINO_VARIANTS), seeds, st.integers(0, 60))
@settings(max_examples=60, deadline=None)
def test_a_position_read_and_written_again_is_the_same(variant: tuple[int, dict], seed: int, decisions: int) -> None:
    players, options = variant
    table = random_game(KINGDOMINO, seed, players, decisions, **options)
    again = Table(KINGDOMINO, players, **options).at_position(table.position())
    assert again.position() == table.position()
    assert again.legal() == table.legal()
    assert again.observation(0).tobytes() == table.observation(0).tobytes()
    assert play_on(again, seed).scores() == play_on(table, seed).scores()


@given(st.sampled_from(KINGDOMINO_VARIANTS), seeds, st.integers(0, 20))
@settings(max_examples=20, deadline=None)
def test_a_game_from_a_position_has_a_record_too(variant: tuple[int, dict], seed: int, decisions: int) -> None:
    players, options = variant
    position = random_game(KINGDOMINO, seed, players, decisions, **options).position()
    table = play_on(Table(KINGDOMINO, players, **options).at_position(position), seed)
    assert read(table.record()).record() == table.record()


def test_a_position_over_several_lines_does_not_break_the_record() -> None:
    position = random_game(KINGDOMINO, 1, 2, 5).position()
    table = Table(KINGDOMINO, 2).at_position(position.replace(" ", "\n "))
    assert read(table.record()).position() == position


def test_replay_shows_the_table_after_every_line() -> None:
    record = random_game(three_shells.GAME, 1).record()
    assert [len(table.log) for table in replay(record, find)] == [0, 1, 2, 3, 4]


def test_blank_lines_and_spaces_do_not_matter() -> None:
    record = random_game(KINGDOMINO, 2, 2, 3).record()
    assert read("\n\n" + record.replace("\n", "  \r\n\n")).record() == record


# --- What is no record ---

MANY = "9" * 5000  # digits; Python's int() refuses so many

GOOD = """\
kdenv three_shells players=2 most=3
* pea 1
0: stake 2
1: point 2
* coin 1
= 4 -4
"""


def test_the_good_record_is_good() -> None:
    assert read(GOOD).record() == GOOD


@pytest.mark.parametrize(
    "old, new, message",
    [
        (GOOD, "", "this is not a record: it is empty, not with 'kdenv <game> players=...'"),
        (GOOD, "\n  \n", "this is not a record: it is empty, not with 'kdenv <game> players=...'"),
        (GOOD, "hello\nworld", "this is not a record: it begins with 'hello', not with 'kdenv <game> players=...'"),
        (
            "kdenv three_shells",
            "three_shells",
            "this is not a record: it begins with 'three_shells players=2 most=3', not with 'kdenv <game> players=...'",
        ),
        ("= 4 -4\n", "", "the record is cut short: after line 5 ('* coin 1') the closing line '= <points>' is missing"),
        (
            "kdenv three_shells",
            "kdenv three_shell",
            "line 1 of the record ('kdenv three_shell players=2 most=3'): there is no game three_shell",
        ),
        (
            "players=2",
            "players=3",
            "line 1 of the record ('kdenv three_shells players=3 most=3'): three_shells cannot be played by 3 players",
        ),
        ("players=2", "players=two", "line 1 of the record ('kdenv three_shells players=two most=3'): players=two is not a number"),
        ("most=3", "most=7", "line 1 of the record ('kdenv three_shells players=2 most=7'): most=7 is not possible; most may be 3, 2 or 1"),
        ("most=3", "least=3", "line 1 of the record ('kdenv three_shells players=2 least=3'): three_shells has no option least"),
        ("most=3", "most", "line 1 of the record ('kdenv three_shells players=2 most'): 'most' is not an option; write name=value"),
        ("most=3", "most=3 most=2", "line 1 of the record ('kdenv three_shells players=2 most=3 most=2'): most is given twice"),
        ("pea 1", "pea 8", "line 2 of the record ('* pea 8'): 'pea 8' is nothing that chance does; it is 'pea 0' or 'coin 1'"),
        ("* pea 1\n", "", "line 2 of the record ('0: stake 2'): it is not the turn of seat 0: chance is next"),
        ("0: stake 2", "1: stake 2", "line 3 of the record ('1: stake 2'): it is not the turn of seat 1: seat 0 decides"),
        ("0: stake 2", "0: stake 9", "line 3 of the record ('0: stake 9'): 'stake 9' is no action; write 'stake 1', 'point 0' or 'pass'"),
        (
            "0: stake 2",
            "0: pass",
            "line 3 of the record ('0: pass'): action pass is not legal in three_shells position stage=1 pea=1 stake=0",
        ),
        (
            "0: stake 2",
            "* coin 1",
            "line 3 of the record ('* coin 1'): chance outcome 1 is not legal in three_shells position stage=1 pea=1 ",
        ),
        (
            "0: stake 2",
            "stake 2",
            "line 3 of the record ('stake 2'): a line is '* <chance>', '<seat>: <action>', 'start <position>' or '= <points>'",
        ),
        ("0: stake 2", "x: stake 2", "line 3 of the record ('x: stake 2'): a line is '* <chance>', '<seat>: <action>'"),
        ("= 4 -4", "= 4 -4\n= 4 -4", "line 6 of the record ('= 4 -4'): a line is '* <chance>', '<seat>: <action>'"),
        ("= 4 -4", "1: pass\n= 4 -4", "line 6 of the record ('1: pass'): it is not the turn of seat 1: the game is over"),
        ("= 4 -4", "= 4 -3", "line 6 of the record ('= 4 -3'): the points are wrong; the closing line must be '= 4 -4'"),
        ("= 4 -4", "= 4", "line 6 of the record ('= 4'): the points are wrong; the closing line must be '= 4 -4'"),
        ("= 4 -4", "= unfinished", "line 6 of the record ('= unfinished'): the game is over, so the closing line must be '= 4 -4'"),
        ("* coin 1\n", "", "line 5 of the record ('= 4 -4'): the game is not over, so the closing line must be '= unfinished'"),
        ("* pea 1", "start nonsense", "line 2 of the record ('start nonsense'): a position has stage, pea, stake, guess, coin, each once"),
        (
            "0: stake 2",
            "start stage=1 pea=1 stake=0 guess=-1 coin=-1",
            "line 3 of the record ('start stage=1 pea=1 stake=0 guess=-1 coin=-1'): the position to start from must be the second line,",
        ),
    ],
)
def test_a_bad_record_is_told_by_its_line_and_its_mistake(old: str, new: str, message: str) -> None:
    assert GOOD.count(old) == 1
    assert refusal(GOOD.replace(old, new)).startswith(message)


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("most=3", "game=x", "three_shells has no option game; its options are most"),
        ("most=3", "self=x", "three_shells has no option self; its options are most"),
        ("most=3", f"most={MANY}", f"most={MANY[:80]}... is not possible"),
        ("most=3", f"{MANY}=3", f"three_shells has no option {MANY[:80]}..."),
        ("players=2", f"players={MANY}", f"players={MANY[:80]}... is not a number"),
        ("0: stake", f"{MANY}: stake", f"{MANY[:80]}... is larger than any number of a game"),
        ("stake 2", f"stake {MANY}", f"{MANY[:80]}... is larger than any number of a game"),
        ("three_shells", MANY, f"there is no game {MANY[:80]}..."),
    ],
)
def test_names_of_pythons_own_and_endless_numbers_are_refused_in_a_line(old: str, new: str, message: str) -> None:
    assert GOOD.count(old) == 1
    refused = refusal(GOOD.replace(old, new))
    assert message in refused
    assert len(refused) < 400


def test_a_record_cut_anywhere_is_noticed() -> None:
    record = random_game(KINGDOMINO, 3, 2, size=3, dominoes=8).record()
    for cut in range(len(record) - 1):
        assert refusal(record[:cut])


def test_an_unfinished_record_cut_anywhere_is_noticed() -> None:
    record = random_game(KINGDOMINO, 3, 2, 5, size=3, dominoes=8).record()
    assert record.endswith("\n= unfinished\n")
    for cut in range(len(record) - 1):
        assert refusal(record[:cut])


# --- What is no position ---

POSITION = "round=1 stage=place turn=0 kingdoms=X,X queue=1:0,2:1,3:0,4:1 draft=5,6,7,8 box=9-48"


def position(text: str) -> Table:
    return Table(KINGDOMINO, 2, size=3, dominoes=12).at_position(text)


def test_the_good_position_is_good() -> None:
    assert position(POSITION).position() == POSITION


@pytest.mark.parametrize(
    "old, new, message",
    [
        (POSITION, "", "the position lacks box="),
        ("round=1 ", "", "the position lacks round="),
        ("round=1", "round=-1", "round=-1 is not a number from 0 to 3"),
        ("round=1", "round=4", "round=4 is not a number from 0 to 3"),
        ("round=1", "round=1 round=2", "the position has round= twice"),
        ("round=1", "rnd=1", "'rnd' is no part of a position; the parts are "),
        ("stage=place", "stage=dance", "stage=dance is not one of draw, call, place, pick, over"),
        ("stage=place", "stage=draw", "nothing is left to draw: "),
        ("stage=place", "stage=pick turn=4", "the position has turn= twice"),
        ("turn=0", "turn=4", "draft needs 4 dominoes with a king on 4 of them at turn=4"),
        ("X,X", "X", "1 kingdoms for 2 players"),
        ("X,X", "X,Y", "the row 'Y' of kingdom 1 is not made of w f l p c m, + for crowns, X and ."),
        ("X,X", "X,ww", "kingdom 1 has 0 castles (X), not one"),
        ("X,X", "X,XX", "kingdom 1 has 2 castles (X), not one"),
        ("X,X", "X,Xwww", "the rows of kingdom 1 are not all alike and within 3 x 3"),
        ("X,X", "X,Xw/w", "the rows of kingdom 1 are not all alike and within 3 x 3"),
        ("X,X", "X,X/w/w/w", "the rows of kingdom 1 are not all alike and within 3 x 3"),
        ("X,X", "X,Xw++++w", "the row 'Xw++++w' of kingdom 1 is not made of "),
        ("queue=1:0,", "queue=", "queue needs 4 dominoes, each with the seat that owns it"),
        ("queue=1:0", "queue=1", "queue needs 4 dominoes, each with the seat that owns it"),
        ("queue=1:0", "queue=1:2", "the king on domino 1 in queue=2 is not a number from 0 to 1"),
        ("queue=1:0", "queue=2:0", "the dominoes of queue do not ascend: 2:0,2:1,3:0,4:1"),
        ("queue=1:0", "queue=49:0", "'49' is no domino; dominoes are 1 to 48"),
        ("draft=5", "draft=4", "domino 4 is on the table twice"),
        ("draft=5", "draft=1,5", "draft has 5 dominoes; 4 are drawn at a time"),
        ("draft=5,", "draft=", "draft needs 4 dominoes with a king on 0 of them at turn=0"),
        ("draft=5", "draft=5:1", "draft needs 4 dominoes with a king on 0 of them at turn=0"),
        ("box=9", "box=8", "domino 8 is both in the box and on the table"),
        ("box=9-48", "box=9-48,9", "box=9-48,9 lists a domino twice"),
        ("box=9-48", "box=9", "the box holds 1 dominoes, but 4 are still to be drawn"),
        ("box=9-48", "box=9-x", "'x' is no domino; dominoes are 1 to 48"),
    ],
)
def test_a_bad_position_is_told_by_its_mistake(old: str, new: str, message: str) -> None:
    assert POSITION.count(old) == 1
    with pytest.raises(BadRecord) as error:
        position(POSITION.replace(old, new))
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


# --- Whatever is read ---


@pytest.mark.parametrize("players, options", KINGDOMINO_VARIANTS)
def test_a_mutated_record_is_read_or_refused(players: int, options: dict) -> None:
    record = random_game(KINGDOMINO, 5, players, 12, **options).record()
    refused = 0
    for mutant in mutants(record, seed=players, many=150):
        try:
            read(mutant)
        except BadRecord as error:
            refused += 1
            assert "\n" not in str(error), mutant
    assert refused > 50


FUZZ = Path(__file__).parents[1] / "support" / "record_fuzz.py"


def fuzzed(seed: int, many: int, seconds: float) -> list[dict[str, Any]]:
    """What became of mutated records of all games; in a process of its own, so that one that hangs is noticed."""
    command = [sys.executable, str(FUZZ), str(seed), str(many)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=seconds, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("many, seconds", [(150, 300), pytest.param(20_000, 3600, marks=pytest.mark.slow)])
def test_mutated_records_of_all_games_are_read_or_refused_in_a_line(many: int, seconds: float) -> None:
    tallies = fuzzed(1, many, seconds)
    assert len(tallies) == 4
    for tally in tallies:
        assert tally["failures"] == []
        assert tally["refused"] > many / 2
        assert tally["read"] > 0


@pytest.mark.parametrize("players, options", KINGDOMINO_VARIANTS)
@pytest.mark.parametrize("decisions", [0, 3, 9])
def test_a_mutated_position_is_refused_or_can_be_played_to_its_end(players: int, options: dict, decisions: int) -> None:
    """tests/compiler/test_no_jit.py does this again where an index beyond an array is an error."""
    text = random_game(KINGDOMINO, 6, players, decisions, **options).position()
    accepted = 0
    for mutant in mutants(text, seed=players, many=60):
        table = Table(KINGDOMINO, players, **options)
        try:
            table.at_position(mutant)
        except (BadRecord, BadOption, IllegalAction) as error:
            assert "\n" not in str(error), mutant
            continue
        accepted += 1
        assert Table(KINGDOMINO, players, **options).at_position(table.position()).position() == table.position(), mutant
        look_at_everything(table)
        look_at_everything(play_on(table, 1))
    assert accepted > 0


@given(st.text())
def test_no_text_is_worse_than_refused(text: str) -> None:
    for do in (
        read,
        position,
        position(POSITION).action,
        lambda words: KINGDOMINO.notation.chance_from(position(POSITION).states, 0, words),
    ):
        try:
            do(text)
        except KdenvError as error:
            assert "\n" not in str(error)
