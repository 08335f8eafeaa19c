"""Does any policy know what its seat cannot know? All that is hidden is drawn anew: from the same seed, every policy must decide the same.

Drawn anew is the position (resample_hidden) and, in the record of the game, whatever the seat to move did not see. Oracles,
which are shown everything, must be found out by the same check.
"""

import gc
import inspect
import random
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from everyone import answer, policies_for
from models import POLICY, random_model
from positions import shells
from random_games import random_game

import kdenv
from kdenv.arena.match import Match, play_game
from kdenv.compiler.random import make_rng
from kdenv.core import verbs
from kdenv.core.errors import BadRecord, IllegalAction, NotSupported
from kdenv.core.game import States
from kdenv.core.table import Table
from kdenv.core.view import View
from kdenv.envs.aec import TableEnv
from kdenv.envs.single_agent import SeatEnv
from kdenv.games import find_game, names
from kdenv.policies import Policy, policy
from kdenv.policies.text.value import rows

HIDING = [name for name in names() if not find_game(name).open_information]
OPEN = [name for name in names() if find_game(name).open_information]
ALL = [(name, text) for name in HIDING for text in policies_for(find_game(name))]
HONEST = [(name, text) for name, text in ALL if not policy(text).is_oracle]
ROWS = {name for name, _ in rows(Policy)} - {"mcts", "ismcts"}  # of papers: each is compiled for this test
HONEST_AND_TIER = [pytest.param(*each, marks=[pytest.mark.cold] * (each[1].partition("(")[0] in ROWS)) for each in HONEST]
ORACLES = [(name, text) for name, text in ALL if policy(text).is_oracle]

POSITIONS, VARIANTS = 12, 4


def drawn_anew(table: Table, seed: int) -> Table:
    """The same table as far as the seat to move can tell; all it cannot tell is a new draw."""
    twin, seat = table.clone(), table.seat
    assert seat is not None
    verbs.resample_hidden_at(twin.states, 0, int(seat), make_rng(seed))
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


@pytest.mark.parametrize(("name", "text"), HONEST_AND_TIER)
def test_nobody_peeks(name: str, text: str) -> None:
    asked = policy(text)
    fitting = [variants for variants in positions(name) if fits(asked, variants[0])]
    assert len(fitting) >= POSITIONS // 4  # a model is made for one number of players
    assert [len(answers(asked, variants)) for variants in fitting] == [1] * len(fitting)


def fits(asked: Policy, table: Table) -> bool:
    """Whether this policy can play at this table. Only learned players are made for one number of players."""
    try:
        asked.needs(table.game, table.players, table.variant)
    except NotSupported:
        assert str(asked).startswith(("learned(", "ppo("))
        return False
    return True


WITH_A_NETWORK = [
    "mce(playout={}, playouts=20)",
    "mce(leaf={}, score=goal, playouts=40)",
    "mce(prior={}, score=goal, sampling=halving, widest=4, common=yes, playouts=40)",
    "mce(playout={0}, base={0}, common=yes, playouts=40)",
    "ismcts(leaf={}, turns=2, score=goal, playouts=40)",
    "ismcts(priors={}, select=puct, widening=0.5, playouts=40)",
]


@pytest.mark.cold
@pytest.mark.parametrize("name", HIDING)
def test_no_network_peeks(name: str, tmp_path: Path) -> None:
    """Networks for the usual number of players: of values, which look at the positions after turns, and for actions."""
    models = random_model(tmp_path / "v.npz", name), random_model(tmp_path / "p.npz", name, predicts=POLICY)
    game = find_game(name)
    alike = [variants for variants in islice(positions_of(name), 40) if variants[0].players == game.players[0]]
    assert len(alike) >= POSITIONS
    for text in (f"learned({models[0]})", f"ppo({models[1]})", *(search.format(f"learned({models[0]})") for search in WITH_A_NETWORK)):
        asked = policy(text)
        assert [len(answers(asked, variants)) for variants in alike[:POSITIONS]] == [1] * POSITIONS


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

    def act(self, view: View) -> int:
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


# The attack: a policy that uses all it is given, and all it can reach from there, to guess the hands of the others in dominoes.

