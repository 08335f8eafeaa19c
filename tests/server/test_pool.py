"""The processes of the server: none outlives the server, whatever it was doing."""

import asyncio
import contextlib
import os
import pickle
import sys

import pytest

import kdenv
from kdenv.compiler.random import make_rng
from kdenv.server.jobs import Job
from kdenv.server.pool import Pool
from kdenv.server.worker import do


@pytest.mark.skipif(sys.platform == "win32", reason="asks the system about children")
def test_a_process_whose_job_is_cancelled_has_ended_when_the_pool_has() -> None:
    job = Job("random", 1, kdenv.table("dominoes"), 0)

    async def cancel_a_job() -> list[int]:
        pool = Pool(1)
        doing = asyncio.create_task(pool.do(job, 60))
        while not pool.pids:
            await asyncio.sleep(0.01)
        pids = pool.pids
        doing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await doing
        await pool.end()
        return pids

    (pid,) = asyncio.run(cancel_a_job())
    with pytest.raises(ChildProcessError):  # its end has been seen: it is no child any more
        os.waitpid(pid, os.WNOHANG)


@pytest.mark.parametrize("text", ["mce(playouts=30)", "strongest(seconds=0.1)", "uct(playouts=30)"])
@pytest.mark.parametrize("game", ["kingdomino", "carcassonne"])
def test_a_turn_of_several_actions_is_searched_once_whatever_process_is_asked_for_each(game: str, text: str) -> None:
    table, chance = kdenv.table(game, players=3), make_rng(1)  # where no seat has two turns one after the other
    memories: dict[int, bytes] = {}
    before: int | None = None  # the playouts of the first action of a turn that goes on
    went_on = 0
    table.run_chance(chance)
    for _ in range(24):
        seat = table.seat
        assert seat is not None
        decision = do(Job(text, 5, table.clone(), seat, memories.get(seat, b"")), policies={})  # no policies: as in a process that is new
        memories[seat] = decision.memory
        playouts = pickle.loads(decision.memory).n_playouts
        if before is not None:
            assert playouts == before
            went_on += playouts > 0  # the last king of the first round has no choice
        table.play(decision.action)
        before = playouts if table.seat == seat and len(table.legal()) > 1 else None
        table.run_chance(chance)
    assert went_on >= 4
