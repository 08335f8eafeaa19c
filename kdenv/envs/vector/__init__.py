"""Batches: many games in one array, which one call of a kernel steps, opponents included.

| file | has |
|---|---|
| `single_agent.py` | `SeatVectorEnv`: one seat learns in each game; for Gymnasium |
| `selfplay.py` | `SelfPlay`: all seats learn |
| `batch.py` | `Batch`, the engine of both and of envs/sb3.py: arrays, errors |
| `thread_pool.py` | the threads that share the games |
| `kernels.py` | dealing and stepping |
| `buffers.py` | arrays that are used again |
"""

from kdenv.envs.vector.selfplay import BatchStep, SelfPlay
from kdenv.envs.vector.single_agent import SeatVectorEnv

__all__ = ["BatchStep", "SeatVectorEnv", "SelfPlay"]
