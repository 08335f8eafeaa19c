"""Does a network learn from a search what the turns of a position are worth, in the unit that it predicts?"""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from random_games import random_game

from kdenv.compiler.random import make_rng
from kdenv.core import verbs
from kdenv.core.errors import BadOption
from kdenv.core.table import Table
from kdenv.core.turns import packed
from kdenv.core.verbs import OVER
from kdenv.core.view import View
from kdenv.games import find_game
from kdenv.games.dominoes.notation import tiles_in
from kdenv.games.dominoes.tables import BIT_OF_TILE, MIRRORED, TILES
from kdenv.networks.learning import learn_from_worths
from kdenv.networks.network import value_alone
from kdenv.networks.players import Goal
from kdenv.networks.self_play import POSITIONS
from kdenv.policies import policy
from kdenv.training import Trainer, TrainingSettings
from kdenv.training.teacher import Teacher

pytestmark = pytest.mark.cold  # it compiles programs that no other test needs

DOMINOES = find_game("dominoes")


def left(table: Table) -> int:
    return sum(len(tiles_in(hand)) for hand in table.states[0]["hands"])


def end_of_eight_tiles() -> Table:
    """A round of random turns in which eight tiles are left, and there is something to choose."""
    for seed in range(100):
        table = random_game(DOMINOES, seed, None, 15, mode="round")
        while not table.over and left(table) > 8:
            table.play(table.legal()[0])
        if not table.over and len(table.legal()) > 1:
            return table
    raise AssertionError("there is no such round")


def deals(states: Any, seat: int) -> Iterator[Any]:
    """Every deal of the tiles that the seat does not see: each hand has as many as it has, and none of a suit that it lacks."""
    state = states[0]
    others = [other for other in range(4) if other != seat]
    hands = [tiles_in(state["hands"][other]) for other in others]
    unseen = sorted(tile for hand in hands for tile in hand)
    for first in combinations(unseen, len(hands[0])):
        rest = [tile for tile in unseen if tile not in first]
        for second in combinations(rest, len(hands[1])):
            dealt = first, second, tuple(tile for tile in rest if tile not in second)
            of_others = list(zip(others, dealt, strict=True))
            if any(int(state["lacks"][other]) >> pips & 1 for other, hand in of_others for tile in hand for pips in TILES[tile]):
                continue
            twin = states.copy()
            for other, hand in of_others:
                twin[0]["hands"][other] = sum(int(MIRRORED[BIT_OF_TILE[tile]]) for tile in hand)
            yield twin


def worth_of_random_play(states: Any, seat: int) -> float:
    """1 for a round that the team of the seat wins, -1 for one that it loses, on average over all random turns from here on."""
    if verbs.phase_at(states, 0) == OVER:
        standings = np.zeros(4, np.int64)
        verbs.standings_at(states, 0, standings)
        return float(np.sign(standings[seat] - standings[(seat + 1) % 4]))
    legal, found = np.zeros(64, np.int64), []
    for i in range(verbs.legal_at(states, 0, legal)):
        twin = states.copy()
        verbs.apply_at(twin, 0, int(legal[i]))
        found.append(worth_of_random_play(twin, seat))
    return float(np.mean(found))


def after(states: Any, action: int) -> Any:
    twin = states.copy()
    verbs.apply_at(twin, 0, action)
    return twin


def trainer_with(folder: Path, teacher: str, **more: Any) -> Trainer:
    return Trainer(
        TrainingSettings("dominoes", options={"mode": "round"}, encoding="ends", teacher=teacher, **{"win": 1.0, **more}), folder
    )


