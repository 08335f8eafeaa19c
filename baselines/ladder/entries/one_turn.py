"""The player of one_turn.toml: it rates the position after each of its turns by a few numbers, and takes the best one."""

from typing import Any

import numpy as np

from kdenv.author import Policy, View

Parts = dict[str, Any]  # by name, a part of what is observed after each turn; the first axis of each array has the turns


def rate_dominoes(part: Parts) -> Any:
    """Tiles that this seat can lay next and others cannot, and a light hand."""
    mine = part["mine"]
    following, partner, previous = part["closed"].sum(axis=2).T
    value = 2 * mine[:, 0] + mine[:, 1] - 0.3 * part["unseen"].sum(axis=1) + following - 0.7 * partner + 0.2 * previous
    return value - 1.5 * part["pips"][:, 0] - 0.5 * part["doubles"][:, 0]


def rate_kingdomino(part: Parts) -> Any:
    """The points, those that the seat's dominoes will add, and a kingdom without holes."""
    dominoes, shapes, to_come = part["dominoes"], part["shapes"][:, 0], part["to_come"]
    mine, fits, gain = dominoes[:, :, 16], dominoes[:, :, 20], 10 * dominoes[:, :, 22]
    value = 100 * part["scores"][:, 0] + (mine * (gain - 4 * (1 - fits))).sum(axis=1) + 4 * to_come[:, :, 2:].sum(axis=(1, 2))
    return value + 10 * shapes[:, 3] - 12 * shapes[:, 4] - 5 * shapes[:, 5]


def rate_carcassonne(part: Parts) -> Any:
    """The points if the game ended now, those that open features may still bring, and meeples in hand, minus those of the opponent."""
    meeples = part["meeples"]
    city, road, cloister, points = meeples[..., 0], meeples[..., 1], meeples[..., 2], 20 * meeples[..., 4]
    hope = ((0.5 * city + 0.2 * road) * points + 2.5 * cloister) * (part["claims_left"][..., 0] > 0)
    value = 100 * part["scores"] + 20 * part["to_come"].sum(axis=2) + hope.sum(axis=2) + 8 * np.sqrt(part["hand"]) - 2 * part["stuck"]
    return value[:, 0] - value[:, 1]


RATINGS = {
    "dominoes": ("ends", rate_dominoes),
    "kingdomino": ("prospects", rate_kingdomino),
    "carcassonne": ("prospects", rate_carcassonne),
}


class OneTurn(Policy):
    """Takes the turn after which a few numbers of the position, with weights set by hand, are best."""

    def act(self, view: View) -> int:
        """The first action of the best turn."""
        encoding, rate = RATINGS[view.game.name]
        after = view.afterstates(encoding)
        if len(after) == 1:
            return int(after.actions[0])
        parts = view.game.observer(view.players, view.variant, encoding).cut(after.observations)
        return int(after.actions[after.best(rate(parts))[0]])
