"""The processes of the server: none outlives the server, whatever it was doing."""

import asyncio
import contextlib
import gc
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

import kdenv
from kdenv.compiler.random import make_rng
from kdenv.server import pool as pool_module
from kdenv.server.messages import Job
from kdenv.server.pool import Pool
from kdenv.server.worker import do

asks_for_children = pytest.mark.skipif(sys.platform == "win32", reason="asks the system about children")


def has_ended(pid: int) -> bool:
    """Whether the end of this child has been seen, so that it is none any more."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


@asks_for_children
def test_a_process_whose_job_is_cancelled_has_ended_when_the_pool_has() -> None:
    async def cancel_a_job() -> list[int]:
        pool = Pool(1)
        doing = asyncio.create_task(pool.do(Job("random", 1, kdenv.table("dominoes"), 0), 60))
        while not pool.pids:
            await asyncio.sleep(0.01)
        pids = pool.pids
        doing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await doing
        await pool.end()
        return pids

    (pid,) = asyncio.run(cancel_a_job())
    assert has_ended(pid)


@asks_for_children
def test_a_process_that_was_being_started_when_the_pool_ended_has_ended_when_the_loop_has(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    start = pool_module._Process.start

    async def noted(folder: Path | None) -> Any:
        process = await start(folder)
        started.append(process.pid)
        return process

    monkeypatch.setattr(pool_module._Process, "start", noted)

    async def end_while_it_starts() -> None:
        pool = Pool(1)
        doing = asyncio.create_task(pool.do(Job("random", 1, kdenv.table("dominoes"), 0), 60))
        await asyncio.sleep(0)
        await pool.end()
        assert not started
        while not started:
            await asyncio.sleep(0.001)
        assert not doing.done()

    asyncio.run(end_while_it_starts())  # cancels the job in the end
    assert [has_ended(pid) for pid in started] == [True]
    gc.collect()  # pipes that were left open warn now, which is an error


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
