"""What the kernels of a batch ask and what is no verb: how a position is observed, and whether a limit ended a game.

The answers depend on the encoding, so they cannot be found by the dtype of a state alone. Each combination of them is a class of parts,
by which numba finds the kernels (compiler/question.py).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from kdenv.compiler.kernel import is_kernel, kernel
from kdenv.compiler.question import answers, question
from kdenv.core.errors import NotSupported
from kdenv.core.game import Game


@question
def look(parts, states, k, seat, out):
    """Write what the seat observes of states[k] to out."""


@question
def was_cut_off(parts, states, k):
    """Whether a limit, and not the rules, ended the game in states[k]."""


def parts_for(game: Game, encoding: str | None) -> Any:
    """The part that answers `look` by this encoding, and `was_cut_off`."""
    if game.truncated is not None and not is_kernel(game.truncated):
        raise NotSupported(f"{game.name} cannot be played in batches, because its function `truncated` is not marked @kernel; mark it")
    return _class_of(game.name, game.encoding(encoding).observe, game.truncated)()


@cache
def _class_of(game: str, observe: Callable[..., Any], truncated: Callable[..., Any] | None) -> type[Any]:
    kind: type[Any] = NamedTuple(f"Parts_{game}_{observe.__name__}", [])  # type: ignore[misc]

    @kernel
    def _look(parts, states, k, seat, out):
        observe(states, k, seat, out)

    answers(look, kind)(_look)
    if truncated is None:
        answers(was_cut_off, kind)(_never)
    else:
        cut_off = truncated

        @kernel
        def _was_cut_off(parts, states, k):
            return cut_off(states, k)

        answers(was_cut_off, kind)(_was_cut_off)
    return kind


@kernel
def _never(parts, states, k):
    return False
