"""Does a table refuse what the rules do not allow, tell why in one sentence, and show a seat only what it may see?"""

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import three_shells
from positions import shells

import kdenv
from kdenv.compiler.random import make_rng
from kdenv.core.errors import BadOption, BadRecord, IllegalAction
from kdenv.core.events import Event
from kdenv.core.table import Table
from kdenv.core.verbs import CHANCE, DECIDE, OVER
from kdenv.core.view import OracleView, View
from kdenv.envs.single_agent import SeatEnv
from kdenv.games import add_game, find_game, names

KINGDOMINO = find_game("kingdomino")


def kingdomino(*draft: int, king: int = 0) -> Table:
    """Four players; these dominoes drawn and this king called."""
    table = Table(KINGDOMINO, 4)
    for domino in draft:
        table.chance(domino - 1)
    if len(draft) == 4:
        table.chance(king)
    return table


def refusal(kind: type[Exception], do, *arguments, **named) -> str:
    """What the error says, which is one line."""
    with pytest.raises(kind) as error:
        do(*arguments, **named)
    message = str(error.value)
    assert message and "\n" not in message
    return message


# --- What is the case ---


def test_a_game_goes_from_chance_to_decisions_to_its_end() -> None:
    assert [Table(three_shells.GAME).phase, shells().phase, shells(stake=1, guess="pass").phase, shells(2, 1, "pass", 0).phase] == [
        CHANCE,
        DECIDE,
        CHANCE,
        OVER,
    ]


def test_only_while_somebody_decides_there_is_a_seat() -> None:
    assert [Table(three_shells.GAME).seat, shells().seat, shells(stake=1).seat, shells(2, 1, "pass").seat] == [None, 0, 1, None]


def test_only_while_somebody_decides_there_are_legal_actions() -> None:
    assert [Table(three_shells.GAME).legal(), shells().legal(), shells(2, 1, "pass").legal()] == [[], [0, 1, 2], []]


def test_only_at_a_chance_node_there_are_chances() -> None:
    assert Table(three_shells.GAME).chances() == [(0, 1 / 6), (1, 2 / 6), (2, 3 / 6)]
    assert shells(2, 1, "pass").chances() == [(0, 3 / 4), (1, 1 / 4)]
    assert shells().chances() == []


def test_an_option_changes_the_rules() -> None:
    assert shells(most=2).legal() == [0, 1]
    assert shells(most=2).options == {"most": 2}


@pytest.mark.parametrize("guess, coin, points", [("point 2", 0, [-3, 3]), ("point 1", 1, [6, -6]), ("pass", 1, [2, -2])])
def test_scores(guess: str, coin: int, points: list[int]) -> None:
    assert shells(2, 3, guess, coin).scores() == points


def test_the_winner_has_rank_1() -> None:
    assert shells(2, 3, "point 2", 0).ranks() == [2, 1]


def test_equals_share_the_better_place() -> None:
    """Four kingdoms of a bare castle, one of them spoilt by a domino that leaves the middle."""
    position = "round=12 stage=over turn=4 kingdoms=X,Xww,X+,X queue= draft= box="
    table = Table(KINGDOMINO, 4).at_position(position.replace("X+", "Xwwwf"))
    assert table.scores() == [10, 10, 0, 10]
    assert table.ranks() == [1, 1, 4, 1]


# --- What happens ---


def test_an_illegal_action_is_named_with_the_position_and_what_is_legal() -> None:
    message = refusal(IllegalAction, kingdomino(5, 7, 30, 40).play, 324)
    assert message == (
        "action 324 is not legal in kingdomino position round=0 stage=pick turn=0 caller=0 kingdoms=X,X,X,X queue= draft=5,7,30,40 "
        "box=1-4,6,8-29,31-39,41-48; legal: 325 (pick 5), 326 (pick 7), 327 (pick 30), 328 (pick 40)"
    )


def test_an_illegal_action_that_has_a_name_is_told_by_it() -> None:
    table = kingdomino(5, 7, 30, 40, king=1)
    table.play(326)
    table.chance(0)
    assert refusal(IllegalAction, table.play, 326).startswith("action 326 (pick 7) is not legal in kingdomino position round=0 ")


