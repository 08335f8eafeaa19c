"""Batches: many games in one array, which one call of a kernel steps, opponents included.

| file | has |
|---|---|
| `seats.py` | `SeatVectorEnv`: one seat learns in each game; for Gymnasium |
| `selfplay.py` | `SelfPlay`: all seats learn |
| `batch.py` | `Batch`, the engine of both and of envs/sb3.py: arrays, errors |
| `crew.py` | the threads that share the games |
| `kernels.py` | dealing and stepping |
| `ending.py` | whether a limit ended a game |
| `buffers.py` | arrays that are used again |
"""

from kdenv.envs.vector.seats import SeatVectorEnv
from kdenv.envs.vector.selfplay import Moment, SelfPlay

__all__ = ["Moment", "SeatVectorEnv", "SelfPlay"]
