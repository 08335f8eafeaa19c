"""The processes of the server: none outlives the server, whatever it was doing."""

import asyncio
import contextlib
import os
import sys

import pytest

import kdenv
from kdenv.server.jobs import Job
from kdenv.server.pool import Pool


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