def test_a_long_list_of_legal_actions_is_cut() -> None:
    table = Table(KINGDOMINO, 4).at_position(
        "round=1 stage=place turn=0 kingdoms=X,X,X,X queue=13:0,14:1,15:2,16:3 draft=1,2,3,4 box=5-12,17-48"
    )
    assert len(table.legal()) == 24
    assert refusal(IllegalAction, table.play, 0).endswith(" and 12 more")


@pytest.mark.parametrize("action", [-1, 329, 10**30])
def test_what_is_no_action_at_all_is_refused(action: int) -> None:
    assert refusal(IllegalAction, kingdomino(5, 7, 30, 40).play, action).startswith(f"action {action} is not legal in ")


@pytest.mark.parametrize("action", ["pick 5", None, 325.5, True])
def test_what_is_no_whole_number_is_refused_with_its_type(action: object) -> None:
    what = f"action {action} (of type {type(action).__name__}, not a whole number) is not legal in "
    assert refusal(IllegalAction, kingdomino(5, 7, 30, 40).play, action).startswith(what)


def test_a_decision_at_a_chance_node_is_refused() -> None:
    assert refusal(IllegalAction, Table(three_shells.GAME).play, 0).endswith("; legal: nothing of the kind, chance is next")


def test_chance_while_a_seat_decides_is_refused() -> None:
    assert refusal(IllegalAction, shells().chance, 0).endswith("; legal: nothing of the kind, a seat decides")
    assert refusal(IllegalAction, shells().sample_chance, make_rng(1)).startswith(
        "there is no outcome to draw, because chance is not next in three_shells position "
    )


def test_a_domino_that_lies_on_the_table_cannot_be_drawn() -> None:
    assert refusal(IllegalAction, kingdomino(5, 7).chance, 4).startswith(
        "chance outcome 4 is not legal in kingdomino position round=0 stage=draw turn=0 kingdoms=X,X,X,X queue= draft=5,7 box="
    )


def test_nothing_happens_after_the_end() -> None:
    table = shells(2, 1, "pass", 0)
    for do in (table.play, table.chance):
        assert refusal(IllegalAction, do, 0).endswith("; legal: nothing, the game is over")


def test_what_is_refused_leaves_the_table_as_it_was() -> None:
    table = kingdomino(5, 7, 30, 40)
    before = table.record(), table.states.tobytes()
    refusal(IllegalAction, table.play, 3)
    refusal(IllegalAction, table.chance, 3)
    refusal(BadRecord, table.at_position, "round=0")
    assert (table.record(), table.states.tobytes()) == before


def test_an_action_in_words_is_the_legal_action_it_names() -> None:
    assert kingdomino(5, 7, 30, 40).action("pick 30") == 327
    assert refusal(BadRecord, kingdomino(5, 7, 30, 40).action, "pick 31") == "domino 31 is not in the draft: 5, 7, 30, 40"


def test_words_for_an_action_that_is_not_legal_are_refused() -> None:
    table = kingdomino(5, 7, 30, 40, king=1)
    table.play(326)
    table.chance(0)
    assert refusal(IllegalAction, table.action, "pick 7").startswith("action pick 7 is not legal in ")


def test_every_legal_action_is_found_by_its_name() -> None:
    table = Table(KINGDOMINO, 4).at_position(
        "round=1 stage=place turn=0 kingdoms=X,X,X,X queue=13:0,14:1,15:2,16:3 draft=1,2,3,4 box=5-12,17-48"
    )
    assert [table.action(table.name(action)) for action in table.legal()] == table.legal()


def test_no_name_of_an_action_leads_off_the_board() -> None:
    """Action 2 would lay the second half to the left of a9."""
    table = Table(KINGDOMINO, 4).at_position(
        "round=1 stage=place turn=0 kingdoms=X,X,X,X queue=13:0,14:1,15:2,16:3 draft=1,2,3,4 box=5-12,17-48"
    )
    assert refusal(IllegalAction, table.play, 2).startswith("action 2 is not legal in ")


