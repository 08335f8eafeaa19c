"""The gain of a search over its own policy: is a turn credited with its own value, and is the policy's own turn worth nothing more?"""

import numpy as np
import pytest

import kdenv
from baselines.search.improvement import Position, gain, main, positions, valued
from kdenv.author import first_action, make_rng, rest_of

pytestmark = pytest.mark.cold  # it compiles programs that no other test needs

PLAYOUTS = "mce(playout=full_greedy, score=margin, sampling=halving, common=yes, base=learned(kingdomino), confidence={}, playouts=60)"


def test_the_policy_itself_gains_nothing() -> None:
    where = positions("kingdomino", "learned(kingdomino)", 3, 2, seed=1, options={})
    found = gain(PLAYOUTS.format("1e9"), where, seed=1)
    assert (found.mean, found.half, found.moved) == (0, 0, 0)


def test_a_search_is_credited_with_the_value_of_its_turn() -> None:
    """Values that are the indices of turns tell which turn was credited."""
    where = positions("kingdomino", "learned(kingdomino)", 4, 1, seed=2, options={})
    told = [Position(each.table, each.own, np.arange(len(each.values), dtype=float)) for each in where]
    expected = []
    for i, each in enumerate(told):
        searching = kdenv.policy(PLAYOUTS.format(0))
        searching.reset(5 + i)
        assert each.table.seat is not None
        expected.append(searching.search(each.table.view(each.table.seat)).best - each.own)  # type: ignore[attr-defined]
    assert any(expected)
    assert gain(PLAYOUTS.format(0), told, seed=5).mean == pytest.approx(np.mean(expected))


def test_values_are_those_of_going_on_with_the_policy() -> None:
    """All dominoes have been drawn and the policy takes no chances, so each turn has one margin."""
    player = kdenv.policy("learned(kingdomino)")
    table, rng = kdenv.table("kingdomino", players=4), make_rng(1)
    table.run_chance(rng)
    while not table.position().endswith("box="):
        assert table.seat is not None
        table.play(player.act(table.view(table.seat)))
        table.run_chance(rng)
    found, me, margins = valued(table, "learned(kingdomino)", 2, seed=1), table.seat, []
    assert me is not None
    for turn in player.search(table.view(me)).turns.tolist():  # type: ignore[attr-defined]
        after = table.clone()
        while turn:
            after.play(first_action(turn))
            turn = rest_of(turn)
        while (seat := after.seat) is not None:
            after.play(player.act(after.view(seat)))
            after.run_chance(rng)
        points = after.scores()
        margins.append(points[me] - max(points[:me] + points[me + 1 :]))
    assert found.values.tolist() == margins
    assert len(set(margins)) > 1


def test_it_prints_a_line_for_each_search(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["improvement", "kingdomino", "learned(kingdomino)", "--positions", "2", "--each", "1", "--playouts", "5", "10"]
    monkeypatch.setattr("sys.argv", [*asked, "--confidence", "0", "2", "--search", "playout=full_greedy, score=margin"])
    main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("2 decisions; ")
    assert [line.split("confidence=")[1] for line in lines[1:]] == [f"{c}, playouts={n})" for n in (5, 10) for c in ("0.0", "2.0")]
