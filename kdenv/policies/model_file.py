"""Reads and writes model files (.npz): networks of plain layers, for policies (`ppo`) or of values (`learned`).

A file has the arrays weight_0, bias_0, weight_1 ... and `about`, a JSON text. This says how many layers there are, the activation
between them, what the network predicts ("policy": a number for each action; "value": what a position is worth), what it was made for
(game, encoding, version, layout), and how it was made. A network of values also says the number of players, the options of the
game, and its goal (networks/players.py).

A model may come from a stranger, so nothing in the file is trusted. The shapes of all arrays are checked before an array is unpacked,
because a small file can claim to hold gigabytes. Nothing is unpickled.
"""

from __future__ import annotations

import io
import json
import os
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from kdenv.core.errors import BadOption, shown
from kdenv.networks.network import ACTIVATIONS

Array = NDArray[np.float32]

POLICY, VALUE = "policy", "value"  # what a network predicts
_MOST_LAYERS = 64
_MOST_PLAYERS = 64
_LARGEST_SCALE = 1e9
_MOST_NUMBERS = 50_000_000  # in all arrays together: 200 MB
_MOST_TEXT = 10_000  # characters of the text about the model
_MOST_HEADER = 10_000  # bytes before the numbers of an array
# What zipfile, numpy and json raise when a file is damaged.
_DAMAGE = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    EOFError,
    RuntimeError,
    SyntaxError,
    RecursionError,
    MemoryError,
    OverflowError,
    zipfile.BadZipFile,
    zlib.error,
    tokenize.TokenError,
)


class StoredNetwork(NamedTuple):
    """What a model file holds: layers of weights (one row for each output) and biases, and what is to be known about them."""

    layers: list[tuple[Array, Array]]
    activation: str
    predicts: str  # POLICY or VALUE
    made_for: dict[str, Any]  # the Observer.made_for of its training
    players: int  # 0 if the file does not say
    options: dict[str, Any]  # the options of the game by name
    scale: float  # of a value: the margin that counts 1 (Goal)
    win: float
    made_by: str = ""  # the command that made it

    @property
    def n_in(self) -> int:
        """How many numbers the network takes."""
        return int(self.layers[0][0].shape[1])

    @property
    def n_out(self) -> int:
        """How many numbers the network gives."""
        return int(self.layers[-1][0].shape[0])


class _Array(NamedTuple):
    """The header of an array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    header: int  # bytes before the numbers
    by_columns: bool


def read_network(path: Path) -> StoredNetwork:
    """Read the network in a model file; raise BadOption if it is not one."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive)
    except _DAMAGE as error:
        why = f"{type(error).__name__}: {error}" if not isinstance(error, _Wrong) else str(error)
        raise BadOption(f"{path} is not a model of 'kdenv train' or 'python -m baselines.rl.export' ({shown(why)})") from None


class _Wrong(ValueError):
    """An error that says what is wrong with a model file."""


def _read(archive: zipfile.ZipFile) -> StoredNetwork:
    about_array = _header(archive, "about")
    if about_array.shape != () or about_array.dtype.kind != "U" or about_array.dtype.itemsize > 4 * _MOST_TEXT:
        raise _Wrong("about is not a short text")
    about = json.loads(str(_load(archive, "about", about_array)))
    if not isinstance(about, dict) or about.get("activation") not in ACTIVATIONS:
        raise _Wrong(f"its activation is not one of {', '.join(ACTIVATIONS)}")
    made_for = about.get("made_for")
    if not isinstance(made_for, dict) or not all(isinstance(value, (str, int)) for value in made_for.values()):
        raise _Wrong("it does not say what it was made_for, as game, encoding, version and layout")
    predicts, players, options, goal = (about.get(name) for name in ("predicts", "players", "options", "goal"))
    if predicts not in (POLICY, VALUE):
        raise _Wrong(f"it does not say whether it predicts {POLICY} or {VALUE}")
    if type(players) is not int or not 0 <= players <= _MOST_PLAYERS or not isinstance(options, dict):
        raise _Wrong("it does not say for how many players and for which options it was made")
    if not isinstance(goal, dict) or not all(type(goal.get(name)) in (int, float) for name in ("scale", "win")):
        raise _Wrong("it does not say its goal, as scale and win")
    scale, win = float(goal["scale"]), float(goal["win"])
    if not (0 < scale < _LARGEST_SCALE and 0 <= win <= 1):
        raise _Wrong("its goal has a scale that is not positive, or a share of the win that is not 0 to 1")
    n = about.get("layers")
    if type(n) is not int or not 1 <= n <= _MOST_LAYERS:
        raise _Wrong(f"it does not have 1 to {_MOST_LAYERS} layers")
    names = [(f"weight_{i}", f"bias_{i}") for i in range(n)]
    headers = [(_header(archive, weight), _header(archive, bias)) for weight, bias in names]
    _check_shapes(headers)
    layers = [
        (_load(archive, weight, of_weight), _load(archive, bias, of_bias))
        for (weight, bias), (of_weight, of_bias) in zip(names, headers, strict=True)
    ]
    for (weight, bias), arrays in zip(names, layers, strict=True):
        for name, array in zip((weight, bias), arrays, strict=True):
            if not np.isfinite(array).all():
                raise _Wrong(f"{name} has numbers that are not finite")
    if predicts == VALUE and layers[-1][0].shape[0] != 1:
        raise _Wrong(f"it gives {layers[-1][0].shape[0]} numbers, and a value is one")
    made_by = str(about.get("made_by", ""))
    return StoredNetwork(layers, about["activation"], predicts, made_for, players, options, scale, win, made_by)


