"""Does the generator of a policy draw as NumPy's does, from the stream that kernels draw from?"""

from collections import Counter
from typing import Any

import numpy as np
import pytest

import kdenv
from kdenv.compiler.random import below, uniform
from kdenv.core.errors import BadOption
from kdenv.core.view import View
from kdenv.policies.base import Policy, rng_of
from kdenv.policies.policy_rng import PolicyRng


def dice(seed: int = 1) -> PolicyRng:
    policy = kdenv.policy("random")
    policy.reset(seed)
    return policy.rng


def test_kernels_and_methods_draw_from_one_stream() -> None:
    """What a policy draws with kernels is what it drew before its generator had methods."""
    rng, same = dice(), rng_of(1)
    assert [rng.random(), int(below(rng, 6)), rng.integers(6)] == [uniform(same), below(same, 6), below(same, 6)]
    assert [rng.integers(3, 9), rng.choice(["a", "b", "c"])] == [3 + below(same, 6), "abc"[below(same, 3)]]
    assert int(rng[0]) == int(same[0])


def test_shapes_and_types_are_those_of_numpy() -> None:
    rng, numpys = dice(), np.random.default_rng(1)
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("random", (), {}),
        ("random", (3,), {}),
        ("random", ((2, 3),), {}),
        ("integers", (6,), {}),
        ("integers", (1, 6), {"endpoint": True}),
        ("integers", (-3, 2, (2, 2)), {}),
        ("integers", (3,), {"size": 0}),
        ("choice", (5,), {}),
        ("choice", ([1.5, 2.5], 4), {}),
        ("choice", (5, (2, 2)), {"replace": False}),
        ("choice", (["a", "b"],), {"p": [0.25, 0.75]}),
    ]
    for name, given, named in calls:
        ours, theirs = getattr(rng, name)(*given, **named), getattr(numpys, name)(*given, **named)
        assert np.shape(ours) == np.shape(theirs) and np.asarray(ours).dtype.kind in (np.asarray(theirs).dtype.kind, "f"), name


def test_every_possible_number_is_drawn_and_no_other() -> None:
    rng = dice()
    assert set(rng.integers(2, 5, 200).tolist()) == {2, 3, 4}
    assert set(rng.integers(2, 5, 200, endpoint=True).tolist()) == {2, 3, 4, 5}
    assert all(0 <= drawn < 1 for drawn in rng.random(200))
    assert set(rng.choice([7, 8, 9], 200, p=[0.5, 0.0, 0.5]).tolist()) == {7, 9}
    assert all(sorted(rng.choice(4, 4, replace=False).tolist()) == [0, 1, 2, 3] for _ in range(50))


def test_elements_are_drawn_by_their_probabilities() -> None:
    drawn = Counter(dice().choice(3, 20_000, p=[0.1, 0.3, 0.6]).tolist())
    assert all(abs(drawn[i] / 20_000 - p) < 0.02 for i, p in enumerate([0.1, 0.3, 0.6]))  # more than five standard deviations


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda rng: rng.integers(0), r"integers\(0, None\) has 0 numbers to choose from; it must be 1 to 4,294,967,295"),
        (lambda rng: rng.integers(5, 2), r"integers\(5, 2\) has -3 numbers to choose from"),
        (lambda rng: rng.integers(2**40), "has 1099511627776 numbers to choose from"),
        (lambda rng: rng.choice([]), "choice cannot draw 1 of 0 possible elements"),
        (lambda rng: rng.choice(3, 4, replace=False), "choice cannot draw 4 of 3 possible elements without replacing them"),
        (lambda rng: rng.choice(3, 2, replace=False, p=[1, 0, 0]), "choice cannot draw 2 of 1 possible elements without"),
        (lambda rng: rng.choice(2, p=[1, 1]), r"p=\[1, 1\] is not possible; it must be a probability for each of 2 elements"),
    ],
)
def test_what_cannot_be_drawn_is_told_in_a_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(BadOption, match=sentence):
        call(dice())


def test_a_policy_in_python_plays_with_it_and_a_seed_gives_the_same_game() -> None:
    class Chooser(Policy):
        def act(self, view: View) -> int:
            return int(self.rng.choice(view.legal()))

    def record(seed: int) -> str:
        table, policy = kdenv.table("kingdomino", 2, size=3), Chooser()
        policy.reset(seed)
        rng = rng_of(1)
        table.run_chance(rng)
        while not table.over:
            table.play(policy.act(table.view(table.seat)))
            table.run_chance(rng)
        return table.record()

    assert record(1) == record(1) != record(2)
