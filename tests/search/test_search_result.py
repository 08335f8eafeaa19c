"""Does a search return all that it found out: about every turn, and a tree that can be walked, printed and drawn?"""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import three_shells
from dominion_at import at
from positions import shells

from kdenv.compiler.random import make_rng
from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.policies import Expectimax, Mce, Uct, policy
from kdenv.policies.result import SearchResult
from kdenv.policies.tree_view import Node

CARCASSONNE = "stage=place drawn=M turn=0 points=0,0 tiles=D+0+0r0,M+0-1r2@S0,C+0-2r0,U+1-1r0@nw0,E-1-1r1@nw1 bag=A2,B4"


def found_by(text: str, table: Table, seed: int = 1) -> SearchResult:
    searcher = policy(text)
    searcher.reset(seed)
    assert table.seat is not None
    return searcher.search(table.view(table.seat))


def carcassonne() -> Table:
    return Table(find_game("carcassonne"), 2).at_position(CARCASSONNE)


BUDGETED = ["mce(playouts=60)", "bandit(playouts=60)", "uct(playouts=60)", "star1(depth=1)", "flat_deals(playouts=5)"]


@pytest.mark.parametrize("text", BUDGETED)
def test_the_turn_found_is_the_one_played(text: str) -> None:
    table = carcassonne()
    view = table.view(0)
    player = policy(text)
    player.reset(4)
    found = player.search(view)
    player.reset(4)
    assert found.turn == player.choose_turn(view)  # type: ignore[attr-defined]
    assert found.turn == found.candidates[0].turn
    assert len(found.turns) == len(found.visits) == len(found.means) == len(found.intervals) == len(found.candidates)


def test_intervals_lie_around_the_means() -> None:
    found = found_by("mce(playouts=400)", carcassonne())
    for (low, high), mean in zip(found.intervals, found.means, strict=True):
        assert low <= mean <= high


def test_a_result_is_printed_as_a_table_of_turns() -> None:
    lines = str(found_by("uct(playouts=40, score=points)", shells(2))).splitlines()
    assert re.match(r"turn +visits +points +goes on with", lines[0])
    assert sorted(line[:7] for line in lines[1:4]) == ["stake 1", "stake 2", "stake 3"]
    assert lines[4].startswith("40 playouts, ")


def test_what_a_search_is_asked_leaves_its_game_as_it_was() -> None:
    """It costs nothing of the seconds for a game, and counts no playouts as played."""
    searcher = policy("uct(playouts=40)")
    searcher.search(shells(2).view(0))
    assert searcher.n_playouts == 0


def test_searches_without_a_tree_say_so() -> None:
    for searcher in (Mce(playouts=5), Expectimax(depth=1)):
        with pytest.raises(NotSupported, match="this search has grown no tree; uct and ismcts grow one"):
            _ = searcher.search(carcassonne().view(0)).tree


def test_policies_that_do_not_search_say_so() -> None:
    with pytest.raises(NotSupported, match="random does not search, so it has no search result"):
        policy("random").search(shells(2).view(0))


# Trees


@pytest.mark.parametrize("chance", ["sampled", "frozen", "open", "information_sets"])
def test_the_children_of_the_root_are_the_turns_found(chance: str) -> None:
    found = found_by(f"uct(chance={chance}, playouts=200)", carcassonne())
    tried = {int(turn): (visits, mean) for turn, visits, mean in zip(found.turns, found.visits, found.means, strict=True) if visits}
    assert {child.turn: (child.visits, pytest.approx(child.mean)) for child in found.tree.children} == tried
    assert found.tree.visits == 200


def test_outcomes_of_chance_lie_between_turns() -> None:
    """After a tile has been placed in Carcassonne, one of the kinds left in the bag is drawn, and the other seat places it."""
    found = found_by("uct(chance=sampled, playouts=3000, select=ucb1(c=0.1))", carcassonne())
    most = max(found.tree.children, key=lambda child: child.visits)
    assert {draw.words for draw in most.children} == {"draw A", "draw B"}
    for draw in most.children:
        assert draw.outcomes and not draw.turn
        assert np.isnan(draw.mean)
        assert {child.seat for child in draw.children} == {1}
        assert draw.visits == sum(child.visits for child in draw.children)


