"""Describes decisions for people, before and after they are made: the domino that is placed or taken, and the points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kdenv.core import verbs
from kdenv.core.protocols import Told, counted, listed
from kdenv.games.kingdomino import placements, rules
from kdenv.games.kingdomino.notation import halves, square_name
from kdenv.games.kingdomino.scene import mover
from kdenv.games.kingdomino.tables import CROWNS_A, CROWNS_B, TERRAIN_A, TERRAIN_B, TERRAINS


def told(before: Any, after: Any, action: int) -> Told:
    """Describe a domino that was placed, discarded or taken."""
    s = before[0]
    seat, discard = mover(s), int(placements.discard_action(int(s["size"])))
    if action > discard:
        domino = int(s["draft"][action - discard - 1])
        return Told(seat, f"took domino {domino}, {domino_words(domino)}")
    domino = int(s["queue"][int(s["turn"])])
    if action == discard:
        return Told(seat, f"discarded {domino_words(domino)}, which fits nowhere")
    (points, bonuses), (new_points, new_bonuses) = _points(before, seat), _points(after, seat)
    gained = [f": {new_points - points:+d}"] if new_points != points else []
    lost = [f", and {name} is lost: {-n:d}" for name, n in bonuses.items() if new_bonuses[name] < n]
    return Told(seat, f"placed {domino_words(domino)}" + "".join([*gained, *lost]))


def meanings(states: Any, k: int, actions: Sequence[int], seat: int | None = None) -> dict[int, str]:
    """Describe placements, in the order of the domino's halves, and dominoes that may be taken."""
    s = states[k]
    size = int(s["size"])
    discard, found = int(placements.discard_action(size)), dict[int, str]()
    for action in actions:
        if action > discard:
            domino = int(s["draft"][action - discard - 1])
            found[action] = f"take domino {domino}, {domino_words(domino)}"
        elif action < discard:
            x, y, to_x, to_y = halves(action, size)
            ground = ground_words(int(s["queue"][int(s["turn"])]))
            found[action] = f"place {ground} at {square_name(x, y, size)}-{square_name(to_x, to_y, size)}"
    return found


def told_chance(befores: Sequence[Any], outcomes: Sequence[int | None]) -> list[Told]:
    """Describe the kings that are called, and the dominoes that are laid out."""
    found, drawn = list[Told](), list[str]()
    for s, outcome in zip(befores, outcomes, strict=True):
        assert outcome is not None  # everybody sees it
        if s["stage"] == rules.CALLING:
            found.append(Told(outcome, "was called by lot"))
        else:
            drawn.append(str(outcome + 1))
    return [*found, Told(None, f"dominoes {listed(drawn)} were laid out")] if drawn else found


def domino_words(domino: int) -> str:
    """A domino in words: "forest/water with a crown"."""
    crowns = int(CROWNS_A[domino]) + int(CROWNS_B[domino])
    ground = ground_words(domino)
    return f"{ground} with {counted(crowns, 'a crown', 'crowns')}" if crowns else ground


def ground_words(domino: int) -> str:
    """The terrains of a domino: "forest/water"."""
    return f"{TERRAINS[TERRAIN_A[domino]]}/{TERRAINS[TERRAIN_B[domino]]}"


def _points(states: Any, seat: int) -> tuple[int, dict[str, int]]:
    """The points of the areas of a seat, and its bonuses by name."""
    out = np.zeros(4, np.int64)
    verbs.scores_at(states, 0, out)
    bonuses = {
        "Middle Kingdom": int(rules.bonus_for_middle(states[0], seat)),
        "Harmony": int(rules.bonus_for_harmony(states[0], seat)),
    }
    return int(out[seat]) - sum(bonuses.values()), bonuses
