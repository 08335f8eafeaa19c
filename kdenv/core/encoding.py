"""Encodings write a position as numbers for a network. An `Observer` is an encoding for one number of players and one set of options.

A game has one or more encodings, the default first. The encoding is chosen by the observer, not by the rules. States, records and
options do not contain it, so models trained on different encodings can play each other.
"""

from __future__ import annotations

import hashlib
import math
from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers, question
from kdenv.compiler.random import Rng, derive_seed, make_rng
from kdenv.core.bounds import Guarded
from kdenv.core.columns import align
from kdenv.core.errors import BadGame, BadOption, NotSupported, shown
from kdenv.core.verbs import resample_hidden, resample_hidden_at

if TYPE_CHECKING:
    from kdenv.core.game import Game

Vector = NDArray[np.float32]

_SEED = derive_seed("observer")  # seeds the draws for encodings that are not trusted; no game is dealt from this seed


class Part(NamedTuple):
    """One part of an observation: its shape when it is cut out of the vector, and the meaning of its numbers."""

    shape: tuple[int, ...]
    meaning: str


Layout: TypeAlias = Mapping[str, Part]  # the parts by name, in the order in which they lie in the vector


@dataclass(frozen=True)
class Encoding:
    """A way to write what a seat sees as a vector of float32 numbers.

    `observe` writes every number of `out`, which may have any content before, and writes only what the seat can know.
    A model refuses an encoding with another version or layout; raise the version whenever numbers get another meaning.
    """

    name: str
    layout: Callable[[int, Mapping[str, Any]], Layout]  # (players, options of the game by name) -> the parts
    observe: Callable[[Any, int, int, Vector], Any]  # the kernel (states, k, seat, out)
    meaning: str = ""  # one line for listings
    version: int = 1
    trusted: bool = True  # add_encoding sets it to False: observe then gets a random draw of what the seat cannot know
    part: Callable[[], Any] | None = None  # makes a part that answers observe_by with the same numbers, but remembers some for later calls


@kernel
def clear(out):
    """Set all numbers of a vector to 0, before an encoding writes the others."""
    for i in range(out.shape[0]):
        out[i] = 0.0


@question
def observe_by(encoding, states, k, seat, out):
    """Write what the seat sees of states[k] to out (float32), by this encoding. For kernels; Python calls Observer.vector."""


class _Redrawn(NamedTuple):
    """An encoding that is not trusted. Its kernel gets a copy in which what the seat cannot know is drawn at random."""

    encoding: Any
    states: Any  # one state, for the copy
    rng: Rng
    seed: np.uint64


@answers(observe_by, _Redrawn)
@kernel
def _observe_redrawn(encoding, states, k, seat, out):
    encoding.states[0] = states[k]
    encoding.rng[0] = encoding.seed
    resample_hidden(encoding.states[0], seat, encoding.rng)
    clear(out)
    observe_by(encoding.encoding, encoding.states, 0, seat, out)


_classes: dict[Callable[..., Any], Any] = {}  # the kernel of an encoding -> the class of the part that answers observe_by with it


def _part_of(observe: Callable[..., Any]) -> Any:
    if observe not in _classes:
        made: Any = namedtuple(f"By_{observe.__module__}_{observe.__name__}".replace(".", "_"), ())  # type: ignore[misc]
        made.__module__ = observe.__module__

        @answers(observe_by, made)
        @kernel
        def _observe(encoding, states, k, seat, out):
            observe(states, k, seat, out)

        _classes[observe] = made
    return _classes[observe]()


