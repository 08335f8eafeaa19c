"""The parameters that all environments of a game have, as types: with them editors complete names and type checkers know values."""

from __future__ import annotations

from typing import Literal, TypedDict

from kdenv.envs.rewards import RewardFunction


class TableParameters(TypedDict, total=False):
    """The parameters of TableEnv that do not depend on the game. TableEnv says what they mean."""

    observation: Literal["dict", "vector", "parts"]
    reward: Literal["win", "rank", "margin", "score", "gains"] | RewardFunction
    illegal: Literal["raise", "terminate"]
    encoding: str | None
    skip_forced: bool
    render_mode: Literal["human", "ansi", "svg", "rgb_array"] | None