def test_in_a_tree_of_information_sets_what_the_seat_sees_leads_to_other_nodes() -> None:
    """Seat 0 sees what it draws by its Smithy, and nobody else does."""
    table = at("Smithy", "1 Smithy 4 Copper", "1 Silver 1 Gold 1 Estate 1 Duchy")
    found = found_by("uct(chance=information_sets, select=ucb1(c=9), playouts=300)", table)
    (smithy,) = (child for child in found.tree.children if child.words == "play Smithy")
    drawn = {after.words for after in smithy.children}
    assert drawn == {"draw Silver", "draw Gold", "draw Estate", "draw Duchy"}
    assert all(after.outcomes for after in smithy.children)


def test_a_frozen_tree_has_one_outcome_of_every_chance() -> None:
    found = found_by("uct(chance=frozen, playouts=500)", carcassonne())
    after = [child.children for child in found.tree.children if child.visits > 1]
    assert after
    assert {len(outcomes) for outcomes in after} == {1}


def test_positions_of_nodes_are_those_the_turns_lead_to() -> None:
    """What a node says is legal there, by the rules."""
    found = found_by("uct(chance=frozen, playouts=500)", carcassonne())
    node = found.tree
    while node.children:
        table = carcassonne()
        table.states[0] = node.states[0]
        if not node.children[0].outcomes:
            firsts = {(child.turn & 0xFFFF) - 1 for child in node.children}
            assert firsts <= set(table.legal())
        node = max(node.children, key=lambda child: child.visits)
    assert node is not found.tree


def test_every_turn_of_a_tree_of_information_sets_has_words() -> None:
    """Also those of others, which only some deals allow."""
    table = Table(find_game("dominoes"), mode="round", force_66=False)
    table.run_chance(make_rng(3))
    found = found_by("ismcts(playouts=400)", table)

    def words(node: Node) -> list[str]:
        return [word for child in node.children for word in (child.words, *words(child))]

    told = words(found.tree)
    assert len(told) >= 400
    assert all(re.fullmatch(r"[0-6]-[0-6].*|pass", word) for word in told)


def test_a_tree_stays_when_its_search_goes_on() -> None:
    searcher = Uct(playouts=200)
    before = searcher.search(carcassonne().view(0)).tree
    told = before.draw(3)
    searcher.search(carcassonne().view(0))
    assert before.draw(3) == told


def test_the_upper_levels_are_drawn() -> None:
    """Stake 3 has one visit more than its three guesses, the first of which was doubled by its coin."""
    table = Table(three_shells.GAME)
    table.chance(2)
    tree = found_by("uct(score=points, chance=frozen, expand=order, select=ucb1(c=0), playouts=8)", table, seed=1033).tree
    assert str(tree) == tree.draw(2, 5)
    assert tree.draw(levels=1).splitlines() == [
        "seat: turn  visits   mean",
        "0: stake 3       4  1.500",
        "0: stake 2       3  2.667",
        "0: stake 1       1  1.000",
    ]
    assert tree.draw(levels=3, most=1).splitlines() == [
        "seat: turn    visits    mean",
        "0: stake 3         4   1.500",
        "  1: point 0       1  -6.000",
        "    (coin 1)",
        "  ... 2 more",
        "... 2 more",
    ]


def test_a_picture_has_every_line_of_the_text() -> None:
    tree = found_by("uct(playouts=100)", carcassonne()).tree
    picture = ElementTree.fromstring(tree.svg(levels=3))
    lines = ["".join(element.itertext()) for element in picture if element.tag.endswith("text")]
    assert [line.rstrip() for line in lines] == tree.draw(levels=3).splitlines()


# Look-ahead at once


def test_a_depth_searched_at_once_finds_the_same_as_deepening() -> None:
    view = carcassonne().view(0)
    at_once, deepening = (Expectimax(depth=2, deepen=deepen).search(view) for deepen in (False, True))
    assert sorted(zip(at_once.turns, at_once.means, strict=True)) == sorted(zip(deepening.turns, deepening.means, strict=True))
    assert at_once.cost["nodes"] < deepening.cost["nodes"]


def test_without_deepening_a_depth_is_needed() -> None:
    with pytest.raises(BadOption, match="deepen=no needs a depth, as only deepening can stop at a budget"):
        policy("star2(nodes=100, deepen=no)")
