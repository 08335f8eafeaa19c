"""Does any policy know what its seat cannot know? All that is hidden is drawn anew: from the same seed, every policy must decide the same.

Drawn anew is the position (resample_hidden) and, in the record of the game, whatever the seat to move did not see. Oracles,
which are shown everything, must be found out by the same check.
"""

import random
from collections.abc import Iterator
from functools import cache

import pytest
from everyone import answer, policies_for
from games import random_game
from positions import shells

from kdenv.core import protocol
from kdenv.core.game import Action
from kdenv.core.random import make_rng
from kdenv.core.table import Table
from kdenv.core.view import View
from kdenv.games import find_game, names
from kdenv.policies import Policy, policy

HIDING = [name for name in names() if not find_game(name).open_information]
OPEN = [name for name in names() if find_game(name).open_information]
ALL = [(name, text) for name in HIDING for text in policies_for(find_game(name))]
HONEST = [(name, text) for name, text in ALL if not policy(text).is_oracle]
ORACLES = [(name, text) for name, text in ALL if policy(text).is_oracle]

POSITIONS, VARIANTS = 12, 4


def drawn_anew(table: Table, seed: int) -> Table:
    """The same table as far as the seat to move can tell; all it cannot tell is a new draw."""
    twin, seat = table.clone(), table.seat
    assert seat is not None
    protocol.resample_hidden_at(twin.states, 0, int(seat), make_rng(seed))
    events, witnesses = twin.log.rows[:, : twin.log.n]
    unseen = (witnesses >> int(seat)) & 1 == 0
    events[unseen] = random.Random(seed).sample(events[unseen].tolist(), int(unseen.sum()))
    return twin


def positions_of(name: str) -> Iterator[list[Table]]:
    """Positions with a choice, early to late in random games with any number of players, each in all its variants."""
    game = find_game(name)
    for seed in range(1000):
        players = game.players[seed % len(game.players)]
        decisions = sum(not event.is_chance for event in random_game(game, seed, players).events())
        table = random_game(game, seed, players, decisions * (1 + 2 * seed % 7) // 8)
        table.run_chance(make_rng(seed))
        if len(table.legal()) > 1:
            variants = [table, *(drawn_anew(table, variant) for variant in range(1, VARIANTS))]
            if len({variant.states.tobytes() for variant in variants}) > 2:
                yield variants


@cache
def positions(name: str) -> list[list[Table]]:
    """Some of them."""
    found = positions_of(name)
    return [next(found) for _ in range(POSITIONS)]


def answers(asked: Policy, tables: list[Table]) -> set[str]:
    """The different answers of a policy at tables that look alike."""
    return {str(answer(asked, table)) for table in tables}


@pytest.mark.parametrize(("name", "text"), HONEST)
def test_nobody_peeks(name: str, text: str) -> None:
    asked = policy(text)
    assert [len(answers(asked, variants)) for variants in positions(name)] == [1] * POSITIONS


@pytest.mark.parametrize("text", ["random", "mce(playouts=40)", "mce(score=margin, playouts=40)", "uct(chance=open, playouts=40)"])
def test_nobody_peeks_in_a_game_from_outside(text: str) -> None:
    asked = policy(text)
    assert len(answers(asked, [shells(pea, 2) for pea in range(3)])) == 1


@pytest.mark.parametrize(("name", "text"), ORACLES)
def test_oracles_are_found_out(name: str, text: str) -> None:
    asked = policy(text)
    assert max(len(answers(asked, variants)) for variants in positions(name)) > 1


class Peeker(Policy):
    """Lets what it takes the position to be decide; it is honest exactly if its view is."""

    def act(self, view: View) -> Action:
        legal = view.legal()
        return legal[random.Random(view.states.tobytes() + view.log.key()).randrange(len(legal))]


class PeekerWhoIsShownAll(Peeker):
    is_oracle = True


@pytest.mark.parametrize("name", HIDING)
def test_even_a_peeker_learns_nothing_from_a_view(name: str) -> None:
    assert [len(answers(Peeker(), variants)) for variants in positions(name)] == [1] * POSITIONS


@pytest.mark.parametrize("name", HIDING)
def test_a_peeker_who_is_shown_all_is_found_out(name: str) -> None:
    assert max(len(answers(PeekerWhoIsShownAll(), variants)) for variants in positions(name)) > 1


@pytest.mark.parametrize("name", HIDING)
def test_what_the_variants_change_are_hidden_things_and_their_history(name: str) -> None:
    for first, *others in positions(name):
        assert first.seat is not None
        for other in others:
            assert other.legal() == first.legal()
            assert other.observation(first.seat).tolist() == first.observation(first.seat).tolist()
            assert other.scores() == first.scores()
        assert len({variant.states.tobytes() for variant in (first, *others)}) > 2
        assert len({variant.log.key() for variant in (first, *others)}) > 2


@pytest.mark.parametrize("name", OPEN)
@pytest.mark.parametrize("seed", range(3))
def test_an_open_game_shows_every_seat_the_same(name: str, seed: int) -> None:
    """What is still to come is not in the state, so there is nothing to peek at."""
    table = random_game(find_game(name), seed, decisions=20)
    for seat in range(table.players):
        view = table.view(seat)
        assert view.states.tobytes() == table.states.tobytes()
        assert view.events() == table.events()


def test_some_games_hide_something_and_some_policies_are_oracles() -> None:
    """So that no list above is empty without anybody noticing."""
    assert {"dominion", "dominoes"} <= set(HIDING)
    assert ("dominoes", "oracle(alpha=2)") in ORACLES
    kinds = {text.partition("(")[0] for _, text in HONEST}
    assert {"ismcts", "ims", "pimc", "uct", "mce-pg/r", "ucb_orig", "greedy", "double_witch"} <= kinds
