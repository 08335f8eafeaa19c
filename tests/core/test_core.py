"""Sets of bits, random numbers and the log of a game: what everything else is made of."""

import hashlib
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
import three_shells
from hypothesis import given, settings
from hypothesis import strategies as st

from kdenv.compiler import bits
from kdenv.compiler.kernel import allocating_kernel, kernel
from kdenv.compiler.random import below, derive_seed, make_rng, next64, stirred, uniform
from kdenv.core.events import Event, Log
from kdenv.core.game import Game
from kdenv.core.table import Table
from kdenv.games import find_game

KINGDOMINO = find_game("kingdomino")


# --- Bits ---


@kernel
def _lowest(bits_):
    return bits.lowest(bits_)


@kernel
def _popcount(bits_):
    return bits.popcount(bits_)


sets = st.sets(st.integers(0, 63), min_size=1)


def as_bits(elements: set[int]) -> np.uint64:
    return np.uint64(sum(1 << element for element in elements))


@given(sets)
@settings(max_examples=200)
def test_a_set_has_as_many_elements_as_it_has(elements: set[int]) -> None:
    assert bits.popcount(as_bits(elements)) == _popcount(as_bits(elements)) == len(elements)


def test_the_empty_set_has_no_element() -> None:
    assert bits.popcount(np.uint64(0)) == _popcount(np.uint64(0)) == 0


@given(sets)
def test_lowest_is_the_smallest(elements: set[int]) -> None:
    assert bits.lowest(as_bits(elements)) == _lowest(as_bits(elements)) == min(elements)


@given(sets)
def test_has_knows_every_element(elements: set[int]) -> None:
    here = as_bits(elements)
    assert {element for element in range(64) if bits.has(here, element)} == elements
    assert {element for element in range(64) if bits.has.py_func(here, element)} == elements


@given(sets)
def test_nth_counts_in_order(elements: set[int]) -> None:
    here = as_bits(elements)
    assert [bits.nth(here, n) for n in range(len(elements))] == sorted(elements)
    assert [bits.nth.py_func(here, n) for n in range(len(elements))] == sorted(elements)


@pytest.mark.parametrize("element", [0, 1, 31, 32, 62, 63])
def test_bit_is_the_set_of_one(element: int) -> None:
    assert bits.bit(element) == bits.bit.py_func(element) == np.uint64(1 << element)


# --- Random numbers ---


@allocating_kernel
def _draws(rng, n, many):
    out = np.zeros(many, np.int64)
    for i in range(many):
        out[i] = below(rng, n)
    return out


@allocating_kernel
def _uniforms(rng, many):
    out = np.zeros(many)
    for i in range(many):
        out[i] = uniform(rng)
    return out


@allocating_kernel
def _raw(rng, many):
    out = np.zeros(many, np.uint64)
    for i in range(many):
        out[i] = next64(rng)
    return out


def chi_square(counts: np.ndarray) -> float:
    """In standard deviations from what chance gives: above 6 less than once in a million, for these many classes."""
    expected = counts.sum() / len(counts)
    return (((counts - expected) ** 2 / expected).sum() - (len(counts) - 1)) / np.sqrt(2 * (len(counts) - 1))


@pytest.mark.parametrize("n", [2, 3, 6, 7, 48, 1000])
def test_below_is_uniform(n: int) -> None:
    counts = np.bincount(_draws(make_rng(1), n, 200 * n + 50_000), minlength=n)
    assert len(counts) == n
    assert abs(chi_square(counts)) < 6


def test_pairs_of_draws_are_uniform() -> None:
    draws = _draws(make_rng(2), 8, 200_000).reshape(-1, 2)
    assert abs(chi_square(np.bincount(draws[:, 0] * 8 + draws[:, 1], minlength=64))) < 6


def test_the_first_draws_of_neighbouring_seeds_are_uniform() -> None:
    """As seeds are: 1, 2, 3 ..."""
    assert abs(chi_square(np.bincount([int(below(make_rng(seed), 10)) for seed in range(20_000)], minlength=10))) < 6


def test_the_chi_square_test_sees_a_loaded_die() -> None:
    draws = _draws(make_rng(1), 6, 50_000)
    assert abs(chi_square(np.bincount(np.where(draws + np.arange(50_000) % 20 == 5, 4, draws), minlength=6))) > 6