DEALS = 40
EXPECTED, VARIANCE = 7, 4.9  # of the 21 tiles that a seat was not dealt, those that a random deal gives to the same seats as another one
LIMIT = 5.2  # standard deviations: one false alarm in ten million


def unscrambled(seed: int) -> int:
    """The number that splitmix64 makes this seed of: all its steps can be taken back."""
    z = seed ^ seed >> 31 ^ seed >> 62
    z = z * pow(0x94D049BB133111EB, -1, 2**64) % 2**64
    z = z ^ z >> 27 ^ z >> 54
    z = z * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
    z = z ^ z >> 30 ^ z >> 60
    return (z - 0x9E3779B97F4A7C15) % 2**64


def dealt_from(seed: int) -> States:
    """The hands that a generator of this seed deals."""
    table = Table(find_game("dominoes"))
    table.run_chance(make_rng(seed))
    return table.states


def from_seeds(view: View, seed: int) -> Iterator[States]:
    """Chance may have the policy's seed, a seed near it, a small one, or one that the policy's was made of step by step."""
    yield from map(dealt_from, (seed, seed - 1, seed + 1, *range(4), unscrambled(seed), unscrambled(unscrambled(seed))))
    for place in range(5):
        for rotation in range(4):
            yield dealt_from(unscrambled(unscrambled(seed) ^ place) ^ rotation)


def from_key(view: View, seed: int) -> Iterator[States]:
    """The key may hold a position as text or as bytes."""
    key, size = view.key(), view.states.dtype.itemsize
    for at in range(len(key)):
        if key.startswith(b"round=", at):
            text = key[at:].split(b"\n")[0].decode(errors="replace")
            for end in range(len(text), 0, -1):
                try:
                    yield Table(view.game).at_position(text[:end]).states
                    break
                except BadRecord:
                    continue
        if at + size <= len(key):
            yield np.frombuffer(key[at : at + size], view.states.dtype)


def from_what_is_within_reach(view: View, seed: int) -> Iterator[States]:
    """Public attributes, and all that hangs on them, may hold other positions than the one that is shown."""
    todo: list[Any] = [value for name, value in inspect.getmembers(view) if not name.startswith("_")]
    seen: dict[int, Any] = {}
    while todo:
        value = todo.pop()
        if id(value) in seen or inspect.ismodule(value) or inspect.isroutine(value) or inspect.isclass(value):
            continue
        seen[id(value)] = value
        if isinstance(value, np.ndarray) and value.dtype == view.states.dtype:
            yield value
        todo += gc.get_referents(value)


def from_errors(view: View, seed: int) -> Iterator[States]:
    """What is raised when a policy asks for nonsense may tell of the position."""
    for ask in (view.name, view.key, view.scratch):
        for nonsense in (-1, 10**6, 2**63, None, "all"):
            try:
                ask(nonsense)  # type: ignore[arg-type]
            except Exception as error:
                at = str(error).find("round=")
                if at >= 0:
                    yield Table(view.game).at_position(str(error)[at:].partition(" (")[0]).states


ATTACKS: list[Callable[[View, int], Iterator[States]]] = [from_seeds, from_key, from_what_is_within_reach, from_errors]


class Spy(Policy):
    """Guesses the hands when it decides for the first time in a game, and else takes the first action that is legal."""

    def __init__(self, attack: Callable[[View, int], Iterator[States]]) -> None:
        self.attack, self.guess = attack, None

    def reset(self, seed: int = 0) -> None:
        super().reset(seed)
        self.seed, self.guess = seed, None

    def act(self, view: View) -> int:
        if self.guess is None:
            shown, self.seat = view.states["hands"][0], int(view.seat)
            guesses = [states["hands"][0].copy() for states in self.attack(view, self.seed)]
            # Its own hand tells it which guesses are wrong, and what it is shown is no news.
            news = [hands for hands in guesses if hands[view.seat] == shown[view.seat] and (hands != shown).any()]
            self.guess = (news or [shown.copy()])[0]
        return view.legal()[0]


def right(guess: Any, seat: int, dealt: Any) -> int:
    """How many tiles of the other seats are guessed right."""
    return sum(bin(int(guess[other]) & int(dealt[other]) & ALL_TILES).count("1") for other in range(4) if other != seat)


