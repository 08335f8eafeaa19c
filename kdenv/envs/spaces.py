"""The space of observations."""

import numpy as np
from gymnasium import spaces

_BOUND = 1000.0  # games scale what they show to about 1, and nothing goes beyond this


def observation_box(size: int) -> spaces.Box:
    """The space of vectors of this size."""
    return spaces.Box(-_BOUND, _BOUND, (size,), np.float32)
