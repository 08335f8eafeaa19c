"""Batches: many games in one array. One call of a kernel steps them all, opponents included.

`Batch` in batch.py has the arrays and raises the errors. The environments for users are faces of it: `SeatVectorEnv` (one seat of each game
learns), `SelfPlay` (all seats learn) and `SeatVecEnv` in envs/sb3.py. batch_env.py has their common methods. The kernels in kernels.py deal
and step games, and the threads of thread_pool.py share the games. buffers.py has arrays that are used again.
"""

from kdenv.envs.vector.selfplay import BatchStep, SelfPlay
from kdenv.envs.vector.single_agent import SeatVectorEnv

__all__ = ["BatchStep", "SeatVectorEnv", "SelfPlay"]
