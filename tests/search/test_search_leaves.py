"""What is a playout worth that is broken off, or that a network plays? And which seats are asked, when, and by what they see?"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import three_shells
from models import random_model
from positions import shells
from random_games import random_game

from kdenv.compiler.random import make_rng
from kdenv.core import verbs
from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.questions import choose_at, estimate
from kdenv.core.table import Table
from kdenv.core.turns import first_action, rest_of
from kdenv.games import find_game
from kdenv.networks.players import Valued, weigh_turns
from kdenv.policies import policy
from kdenv.policies.playout_search import new_playouts
from kdenv.search.outcome import ALL_SEATS, play_on
from kdenv.search.playout import Uniform


def network_for(table: Table, file: Path) -> Valued:
    """The network in a file, as a part of its own."""
    return policy(f"learned({file})").compiled(table.game, table.players)  # type: ignore[attr-defined, no-any-return]


def worth(network: Valued, table: Table, seat: int) -> float:
    """What the network says of what this seat sees."""
    return float(estimate(network, table.states, 0, seat, np.zeros(table.players, np.int64)))


def amid(name: str, seed: int, decisions: int) -> Table:
    """A position with a choice, after so many decisions."""
    table = random_game(find_game(name), seed, decisions=decisions)
    table.run_chance(make_rng(seed))
    return table if len(table.legal()) > 1 else amid(name, seed + 1, decisions)


def after_turn(table: Table, turn: int) -> Table:
    """The table after a packed turn."""
    after = table.clone()
    while turn:
        after.play(first_action(turn))
        turn = rest_of(turn)
    return after


# Values of leaves


@pytest.mark.parametrize("pea", range(3))
def test_a_stake_is_worth_what_the_network_says_of_it(pea: int, tmp_path: Path) -> None:
    """Seat 0 sees the pea, so nothing is drawn, and all playouts of a stake are alike."""
    file, table = random_model(tmp_path / "m.npz", three_shells.GAME), shells(pea)
    for text in ("mce(leaf=learned({}), score=goal, playouts=30)", "uct(leaf=learned({}), score=goal, playouts=3)"):
        found = policy(text.format(f"{file}")).search(table.view(0))  # type: ignore[attr-defined]
        for turn, mean in zip(found.turns, found.means, strict=True):
            assert mean == pytest.approx(worth(network_for(table, file), after_turn(table, int(turn)), 0))


def test_a_guess_is_worth_the_mean_of_what_the_network_says_wherever_the_pea_may_be(tmp_path: Path) -> None:
    """The odds of the shells are 1 : 2 : 3, and seat 1 sees the pea once it has pointed."""
    file, table = random_model(tmp_path / "m.npz", three_shells.GAME), shells(0, 2)
    network = network_for(table, file)
    found = policy(f"mce(leaf=learned({file}), score=goal, playouts=8000)").search(table.view(1))  # type: ignore[attr-defined]
    for turn, mean, half in zip(found.turns, found.means, found.halves, strict=True):
        seen = [worth(network, after_turn(shells(pea, 2), int(turn)), 1) for pea in range(3)]
        assert abs(mean - np.dot(seen, [1, 2, 3]) / 6) < 3 * half


@pytest.mark.parametrize("decisions", [12, 60, 93])
def test_a_turn_of_kingdomino_is_worth_what_learned_thinks_of_it(decisions: int, tmp_path: Path) -> None:
    """Also at the end of a game, where the last placement is worth what the finished game is worth."""
    file, table = random_model(tmp_path / "m.npz", "kingdomino"), amid("kingdomino", 3, decisions)
    network = network_for(table, file)
    n = weigh_turns(network, table.states, 0)
    found = policy(f"mce(leaf=learned({file}), score=goal, playouts={2 * n})").search(table.view(table.seat))  # type: ignore[attr-defined]
    assert found.means == pytest.approx(network.room.worths[:n], abs=1e-4)


def playouts_of(text: str, table: Table, **more: Any) -> Any:
    return new_playouts(policy(text), table.view(table.seat), **more)  # type: ignore[arg-type]


def outcome(playouts: Any, table: Table, mover: int, wanted: int, seed: int = 5) -> tuple[list[float], Table]:
    """What a playout from here comes to for each seat, and the position it was broken off in."""
    states = np.zeros(3, table.states.dtype)
    states[1] = table.states[0]
    playouts.values[:] = np.nan
    play_on(playouts, states, 1, mover, wanted, make_rng(seed))
    after = table.clone()
    after.states[0] = states[1]
    return playouts.values.tolist(), after


def test_at_a_leaf_every_seat_of_four_is_asked_for_what_it_sees(tmp_path: Path) -> None:
    file, table = random_model(tmp_path / "m.npz", "kingdomino"), amid("kingdomino", 1, 20)
    values, after = outcome(playouts_of(f"mce(leaf=learned({file}), score=goal, playouts=1)", table), table, 0, ALL_SEATS)
    assert after.states.tobytes() == table.states.tobytes()
    assert values == pytest.approx([worth(network_for(table, file), table, seat) for seat in range(4)])
    assert len(set(values)) == 4


@pytest.mark.parametrize("mover", range(4))
def test_of_two_teams_the_seat_that_moved_is_asked_for_both(mover: int, tmp_path: Path) -> None:
    file, table = random_model(tmp_path / "m.npz", "dominoes"), amid("dominoes", 2, 9)
    values, _ = outcome(playouts_of(f"mce(leaf=learned({file}), score=goal, playouts=1)", table), table, mover, ALL_SEATS)
    said = worth(network_for(table, file), table, mover)
    assert values == pytest.approx([said if seat % 2 == mover % 2 else -said for seat in range(4)])


def played(table: Table, n_turns: int, seed: int) -> list[tuple[int, Table]]:
    """So many random turns of Kingdomino, decision by decision: who made each, and the position right after it."""
    now, rng, turns = table.clone(), make_rng(seed), list[tuple[int, Table]]()
    while len(turns) < n_turns and not now.over:
        while now.at_chance:
            now.chance(int(verbs.sample_chance_at(now.states, 0, rng)))
        mover, began = now.seat, len(turns)
        for _ in range(2):
            if not now.over and not now.at_chance and now.seat == mover and len(turns) == began:
                now.play(first_action(int(choose_at(Uniform(), now.states.repeat(2), 0, now.game.buffer(), rng))))
        turns.append((int(mover), now.clone()))  # type: ignore[arg-type]
    return turns


@pytest.mark.parametrize("turns", [1, 4, 9])
@pytest.mark.parametrize("seed", [0, 1, 4, 8])  # of 4 and 8, a seat has had a turn, but none of the last four of nine
def test_each_seat_of_four_is_asked_right_after_its_last_turn(turns: int, seed: int, tmp_path: Path) -> None:
    """But not after turns that lie further back than there are seats; then, and without a turn, in the position at the end."""
    file, table = random_model(tmp_path / "m.npz", "kingdomino"), amid("kingdomino", seed, 16)
    network, history = network_for(table, file), played(table, turns, seed)
    wanted = [worth(network, history[-1][1], seat) for seat in range(4)]
    for mover, after in history[-4:]:
        wanted[mover] = worth(network, after, mover)
    text = f"mce(leaf=learned({file}), score=goal, turns={turns}, playouts=1)"
    values, after = outcome(playouts_of(text, table), table, 0, ALL_SEATS, seed)
    assert after.states.tobytes() == history[-1][1].states.tobytes()
    assert values == pytest.approx(wanted)


@pytest.mark.parametrize("seat", range(4))
def test_one_seat_of_four_is_asked_after_its_next_turn(seat: int, tmp_path: Path) -> None:
    file, table = random_model(tmp_path / "m.npz", "kingdomino"), amid("kingdomino", 1, 16)
    text = f"mce(leaf=learned({file}), score=goal, turns=2, playouts=1)"
    values, after = outcome(playouts_of(text, table), table, seat, seat, 6)
    history = played(table, 12, 6)
    mine = next(n for n, (mover, _) in enumerate(history, 1) if n >= 2 and mover == seat)
    assert after.states.tobytes() == history[mine - 1][1].states.tobytes()
    assert values[seat] == pytest.approx(worth(network_for(table, file), after, seat))


def test_a_turn_that_a_tree_takes_apart_is_finished_first(tmp_path: Path) -> None:
    """The seat has placed its domino and picks; who is on turn then is not its business any more."""
    file, table = random_model(tmp_path / "m.npz", "kingdomino"), amid("kingdomino", 1, 16)
    assert " stage=place " in table.position()
    mover = table.seat
    table.play(table.legal()[0])
    assert mover == table.seat is not None
    playouts = playouts_of(f"ismcts(leaf=learned({file}), score=goal)", table, at_once=1)
    _, after = outcome(playouts, table, mover, ALL_SEATS)
    assert len(after.legal()) != len(table.legal()) and (after.at_chance or after.seat != mover)
    _, untouched = outcome(playouts_of(f"uct(leaf=learned({file}), score=goal, playouts=1)", table), table, mover, ALL_SEATS)
    assert untouched.states.tobytes() == table.states.tobytes()


def test_a_playout_that_reaches_the_end_is_worth_the_end(tmp_path: Path) -> None:
    """Random models say nothing near these numbers, which are the margins divided by 50."""
    file, table = random_model(tmp_path / "m.npz", "kingdomino"), amid("kingdomino", 3, 88)
    values, after = outcome(playouts_of(f"mce(leaf=learned({file}), score=goal, turns=50, playouts=1)", table), table, 0, ALL_SEATS)
    scores = after.scores()
    assert after.over
    assert values == pytest.approx([(scores[i] - max(scores[:i] + scores[i + 1 :])) / 50 for i in range(4)])


# Searches with networks


SEARCHES = ["mce", "bandit", "uct", "ismcts", "flat_deals", "uct(chance=open, rave=5, trees=2)", "mce(playout=epsilon_greedy)"]


@pytest.mark.cold
@pytest.mark.parametrize(
    "name, search", [*(("kingdomino", search) for search in SEARCHES), ("dominoes", "ismcts"), ("dominion", "mce"), ("carcassonne", "uct")]
)
def test_every_search_takes_a_leaf_in_every_game(name: str, search: str, tmp_path: Path) -> None:
    file, table = random_model(tmp_path / "m.npz", name), amid(name, 2, 10)
    own = search[4:-1] + ", " if search.endswith(")") else ""
    asked = policy(f"{search.partition('(')[0]}({own}leaf=learned({file}), turns=1, score=goal, playouts=12)")
    found = asked.search(table.view(table.seat))  # type: ignore[attr-defined]
    assert found.unit == "margin/50"
    assert found.playouts == 12 and first_action(found.turn) in table.legal()
    assert policy(str(asked)) == asked == type(asked).from_json(asked.to_json())


def test_threads_have_networks_of_their_own(tmp_path: Path) -> None:
    """Several trees on one thread find the same as on three."""
    file, table = random_model(tmp_path / "m.npz", "kingdomino"), amid("kingdomino", 2, 40)
    text = "uct(trees=3, {}playout=learned({}), leaf=learned({}), turns=2, score=goal, playouts=300)"
    one, three = (policy(text.format(threads, file, file)).search(table.view(table.seat)) for threads in ("", "threads=3, "))  # type: ignore[attr-defined]
    assert one.means.tolist() == three.means.tolist()


@pytest.mark.cold
def test_a_network_plays_out_games_that_it_has_not_seen_the_middle_of(tmp_path: Path) -> None:
    """Learned playouts leave the position of the search as it was, however deep they go: the scratch is enough."""
    file, table = random_model(tmp_path / "m.npz", "carcassonne"), amid("carcassonne", 2, 40)
    before = table.states.tobytes()
    for search in ("mce(", "uct(", "uct(rave=5, "):
        asked = policy(f"{search}playout=learned({file}), score=margin, playouts=8)")
        assert asked.act(table.view(table.seat)) in table.legal()
    assert table.states.tobytes() == before


# Refusals


@pytest.mark.parametrize(
    "text, sentence",
    [
        (
            "mce(leaf=learned({}), playouts=5)",
            "score=relative is not possible with a leaf, because games must end in the network's unit; write score=goal",
        ),
        ("mce(score=goal, playouts=5)", "score=goal needs a network that values positions; give leaf=learned(<model>)"),
        ("uct(turns=3, playouts=5)", "turns=3 needs a network that values positions; give leaf=learned(<model>)"),
        ("mce(leaf=random, score=goal, playouts=5)", "random is no network of values but a policy; give learned(<model>)"),
        (
            "uct(leaf=learned({}), score=goal, bias=win, playouts=5)",
            "bias=win is not possible with score=goal; it needs worths between 0 and 1: score may be wdl, win, relative",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(BadOption) as error:
        policy(text.format(random_model(tmp_path / "m.npz", "kingdomino")))
    assert str(error.value) == sentence


def test_a_leaf_must_be_made_for_the_game(tmp_path: Path) -> None:
    asked = policy(f"mce(leaf=learned({random_model(tmp_path / 'm.npz', 'dominoes')}), score=goal, playouts=5)")
    with pytest.raises(NotSupported, match=r"m\.npz was trained on dominoes, not on kingdomino"):
        asked.check(find_game("kingdomino"))
