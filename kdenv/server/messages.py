"""The messages between the server and the processes in which programs decide (pool.py, worker.py): pickled, with the length before it."""

from __future__ import annotations

import struct
from typing import NamedTuple

from kdenv.core.table import Table

HEAD = struct.Struct("<I")  # the length of a message comes before it
READY = b"ready"  # sent when a policy is compiled and the time of its decision begins


class Job(NamedTuple):
    """A decision to make, or a position to analyse."""

    text: str  # of the policy
    seed: int  # from which the policy draws
    table: Table
    seat: int
    memory: bytes = b""  # the memory of the policy; empty at its first decision
    analyse: bool = False


class Decision(NamedTuple):
    """The action of a policy, and its memory after it."""

    action: int
    memory: bytes


class JobFailure(NamedTuple):
    """The reason why a policy could not decide."""

    sentence: str
