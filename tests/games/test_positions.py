"""Positions in all games: mutated texts are refused in a sentence or can be played on by everybody; those of every README are legal.

Kernels cannot be interrupted, so the fuzzer (fuzz_positions.py) runs in processes that have a limit of time.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from dominion_at import at, go
from fuzz_positions import ask_players

from kdenv.compiler.random import make_rng
from kdenv.core.errors import BadOption, BadRecord, KdenvError
from kdenv.core.table import Table
from kdenv.games import find_game, names
from kdenv.games.dominion.progress import MAX_DEPTH
from kdenv.games.dominion.tables import N_KINGDOM_PILE, N_VICTORY

ROOT = Path(__file__).resolve().parents[2]


def fuzzed(game: str, seed: int, many: int, file: Path, seconds: int, **environment: str) -> dict[str, Any]:
    """What became of so many mutated positions; where a process hangs or crashes, the position is told."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    paths = os.pathsep.join(str(ROOT / folder) for folder in (".", "tests/support", "examples"))
    command = [sys.executable, "-X", "faulthandler", "tests/support/fuzz_positions.py", game, str(seed), str(many), str(file)]
    try:
        environment = {**clean, "PYTHONPATH": paths, **environment}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        pytest.fail(f"more than {seconds} seconds; in hand was {file.read_text('utf-8')}")
    assert done.returncode == 0, f"{done.stderr[-2000:]}\nin hand was {file.read_text('utf-8') if file.exists() else 'nothing'}"
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def check(found: dict[str, Any]) -> None:
    """Nothing failed, and enough was accepted for that to mean something."""
    assert found["failed"] == [], found["failed"][:3]
    assert found["accepted"] > found["tried"] / 50


@pytest.mark.cold
@pytest.mark.parametrize("game", names())
def test_a_mutated_position_is_refused_or_can_be_played_on_by_all(game: str, tmp_path: Path) -> None:
    check(fuzzed(game, 1, 400, tmp_path / "in_hand", 600))


@pytest.mark.slow
@pytest.mark.parametrize("game", names())
@pytest.mark.parametrize("seed", range(2, 5))
def test_many_mutated_positions_stay_within_all_arrays(game: str, seed: int, tmp_path: Path) -> None:
    check(fuzzed(game, seed, 5000, tmp_path / "in_hand", 3600, NUMBA_BOUNDSCHECK="1"))


@pytest.mark.cold
def test_the_fuzzer_notices_an_action_that_is_not_legal(tmp_path: Path) -> None:
    """Where big_money buys without a look at the pile, as it did."""
    code = """
import fuzz_positions
from kdenv.compiler.kernel import kernel
from kdenv.core.questions import plays
from kdenv.core.turns import packed
from typing import NamedTuple
class Blind(NamedTuple):
    province: int
@plays(Blind)
@kernel
def _choose_blindly(player, states, k, out, rng):
    return packed(player.province if states[k].coins >= 8 else 0)
from dominion_at import at
from kdenv.compiler.random import make_rng
table = at("Festival", "", stage="buy", node="buy", coins="16", buys="2", supply={"Province": 1})
blind = Blind(table.action("buy Province"))
fuzz_positions.players_of = lambda game: {"blind": blind}
try:
    fuzz_positions.ask_players(table, make_rng(1))
except AssertionError as error:
    print(str(error).split(" at ")[0], blind.province)
"""
    file = tmp_path / "blind.py"
    file.write_text(code, "utf-8")
    paths = os.pathsep.join(str(ROOT / folder) for folder in (".", "tests/support", "examples"))
    done = subprocess.run([sys.executable, str(file)], cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True)
    assert re.fullmatch(r"blind plays action (\d+) \1\n", done.stdout), done.stdout + done.stderr


# --- What was found by attack ---


@pytest.mark.parametrize("kingdom", ["Village", "Market, Woodcutter, Witch"])
def test_every_player_of_dominion_leaves_a_pile_that_is_sold_out(kingdom: str) -> None:
    """Two buys for one Province: the second is something else (issue 10, E)."""
    table = at(f"{kingdom}, Festival", "", stage="buy", node="buy", coins="16", buys="2", supply={"Province": 1})
    for seed in range(20):
        ask_players(table, make_rng(seed))
    assert table.states[0]["supply"][5] == 1


def test_the_stack_of_cards_being_played_holds_all_that_legal_play_needs() -> None:
    """Ten Throne Rooms, each of which plays the next one, and a Laboratory; a Throne Room that were a victory card has twelve."""
    table = at("Throne Room, Laboratory", "10 Throne Room 1 Laboratory", "9 Copper", others=())
    for _ in range(10):
        table.play(table.action("play Throne Room"))
    table.play(table.action("play Laboratory"))
    assert table.states[0]["depth"] == 11 <= MAX_DEPTH
    assert max(N_KINGDOM_PILE, *N_VICTORY) + 1 == MAX_DEPTH


