"""The contents of pictures of Kingdomino."""

import re
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest
from random_games import after

from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.games.kingdomino import drawing, rules
from kdenv.games.kingdomino.notation import kingdom_squares

NAME = "{http://www.w3.org/2000/svg}"
VARIANTS = [(4, {}), (3, {}), (2, {}), (2, {"size": 7, "dominoes": 48}), (4, {"size": 7}), (4, {"size": 3}), (3, {"size": 3})]
DECISIONS = [0, 2, 30, 41, 10_000]  # before the picture: from the beginning to past the end
SHARED_WIN = "round=6 stage=over turn=4 kingdoms=X,X queue= draft= box=1-24"


@cache
def played(players: int, decisions: int, **options: int) -> Table:
    return after(find_game("kingdomino"), players, decisions, **options)


def tables() -> list:
    return [pytest.param(p, n, o, id=f"{p}-size{o.get('size', 5)}-{n}") for p, o in VARIANTS for n in DECISIONS]


def of_class(picture: str, *words: str) -> list[ElementTree.Element]:
    """The groups of an SVG that have all these classes."""
    return [group for group in ElementTree.fromstring(picture).iter(f"{NAME}g") if {*words} <= {*group.get("class", "").split()}]


def uses(group: ElementTree.Element, shape: str) -> int:
    return sum(use.get("href") == f"#k-{shape}" for use in group.iter(f"{NAME}use"))


def words(group: ElementTree.Element) -> set[str | None]:
    return {part.get("aria-label") for part in group.iter()}


def plain(text: str) -> str:
    return re.sub(r"\033\[[0-9;]*m", "", text)


@pytest.mark.parametrize("players, n, options", tables())
def test_all_shapes_used_are_defined_once(players: int, n: int, options: dict) -> None:
    root = ElementTree.fromstring(played(players, n, **options).svg())
    defined = [element.get("id") for element in root.iter() if element.get("id")]
    used = {use.get("href", "")[1:] for use in root.iter(f"{NAME}use")}
    assert len(defined) == len({*defined}) and used <= {*defined}


@pytest.mark.parametrize("players, n, options", tables())
def test_every_square_and_crown_of_a_kingdom_is_drawn(players: int, n: int, options: dict) -> None:
    table = played(players, n, **options)
    for seat in range(players):
        land = of_class(table.svg(), "land")[seat]
        squares = kingdom_squares(table.states[0], seat)
        drawn = [uses(land, f"{terrain}-0") + uses(land, f"{terrain}-1") for terrain in range(6)]
        assert drawn == [sum(terrain == other for other, _ in squares.values()) for terrain in range(6)]
        assert uses(land, "crown") == sum(crowns for _, crowns in squares.values())
        assert uses(land, "castle") == 1


@pytest.mark.parametrize("players, n, options", tables())
def test_the_panel_of_the_seat_to_move_and_of_no_other_is_highlighted(players: int, n: int, options: dict) -> None:
    table = played(players, n, **options)
    highlighted = [panel.get("class") for panel in of_class(table.svg(), "to-move")]
    assert highlighted == ([] if table.seat is None else [f"kingdom seat-{table.seat} to-move"])


@pytest.mark.parametrize("players, n, options", tables())
def test_points_are_shown(players: int, n: int, options: dict) -> None:
    table = played(players, n, **options)
    for seat, points in enumerate(table.scores()):
        assert {f"player {seat}", str(points)} <= words(of_class(table.svg(), "kingdom", f"seat-{seat}")[0])


@pytest.mark.parametrize("players, n, options", tables())
def test_terminal_shows_the_kingdoms_of_the_notation_within_a_hundred_columns(players: int, n: int, options: dict) -> None:
    table = played(players, n, **options)
    text = plain(str(table))
    squeezed = [re.sub(r"\s", "", line) for line in text.splitlines()]
    kingdoms = re.search(r"kingdoms=(\S+)", table.position())[1].split(",")  # type: ignore[index]
    squeezed = [line.lower() for line in squeezed]  # the domino placed last has capital letters
    assert all(any(row.lower() in line for line in squeezed) for kingdom in kingdoms for row in kingdom.split("/"))
    assert text.isascii() and max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("players, n, options", tables())
def test_terminal_names_every_square_that_may_be_typed(players: int, n: int, options: dict) -> None:
    """The rows and columns of the kingdom of the seat that decides hold all squares of its legal placements."""
    table = played(players, n, **options)
    names = [table.name(action).split() for action in table.legal()] if table.seat is not None else []
    squares = {square for name in names if name[0] == "place" for square in name[2:]}
    lines = plain(str(table)).splitlines()
    letters = {word for line in lines if re.fullmatch(r"[a-m ]+", line) for word in line.split()}
    rows = {int(row) for line in lines for row in re.findall(r"(?:^|  )( \d|\d\d)  [a-zA-Z.]", line)}
    assert {square[0] for square in squares} <= letters
    assert {int(square[1:]) for square in squares} <= rows


def test_the_squares_of_a_placement_are_those_of_the_left_and_the_right_half() -> None:
    """As the last line of the terminal says: domino 19 is a field with a crown and a forest."""
    table = Table(find_game("kingdomino"), 2).at_position(
        "round=1 stage=place turn=0 kingdoms=X,X queue=19:0,20:1,21:1,22:0 draft=5,6,7,8 box=1-4,9-18,23-48"
    )
    table.play(table.action("place 19 f5 g5"))
    assert " X   W+  F" in plain(str(table))
    assert "the left half of domino 12 lies on e4" in plain(str(table)).splitlines()[-1]


