"""Checks the options of `reset`, and warns of illegal actions. The parameters of environments are checked in setup.py."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from kdenv.core.errors import BadOption, shown


def check_options(options: object, known: str) -> None:
    """Raise BadOption for options of reset that are neither None nor a dict. The sentence lists the `known` options."""
    if options is not None and not isinstance(options, Mapping):
        raise BadOption(f"options={shown(options)} is not possible; options of reset are a dict with {known}")


def warn_of_loss(game: str) -> None:
    """Warn that an illegal action ends a game. The text is always the same for a game, so Python shows it only once."""
    warnings.warn(
        f"an illegal action has ended a game of {game} as a loss of its seat; choose actions from the mask. The infos name the action, "
        "and so does the error of an environment made with illegal='raise'",
        stacklevel=2,
    )
