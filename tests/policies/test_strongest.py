"""Does `strongest` play as the policy that the game names for its budget, and is what it stands for told?"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import three_shells
from positions import shells
from random_games import random_game

from kdenv.cli import main
from kdenv.compiler.random import make_rng
from kdenv.core.errors import NotSupported
from kdenv.core.game import Game
from kdenv.core.questions import Measured
from kdenv.games import find_game, names
from kdenv.policies import Strongest, policy
from kdenv.policies.searching import SearchPolicy

GAMES = pytest.mark.parametrize("name", names())


def stands_for(game: Game, seconds: float, players: int | None = None, **options: Any) -> str:
    return str(Strongest(seconds=seconds).best(game, *game.variant(players, **options)))


@pytest.fixture
def rows() -> Iterator[Game]:
    """The three shells with a table in which one row is a network of another game."""
    table = (
        Measured(0.0, "random"),
        Measured(0.5, "learned(kingdomino)"),
        Measured(0.01, "mce(seconds={seconds})"),
        Measured(0.01, "uct(seconds={seconds})"),
    )
    game = three_shells.GAME
    object.__setattr__(game.knowledge, "strongest", table)
    yield game
    object.__setattr__(game.knowledge, "strongest", ())


@pytest.mark.parametrize(
    "seconds, text", [(0.001, "random"), (0.01, "mce(seconds=0.01)"), (0.3, "mce(seconds=0.3)"), (2, "mce(seconds=2)")]
)
def test_the_greatest_budget_that_is_not_above_decides_then_the_first_that_fits(rows: Game, seconds: float, text: str) -> None:
    assert stands_for(rows, seconds) == text


def test_a_row_for_other_options_is_passed_over() -> None:
    """The network of Dominion would play with any ten cards, but it has learned only those of the test bed, and loses with others."""
    dominion = find_game("dominion")
    other = ["cellar", "chapel", "moat", "workshop", "village", "smithy", "militia", "market", "mine", "festival"]
    for seconds in (0.001, 0.005, 0.01, 1):
        assert "ppo(dominion-ppo)" in stands_for(dominion, seconds)
        for options in ({"kingdom": other}, {"supply": "thesis"}, {"curses": True}):
            assert "ppo" not in stands_for(dominion, seconds, 2, **options)


def test_it_plays_and_searches_as_what_it_stands_for(rows: Game) -> None:
    view = shells(0, 2).view(1)
    for seed in range(20):
        one, other = policy("strongest(seconds=0.001)"), policy("random")
        one.reset(seed)
        other.reset(seed)
        assert [one.act(view) for _ in range(3)] == [other.act(view) for _ in range(3)]
        one.reset(seed + 1)
        other.reset(seed + 1)
        assert one.act(view) == other.act(view)
    searching = policy("strongest(seconds=0.02)")
    assert searching.search(view).unit == policy("mce(seconds=0.02)").search(view).unit
    searching.act(view)
    assert searching.n_playouts > 0


def test_a_game_that_names_none_has_no_strongest() -> None:
    with pytest.raises(NotSupported, match="three_shells, which names none"):
        Strongest().check(three_shells.GAME)


@GAMES
def test_every_row_is_a_policy_of_its_game_and_some_row_plays_every_table(name: str) -> None:
    game = find_game(name)
    assert game.knowledge.strongest
    for row in game.knowledge.strongest:
        policy(row.policy.format(seconds="0.5")).refuse(game)
    for players in game.players:
        for seconds in (0.001, 0.01, 0.1, 1, 10):
            assert stands_for(game, seconds, players)
    assert stands_for(find_game("kingdomino"), 1, size=7)


@GAMES
def test_a_search_among_the_rows_has_the_budget_that_strongest_was_given(name: str) -> None:
    game = find_game(name)
    for seconds in (0.02, 0.3):
        found = Strongest(seconds=seconds).best(game, *game.variant())
        if isinstance(found, SearchPolicy):
            assert found.seconds == seconds  # type: ignore[attr-defined]
            of_turn = Strongest(turn_seconds=seconds).best(game, *game.variant())
            assert of_turn == replace(found, seconds=None, turn_seconds=seconds)  # type: ignore[type-var]


@pytest.mark.cold
@GAMES
def test_it_decides_in_the_middle_of_a_game(name: str) -> None:
    table = random_game(find_game(name), 1, decisions=12)
    table.run_chance(make_rng(1))
    assert policy("strongest(seconds=0.002)").act(table.view(table.seat)) in table.legal()


@GAMES
def test_its_page_tells_what_it_stands_for(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policies", name, "strongest"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for row in find_game(name).knowledge.strongest:
        assert row.policy.replace("{seconds}", "S") in said