class Observer:
    """Makes the vectors of one encoding for a game with this many players and these options. `layout` lists their parts."""

    def __init__(self, game: Game, players: int, variant: NDArray[np.int64], encoding: Encoding) -> None:
        """Compute the layout. Callers use Game.observer, which keeps the observers that it has made."""
        self.game, self.players, self.variant, self.encoding = game, players, variant, encoding
        parts: dict[str, Part] = {}
        for name, part in encoding.layout(players, game.options_of(variant)).items():
            if not isinstance(part, Part) or not all(isinstance(n, (int, np.integer)) and n > 0 for n in part.shape):
                raise TypeError(f"the layout of {game.name}'s encoding {encoding.name} has {name}: {part!r}; write Part(shape, meaning)")
            parts[name] = Part(tuple(map(int, part.shape)), part.meaning)
        self.layout: Layout = MappingProxyType(parts)  # read-only, because all callers share it
        self._is_redrawn = not encoding.trusted and not game.open_information
        self.size = sum(math.prod(part.shape) for part in self.layout.values())
        self._fits = False  # whether a vector has been written with guard words behind it

    def vector(self, states: Any, k: int, seat: int) -> Vector:
        """Return what the seat sees of states[k], as a new array."""
        out = np.empty(self.size, np.float32) if self.encoding.trusted else np.zeros(self.size, np.float32)
        if self._is_redrawn:
            states, k = states[k : k + 1].copy(), 0
            resample_hidden_at(states, 0, seat, self.draws())
        if not self._fits:
            self._check_size(states, k, seat)
        self.encoding.observe(states, k, seat, out)
        return out

    def _check_size(self, states: Any, k: int, seat: int) -> None:
        """Raise BadGame if the encoding writes more numbers than its layout has."""
        guarded = Guarded(self.size, np.float32)
        self.encoding.observe(states, k, seat, guarded.array)
        if (n := guarded.n_written()) > self.size:
            wrote = f"{self.encoding.name} writes {n} numbers, and its layout has {self.size}"
            raise BadGame([f"{self.game.name}: the encoding {wrote}; lay out all that observe writes"])
        self._fits = True

    def draws(self) -> Rng:
        """Return a new generator for the draws of what a seat cannot know. Its seed is always the same."""
        return make_rng(_SEED)

    def part(self) -> Any:
        """Return a new part that answers observe_by in kernels with the same numbers. Threads must not share it."""
        inside = _part_of(self.encoding.observe)
        if self.encoding.trusted:
            return self.encoding.part() if self.encoding.part else inside
        seed = self.draws()
        return _Redrawn(inside, np.zeros(1, self.game.state_dtype), seed.copy(), seed[0])

    def cut(self, vector: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return the parts of a vector by name, each in its shape; of an array of vectors, arrays of parts. They share its memory."""
        parts, at = {}, 0
        for name, part in self.layout.items():
            end = at + math.prod(part.shape)
            parts[name] = vector[..., at:end].reshape(*vector.shape[:-1], *part.shape)
            at = end
        return parts

    @property
    def made_for(self) -> dict[str, Any]:
        """The game, encoding, version and digest of the layout, which a model trained on these vectors writes into its file."""
        shapes = repr([(name, part.shape) for name, part in self.layout.items()])
        digest = hashlib.sha256(shapes.encode()).hexdigest()[:8]
        return {"game": self.game.name, "encoding": self.encoding.name, "version": self.encoding.version, "layout": digest}

    def __str__(self) -> str:
        """Return a table with one line for each part: name, shape and meaning."""
        rows = [(name, " x ".join(map(str, part.shape)), part.meaning) for name, part in self.layout.items()]
        return "\n".join(align(rows, left=(0, 1, 2)))

    def __deepcopy__(self, memo: dict[int, Any]) -> Observer:
        return self  # an observer never changes

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the observer by the names of game and encoding, because games are pickled by name."""
        return _observer_again, (self.encoding.observe.__module__, self.game, self.players, self.variant, self.encoding.name)


def _observer_again(module: str, game: Game, players: int, variant: NDArray[np.int64], encoding: str) -> Observer:
    """Return the observer of an encoding by name. The import of the module adds an encoding from outside the game's package."""
    import_module(module)
    return game.observer(players, variant, encoding)


def observer_for_model(made_for: Mapping[str, Any], model: str, game: Game, players: int, variant: NDArray[np.int64]) -> Observer:
    """Return the observer of the encoding that a model was trained on; the default encoding if its file, `made_for`, names none.

    Raises NotSupported if the model was made for another game, or if the game has no such encoding.
    """
    if made_for.get("game", game.name) != game.name:
        raise NotSupported(f"{model} was trained on {shown(made_for['game'])}, not on {game.name}; use a model trained on {game.name}")
    try:
        return game.observer(players, variant, made_for.get("encoding"))
    except BadOption as error:
        raise NotSupported(f"{model} needs the encoding it was trained on: {error}") from None


def check_layout(made_for: Mapping[str, Any], model: str, observer: Observer) -> None:
    """Raise NotSupported for a model that was trained on another version or another layout of the observer's encoding."""
    here = observer.made_for
    if made_for and {**here, **made_for} != here:
        raise NotSupported(
            f"{model} was trained on version {shown(made_for.get('version'))} of {here['game']}'s encoding {here['encoding']} "
            f"(layout {shown(made_for.get('layout'))}), and here it is version {here['version']} (layout {here['layout']}); "
            "train the model again"
        )
