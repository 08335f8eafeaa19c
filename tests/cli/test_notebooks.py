"""What a notebook shows of tables, views, searches and matches; and the notebook in examples/ runs."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import kdenv
from kdenv.arena import Match, Summary, play
from kdenv.author import make_rng
from kdenv.games import names

pytestmark = pytest.mark.cold

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("game", names())
def test_a_table_shows_all_and_a_view_what_its_seat_sees(game: str) -> None:
    table = kdenv.table(game)
    table.run_chance(make_rng(1))
    assert table._repr_svg_() == table.svg()
    for seat in range(table.players):
        assert table.view(seat)._repr_svg_() == table.view(seat).svg()
        ElementTree.fromstring(table.view(seat)._repr_svg_())
    hides = not table.game.open_information
    assert (table.view(0)._repr_svg_() != table._repr_svg_()) == hides


def test_a_view_shows_the_same_whatever_the_others_hold() -> None:
    """Two deals in which seat 0 holds the same tiles look the same to it."""
    one, other = kdenv.table("dominoes"), kdenv.table("dominoes")
    one.run_chance(make_rng(1))
    position = one.view(0).game.notation.position_text(one.view(0).states, 0)  # the same hand, the other hands drawn anew
    other.at_position(position)
    assert other.position() != one.position()
    assert other.view(0)._repr_svg_() == one.view(0)._repr_svg_()


def test_a_search_shows_its_table_and_its_tree() -> None:
    table = kdenv.table("kingdomino")
    table.run_chance(make_rng(1))
    found = kdenv.policy("uct(playouts=30)").search(table.view(table.seat))
    shown = found._repr_html_()
    assert "<svg" in shown
    assert all(f">{candidate.words}<" in shown for candidate in found.candidates)
    assert found.tree._repr_svg_() == found.tree.svg()


def test_a_match_shows_the_table_that_is_printed() -> None:
    summary = Summary(Match("kingdomino", ["random", "<b>&", "random", "random"], games=4))
    assert summary._repr_html_() == "<p>kingdomino, 4 players, 4 games, seed 0: 0 finished</p>"
    summary = Summary(Match("kingdomino", ["full_greedy", *["random"] * 3], games=40))
    play(summary.match, on_result=summary.add, processes=1)
    shown, printed = summary._repr_html_(), str(summary)
    for text in ("full_greedy", summary.rows()[0].margin.text(sign=True), "10 deals"):
        assert text in shown
        assert text in printed


@pytest.mark.filterwarnings("ignore")  # of Jupyter
def test_the_notebook_runs() -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(EXAMPLES / "tour.ipynb", 4)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # no results of one machine in the repository
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(EXAMPLES.parent)}}).execute()
    kinds = [kind for cell in notebook.cells for output in cell.get("outputs", []) for kind in output.get("data", {})]
    assert kinds.count("image/svg+xml") == 3
    assert kinds.count("text/html") == 2
