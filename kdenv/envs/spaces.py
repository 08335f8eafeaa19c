"""The spaces of observations and actions."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from kdenv.core.encoding import Observer

_BOUND = 1000.0  # no number in an observation is larger than this; games scale most of them to about 1


class ObservationBox(spaces.Box):
    """The space of the vectors of one seat. Stable-Baselines3 saves it with a model, so `made_for` tells what the model was made for."""

    def __init__(self, observer: Observer) -> None:
        super().__init__(-_BOUND, _BOUND, (observer.size,), np.float32)
        self.made_for = observer.made_for  # game, encoding, version, layout


def state_box(observer: Observer, seats: int) -> spaces.Box:
    """The space of the vectors of this many seats, one after the other."""
    return spaces.Box(-_BOUND, _BOUND, (observer.size * seats,), np.float32)


class ActionSpace(spaces.Discrete):
    """The space of all actions. It draws from a mask in a fifth of Gymnasium's time, which would be most of the time of a step."""

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """Draw one of all actions, or one of those in the mask, each with the same probability; 0 if the mask is all 0."""
        if probability is not None or not isinstance(mask, np.ndarray) or mask.dtype != np.int8 or mask.shape != (self.n,):
            return super().sample(mask, probability)  # Gymnasium also says what is wrong with a mask
        legal = mask.view(np.bool_).nonzero()[0]
        return legal[int(self.np_random.random() * len(legal))] if len(legal) else self.start
