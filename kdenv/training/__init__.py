"""Training: `kdenv train GAME` lets a network of values learn from self-play. The kernels are in kdenv/networks.

kdenv train kingdomino --minutes 10 --out training/kingdomino
"""

from kdenv.training.settings import TrainingSettings, read_settings
from kdenv.training.trainer import Trainer

__all__ = ["Trainer", "TrainingSettings", "read_settings"]
