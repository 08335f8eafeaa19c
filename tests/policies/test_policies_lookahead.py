"""The policies expectimax, star1, star2 and star2.5: what they play, when they stop, what they tell, what they refuse."""

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from clocks import by_processor_time
from naive.lookahead import values_of_turns

from kdenv.compiler.random import make_rng
from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.table import Table
from kdenv.games import find_game, names
from kdenv.policies import listing, policy

CARCASSONNE, KINGDOMINO, DOMINOES = find_game("carcassonne"), find_game("kingdomino"), find_game("dominoes")
KINDS = ("expectimax", "star1", "star2", "star2.5")
END = "stage=place drawn=V turn=0 points=3,0 tiles=D+0+0r0@E0 bag=E1,U1"
MIDDLE = (
    "stage=place drawn=A turn=0 points=4,0 tiles=D+0+0r0,V-1+0r3@E0,H-2+0r1@nw1,U+0-1r1,L+1-1r1,E-3+0r3,J-1-1r3,S+0+1r1@nw0,N+0-2r1@E1,"
    "E-4+0r1,O-2+1r3@N1 bag=A1,B4,C1,D3,E3,F2,G1,H2,I2,J2,K3,L2,M2,N2,O1,P3,Q1,R3,S1,T1,U7,V8,W4,X1"
)


def at(text: str) -> Any:
    """The view of the seat to move in a position of two-player Carcassonne."""
    table = Table(CARCASSONNE, 2).at_position(text)
    assert table.seat is not None
    return table.view(table.seat)


@pytest.mark.parametrize("kind", KINDS)
def test_the_turn_played_is_one_of_the_best(kind: str) -> None:
    table = Table(CARCASSONNE, 2).at_position(END)
    values = values_of_turns(table, 3)
    searcher = policy(f"{kind}(depth=3, evaluate=margin)")
    turn = searcher.choose_turn(table.view(0))  # type: ignore[attr-defined]
    assert values[turn] == pytest.approx(max(values.values()))
    first = searcher.act(table.view(0))
    table.play(first)
    if table.seat == 0:
        table.play(searcher.act(table.view(0)))  # the claim, as planned
    assert searcher.n_playouts > 0


@pytest.mark.parametrize("kind", KINDS)
def test_analysis_has_the_exact_value_of_every_turn_and_a_line(kind: str) -> None:
    view = at(END)
    values = values_of_turns(Table(CARCASSONNE, 2).at_position(END), 3)
    analysis = policy(f"{kind}(depth=3, evaluate=margin)").search(view)
    assert {candidate.turn: candidate.mean for candidate in analysis.candidates} == pytest.approx(values)
    means = [candidate.mean for candidate in analysis.candidates]
    assert means == sorted(means, reverse=True)
    assert analysis.unit == "margin"
    assert re.match(r"draw [EU]; place [EU]\S+, claim .*; draw [EU]; place", analysis.candidates[0].line)
    assert sum(candidate.visits for candidate in analysis.candidates) < analysis.cost["nodes"]


def test_all_kinds_agree_and_each_saves_nodes() -> None:
    found = {kind: policy(f"{kind}(depth=2)").search(at(MIDDLE)).candidates[0] for kind in KINDS}
    assert [found[kind].mean for kind in KINDS] == pytest.approx([found["star1"].mean] * len(KINDS))
    nodes = {}
    for kind in KINDS:
        searcher = policy(f"{kind}(depth=2)")
        searcher.act(at(MIDDLE))
        nodes[kind] = searcher.n_playouts
    assert max(nodes["star2"], nodes["star2.5"]) < nodes["star1"] < nodes["expectimax"]


def test_nodes_are_kept_to_and_depth_one_is_always_finished() -> None:
    view = at(MIDDLE)
    few = policy("star2.5(nodes=1)")
    assert few.act(view) == policy("star2.5(depth=1)").act(view)
    some = policy("star2.5(nodes=20000)")
    some.act(view)
    assert 20000 <= some.n_playouts < 20500  # the turns of one more position at most