def test_below_one_is_zero() -> None:
    assert set(_draws(make_rng(3), 1, 100)) == {0}


def test_below_reaches_far() -> None:
    draws = _draws(make_rng(4), 2**32 - 1, 10_000)
    assert 0 <= draws.min() < 2**24 < 2**32 - 2**24 < draws.max() < 2**32 - 1


def test_uniform_is_uniform_from_0_to_below_1() -> None:
    draws = _uniforms(make_rng(5), 100_000)
    assert draws.min() >= 0 and draws.max() < 1
    assert abs(chi_square(np.bincount((draws * 20).astype(int), minlength=20))) < 6


def test_the_compiler_does_not_change_the_sequence() -> None:
    plain, compiled = make_rng(6), make_rng(6)
    assert [int(next64(plain)) for _ in range(300)] == [int(x) for x in _raw(compiled, 300)]
    assert [below.py_func(plain, n) for n in range(1, 300)] == [below(compiled, n) for n in range(1, 300)]
    assert [uniform.py_func(plain) for _ in range(300)] == [uniform(compiled) for _ in range(300)]
    assert plain[0] == compiled[0]


def test_the_sequence_is_xorshift64_star() -> None:
    """Three steps by hand (Vigna: shifts 12, 25, 27, then a multiplication), from state 1."""
    rng = np.array([1], np.uint64)
    state, expected = 1, []
    for _ in range(3):
        state ^= state >> 12
        state = (state ^ (state << 25)) % 2**64
        state ^= state >> 27
        expected.append(state * 2685821657736338717 % 2**64)
    assert [int(next64(rng)) for _ in range(3)] == expected


@kernel
def _stirred(key, word):
    return stirred(key, word)


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_a_word_is_stirred_into_a_key_alike_with_and_without_the_compiler(key: int, word: int) -> None:
    """By a multiplication with the golden ratio, after which the upper half is mixed into the lower one."""
    product = (key ^ word) * 0x9E3779B97F4A7C15 % 2**64
    expected = product ^ product >> 32
    assert int(stirred(np.uint64(key), np.uint64(word))) == int(_stirred(np.uint64(key), np.uint64(word))) == expected


def test_neighbouring_seeds_give_other_sequences() -> None:
    firsts = {int(next64(make_rng(seed))) for seed in range(-1000, 1000)}
    assert len(firsts) == 2000


def test_no_seed_gives_the_state_zero_where_the_generator_would_stay() -> None:
    undone = -0x9E3779B97F4A7C15 % 2**64  # the seed that splitmix64 takes to 0
    assert int(make_rng(undone)[0]) != 0


def test_a_numpy_generator_seeds_and_moves_on() -> None:
    generator = np.random.default_rng(1)
    first, second = make_rng(generator), make_rng(generator)
    assert first[0] != second[0]
    assert make_rng(np.random.default_rng(1))[0] == first[0]


def test_a_derived_seed_depends_on_its_purpose_and_on_every_part_and_their_order() -> None:
    parts = [(1, 2, 3), (1, 3, 2), (1, 2), (1, 2, 4), (-1, 2, 3), (12, 3), (1, 23), (1, 2 + 2**64, 3), (10**5000, 3)]
    assert len({derive_seed(purpose, *of) for purpose in ("chance", "policy") for of in parts}) == 2 * len(parts)


def test_a_derived_seed_is_blake2b_with_the_purpose_as_its_key() -> None:
    """Each number follows its length, so that no two lists of numbers are one text."""
    text = b"".join(len(part).to_bytes(8, "little") + part for part in (b"\x05", b"\x00\x01"))
    expected = int.from_bytes(hashlib.blake2b(text, digest_size=8, person=b"chance").digest(), "little")
    assert derive_seed("chance", 5, 256) == expected


def test_a_derived_seed_is_the_same_in_every_process() -> None:
    code = "from kdenv.compiler.random import derive_seed; print(derive_seed('chance', 1, 2, 3))"
    told = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    assert int(told.stdout) == derive_seed("chance", 1, 2, 3)


# --- The log ---


def by_hand(seed: int) -> Table:
    """A random four-player game, event by event, the checked way."""
    table, dice, rng = Table(KINGDOMINO, 4), np.random.default_rng(seed), make_rng(seed)
    while not table.over:
        if table.at_chance:
            table.chance(table.sample_chance(rng))
        else:
            table.play(int(dice.choice(table.legal())))
    return table


