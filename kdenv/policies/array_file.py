"""Reads and writes .npz files of arrays and a JSON text, `about`: models (model_file.py) and checkpoints of trainings.

A file may come from a stranger, so nothing in it is trusted. Every field is checked, and so are the sizes of all arrays before an
array is unpacked, because a small file can claim to hold gigabytes. Nothing is unpickled. A refusal is one sentence that names the file,
the field, what was found and what was expected.
"""

from __future__ import annotations

import io
import json
import math
import os
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from kdenv.core.errors import BadOption, shown

MOST_NUMBERS = 50_000_000  # in all arrays together: 200 MB
_MOST_HEADER = 10_000  # bytes before the numbers of an array
# The errors of zipfile, numpy and json when a file is damaged.
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
_HEADERS: dict[tuple[int, int], Callable[..., tuple[tuple[int, ...], bool, np.dtype[Any]]]] = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
}
_KINDS = {"f": "floating-point numbers", "u": "whole numbers without a sign", "U": "a text"}


class Wrong(ValueError):
    """An error in a field of a file: the field, its value, and the expected value."""

    def __init__(self, field: str, found: Any, expected: str) -> None:
        super().__init__(f"{field} is {shown(found)}, and must be {expected}")


class Header(NamedTuple):
    """The header of an array: its type, and where its numbers are in the file."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    at: int  # where its numbers begin
    by_columns: bool


class ArrayFile:
    """An open file. Its methods raise errors about wrong fields, which `reading` turns into BadOption."""

    def __init__(self, archive: zipfile.ZipFile, most_text: int) -> None:
        """most_text: the most characters that `about` may have."""
        self._archive = archive
        header = self.header("about", "U")
        if header.shape != () or header.dtype.itemsize > 4 * most_text:
            raise Wrong("about", f"an array of shape {header.shape} and type {header.dtype}", f"one text of up to {most_text:,} characters")
        found = json.loads(str(self.array(header)))
        if not isinstance(found, dict):
            raise Wrong("about", found, "an object of JSON")
        self.about: dict[str, Any] = found

    def field(self, name: str, is_right: Callable[[Any], bool], expected: str, *within: str) -> Any:
        """The value of a field of `about`, or of an object within it. Raises Wrong if it is missing or not right."""
        inside: Any = self.about
        for outer in within:
            inside = inside[outer]
        named = ".".join((*within, name))
        if name not in inside:
            raise Wrong(named, "missing", expected)
        if not is_right(inside[name]):
            raise Wrong(named, repr(inside[name]), expected)
        return inside[name]

    def header(self, name: str, kind: str) -> Header:
        """The header of an array. Raises Wrong if its numbers are of another kind, or if the file has more or fewer of them."""
        archive = self._archive
        try:
            entry = archive.getinfo(f"{name}.npy")
        except KeyError:
            raise Wrong(name, "missing", f"an array of {_KINDS[kind]}") from None
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Wrong(name, f"packed by method {entry.compress_type} of zip", "stored, or packed by method 8")
        with archive.open(entry) as stream:
            version = npy.read_magic(stream)
            if version not in _HEADERS:
                raise Wrong(name, f"in version {version} of numpy's format", "in version 1.0 or 2.0")
            shape, by_columns, dtype = _HEADERS[version](stream, max_header_size=_MOST_HEADER)
            at = stream.tell()
        if dtype.kind != kind:
            raise Wrong(name, f"an array of type {dtype}", f"one of {_KINDS[kind]}")
        n = math.prod(shape)
        if min(shape, default=1) < 1 or n > MOST_NUMBERS or at + n * dtype.itemsize != entry.file_size:
            size = f"{entry.file_size - at:,} bytes of an array of shape {shape} and type {dtype}"
            raise Wrong(name, size, f"as large as it says, with 1 to {MOST_NUMBERS:,} numbers")
        return Header(name, shape, dtype, at, by_columns)

    def array(self, header: Header, dtype: Any = None) -> Any:
        """The numbers of an array, as this type. Raises Wrong if one is not finite."""
        archive = self._archive
        with archive.open(f"{header.name}.npy") as stream:
            raw = _all_of(stream, header.at + math.prod(header.shape) * header.dtype.itemsize, header.name)
        found = np.frombuffer(raw, header.dtype, offset=header.at).reshape(header.shape, order="F" if header.by_columns else "C")
        if dtype is None:
            return found
        with np.errstate(over="ignore"):
            numbers = found.astype(dtype)
        if not np.isfinite(numbers).all():
            wrong = found[~np.isfinite(numbers)].flat[0]
            raise Wrong(header.name, f"an array with {wrong}", "one of finite numbers that are not too large")
        return numbers


@contextmanager
def reading(path: Path, what: str, *, most_text: int, remedy: str = "", content: bytes | None = None) -> Iterator[ArrayFile]:
    """A context in which a file is read. If it is damaged or wrong, it raises BadOption: the file is not `what`; then the remedy.

    `content` is that of a file which is not written yet.
    """
    try:
        with zipfile.ZipFile(path if content is None else io.BytesIO(content)) as archive:
            yield ArrayFile(archive, most_text)
    except _DAMAGE as error:
        why = str(error) if isinstance(error, Wrong) else shown(f"{type(error).__name__}: {error}")
        raise BadOption(f"{path} is not {what} ({why}){remedy}") from None


def packed_arrays(arrays: Mapping[str, NDArray[Any]], *, compressed: bool = True) -> bytes:
    """The content of an .npz file with these arrays by name."""
    buffer = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def write_file(path: Path, content: bytes) -> None:
    """Write a file. A file of this name is replaced at once or not at all."""
    new = path.with_name(f".{path.name}.new")
    with new.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def is_whole(least: int, most: int) -> Callable[[Any], bool]:
    """A test of a value of JSON: a whole number within these bounds."""
    return lambda value: type(value) is int and least <= value <= most


def is_number(least: float, most: float) -> Callable[[Any], bool]:
    """A test of a value of JSON: a number within these bounds. NaN is not."""
    return lambda value: type(value) in (int, float) and least <= value <= most


def _all_of(stream: IO[bytes], size: int, name: str) -> bytes:
    """Read exactly `size` bytes. Reading to the end makes zipfile compare the checksum."""
    raw = stream.read(size)
    if len(raw) != size or stream.read(1):
        raise Wrong(name, "an array that ends too early or too late", f"{size:,} bytes long")
    return raw
