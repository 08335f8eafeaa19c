"""Does the encoding `prospects` have the gains of dominoes, and the areas and shapes of kingdoms?"""

from typing import Any

import numpy as np
import pytest
from random_games import random_game

from kdenv.compiler.kernel import kernel
from kdenv.core import verbs
from kdenv.core.encoding import observe_by
from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.games.kingdomino.rules import PLACING
from kdenv.games.kingdomino.tables import HARMONY_BONUS, MIDDLE_BONUS

KINGDOMINO = find_game("kingdomino")
DISCARD = 324


def placing(seed: int) -> Table | None:
    """A game of random turns in which a domino is to be placed now."""
    table = random_game(KINGDOMINO, seed, 4, 8 + 2 * (seed % 18))
    return table if not table.over and table.states[0]["stage"] == PLACING else None


def is_centred(states: Any, seat: int) -> bool:
    s = states[0]
    return max(-s["left"][seat], s["right"][seat], -s["top"][seat], s["bottom"][seat]) <= 2


def points(states: Any, seat: int) -> int:
    """The points of the seat without the bonuses."""
    found = np.zeros(4, np.int64)
    verbs.scores_at(states, 0, found)
    bonus = MIDDLE_BONUS if is_centred(states, seat) else 0
    return int(found[seat]) - bonus - (HARMONY_BONUS if int(states[0]["taken"][seat]).bit_count() == 25 else 0)


def test_the_gain_of_a_domino_is_that_of_its_best_placement() -> None:
    """Nearly always exactly: only a half that joins two areas at once gains more, and halves that are in each other's way gain less."""
    differences = []
    for seed in range(300):
        table = placing(seed)
        if table is None:
            continue
        seat, slot = table.seat, int(table.states[0]["turn"])
        fits, fits_in_box, gain, _ = table.parts(seat, "prospects")["dominoes"][slot, -4:]
        best = None
        for action in table.legal():
            states = table.states.copy()
            verbs.apply_at(states, 0, action)
            if action != DISCARD and (not fits_in_box or is_centred(states, seat)):
                gained = points(states, seat) - points(table.states, seat)
                best = gained if best is None else max(best, gained)
        assert (fits == 1) == (table.legal() != [DISCARD])
        if best is not None:
            differences.append(round(10 * float(gain)) - best)
    assert len(differences) > 200
    assert np.mean(np.array(differences) == 0) > 0.95
    assert max(map(abs, differences)) < 10


@pytest.mark.parametrize(("size", "players", "dominoes"), [(5, 4, 48), (3, 2, 8), (7, 2, 48), (5, 3, 48)])
def test_the_points_of_terrains_and_bonuses_make_the_score(size: int, players: int, dominoes: int) -> None:
    for seed in range(20):
        table = random_game(KINGDOMINO, seed, players, 6 + seed, size=size, dominoes=dominoes)
        for seat in range(players):
            parts = table.parts(seat, "prospects")
            of_terrains = 20 * parts["areas"][:, :, 6].sum(axis=1)
            shown = 100 * parts["scores"][:players]
            real = [table.scores()[(seat + relative) % players] for relative in range(players)]
            assert shown == pytest.approx(real, abs=1e-3)
            assert set(np.round(np.array(real) - of_terrains)) <= {0, HARMONY_BONUS, MIDDLE_BONUS, MIDDLE_BONUS + HARMONY_BONUS}
            assert 50 * parts["scores"][players:] == pytest.approx(np.array(real) - real[0], abs=1e-3)


def test_what_is_to_come_is_counted() -> None:
    """The box has field, forest, water, pasture, clay and mine; the rarest terrain has the most crowns."""
    to_come = Table(KINGDOMINO).parts(0, "prospects")["to_come"]
    assert np.rint(20 * to_come[:, 0]).tolist() == [26, 22, 18, 14, 10, 6]
    assert np.rint(10 * to_come[:, 1]).tolist() == [5, 6, 6, 6, 6, 10]


@kernel
def observe_in_a_kernel(part, states, k, seat, out):
    observe_by(part, states, k, seat, out)


@pytest.mark.parametrize(("size", "players", "dominoes"), [(5, 4, 48), (3, 2, 8), (7, 2, 48)])
def test_the_part_that_remembers_kingdoms_writes_the_same(size: int, players: int, dominoes: int) -> None:
    """Positions of several games, and those after their actions, as different seats see them: kingdoms come and go in any order."""
    dice = np.random.default_rng(3)
    one = Table(KINGDOMINO, players, size=size, dominoes=dominoes)
    observer = KINGDOMINO.observer(one.players, one.variant, "prospects")
    part, out, n_fitting = observer.part(), np.zeros(observer.size, np.float32), 0
    for seed in range(60):
        table = random_game(KINGDOMINO, seed % 7, players, 4 + seed, size=size, dominoes=dominoes)
        for action in [None, *dice.permutation(table.legal())[:5]] if not table.over else [None]:
            states = table.states.copy()
            if action is not None:
                verbs.apply_at(states, 0, int(action))
            for seat in dice.integers(players, size=2):
                observe_in_a_kernel(part, states, 0, int(seat), out)
                assert (out == observer.vector(states, 0, int(seat))).all()
                n_fitting += int(observer.cut(out)["dominoes"][:, -4].sum())
    assert n_fitting > 20


def test_the_options_that_give_points_are_remembered_with_a_kingdom() -> None:
    """The same kingdom has other points without the bonus for the middle."""
    part, out = KINGDOMINO.observer(4, Table(KINGDOMINO).variant, "prospects").part(), np.zeros(468, np.float32)
    for middle, points in ((True, 0.1), (False, 0.0), (True, 0.1)):
        table = Table(KINGDOMINO, middle=middle)
        observe_in_a_kernel(part, table.states, 0, 0, out)
        assert table.game.observer(4, table.variant, "prospects").cut(out)["scores"][0] == np.float32(points)
