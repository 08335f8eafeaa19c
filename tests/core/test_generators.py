"""Does everything that draws at random take the generators that it says it takes, and refuse all else in a sentence?"""

import re
from typing import Any

import numba
import numpy as np
import pytest

from kdenv.author import Table, Uniform, below, make_rng, play_out, resample_hidden, uniform
from kdenv.games import find_game

NO_RNG = "is no generator of random numbers; give what kdenv.author.make_rng(seed) returns"
OTHERS = [7, None, "1", np.random.RandomState(1), np.zeros(1, np.int64), np.zeros(2, np.uint64)]


def type_of(given: Any) -> str:
    return type(given).__name__


@pytest.mark.parametrize("given", OTHERS, ids=type_of)
def test_a_table_refuses_what_is_no_generator_and_does_not_change(given: Any) -> None:
    table = Table(find_game("kingdomino"), 2)
    for draw in (table.run_chance, table.sample_chance, lambda rng: table.decide(0, rng)):
        with pytest.raises(TypeError) as error:
            draw(given)
        assert str(error.value) == f"a value of type {type_of(given)} {NO_RNG}, or a numpy Generator, such as numpy.random.default_rng(1)"
    assert (table.changes, table.events()) == (0, [])


def test_every_call_of_a_table_takes_a_numpy_generator() -> None:
    table, rng = Table(find_game("kingdomino"), 2), np.random.default_rng(1)
    assert table.sample_chance(rng) in dict(table.chances())
    table.run_chance(rng)
    table.decide(table.legal()[0], rng)
    assert [event.is_chance for event in table.events()].count(False) == 1


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="plain Python says that the value has no items")
@pytest.mark.parametrize("given", [7, np.random.default_rng(1), np.zeros(1, np.int64)], ids=type_of)
def test_kernels_say_what_is_no_generator(given: Any) -> None:
    table = Table(find_game("dominoes"))
    table.run_chance(make_rng(1))
    states, out = table.view(table.seat or 0).scratch(4), table.game.buffer()
    for draw in (
        lambda: below(given, 5),
        lambda: uniform(given),
        lambda: resample_hidden(states[0], 0, given),
        lambda: play_out(Uniform(), states, 0, out, given),
    ):
        with pytest.raises(TypeError, match=f"^what a kernel is to draw from {re.escape(NO_RNG)} .it is given: "):
            draw()


@pytest.mark.parametrize("seed", ["1", 1.5, None], ids=type_of)
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(TypeError, match=f"^a generator cannot be made from a value of type {type_of(seed)}; give make_rng a whole"):
        make_rng(seed)
    assert make_rng(np.int64(5)) == make_rng(5)
