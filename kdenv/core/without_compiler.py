"""Plays games without the compiler, in a separate process, so that `check_game` can compare the numbers.

There numpy checks every index and warns if an integer overflows. Machine code does neither: it reads the memory behind an array.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

from kdenv.compiler.random import below, make_rng
from kdenv.core import verbs
from kdenv.core.game import Game, Variant
from kdenv.core.verbs import CHANCE, DECIDE, OVER

MOST_GAMES = 3  # Python takes a hundred times as long as machine code
_MOST_EVENTS = 120  # the most events of each game
_FAILED = "failed"
_ENCODING = "what the encoding"

Answers = list[tuple[str, Any]]  # the verbs and their answers, in order


class Run(NamedTuple):
    """A random game: the number of players, the options as integers, and the seed of all draws."""

    players: int
    variant: Variant
    seed: int


class NotPlayed(Exception):
    """Another process cannot play the game. The message is the reason."""


def numbers_of(game: Game, run: Run) -> Answers:
    """Return the answers of the verbs in a random game. If one raises an error, the last pair has "failed" and the error."""
    answers: Answers = []
    try:
        answers.extend(_play(game, run))
    except Exception as error:
        from kdenv.core.checks import at_line

        answers.append((_FAILED, at_line(error)))
    return answers


def _play(game: Game, run: Run) -> Iterator[tuple[str, Any]]:
    states, rng = np.zeros(2, game.state_dtype), make_rng(run.seed)
    legal, points = np.zeros(max(game.max_legal, game.max_chances), np.int64), np.zeros(run.players, np.int64)
    odds = np.zeros_like(legal)
    verbs.begin_at(states, 0, run.players, run.variant)
    for _ in range(_MOST_EVENTS):
        yield "the state", states[0].tobytes()
        verbs.scores_at(states, 0, points)
        yield "scores", points.tolist()
        verbs.standings_at(states, 0, points)
        yield "standings", points.tolist()
        for seat in range(run.players):
            states[1] = states[0]
            verbs.resample_hidden_at(states, 1, seat, make_rng(run.seed))
            yield f"the state after resample_hidden for seat {seat}", states[1].tobytes()
            for encoding in game.encodings:
                out = np.zeros(game.observer(run.players, run.variant, encoding.name).size, np.float32)
                encoding.observe(states, 0, seat, out)
                yield f"{_ENCODING} {encoding.name} shows seat {seat}", out
        now = int(verbs.phase_at(states, 0))
        yield "phase", now
        yield "progress", float(verbs.progress_at(states, 0))
        if now == OVER:
            yield "truncated", bool(verbs.truncated_at(states, 0))
            return
        if now == CHANCE:
            n = int(verbs.chances_at(states, 0, legal, odds))
            yield "chances", list(zip(legal[:n].tolist(), odds[:n].tolist(), strict=True))
            yield "witnesses", int(verbs.witnesses_at(states, 0))
            outcome = int(verbs.sample_chance_at(states, 0, rng))
            yield "sample_chance", outcome
            verbs.apply_chance_at(states, 0, outcome)
        elif now == DECIDE:
            yield "seat", int(verbs.seat_at(states, 0))
            n = int(verbs.legal_at(states, 0, legal))
            yield "legal", legal[:n].tolist()
            verbs.apply_at(states, 0, int(legal[int(below(rng, n))]))


def played(game: Game, runs: Sequence[Run]) -> list[Answers]:
    """Play these games in a process without the compiler. Raises NotPlayed if that process cannot import the game."""
    try:
        with _compiler_off(), ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            return process.submit(_played_here, game, runs).result()
    except BrokenProcessPool:
        raise NotPlayed("another process cannot import it; put what a script runs under `if __name__ == '__main__':`") from None
    except (ImportError, KeyError, AttributeError) as error:
        raise NotPlayed(f"another process cannot import it ({type(error).__name__}: {error}); put the game into a module") from None


def _played_here(game: Game, runs: Sequence[Run]) -> list[Answers]:
    warnings.simplefilter("error", RuntimeWarning)  # of numpy, for integers that overflow
    return [numbers_of(game, run) for run in runs]


@contextmanager
def _compiler_off() -> Iterator[None]:
    """Let new processes compile nothing in this block."""
    before = os.environ.get("NUMBA_DISABLE_JIT")
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["NUMBA_DISABLE_JIT"]
        else:
            os.environ["NUMBA_DISABLE_JIT"] = before


def difference(compiled: Answers, plain: Answers) -> str:
    """Return the first difference between the numbers of a game, as a sentence; empty if there is none.

    Encodings that only one of the processes knows are not compared.
    """
    unknown = {verb for verb, _ in compiled if verb.startswith(_ENCODING)} ^ {verb for verb, _ in plain if verb.startswith(_ENCODING)}
    compiled, plain = ([answer for answer in answers if answer[0] not in unknown] for answers in (compiled, plain))
    for event, ((verb, ours), (other, theirs)) in enumerate(zip(compiled, plain, strict=False)):
        if other == _FAILED:
            return f"without the compiler the game breaks off with {theirs}, which machine code does not notice; mend this line"
        if verb != other or not _is_same(ours, theirs):
            return f"{verb} is {_shown(ours)} compiled and {_shown(theirs)} without the compiler, after {event} answers that were equal"
    return "" if len(compiled) == len(plain) else "the game ends at another place without the compiler"


def _is_same(ours: Any, theirs: Any) -> bool:
    """Return whether two answers are equal. Observations may differ by rounding: numpy rounds sums of float32 at each step."""
    if isinstance(ours, np.ndarray):
        return bool(np.allclose(ours, theirs, rtol=1e-5, atol=1e-6, equal_nan=True))
    return bool(ours == theirs)


def _shown(answer: Any) -> str:
    text = str(answer)
    return text if len(text) <= 120 else text[:120] + "..."