def test_a_throne_room_finds_nothing_to_play_where_the_stack_is_full() -> None:
    """No text can say so, but a state can: the card above the last place is not played, and nothing is overwritten."""
    table = at("Throne Room, Village", "1 Throne Room 5 Village", others=())
    s = table.states[0]
    for d in range(MAX_DEPTH - 1):
        s["run_slot"][d] = s["run_slot"][0] = table.game.notation.slot_from(s, "Throne Room")
        s["run_step"][d], s["run_plays"][d] = 1, 1
    s["depth"] = MAX_DEPTH - 1
    s["play"][int(s["run_slot"][0])] = MAX_DEPTH - 1
    table.play(table.action("play Throne Room"))
    assert (table.seat, table.states[0]["depth"], int(table.states[0]["hand"][0].sum())) == (0, 0, 5)
    assert int(table.states[0]["sub"]) == 0


HEAP = "hand 0: 10 Throne Room 117 Workshop 100 Laboratory; actions: 9999"


def test_the_position_that_wrote_past_its_buffers_is_refused() -> None:
    table = Table(find_game("dominion"), 1, kingdom=["Throne Room", "Workshop", "Laboratory"])
    position = dict(part.split(": ", 1) if ": " in part else (part[:-1], "") for part in table.position().split("; ") if "draw" not in part)
    position |= {"stage": "action", "node": "play", "turns": "1", "supply": position["supply"].replace("10 Throne Room", "120 Throne Room")}
    position |= dict(part.split(": ") for part in HEAP.split("; "))
    with pytest.raises(BadRecord, match="is not a number from 0 to"):
        table.at_position("; ".join(f"{name}: {value}" for name, value in position.items()))


@pytest.mark.parametrize("others", [("1 Copper",), ("3 Copper",)])
def test_a_militia_never_waits_for_a_hand_that_is_small_enough(others: tuple[str, ...]) -> None:
    """Registers said two cards were to be discarded by a seat that had one: a kernel went round for ever."""
    militia = go(at("Militia", "1 Militia"), "play Militia").position().replace("hand 1: 5 Copper", f"hand 1: {others[0]}")
    with pytest.raises(BadRecord, match="none are left to choose"):
        at("Militia", "1 Militia").at_position(militia)


KINGDOMINO = "round=1 stage=place turn=0 kingdoms=X,X,X,X queue=13:0,14:1,15:2,16:3 draft=1,2,3,4 box=5-12,17-48"


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("13:0,14:1,15:2,16:3", "13:0,14:0,15:0,16:0", "the kings on the queue are those of seats 0, 0, 0, 0, but every seat has 1"),
        ("turn=0 kingdoms", "turn=1 kingdoms", "draft needs 4 dominoes with a king on 1 of them"),
        ("draft=1,2", "draft=1:2,2", "draft needs 4 dominoes with a king on 0 of them"),
        ("stage=place", "stage=over", "the game is over after the last king of the last round, that is round=12 turn=4"),
        ("round=1 stage=place", "round=0 stage=over", "nothing is in the queue in round 0"),
        ("kingdoms=X,", "kingdoms=Xw,", "kingdom 0 has 1 squares besides its castle"),
        ("kingdoms=X,", "kingdoms=Xww,", "kingdom 0 has 2 squares, but its seat has placed 0 dominoes by then"),
        ("kingdoms=X,", "kingdoms=X../...,", "kingdom 0 has an empty row or column at its border"),
        ("box=5-12,17-48", "box=5-12", "the box holds 8 dominoes, but 40 are still to be drawn"),
    ],
)
def test_a_position_of_kingdomino_that_cannot_be_is_refused(old: str, new: str, message: str) -> None:
    table = Table(find_game("kingdomino"), 4).at_position(KINGDOMINO)
    assert KINGDOMINO.count(old) == 1
    with pytest.raises(BadRecord) as error:
        table.at_position(KINGDOMINO.replace(old, new))
    assert message in str(error.value)


def test_the_kings_on_the_draft_are_of_those_who_have_picked() -> None:
    later = KINGDOMINO.replace("turn=0", "turn=1").replace("draft=1", "draft=1:0")
    table = Table(find_game("kingdomino"), 4).at_position(later)
    with pytest.raises(BadRecord, match="the kings on the draft are those of seats 2, but by then 0 have picked"):
        table.at_position(later.replace("draft=1:0", "draft=1:2"))


