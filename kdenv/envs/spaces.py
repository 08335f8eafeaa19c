"""The spaces of observations and actions."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from kdenv.core.encoding import Observer

_BOUND = 1000.0  # games scale what they show to about 1, and nothing goes beyond this


class ObservationBox(spaces.Box):
    """The space of the vectors of one seat. It says what they are: Stable-Baselines3 saves the space, and so its models know it too."""

    def __init__(self, observer: Observer) -> None:
        super().__init__(-_BOUND, _BOUND, (observer.size,), np.float32)
        self.made_for = observer.made_for  # game, encoding, version, layout


def state_box(observer: Observer, seats: int) -> spaces.Box:
    """The space of the vectors of so many seats, one after the other."""
    return spaces.Box(-_BOUND, _BOUND, (observer.size * seats,), np.float32)


class ActionSpace(spaces.Discrete):
    """All actions. Drawing one from a mask takes a fifth of the time it takes Gymnasium, which is most of a step."""

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """An action, all alike or those in the mask alike; 0 if there is none in it."""
        if probability is not None or not isinstance(mask, np.ndarray) or mask.dtype != np.int8 or mask.shape != (self.n,):
            return super().sample(mask, probability)  # which says what is wrong with a mask
        legal = mask.view(np.bool_).nonzero()[0]
        return legal[int(self.np_random.random() * len(legal))] if len(legal) else self.start