def test_the_domino_placed_last_has_capital_letters_and_the_one_picked_last_a_star() -> None:
    table = Table(find_game("kingdomino"), 2).at_position(
        "round=1 stage=place turn=0 kingdoms=X,X queue=1:0,2:1,3:1,4:0 draft=5,6,7,8 box=9-48"
    )
    assert not re.search("[A-WYZ] ", plain(str(table)).split("\n\n")[1])
    table.play(table.action("place 1 f5 g5"))
    assert " X   W   W" in plain(str(table))
    table.play(table.action("pick 6"))
    assert re.search(r"^.*\* +6 ", plain(str(table)), re.MULTILINE)
    assert " X   W   W" in plain(str(table))


def test_all_kings_wait_before_the_first_pick() -> None:
    (table,) = of_class(played(2, 0).svg(), "table")
    assert [king.get("class") for king in table.iter(f"{NAME}g") if "king" in king.get("class", "").split()].count("king seat-0") == 2


def test_kings_stand_on_the_dominoes_they_own() -> None:
    position = "round=1 stage=place turn=1 kingdoms=wwX,X queue=1:0,2:1,3:1,4:0 draft=5,6,7:0,8 box=9-48"
    (table,) = of_class(Table(find_game("kingdomino"), 2).at_position(position).svg(), "table")
    kings = [group.get("class") for group in table.iter(f"{NAME}g") if group.get("class", "").startswith("king ")]
    assert kings == ["king seat-1", "king seat-1", "king seat-0", "king seat-0"]
    assert {"2", "3", "4", "5", "6", "7", "8"} <= words(table)


def test_winner_is_marked() -> None:
    table = played(4, 10_000)
    best = [seat for seat, rank in enumerate(table.ranks()) if rank == 1]
    assert [panel.get("class") for panel in of_class(table.svg(), "winner")] == [f"kingdom seat-{seat} winner" for seat in best]


def test_a_tie_is_a_shared_win() -> None:
    table = Table(find_game("kingdomino"), 2).at_position(SHARED_WIN)
    assert all("shared win" in words(panel) for panel in of_class(table.svg(), "winner"))
    assert plain(str(table)).count("shared win") == len(of_class(table.svg(), "winner")) == 2


COMPLETE = "round=5 stage=place turn=0 kingdoms=wwl/lXl/lll,X queue=1:0,2:1,3:1,4:0 draft=5,6,7,8 box=25-48"


def test_bonuses_earned_are_shown() -> None:
    table = Table(find_game("kingdomino"), 2, size=3).at_position(COMPLETE)
    complete, empty = of_class(table.svg(), "kingdom")
    assert {"middle +10", "harmony +5"} <= words(complete)
    assert "harmony +5" not in words(empty)
    assert plain(str(table)).count("harmony +5") == 1


def test_bonuses_not_played_for_are_not_shown() -> None:
    table = Table(find_game("kingdomino"), 2, size=3, middle=False).at_position(COMPLETE)
    complete, _ = of_class(table.svg(), "kingdom")
    assert "harmony +5" in words(complete)
    assert "middle +10" not in words(complete)
    assert "middle" not in plain(str(table))


@pytest.mark.parametrize("size, free", [(3, 5 * 5 - 1), (5, 5 * 5 - 1), (7, 5 * 5 - 1)])
def test_first_domino_reaches_two_squares_from_the_castle(size: int, free: int) -> None:
    root = ElementTree.fromstring(Table(find_game("kingdomino"), 2, size=size).svg())
    assert [path.get("d", "").count("M") for path in root.iter(f"{NAME}path") if path.get("class") == "free"] == [free, free]


def test_edges_name_the_squares() -> None:
    (panel, _) = of_class(Table(find_game("kingdomino"), 2).svg(), "kingdom")
    assert {*"cdefg", *"34567"} <= words(panel)


def test_a_state_is_drawn_alike_every_time_and_left_alone() -> None:
    table = played(4, 30)
    before = table.states.copy()
    assert drawing.svg(table.states, 0) == drawing.svg(table.states, 0, seat=2)
    assert drawing.ansi(table.states, 0) == drawing.ansi(table.states, 0, seat=2)
    assert table.states.tobytes() == before.tobytes()


def test_any_state_of_an_array_can_be_drawn() -> None:
    states = np.zeros(3, rules.STATE)
    states[2] = played(3, 30).states[0]
    assert drawing.svg(states, 2) == drawing.svg(played(3, 30).states, 0)


@pytest.mark.parametrize("n", DECISIONS)
def test_file_stays_small(n: int) -> None:
    assert len(played(4, n).svg()) < 60_000


def test_words_are_drawn_without_fonts() -> None:
    assert "<text" not in played(4, 30).svg()


def test_picture_is_the_same_on_a_machine_without_fonts() -> None:
    resvg_py = pytest.importorskip("resvg_py")
    picture = played(4, 10_000).svg()
    assert resvg_py.svg_to_bytes(svg_string=picture, skip_system_fonts=True) == resvg_py.svg_to_bytes(svg_string=picture)


def test_when_the_game_is_over_nothing_is_in_reach() -> None:
    table = Table(find_game("kingdomino"), 2).at_position("round=6 stage=over turn=4 kingdoms=X.w/www,Xll queue= draft= box=1-24")
    with_a_hole, complete = of_class(table.svg(), "land")
    assert [path.get("d") for path in with_a_hole.iter(f"{NAME}path") if path.get("class") == "free"] == ["M73 9h46v46h-46z"]
    assert not any(path.get("class") == "free" for path in complete.iter(f"{NAME}path"))