def fast(seed: int) -> Table:
    """The same game the fast way: a decision and all chance after it at once."""
    table, dice, rng = Table(KINGDOMINO, 4), np.random.default_rng(seed), make_rng(seed)
    table.run_chance(rng)
    while not table.over:
        table.decide(int(dice.choice(table.legal())), rng)
    return table


@pytest.mark.parametrize("game", [find_game("dominion"), find_game("dominoes"), three_shells.GAME], ids=lambda game: game.name)
def test_the_fast_way_notes_the_same_witnesses_where_something_is_hidden(game: Game) -> None:
    """Who sees an outcome is asked before it is carried out: afterwards the next card may be for somebody else."""
    table, dice, rng = Table(game), np.random.default_rng(1), make_rng(1)
    table.run_chance(rng)
    while not table.over and len(table.log) < 300:
        table.decide(int(dice.choice(table.legal())), rng)
    again = Table(game)
    for event in table.events():
        assert event.number is not None
        (again.chance if event.is_chance else again.play)(event.number)
    rows = table.log.rows[:, : len(table.log)]
    assert rows.tolist() == again.log.rows[:, : len(again.log)].tolist()
    assert len(set(rows[1].tolist())) > 1


def test_a_log_of_more_events_than_it_had_room_for_is_whole() -> None:
    """52 outcomes of chance and 100 decisions or more; there is room for 128 at first."""
    events = by_hand(1).events()
    assert len(events) > 128
    assert [event.is_chance for event in events].count(True) == 52


@pytest.mark.parametrize("seed", range(5))
def test_the_fast_way_writes_the_same_log(seed: int) -> None:
    assert fast(seed).record() == by_hand(seed).record()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_a_log_that_fills_up_amid_chance_goes_on(size: int) -> None:
    table, rng = Table(KINGDOMINO, 4), make_rng(1)
    table.log.rows = np.zeros((2, size), np.int32)
    table.run_chance(rng)
    usual = Table(KINGDOMINO, 4)
    usual.run_chance(make_rng(1))
    assert table.events() == usual.events()
    assert len(table.events()) == 5  # four dominoes and a king
    assert table.log.rows.shape[1] > 5  # a place is free for the next decision


def shells(*, pea: int) -> Table:
    table = Table(three_shells.GAME)
    table.chance(pea)
    table.play(1)
    return table


def test_an_event_that_a_seat_did_not_see_has_no_number_for_it() -> None:
    log = shells(pea=2).log
    assert log.seen_by(0).events() == [Event(True, 2), Event(False, 1)]
    assert log.seen_by(1).events() == [Event(True, None), Event(False, 1)]


def test_hiding_does_not_touch_the_log_itself() -> None:
    log = shells(pea=2).log
    log.seen_by(1)
    assert log.events()[0] == Event(True, 2)


def test_a_copy_of_a_log_goes_its_own_way() -> None:
    log = shells(pea=2).log
    twin = log.copy()
    twin.write_action(5)
    assert (len(log), len(twin)) == (2, 3)


def test_the_key_of_a_log_foresees_actions() -> None:
    log = Log()
    log.write_chance(3, -1)
    foreseen = log.key(7)
    log.write_action(7)
    assert log.key() == foreseen


def test_the_key_tells_chance_from_action() -> None:
    chance, action = Log(), Log()
    chance.write_chance(7, -1)
    action.write_action(7)
    assert chance.key() != action.key()


# --- Kernels ---


@kernel
def _of_two_dice(rng):
    return below(rng, 6) + below(rng, 6)


@numba.njit
def _of_four_dice(rng):
    return _of_two_dice(rng) + _of_two_dice(rng)


def test_what_numba_compiles_by_itself_may_call_kernels() -> None:
    assert _of_four_dice(make_rng(1)) == sum(map(below, [rng := make_rng(1)] * 4, [6] * 4))
    assert _of_two_dice(make_rng(1)) == below(rng := make_rng(1), 6) + below(rng, 6)


@kernel
def _countdown(n):
    return 0 if n <= 0 else 1 + _countdown(n - 1)


@kernel
def _countdown_twice(n):
    return 2 * _countdown(n)


def test_a_kernel_may_call_itself() -> None:
    assert _countdown_twice(5) == 10
    assert _countdown(5) == 5