@pytest.mark.parametrize("seconds", [0.05, 0.2])
def test_the_clock_is_kept(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """To within 5 %."""
    by_processor_time(monkeypatch)
    clock = time.process_time
    view, searcher = at(MIDDLE), policy(f"star2.5(seconds={seconds})")
    searcher.prepare(view)
    taken = []
    for _ in range(6):
        start = clock()
        searcher.act(view)
        taken.append(clock() - start)
        searcher.reset()
    assert sorted(taken)[3] == pytest.approx(seconds, rel=0.05), taken


def test_a_search_that_sees_the_end_of_the_game_stops() -> None:
    searcher = policy("expectimax(seconds=100)")
    start = time.perf_counter()
    searcher.act(at(END))
    assert time.perf_counter() - start < 50
    assert policy("star1(depth=12)").search(at(END)).cost["turns deep"] == 3


def test_a_forced_turn_is_not_searched() -> None:
    """C, all city, fits at one edge only, and that city is held."""
    searcher = policy("star2(depth=3)")
    searcher.act(at("stage=place drawn=C turn=0 points=0,0 tiles=D+0+0r0@N1 bag=U2,V2"))
    assert searcher.n_playouts == 0


def test_seconds_for_a_game_are_shared_out_over_the_turns_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of 36 turns gets a 36th, and the whole game takes no longer than allowed."""
    by_processor_time(monkeypatch)
    table, rng = Table(CARCASSONNE, 2), make_rng(3)
    searcher = policy("star2.5(game_seconds=1.8)")
    table.chance(table.sample_chance(rng))
    searcher.prepare(table.view(0))
    searcher.reset()
    start = time.process_time()
    searcher.act(table.view(0))
    assert 0.03 < time.process_time() - start < 0.5
    spent = 0.0
    searcher.reset()
    while not table.over:
        if table.at_chance:
            table.chance(table.sample_chance(rng))
            continue
        seat = table.seat
        assert seat is not None
        if seat == 0:
            start = time.process_time()
            action = searcher.act(table.view(seat))
            spent += time.process_time() - start
        else:
            action = table.legal()[0]
        table.play(action)
    assert spent < 1.8 * 1.25


def test_another_process_finds_the_same() -> None:
    """From the machine code this one has left in the cache."""
    here = policy("star2.5(depth=2)")
    action = here.act(at(MIDDLE))
    script = (
        "from kdenv.core.table import Table; from kdenv.games import find_game; from kdenv.policies import policy\n"
        f"table = Table(find_game('carcassonne'), 2).at_position({MIDDLE!r})\n"
        "there = policy('star2.5(depth=2)'); print(there.act(table.view(0)), there.n_playouts)"
    )
    root = str(Path(__file__).parents[2])
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=root)
    assert run.stdout.split() == [str(action), str(here.n_playouts)]


def test_star2_5_beats_greedy() -> None:
    """Four games, both seats: at depth 2, the score is well ahead of the same evaluation without looking ahead."""
    total = 0
    for game in range(4):
        table, rng = Table(CARCASSONNE, 2), make_rng(game)
        players = [policy("star2.5(depth=2)"), policy("greedy")]
        for player in players:
            player.reset(game)
        while not table.over:
            if table.at_chance:
                table.chance(table.sample_chance(rng))
                continue
            seat = table.seat
            assert seat is not None
            table.play(players[(seat + game) % 2].act(table.view(seat)))
        scores = table.scores()
        total += scores[game % 2] - scores[1 - game % 2]
    assert total > 0


def test_k_is_five_unless_told() -> None:
    assert policy("star2.5").probes == 5  # type: ignore[attr-defined]
    assert policy("star2.5(2)").probes == 2  # type: ignore[attr-defined]
    assert policy("star2").probes == 1  # type: ignore[attr-defined]
    assert policy("star1").probes == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("star2(depth=0)", "depth=0 is not possible; depth is a whole number from 1 to 12"),
        ("star2(depth=13)", "depth=13 is not possible; depth is a whole number from 1 to 12"),
        ("star2(nodes=5, seconds=1)", "star2(nodes=5, seconds=1): give one budget: "),
        ("star2.5(k=0)", "k=0 is not possible; k is a whole number from 1 to 1000"),
        ("star1(k=2)", "star1 has no parameter k"),
        ("expectimax(table=maybe)", "table=maybe is not possible; table may be yes or no"),
    ],
)
def test_wrong_parameters_are_told_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BadOption, match=re.escape(sentence)):
        policy(text)


@pytest.mark.parametrize(
    "text, sentence",
    [
        (
            "star1(evaluate=finl)",
            "evaluate=finl is not possible (did you mean final?); for carcassonne it may be final, intuitive, fixed_bounds, margin",
        ),
        ("star1(order=3)", "order=3 is not possible; for carcassonne it may be 2, 1, 0"),
    ],
)
def test_parts_the_game_does_not_have_are_told_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BadOption, match=re.escape(sentence)):
        policy(text).act(at(END))


def test_games_that_hide_something_are_not_supported() -> None:
    table = Table(DOMINOES, 4)
    table.run_chance(make_rng(1))
    assert table.seat is not None
    with pytest.raises(NotSupported, match="star2 looks ahead where everybody sees everything, and dominoes hides something; use a policy"):
        policy("star2").act(table.view(table.seat))


def test_draws_too_many_to_list_are_not_looked_past() -> None:
    """The last turn of a round of Kingdomino, 3,258,024 ways to draw the next draft: what counts is the margin after the turn."""
    table, rng = Table(KINGDOMINO, 2), make_rng(4)
    table.run_chance(rng)
    while int(table.states[0]["round"]) < 1 or int(table.states[0]["turn"]) < 3:
        table.play(table.legal()[-1])
        table.run_chance(rng)
    assert table.seat is not None
    deep = policy("star2(depth=2)").search(table.view(table.seat))
    flat = policy("expectimax(depth=1)").search(table.view(table.seat))
    assert [candidate.mean for candidate in deep.candidates] == pytest.approx([candidate.mean for candidate in flat.candidates])


def test_they_are_listed_where_nothing_is_hidden() -> None:
    listed = {game.name: {entry.name for entry in listing(game)} for game in (CARCASSONNE, KINGDOMINO, DOMINOES)}
    assert set(KINDS) <= listed["carcassonne"]
    assert set(KINDS) <= listed["kingdomino"]
    assert not set(KINDS) & listed["dominoes"]


def test_kingdomino_is_looked_ahead_in_within_a_round() -> None:
    """Four at the table: the others play together against this seat."""
    table = Table(KINGDOMINO, 4, size=3, dominoes=12)
    rng = make_rng(2)
    while True:
        table.run_chance(rng)
        if int(table.states[0]["round"]) == 1 and int(table.states[0]["turn"]) == 0:
            break
        table.play(table.legal()[0])
    assert table.seat is not None
    values = values_of_turns(table, 2)
    turn = policy("star1(depth=2)").choose_turn(table.view(table.seat))  # type: ignore[attr-defined]
    assert values[turn] == pytest.approx(max(values.values()))


@pytest.mark.parametrize("name", names())
def test_games_that_say_they_hide_nothing_show_all_chance_to_all(name: str) -> None:
    from kdenv.core import verbs

    game = find_game(name)
    if not game.open_information:
        return
    table, rng = Table(game), make_rng(1)
    while not table.over:
        if table.at_chance:
            assert verbs.witnesses_at(table.states, 0) == -1
            table.chance(table.sample_chance(rng))
        else:
            table.play(table.legal()[0])