def write_network(path: Path, network: StoredNetwork) -> None:
    """Write a model file that read_network reads. Weights are in half precision. A file of this name is replaced at once or not at all."""
    about = {
        "layers": len(network.layers),
        "activation": network.activation,
        "predicts": network.predicts,
        "made_for": network.made_for,
        "players": network.players,
        "options": network.options,
        "goal": {"scale": network.scale, "win": network.win},
        "made_by": network.made_by,
    }
    arrays = {f"weight_{i}": weight.astype(np.float16) for i, (weight, _) in enumerate(network.layers)}
    arrays |= {f"bias_{i}": bias.astype(np.float32) for i, (_, bias) in enumerate(network.layers)}
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise BadOption(f"{path.name} is not written: {name} has numbers that are not finite, or too large; train the model again")
    write_arrays(path, {"about": np.array(json.dumps(about)), **arrays})


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], *, compressed: bool = True) -> None:
    """Write arrays by name to an .npz file. A file of this name is replaced at once or not at all."""
    buffer = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(buffer, **arrays)  # type: ignore[arg-type]
    new = path.with_name(f".{path.name}.new")
    with new.open("wb") as file:
        file.write(buffer.getbuffer())
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def _header(archive: zipfile.ZipFile, name: str) -> _Array:
    """Read the header of an array, and check that it agrees with the size of the array in the file."""
    with archive.open(f"{name}.npy") as stream:
        shape, by_columns, dtype = _HEADERS[npy.read_magic(stream)](stream, max_header_size=_MOST_HEADER)
        header = stream.tell()
    n = 1
    for side in shape:
        n *= side
    size = archive.getinfo(f"{name}.npy").file_size
    if dtype.hasobject or min(shape, default=1) < 1 or n > _MOST_NUMBERS or header + n * dtype.itemsize != size:
        raise _Wrong(f"{name} is not as large as it says, or too large")
    return _Array(shape, dtype, header, by_columns)


_HEADERS: dict[tuple[int, int], Callable[..., tuple[tuple[int, ...], bool, np.dtype[Any]]]] = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
}


def _load(archive: zipfile.ZipFile, name: str, array: _Array) -> Any:
    """Read the numbers of an array whose header has been checked, as float32. A text is not converted."""
    with archive.open(f"{name}.npy") as stream:
        raw = _all_of(stream, array.header + int(np.prod(array.shape, dtype=np.int64)) * array.dtype.itemsize)
    found = np.frombuffer(raw, array.dtype, offset=array.header).reshape(array.shape, order="F" if array.by_columns else "C")
    return found if array.dtype.kind == "U" else found.astype(np.float32)


def _all_of(stream: IO[bytes], size: int) -> bytes:
    """Read exactly `size` bytes. Reading to the end makes zipfile compare the checksum."""
    raw = stream.read(size)
    if len(raw) != size or stream.read(1):
        raise _Wrong("an array ends too early or too late")
    return raw


def _check_shapes(headers: list[tuple[_Array, _Array]]) -> None:
    """Check that layers have floating-point numbers, fit each other, and are not too large together."""
    total = 0
    for i, (weight, bias) in enumerate(headers):
        if weight.dtype.kind != "f" or bias.dtype.kind != "f":
            raise _Wrong(f"layer {i} does not consist of floating-point numbers")
        if len(weight.shape) != 2 or bias.shape != weight.shape[:1]:
            raise _Wrong(f"layer {i} has weights of shape {weight.shape} and a bias of shape {bias.shape}")
        if i and weight.shape[1] != headers[i - 1][0].shape[0]:
            raise _Wrong(f"layer {i} takes {weight.shape[1]} numbers, but layer {i - 1} gives {headers[i - 1][0].shape[0]}")
        total += weight.shape[0] * (weight.shape[1] + 1)
    if total > _MOST_NUMBERS:
        raise _Wrong(f"it has {total:,} numbers, more than {_MOST_NUMBERS:,}")