def test_squares_of_a_kingdom_are_connected_with_its_castle() -> None:
    later = "round=2 stage=place turn=0 kingdoms=Xww,X,X,X queue=13:0,14:1,15:2,16:3 draft=1,2,3,4 box=9-12,17-48"
    table = Table(find_game("kingdomino"), 4).at_position(later)
    with pytest.raises(BadRecord, match="squares that are not connected with its castle"):
        table.at_position(later.replace("Xww", "X.ww"))


def test_no_seat_of_carcassonne_has_more_points_than_there_were() -> None:
    start = "stage=place drawn=E turn=0 points=0,0 tiles=D+0+0r0,E+0+1r2 bag=U1"
    table = Table(find_game("carcassonne")).at_position(start.replace("points=0,0", "points=1003,0"))
    with pytest.raises(BadRecord, match="points=1004 is not a number from 0 to 1003"):
        table.at_position(start.replace("points=0,0", "points=0,1004"))
    with pytest.raises(BadRecord, match="has turn= twice"):
        table.at_position(start + " turn=1")


def test_points_of_a_match_of_dominoes_need_rounds() -> None:
    table = Table(find_game("dominoes"), rules="puerto_rico")
    with pytest.raises(BadRecord, match="points=100,90 are too many for 1 rounds"):
        table.at_position("round=1 points=100,90 leader=0 hands=,,, turns=")


# --- Long and strange ---

LONG = {"digits": "9" * 5000, "letters": "x" * 10_000_000, "nested": "(" * 5000, "empty": "", "zero": "\0"}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
@pytest.mark.parametrize("game", names())
def test_no_text_costs_more_than_a_sentence(game: str, text: str) -> None:
    """As a position, inside one, as an action, as an outcome of chance and as a value of every option."""
    table = Table(find_game(game))
    position = table.position()
    began = time.process_time()
    for number in sorted({match.span() for match in re.finditer(r"\d+", position)})[:3]:
        _is_a_sentence(lambda number=number: table.at_position(position[: number[0]] + text + position[number[1] :]))
    _is_a_sentence(lambda: table.at_position(text))
    for before in ("", "place ", "place 1 e4 ", "buy ", "pick ", "draw ", "claim city ", "3-5 on "):
        words = before + text
        _is_a_sentence(lambda words=words: table.action(words))
        _is_a_sentence(lambda words=words: table.game.notation.chance_from(table.states, 0, words))
    for option in table.options:
        values = [text, [text], [[text]] * 3]
        for value in values if text == "" or len(text) < 10_000 or option != "kingdom" else [text, f"{text},{text}", [text]]:
            _is_a_sentence(lambda option=option, value=value: Table(table.game, **{option: value}))
        _is_a_sentence(lambda option=option: Table(table.game, **{option: 10**5000}))
    assert time.process_time() - began < 20


def _is_a_sentence(ask: Any) -> None:
    try:
        ask()
    except KdenvError as error:
        assert len(str(error)) < 1500
        assert "\n" not in str(error)


def test_a_kingdom_of_many_cards_is_refused_before_they_are_looked_up() -> None:
    with pytest.raises(BadOption, match="the kingdom has 1,000,000 cards; there is room for 10"):
        Table(find_game("dominion"), kingdom=["Moat"] * 1_000_000)


# --- What the READMEs and notations say ---


def examples(game: str) -> list[str]:
    """Every word in backquotes of a game's README and of the page of its notation."""
    folder = ROOT / "kdenv" / "games" / game
    page = (folder / "notation.py").read_text("utf-8").split('"""')[1]
    return re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```", "", (folder / "README.md").read_text("utf-8"), flags=re.M | re.S) + page)


def positions_in(game: str) -> list[str]:
    first = {"kingdomino": "round=", "carcassonne": "stage=", "dominoes": "round="}[game]
    return [" ".join(text.split()) for text in examples(game) if text.startswith(first) and len(text) > 40]


@pytest.mark.parametrize("game", ["kingdomino", "carcassonne", "dominoes"])
def test_the_positions_that_are_written_as_examples_are_legal(game: str) -> None:
    texts = positions_in(game)
    assert texts
    for text in texts:
        assert Table(find_game(game)).at_position(text).position() == text


# --- What mutants showed to be untested ---


def test_the_official_tie_break_counts_every_crown_of_a_square() -> None:
    """Two points and a largest area of three squares each; two crowns on one square are more than one crown."""
    table = Table(find_game("kingdomino"), 2, tiebreak="official", middle=False, harmony=False)
    table.at_position("round=6 stage=over turn=4 kingdoms=Xfff/w+wl.,Xfff/p++wl. queue= draft= box=")
    assert table.scores() == [2, 2]
    assert table.ranks() == [2, 1]