ALL_TILES = int(find_game("dominoes").room[0].ALL_TILES)


def hands_at_first(record: str) -> Any:
    """The hands as they were dealt."""
    table = Table(find_game("dominoes"))
    for event in kdenv.replay(record).events():
        if not event.is_chance:
            break
        table.chance(event.number)
    return table.states["hands"][0]


def in_matches(spy: Spy, deal: int) -> str:
    """A game of a match between spies, who do not know its seed; the one that decides first guesses."""
    match = Match("dominoes", ["random"] * 4, games=4 * DEALS, seed=random.Random(deal).getrandbits(64))
    return play_game(match, 4 * deal, [spy] * 4).record


def in_environments(spy: Spy, deal: int) -> str:
    """A game of an environment, all seats but the learner's being spies."""
    env = SeatEnv("dominoes", opponents=spy, seat=deal % 4, record=True)
    env.reset(seed=random.Random(deal).getrandbits(64))
    while not env.table.over:
        env.step(env.table.legal()[0])
    return env.record()


def at_positions(spy: Spy, deal: int) -> str:
    """A table that was set up from a text which has the truth in it."""
    dealt = Table(find_game("dominoes"))
    dealt.run_chance(make_rng(random.Random(deal).getrandbits(64)))
    env = TableEnv("dominoes")
    env.reset(options={"position": dealt.position()})
    spy.reset(deal)
    spy.act(env.view(env.agent_selection))
    return dealt.record()


WAYS = [in_matches, in_environments, at_positions]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_spy_guesses_hands_no_better_than_chance(attack: Callable[[View, int], Iterator[States]], way: Callable[[Spy, int], str]) -> None:
    spy, n_right, n = Spy(attack), 0, 0
    for deal in range(DEALS):
        dealt = hands_at_first(way(spy, deal))
        if spy.guess is not None and sum(bin(int(hand) & ALL_TILES).count("1") for hand in spy.guess) == 28:  # before the first tile
            n_right, n = n_right + right(spy.guess, spy.seat, dealt), n + 1
    assert n > DEALS // 4
    assert n_right < EXPECTED * n + LIMIT * (VARIANCE * n) ** 0.5


class SpyWhoIsShownAll(Spy):
    is_oracle = True


def test_a_spy_who_is_shown_all_is_found_out() -> None:
    spy = SpyWhoIsShownAll(lambda view, seed: iter(()))
    for deal in range(4):
        dealt = hands_at_first(in_matches(spy, deal))
        assert right(spy.guess, spy.seat, dealt) == 21


@pytest.mark.parametrize("name", HIDING)
def test_no_small_seed_draws_what_a_view_shows(name: str) -> None:
    """Or a game dealt from that seed might be shown as it is."""
    table = positions(name)[0][0]
    assert table.seat is not None
    shown = table.view(table.seat).states.tobytes()
    for seed in range(300):
        states = table.states.copy()
        verbs.resample_hidden_at(states, 0, int(table.seat), make_rng(seed))
        assert states.tobytes() != shown


@pytest.mark.parametrize("name", HIDING)
def test_keys_and_errors_tell_nothing_of_what_is_hidden(name: str) -> None:
    for variants in positions(name):
        set_up = [Table(table.game, table.players, **table.options).at_position(table.position()) for table in variants]
        seat = set_up[0].seat
        assert seat is not None
        assert len({table.view(seat).key() for table in set_up}) == 1
        for told in (lambda table: table.play(10**6), lambda table: table.chance(0), lambda table: table.sample_chance(make_rng(1))):
            assert len({refusal(told, table) for table in variants}) == 1
        for reader in range(variants[0].players):
            assert len({str(table.illegal(-1, reader)) for table in drawn_anew_for(reader, variants[0])}) == 1


def refusal(do: Callable[[Table], Any], table: Table) -> str:
    with pytest.raises(IllegalAction) as caught:
        do(table)
    return str(caught.value)


def drawn_anew_for(seat: int, table: Table) -> Iterator[Table]:
    """Tables that are alike for this seat."""
    for seed in range(VARIANTS):
        twin = table.clone()
        if seed:
            verbs.resample_hidden_at(twin.states, 0, seat, make_rng(seed))
        yield twin