@pytest.mark.parametrize("seat", [-1, 4])
def test_a_seat_that_does_not_exist_sees_nothing(seat: int) -> None:
    table = Table(KINGDOMINO)
    for look in (table.view, table.observation, table.svg):
        assert refusal(IllegalAction, look, seat) == f"there is no seat {seat}; the seats are 0 to 3"


@pytest.mark.parametrize("seat", ["0", 1.5, True, None])
def test_what_is_no_whole_number_is_no_seat(seat: object) -> None:
    expected = f"there is no seat {seat!r}, which is not a whole number; the seats are 0 to 3"
    assert refusal(IllegalAction, Table(KINGDOMINO).view, seat) == expected


def test_what_is_no_text_is_no_action_in_words() -> None:
    told = refusal(IllegalAction, kingdomino(5, 7, 30, 40).action, None)
    assert told.startswith("action None (of type NoneType, not a text) is not legal in ") and "; legal: 325 (pick 5), " in told


# --- Players, options, games ---


def test_a_wrong_number_of_players_is_refused() -> None:
    assert refusal(BadOption, Table, KINGDOMINO, 5) == "kingdomino cannot be played by 5 players; players may be 2, 3 or 4"
    assert refusal(BadOption, Table, KINGDOMINO, True).startswith("kingdomino cannot be played by True players")


def test_an_unknown_option_is_refused_and_the_one_meant_is_told() -> None:
    assert refusal(BadOption, Table, KINGDOMINO, middel=True) == (
        "kingdomino has no option middel (did you mean middle?); its options are size, dominoes, middle, harmony, tiebreak"
    )


@pytest.mark.parametrize(
    "option, value, message",
    [
        ("size", 6, "size=6 is not possible; size may be 5, 3 or 7"),
        ("middle", "maybe", "middle=maybe is not possible; middle may be yes or no"),
        ("dominoes", 7, "dominoes=7 is not possible with 4 players; it may be a multiple of 4 up to 48"),
        ("tiebreak", None, "tiebreak=None is not possible; tiebreak may be shared or official"),
    ],
)
def test_a_value_that_an_option_cannot_have_is_refused(option: str, value: object, message: str) -> None:
    assert refusal(BadOption, Table, KINGDOMINO, **{option: value}) == message


def test_an_option_may_be_written_as_a_word() -> None:
    assert Table(KINGDOMINO, 2, size="7", middle="no", dominoes="48").options == {
        "size": 7,
        "dominoes": 48,
        "middle": False,
        "harmony": True,
        "tiebreak": "shared",
    }


def test_an_unknown_game_is_refused_and_the_one_meant_is_told() -> None:
    assert refusal(BadOption, find_game, "kingdomio").startswith("there is no game kingdomio (did you mean kingdomino?); the games are ")


@pytest.mark.parametrize("name", [None, 3, ["kingdomino"]])
def test_what_is_no_text_is_no_name_of_a_game(name: Any) -> None:
    for call in (kdenv.table, find_game, SeatEnv):
        assert refusal(BadOption, call, name).startswith(f"{name!r} is not the name of a game; the games are kingdomino, ")


def test_a_game_from_outside_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kdenv.games._from_outside", {})
    add_game(three_shells.GAME)
    add_game(three_shells.GAME)
    assert find_game("three_shells") is three_shells.GAME
    assert names()[-1] == "three_shells"


def test_two_games_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kdenv.games._from_outside", {"three_shells": KINGDOMINO})
    assert refusal(TypeError, add_game, three_shells.GAME) == "there already is a game three_shells; choose another name"


# --- Copies ---


def table_in_mid_game(events: int = 60) -> Table:
    table, rng = Table(KINGDOMINO, 3, harmony=False), make_rng(8)
    while len(table.log) < events:
        if table.at_chance:
            table.chance(table.sample_chance(rng))
        else:
            table.play(table.legal()[len(table.log) % len(table.legal())])
    return table


def play_on(table: Table) -> str:
    rng = make_rng(9)
    while not table.over:
        if table.at_chance:
            table.run_chance(rng)
        else:
            table.play(table.legal()[-1])
    return table.record()


