"""Training: `kdenv train GAME` lets a network learn from self-play. The kernels are in kdenv/networks.

kdenv train kingdomino --minutes 10 --out training/kingdomino
"""

from pathlib import Path
from typing import Any

from kdenv.training.policy_trainer import ExpertTrainer, PolicyTrainer
from kdenv.training.settings import EXPERT, PPO, TD, TrainingSettings, read_settings
from kdenv.training.trainer import Trainer
from kdenv.training.training import Training

__all__ = ["ExpertTrainer", "PolicyTrainer", "Trainer", "Training", "TrainingSettings", "read_settings", "trainer_for"]


def trainer_for(settings: TrainingSettings, folder: Path, *more: Any, **named: Any) -> Training:
    """Continue the training in the folder, or begin one there, by the method of the settings. It takes the arguments of Training."""
    trainers: dict[str, type[Training]] = {TD: Trainer, PPO: PolicyTrainer, EXPERT: ExpertTrainer}
    return trainers[settings.method](settings, folder, *more, **named)
