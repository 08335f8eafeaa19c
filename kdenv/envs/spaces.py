"""The spaces of observations and actions."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from kdenv.core.encoding import Observer, Vector

Mask: TypeAlias = NDArray[np.int8]

CRITIC = "critic_observation"  # the key of the vector by a second encoding, in infos and in observations in the form "dict"
_BOUND = 1000.0  # no number in an observation is larger than this; games scale most of them to about 1


class ObservationBox(spaces.Box):
    """The space of the vectors of one seat. Stable-Baselines3 saves it with a model; `made_for` then names the encoding of the model."""

    def __init__(self, observer: Observer) -> None:
        super().__init__(-_BOUND, _BOUND, (observer.size,), np.float32)
        self.made_for = observer.made_for  # game, encoding, version, layout


class PartsSpace(spaces.Dict):
    """The space of observations as a dict: a box for each part of the layout, in its shape and in the order of the layout."""

    def __init__(self, observer: Observer) -> None:
        boxes = [(name, spaces.Box(-_BOUND, _BOUND, part.shape, np.float32)) for name, part in observer.layout.items()]
        super().__init__(OrderedDict(boxes))
        self.made_for = observer.made_for


def space_of(form: str, observer: Observer, n_actions: int, critic: Observer | None = None) -> spaces.Space[Any]:
    """Make the space of observations in a form: "vector", "dict" (the vector and the mask) or "parts" (the vector cut into its parts).

    With an observer for a critic, "dict" also has its vector.
    """
    if form == "parts":
        return PartsSpace(observer)
    box = ObservationBox(observer)
    if form == "vector":
        return box
    boxes: dict[str, spaces.Space[Any]] = {"observation": box, "action_mask": spaces.Box(0, 1, (n_actions,), np.int8)}
    return spaces.Dict(boxes if critic is None else {**boxes, CRITIC: ObservationBox(critic)})


def in_form(form: str, observer: Observer, vector: Vector, mask: Mask, critic: Vector | None = None) -> Any:
    """Return the vector and the mask of one seat, or of a batch, as an observation in this form. A critic's vector is a part of "dict"."""
    if form == "vector":
        return vector
    if form == "parts":
        return observer.cut(vector)
    observation = {"observation": vector, "action_mask": mask}
    return observation if critic is None else {**observation, CRITIC: critic}


def state_box(observer: Observer, seats: int) -> spaces.Box:
    """Make the space of the vectors of this many seats, one after the other."""
    return spaces.Box(-_BOUND, _BOUND, (observer.size * seats,), np.float32)


class ActionSpace(spaces.Discrete):
    """The space of all actions. It draws from a mask in a fifth of Gymnasium's time, which would be most of the time of a step."""

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """Draw one of all actions, or one of those in the mask, each with the same probability; 0 if the mask is all 0."""
        if probability is not None or not isinstance(mask, np.ndarray) or mask.dtype != np.int8 or mask.shape != (self.n,):
            return super().sample(mask, probability)  # Gymnasium also says what is wrong with a mask
        legal = mask.view(np.bool_).nonzero()[0]
        return legal[int(self.np_random.random() * len(legal))] if len(legal) else self.start