COPIES = {"clone": Table.clone, "deepcopy": copy.deepcopy, "pickle": lambda table: pickle.loads(pickle.dumps(table))}


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_plays_on_identically(how: str) -> None:
    table = table_in_mid_game()
    twin = COPIES[how](table)
    assert play_on(twin) == play_on(table)


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_goes_its_own_way(how: str) -> None:
    table = table_in_mid_game()
    before = table.record()
    play_on(COPIES[how](table))
    assert table.record() == before


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_is_of_the_same_game(how: str) -> None:
    assert COPIES[how](shells()).game is three_shells.GAME


def test_a_copy_keeps_the_position_it_was_set_up_from() -> None:
    position = table_in_mid_game().position()
    table = Table(KINGDOMINO, 3, harmony=False).at_position(position)
    assert table.clone().record() == table.record()
    assert table.record().splitlines()[1] == f"start {position}"


def test_a_pickle_is_read_by_another_process(tmp_path: Path) -> None:
    table = table_in_mid_game()
    (tmp_path / "table").write_bytes(pickle.dumps(table))
    code = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).record(), end='')"
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, tmp_path / "table"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == table.record()


# --- Views ---


def test_a_seat_sees_its_legal_actions_when_it_decides() -> None:
    table = shells(stake=2)
    assert table.view(1).legal() == [3, 4, 5, 6]
    assert table.view(1).mask.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert table.view(1).mask.dtype == np.int8


def test_a_seat_that_does_not_decide_has_no_legal_actions() -> None:
    assert shells(stake=2).view(0).legal() == []
    assert not shells(stake=2).view(0).mask.any()


def everything_in(view: View) -> tuple:
    """All that a policy can learn from a view."""
    return (
        view.states.tobytes(),
        view.scratch(3).tobytes(),
        view.observation().tobytes(),
        view.mask.tobytes(),
        tuple(view.events()),
        view.key(),
        tuple(view.scores()),
        str(view),
    )


@pytest.mark.parametrize("stake", [0, 2])
def test_a_view_does_not_depend_on_what_its_seat_cannot_see(stake: int) -> None:
    assert len({everything_in(shells(pea, stake).view(1)) for pea in range(3)}) == 1


def test_the_seat_that_sees_the_pea_has_it_in_its_view() -> None:
    assert len({everything_in(shells(pea, 2).view(0)) for pea in range(3)}) == 3
    assert shells(pea=2).view(0).events() == [Event(True, 2)]


def test_the_pea_is_seen_by_all_once_the_shell_is_lifted() -> None:
    assert len({everything_in(shells(pea, 2, "pass").view(1)) for pea in range(3)}) == 3


def test_a_view_that_leaks_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above, on a table that forgets to resample."""
    monkeypatch.setattr("kdenv.core.verbs.resample_hidden_at", lambda states, k, seat, rng: None)
    assert len({everything_in(shells(pea, 2).view(1)) for pea in range(3)}) == 3


def test_an_oracle_sees_everything() -> None:
    table = shells(pea=1, stake=2)
    oracle = OracleView(table, table.seat)
    assert oracle.states["pea"] == 1
    assert oracle.events() == table.events()


def test_a_view_holds_no_table() -> None:
    """Nothing in it leads back to the truth."""
    view = shells(pea=1).view(1)
    assert not any(isinstance(value, Table) for value in vars(view).values())


def test_a_view_does_not_change_with_the_table() -> None:
    table = kingdomino(5, 7, 30, 40)
    view = table.view(0)
    before = everything_in(view)
    table.play(326)
    assert everything_in(view) == before


def test_a_search_in_the_scratch_of_a_view_leaves_the_view_as_it_is() -> None:
    view = shells(pea=1, stake=2).view(0)
    view.scratch(2)["pea"] = 0
    assert view.states["pea"] == 1


def test_a_drawing_shows_a_seat_only_what_it_may_see() -> None:
    assert "pea=1" in shells(pea=1).svg()
    assert "pea=1" in shells(pea=1).svg(seat=0)
    assert "pea=?" in shells(pea=1).svg(seat=1)
