"""Training with torch: networks that score turns, and PPO for them. Needs the extra `rl`.

The usual policy network has one output for each action number. Here a network gives one number to the position after each legal turn, its
afterstate, and the policy is the softmax of these numbers. So it need not learn from the rewards alone where an action leads.

>>> from kdenv.envs import SelfPlay
>>> from kdenv.rl import TurnNetwork, TurnPPO
>>> games = SelfPlay("dominoes", 32, mode="round", reward="margin", encoding="ends", skip_forced=True)
>>> training = TurnPPO(games, TurnNetwork(games.n_observed, hidden=(32,)), seed=1)
>>> training.learn(decisions=5_000)
>>> training.decisions >= 5_000
True
"""

from kdenv.core.errors import missing_extra

try:
    import torch  # noqa: F401
except ImportError:
    raise missing_extra("kdenv.rl", "rl") from None

from kdenv.rl.ppo import TurnPPO
from kdenv.rl.turns import TurnNetwork, load_network, log_probabilities, sample

__all__ = ["TurnNetwork", "TurnPPO", "load_network", "log_probabilities", "sample"]