@pytest.mark.parametrize(
    ("score", "goal", "worths"),
    [
        ("wdl", Goal(2, 50.0, 1.0), [1.0, 0.0, -1.0]),  # a win is 1 to the search, and 1 to the network; a loss is 0 and -1
        ("margin", Goal(2, 50.0, 0.0), [0.02, 0.01, 0.0]),  # a margin of 1 is a fiftieth of what counts 1 to the network
    ],
)
def test_worths_have_the_unit_of_the_goal_and_the_turn_tried_most_counts_whole(
    score: str, goal: Goal, worths: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A turn that was tried half as often counts half, and one that was not tried is not learned."""
    teacher, table = Teacher(f"mce(score={score}, playouts=1)", DOMINOES, 4, {"mode": "round"}, goal), Table(DOMINOES, mode="round")
    learned: list[tuple[Any, ...]] = []
    learner = SimpleNamespace(states=table.states.copy(), sums=np.zeros(4))

    def search(view: View, thorough: bool) -> Any:
        turn = packed(view.legal()[0])
        turns, visits, means = np.array([turn, 2, 3, 4]), np.array([4, 0, 2, 1]), np.array([1.0, np.nan, 0.5, 0.0])
        return SimpleNamespace(turns=turns, visits=visits, means=means, turn=turn)

    monkeypatch.setattr(teacher, "policy", SimpleNamespace(reset=lambda seed: None, search=search))
    monkeypatch.setattr("kdenv.training.teacher.learn_from_worths", lambda *given: learned.append(given))
    teacher.play(learner, SimpleNamespace(rate=0.1, random=0.0), make_rng(1))  # type: ignore[arg-type]
    assert len(learned) > 15
    for _, turns, of_turns, shares, _, _ in learned:
        assert turns[1:].tolist() == [3, 4]
        assert of_turns.tolist() == pytest.approx(worths)
        assert shares.tolist() == [1.0, 0.5, 0.25]


def test_it_learns_what_the_turns_of_an_end_of_eight_tiles_are_worth(tmp_path: Path) -> None:
    """Within 0.15 of the mean over all hands that the others may hold and all random turns, which is counted; worths go from -1 to 1.

    A search that knew the hidden hands would teach the worth of one deal, which is far from the mean over all.
    """
    table = end_of_eight_tiles()
    seat, turns = table.seat, table.legal()
    of_deals = {turn: [worth_of_random_play(after(states, turn), seat) for states in deals(table.states, seat)] for turn in turns}
    counted = {turn: float(np.mean(found)) for turn, found in of_deals.items()}
    real = {turn: worth_of_random_play(after(table.states, turn), seat) for turn in turns}
    assert max(abs(counted[turn] - real[turn]) for turn in turns) > 0.3  # so that peeking would show

    trainer = trainer_with(tmp_path, "mce(playout=random, score=wdl, playouts=400)")
    teacher, learner, view = trainer._teacher, trainer.learners[0], table.view(seat)
    for _ in range(100):
        found = teacher.policy.search(view, thorough=False)
        learner.states[0] = view.scratch(1)[0]
        learn_from_worths(learner, found.turns, found.means * 2 - 1, np.ones(len(found.turns)), 0.001, make_rng(1))
    for turn in turns:
        states = after(table.states, turn)
        if verbs.phase_at(states, 0) != OVER:
            assert value_alone(learner.player.network, states, 0, seat) == pytest.approx(counted[turn], abs=0.15)


def test_it_plays_whole_games_and_takes_over_the_unit_of_the_search(tmp_path: Path) -> None:
    """After some games its predictions are nearer to what the search finds than at first."""
    trainer = trainer_with(tmp_path, "mce(playout=random, score=wdl, playouts=400)", games=80, rate=0.002)
    errors = []
    for n in (2, 58, 20):
        trainer.learners[0].sums[:] = 0
        for _ in range(n):
            trainer.learn()
        games, positions, squared, _ = trainer.learners[0].sums
        assert games == n and positions > 15 * n
        errors.append(squared / positions)
    assert errors[2] < 0.7 * errors[0]


def test_the_same_training_from_a_teacher_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "again"):
        trainer_with(tmp_path / name, "mce(playout=random, score=wdl, playouts=20)", games=6, hidden=8).run(points=2)
    stopped = trainer_with(tmp_path / "stopped", "mce(playout=random, score=wdl, playouts=20)", games=6, hidden=8)
    stopped.learn()
    stopped.save()
    trainer_with(tmp_path / "stopped", "mce(playout=random, score=wdl, playouts=20)", games=6, hidden=8).run(points=2)
    one, again, parts = ((tmp_path / name / "model.npz").read_bytes() for name in ("one", "again", "stopped"))
    assert one == again == parts


def test_strength_is_measured_once_at_the_end(tmp_path: Path) -> None:
    said: list[str] = []
    for _ in range(2):  # the second goes on with a training that is over, and has nothing to measure
        trainer_with(tmp_path, "mce(playout=random, score=wdl, playouts=20)", games=6, hidden=8).run(said.append, points=2)
    assert [line.split(" games")[0].split() for line in said] == [["17%", "1"], ["50%", "3"], ["100%", "6"]]


@pytest.mark.parametrize(
    ("teacher", "more", "sentence"),
    [
        ("greedy", {}, "teacher=greedy is not possible, because it makes no playouts; choose mce(...), bandit(...) or uct(...)"),
        ("mce(score=points, playouts=1)", {}, "a network with scale=50 and win=1 could learn. Give it score=margin with --win 0"),
        ("mce(score=wdl, playouts=1)", {"win": 0.5}, "has no values that a network with scale=50 and win=0.5 could learn"),
        ("mce(playouts=1, score=goal, leaf=learned(dominoes))", {"win": 0.0}, "or a leaf or a prior with the same scale and win"),
        ("mce(playouts=1, score=goal, prior=learned(dominoes))", {"win": 0.0}, "or a leaf or a prior with the same scale and win"),
    ],
)
def test_a_teacher_that_cannot_teach_is_refused(teacher: str, more: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(BadOption) as error:
        trainer_with(tmp_path, teacher, **more)
    assert sentence in str(error.value)


def test_a_search_with_a_prior_teaches_in_the_unit_of_its_network(tmp_path: Path) -> None:
    teacher = "mce(score=goal, prior=learned(dominoes), playouts=8)"
    network: Any = policy("learned(dominoes)")
    unit = network.loaded().stored
    trainer = trainer_with(tmp_path, teacher, games=1, scale=unit.scale, win=unit.win)
    trainer.learn()
    assert trainer.learners[0].sums[POSITIONS] > 0


def test_a_teacher_plays_one_game_at_a_time(tmp_path: Path) -> None:
    settings = TrainingSettings("dominoes", win=1.0, teacher="mce(score=wdl, playouts=1)")
    with pytest.raises(BadOption, match="threads=2 is not possible with a teacher, which plays one game at a time"):
        Trainer(settings, tmp_path, threads=2)
