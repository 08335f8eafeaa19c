"""Checks the parameters that both kinds of environments have, and warns of illegal actions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from kdenv.core.errors import BadOption, did_you_mean, shown
from kdenv.core.game import Game
from kdenv.core.table import Table
from kdenv.games import find_game

ILLEGAL = ("raise", "terminate")  # what an illegal action does
OBSERVATIONS = ("vector", "dict", "parts")  # the forms of an observation (spaces.py)


class UnexpectedKeyword(BadOption, TypeError):
    """A parameter that an environment does not have. It is a TypeError like that of Python, which TorchRL and others look for."""


def empty_table(game: str | Game, players: int | None, options: dict[str, Any]) -> Table:
    """A table of the game, or of the game of this name, before anything has happened. UnexpectedKeyword for an option it does not have."""
    found = game if isinstance(game, Game) else find_game(game)
    try:
        found.check_names(options)
    except BadOption as error:
        unknown = next(name for name in options if name not in {option.name for option in found.options})
        raise UnexpectedKeyword(f"unexpected keyword argument {shown(unknown)!r}: {error}") from None
    return Table(found, players, **options)


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise BadOption for a value that is not one of the choices."""
    if value not in choices:
        listing = ", ".join(choices[:-1]) + f" or {choices[-1]}"
        raise BadOption(f"{name}={shown(value)} is not possible{did_you_mean(str(value), choices)}; {name} may be {listing}")


def check_flag(name: str, value: object) -> None:
    """Raise BadOption for a value that is not True or False. A word such as "no" would count as True."""
    if not isinstance(value, (bool, np.bool_)):
        raise BadOption(f"{name}={shown(value)} is not possible; {name} may be True or False")


def check_options(options: object, known: str) -> None:
    """Raise BadOption for options of reset that are neither None nor a dict. `known` says which there are."""
    if options is not None and not isinstance(options, Mapping):
        raise BadOption(f"options={shown(options)} is not possible; options of reset are a dict with {known}")


def check_seed(seed: Any) -> None:
    """Raise BadOption for a seed that is neither None nor a whole number from 0 up."""
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0):
        raise BadOption(f"seed={shown(seed)} is not possible; seed may be a whole number from 0 up")


def warn_of_loss(game: str) -> None:
    """Warn that an illegal action ends a game. The text is always the same for a game, so Python shows it only once."""
    warnings.warn(
        f"an illegal action has ended a game of {game} as a loss of its seat; choose actions from the mask, or make the environment with "
        "illegal='raise' to see which action it was (infos say it too)",
        stacklevel=2,
    )
