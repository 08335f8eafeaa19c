"""Asks a game whether a limit ended it. That is no verb, because only games with such a limit answer, so it is a question to a part.

Each function `truncated` of a game has a class of parts, by which numba finds it (compiler/question.py).
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from kdenv.compiler.kernel import is_kernel, kernel
from kdenv.compiler.question import answers, question
from kdenv.core.errors import NotSupported
from kdenv.core.game import Game


@question
def was_cut_off(ending, states, k):
    """Whether a limit, and not the rules, ended the game in states[k]."""


class NoLimit(NamedTuple):
    """Games that nothing but their rules ends."""


@answers(was_cut_off, NoLimit)
@kernel
def _never(ending, states, k):
    return False


def ending_of(game: Game) -> Any:
    """The part that answers was_cut_off for this game."""
    if game.truncated is None:
        return NoLimit()
    if not is_kernel(game.truncated):
        raise NotSupported(f"{game.name} cannot be played in batches, because its function `truncated` is not marked @kernel; mark it")
    return _class_of(game.truncated)()


@cache
def _class_of(truncated: Callable[..., Any]) -> Any:
    kind: Any = namedtuple(f"Limit_{truncated.__name__}", ())  # type: ignore[misc]
    kind.__module__ = truncated.__module__

    @answers(was_cut_off, kind)
    @kernel
    def _was_cut_off(ending, states, k):
        return truncated(states, k)

    return kind
