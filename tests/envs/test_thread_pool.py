"""Do the threads of a batch share its games, whatever comes between: sleep, forks, interrupts, too few cores, the end of the program?"""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any, NamedTuple

import numpy as np
import pytest

import kdenv
from kdenv.author import below, kernel, legal, packed, plays
from kdenv.core.errors import WrongOrder
from kdenv.envs.vector import SeatVectorEnv, SelfPlay, thread_pool
from kdenv.envs.vector.batch import Batch
from kdenv.envs.vector.kernels import STEP

compiled = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="where nothing is compiled there is one thread")


class Faulty(NamedTuple):
    """A player that divides by 0 where it may choose among so many actions."""

    limit: int = 4


@plays(Faulty)
@kernel
def _choose_until_it_fails(player, states, k, out, rng):
    n = legal(states[k], out)
    return packed(out[n // max(0, player.limit - n) % n])


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the player that divides by 0, which dominoes has for one test."""
    game = kdenv.game("dominoes")
    monkeypatch.setitem(vars(game), "knowledge", game.knowledge)  # restored when the test ends
    kdenv.add_player("dominoes", "faulty_in_pool", Faulty)
    return "faulty_in_pool"


def first_legal(mask: Any) -> Any:
    return np.asarray(mask).argmax(axis=1)


def pool_of(env: Any) -> Any:
    batch: Batch = env._batch
    assert batch._pool is not None
    return batch._pool


def helpers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if isinstance(thread, thread_pool._Helper)]


def assert_steps_agree(env: SelfPlay, twin: SelfPlay, steps: int = 20) -> None:
    """Both play on in the same way."""
    now, then = env.reset(seed=1), twin.reset(seed=1)
    for _ in range(steps):
        for ours, theirs in zip(now, then, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        actions = first_legal(now.action_mask)
        now, then = env.step(actions), twin.step(actions)


@compiled
@pytest.mark.parametrize(("n", "n_threads"), [(1, 3), (2, 2), (7, 3), (64, 2), (200, 5)])
def test_every_game_is_played_once_by_somebody(n: int, n_threads: int) -> None:
    env, twin = SelfPlay("dominoes", n, threads=n_threads), SelfPlay("dominoes", n)
    assert_steps_agree(env, twin, 60)
    env.close()


@compiled
def test_the_caller_does_what_helpers_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Helpers that sleep for ever delay nobody."""
    monkeypatch.setattr(thread_pool._Helper, "wake", lambda self: None)
    env = SelfPlay("dominoes", 64, threads=3)
    assert_steps_agree(env, SelfPlay("dominoes", 64))
    monkeypatch.undo()
    env.close()


@compiled
def test_helpers_do_what_the_caller_does_not() -> None:
    """Here the caller begins a round and takes no game of it, so helpers play them all."""
    env, twin = SelfPlay("dominoes", 64, threads=2), SelfPlay("dominoes", 64)
    actions = first_legal(env.reset(seed=1).action_mask)
    twin.reset(seed=1)
    now, then = env.step(actions), twin.step(actions)
    actions = first_legal(now.action_mask)
    ours = pool_of(env)
    env._batch._actions[:] = actions
    results = env._batch._new_results()
    shared = ours._shared
    shared[thread_pool._CALL], shared[thread_pool._FAILED] = STEP, 0
    shared[thread_pool._OBSERVATIONS : thread_pool._MASKS + 1] = [array.ctypes.data for array in results]
    shared[thread_pool._DONE] = 0
    shared[thread_pool._NEXT :: thread_pool._LINE] = [0, 32]
    shared[thread_pool._ROUND] += 1
    ours._helpers[0].wake()
    end = time.monotonic() + 60
    while shared[thread_pool._DONE] < 64 and time.monotonic() < end:
        time.sleep(0.001)
    then = twin.step(actions)
    np.testing.assert_array_equal(results.observations, then.observation)
    np.testing.assert_array_equal(results.masks, then.action_mask)
    env.close()


@compiled
def test_an_environment_that_nobody_steps_costs_nothing() -> None:
    env = SelfPlay("dominoes", 64, threads=2)
    assert_steps_agree(env, SelfPlay("dominoes", 64))
    time.sleep(0.05)
    before = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - before < 0.1  # a thread that kept looking would take 0.5
    env.close()


@compiled
def test_who_has_no_core_of_its_own_does_not_keep_others_from_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_pool, "cores", lambda: 2)
    few, many = SelfPlay("dominoes", 64, threads=2), SelfPlay("dominoes", 64, threads=3)
    for env in (few, many):
        assert_steps_agree(env, SelfPlay("dominoes", 64))
    assert pool_of(few)._spins > 0 and pool_of(many)._spins == 0
    few.close()
    many.close()


@compiled
def test_helpers_end_with_the_environment() -> None:
    gc.collect()
    before = len(helpers())
    closed, dropped = (SeatVectorEnv("dominoes", num_envs=8, threads=3) for _ in range(2))
    for env in (closed, dropped):
        env.reset(seed=1)
    assert len(helpers()) == before + 4
    closed.close()
    assert len(helpers()) == before + 2
    del env, dropped
    gc.collect()
    assert len(helpers()) == before


@compiled
def test_a_closed_environment_may_be_used_again() -> None:
    env = SelfPlay("dominoes", 16, threads=2)
    env.reset(seed=1)
    env.close()
    assert_steps_agree(env, SelfPlay("dominoes", 16))
    env.close()


@compiled
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_helpers_of_its_own() -> None:
    env, twin = SelfPlay("dominoes", 64, threads=2), SelfPlay("dominoes", 64)
    assert_steps_agree(env, twin)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            assert_steps_agree(env, twin)
            status = 0 if pool_of(env).is_whole and len(pool_of(env)._helpers) == 1 else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert_steps_agree(env, twin)
    env.close()


@compiled
@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_in_a_kernel_is_raised_and_the_environment_can_begin_anew(n_threads: int, faulty: str) -> None:
    """The game of the error is never done. Who waited for it would wait for ever."""
    env, twin = (SeatVectorEnv("dominoes", num_envs=64, threads=n, mode="round") for n in (n_threads, 1))
    for _ in range(2):
        env.set_opponents(faulty)
        with pytest.raises(ZeroDivisionError):
            env.reset(seed=1)
        with pytest.raises(WrongOrder, match="call reset"):
            env.step(np.zeros(64, int))
        env.set_opponents("random")
        for ours, theirs in zip(env.reset(seed=1), twin.reset(seed=1), strict=True):
            np.testing.assert_equal(ours, theirs)
    env.close()


@compiled
def test_an_error_in_a_helper_is_raised_too(monkeypatch: pytest.MonkeyPatch, faulty: str) -> None:
    """Here the caller begins a round and takes no game of it."""

    def only_begin(self: Any, begins: bool, call: int = STEP, spins: int = 0) -> bool:
        if begins:
            thread_pool._begin(self._shared, self._n, call, self._results)
            self._helpers[0].wake()
        return False

    monkeypatch.setattr(thread_pool.ThreadPool, "_share", only_begin)
    env = SeatVectorEnv("dominoes", faulty, num_envs=64, threads=2, mode="round")
    with pytest.raises(ZeroDivisionError):
        env.reset(seed=1)
    assert env._batch._pool is None
    env.close()


class Slow(NamedTuple):
    """A player that takes some milliseconds for a turn."""

    draws: int = 2_000_000


@plays(Slow)
@kernel
def _choose_slowly(player, states, k, out, rng):
    n, chosen = legal(states[k], out), 0
    for _ in range(player.draws):
        chosen = below(rng, n)
    return packed(out[chosen])


@compiled
def test_after_an_interrupt_no_helper_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it has taken would else be done while the games are copied, or are given other actions. Here a helper has taken all."""
    game = kdenv.game("dominoes")
    monkeypatch.setitem(vars(game), "knowledge", game.knowledge)
    kdenv.add_player("dominoes", "slow_in_pool", Slow)

    def let_helper_begin(self: Any, begins: bool, call: int = STEP, spins: int = 0) -> bool:
        if begins:
            thread_pool._begin(self._shared, self._n, call, self._results)
            while self._shared[thread_pool._NEXT + thread_pool._LINE] == self._n // 2:
                self._helpers[0].wake()
        return False

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    env, twin = (SeatVectorEnv("dominoes", "slow_in_pool", num_envs=8, threads=n, mode="round") for n in (2, 1))
    actions = env.reset(seed=1)[1]["action_mask"].argmax(axis=1)
    twin.reset(seed=1)
    twin.step(actions)
    with monkeypatch.context() as patch:
        patch.setattr(thread_pool.ThreadPool, "_share", let_helper_begin)
        patch.setattr(thread_pool.time, "sleep", interrupt)
        with pytest.raises(KeyboardInterrupt):
            env.step(actions)
    copy = env.clone()
    assert copy._batch.games.states.tobytes() == env._batch.games.states.tobytes() == twin._batch.games.states.tobytes()
    env.close()


INTERRUPTED = """
import signal
import numpy as np
from kdenv.envs.vector import SelfPlay

def interrupt(number, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
env, twin = SelfPlay("dominoes", 4096, threads=3), SelfPlay("dominoes", 4096)
env.step(env.reset(seed=1).action_mask.argmax(axis=1))  # loads what is compiled
for i in range(30):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001 + 0.0007 * i)
        now = env.reset()
        for _ in range(1000):
            now = env.step(now.action_mask.argmax(axis=1))
    except KeyboardInterrupt:
        pass
now, then = env.reset(seed=1), twin.reset(seed=1)
for _ in range(10):
    assert all(np.array_equal(*both) for both in zip(now, then))
    actions = now.action_mask.argmax(axis=1)
    now, then = env.step(actions), twin.step(actions)
print("same games")
"""


@pytest.mark.cold
@compiled
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers that send signals")
def test_after_an_interrupt_games_go_on_and_a_program_may_end_while_helpers_look_for_work() -> None:
    told = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=300)
    errors = [line for line in told.stderr.splitlines() if not line.startswith("compiling ")]
    assert (told.stdout, errors, told.returncode) == ("same games\n", [], 0)
