"""The turns of compiled players inside environments."""

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import kdenv
from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import make_rng
from kdenv.core.questions import choose
from kdenv.core.turns import first_action, rest_of
from kdenv.envs import step_kernel
from kdenv.envs.aec import TableEnv
from kdenv.envs.step_kernel import turn_of


@kernel
def planned(player, states, work, out, dice):
    """How many actions the turn has that the player chooses."""
    work[0] = states[0]
    turn, n = choose(player, work, 0, out, dice), 0
    while turn != 0:
        first_action(turn)
        turn, n = rest_of(turn), n + 1
    return n


@pytest.mark.cold
def test_a_player_chooses_a_turn_of_several_actions_once() -> None:
    """As no chance comes between the actions of a turn in Carcassonne, one call carries out all that were planned."""
    table = kdenv.table("carcassonne")
    player, rng = table.game.knowledge.players["greedy"].make(), make_rng(4)
    work, out, log = np.zeros(2, table.game.state_dtype), table.game.buffer(), np.zeros((2, 64), np.int32)
    table.run_chance(rng)
    lengths = set()
    while not table.over and len(lengths) < 2:
        states = table.states.copy()
        n = planned(player, states, work, out, make_rng(6))
        carried_out = turn_of(player, states, 0, work, out, make_rng(6), rng, log, 0)
        assert np.sum(log[0, :carried_out] >= 0) == n  # outcomes of chance are negative
        lengths.add(n)
        table.play(table.legal()[0])
        table.run_chance(rng)
    assert lengths == {1, 2}


def test_a_reset_calls_only_kernels_of_the_table(monkeypatch) -> None:
    """So the first reset of a game does not compile the rules once more."""

    def refuse(*arguments: object) -> None:
        raise AssertionError("a kernel of the environment was called")

    env = TableEnv("kingdomino", players=2, size=3)
    for name in [name for name, value in vars(step_kernel).items() if isinstance(value, Dispatcher)]:
        monkeypatch.setattr(step_kernel, name, refuse)
    env.reset(seed=1)
    with pytest.raises(AssertionError, match="a kernel of the environment was called"):
        env.step(int(env.last()[0]["action_mask"].argmax()))
