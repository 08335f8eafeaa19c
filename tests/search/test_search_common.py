"""Do all turns have the same luck if asked for? And does what a network thinks of turns count as it should beside their playouts?"""

from pathlib import Path

import numpy as np
import pytest
import three_shells
from models import random_model
from positions import after_pick, of_seat_to_move, shells

from kdenv.core.errors import BadOption, NotSupported
from kdenv.games import find_game
from kdenv.policies import Mce, policy
from kdenv.policies.flat import weighed
from kdenv.policies.result import SearchResult
from kdenv.search.kernels.flat import Tally


def search(text: str, seed: int = 1) -> SearchResult:
    """What the search finds in a position of Kingdomino in which a domino is placed and one picked."""
    searching = policy(text)
    searching.reset(seed)
    return searching.search(of_seat_to_move(after_pick()))


# The same luck for all turns


def test_with_common_luck_the_pea_is_under_the_same_shell_for_every_guess() -> None:
    """Stake 2: each guess is right for one shell of three, so of three guesses at the same pea exactly one wins."""
    means = []
    for seed in range(60):
        searching = policy("mce(common=yes, score=wdl, playouts=4)")
        searching.reset(seed)
        found = searching.search(shells(0, 2).view(1))
        words = [candidate.words for candidate in found.candidates]
        assert sorted(words) == ["pass", "point 0", "point 1", "point 2"]
        means.append(sum(candidate.mean for candidate in found.candidates if candidate.words != "pass"))
    assert means == [1.0] * 60


def test_without_it_the_pea_is_drawn_for_every_guess() -> None:
    sums = set()
    for seed in range(60):
        searching = policy("mce(score=wdl, playouts=4)")
        searching.reset(seed)
        found = searching.search(shells(0, 2).view(1))
        sums.add(sum(candidate.mean for candidate in found.candidates if candidate.words != "pass"))
    assert len(sums) > 1


def test_each_rotation_has_luck_of_its_own_and_the_means_stay_those_worked_out_by_hand() -> None:
    """As in test_search_flat.py: the odds of the shells are 1 : 2 : 3, and the coin is worth 1.25 on average."""
    found = policy("mce(common=yes, score=margin, playouts=80000)").search(shells(0, 2).view(1))
    assert (np.abs(found.means - [-10 / 3, -5 / 3, 0, -2.5]) < 3 * np.array(found.halves)).all()


def test_a_rotation_keeps_its_luck_from_one_step_of_the_budget_to_the_next() -> None:
    """Seven playouts a step are no whole rotation of four turns."""
    wholes, parts = [], []
    for steps, found in (([28], wholes), ([7, 7, 7, 7], parts)):
        searcher = policy("mce(common=yes, score=wdl, playouts=28)").searcher  # type: ignore[attr-defined]
        view = shells(0, 2).view(1)
        worker = searcher.worker(view, searcher.turns(view), searcher.budget, policy("random").rng, 0)
        worker.run(steps)
        found += worker.tally().sums.tolist()
    assert wholes == parts


# Priors


def test_a_prior_counts_for_as_many_playouts_as_it_is_trusted() -> None:
    tally = Tally(np.array([3, 1, 0]), np.array([6.0, 4.0, 0.0]), np.zeros(3))
    priors = np.array([10.0, 0.0, 5.0])
    assert weighed(tally, 0, priors).tolist()[:2] == [2.0, 4.0]
    assert weighed(tally, 1, priors).tolist()[:2] == [(6 + 10) / 4, (4 + 0) / 2]
    assert np.isnan(weighed(tally, 1, priors)[2])


def test_what_is_trusted_beyond_measure_decides_alone(tmp_path: Path) -> None:
    """Every turn has one playout, which counts for nothing beside a prior of 10 ** 9; then `mce` takes the turn of `learned`."""
    file = random_model(tmp_path / "m.npz", "kingdomino")
    alone = policy(f"learned({file})").search(of_seat_to_move(after_pick()))
    for sampling in ("rotation", "halving"):
        text = f"mce(sampling={sampling}, prior=learned({file}), trust=1e9, score=goal, playouts=400)"
        found = search(text)
        assert found.turn == alone.turn
        assert found.means == pytest.approx(alone.means, abs=1e-5)


def test_a_prior_without_trust_changes_no_mean(tmp_path: Path) -> None:
    file = random_model(tmp_path / "m.npz", "kingdomino")
    found = search(f"mce(prior=learned({file}), trust=0, score=goal, playouts=300)")
    same = search(f"mce(leaf=learned({file}), turns=1000, score=goal, playouts=300)")
    assert found.means == pytest.approx(same.means)


def test_halving_begins_with_the_turns_that_the_prior_likes_best(tmp_path: Path) -> None:
    file = random_model(tmp_path / "m.npz", "kingdomino")
    liked = policy(f"learned({file})").search(of_seat_to_move(after_pick())).means
    found = search(f"mce(sampling=halving, prior=learned({file}), widest=6, score=goal, playouts=60)")
    assert set(np.flatnonzero(found.visits)) == set(np.argsort(-liked, kind="stable")[:6])
    assert found.visits.sum() == 60
    assert sorted(found.visits)[-6:] == [3, 3, 3, 9, 21, 21]


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("mce(common=yes, sampling=random, playouts=9)", "common=yes is not possible with sampling=random"),
        ("mce(trust=3, playouts=9)", "trust=3 needs a network that says what turns are worth; give prior=learned(<model>)"),
        ("mce(sampling=halving, widest=3, playouts=9)", "widest=3 needs a network"),
        ("mce(prior=learned(kingdomino), score=goal, widest=3, playouts=9)", "widest=3 is not possible with sampling=rotation"),
        ("mce(prior=learned(kingdomino), score=wdl, playouts=9)", "score=wdl is not possible with a prior"),
        ("mce(prior=learned(kingdomino), leaf=learned(dominoes), score=goal, playouts=9)", "both must be the same network"),
    ],
)
def test_what_contradicts_itself_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(BadOption) as error:
        policy(text)
    assert sentence in str(error.value)


def test_a_prior_of_another_game_is_refused() -> None:
    with pytest.raises(NotSupported, match="dominoes"):
        Mce(prior="learned(dominoes)", score="goal", playouts=9).check(find_game("kingdomino"), 4)


def test_shells_take_a_prior_too(tmp_path: Path) -> None:
    file = random_model(tmp_path / "m.npz", three_shells.GAME)
    found = policy(f"mce(sampling=halving, common=yes, prior=learned({file}), score=goal, playouts=40)").search(shells(0, 2).view(1))
    assert found.visits.sum() == 40
