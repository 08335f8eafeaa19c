"""Computes a digest of all that machine code depends on: the code of every function that a kernel reaches, and every constant they name.

Numba writes the values of global names into machine code. So compiled code is out of date as soon as one of these functions or
constants changes, in any file. `digest_of` computes a digest for a kernel and the types of its arguments. It covers:

1. The byte code of the kernel, its options, its defaults, and the constants that it names: numbers, strings, tuples, arrays, dtypes, enums.
2. The same for all functions that it calls by a global name, through a module, or from a closure, and for all that these call.
3. For every verb and every question that it asks: the same for the kernels that answer. They are those of the states and the parts
   that occur in the types of the arguments or in the code.
4. The versions of Python, numba, llvmlite and numpy, the processor, and the files of this package that drive numba.

Functions of numba, numpy and the standard library are not followed, because the digest contains the versions. Comments, docstrings and
line numbers are not part of it. A value of a kind that is not listed here raises Undetermined, and such a kernel is not kept on disk.
The digest does not cover code that numba finds by the type of a value alone (overload_method and overload_attribute in a user's file).
"""

from __future__ import annotations

import dis
import enum
import hashlib
import sys
import sysconfig
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import types as numba_types
from numba.core.dispatcher import Dispatcher
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from numba.extending import _Intrinsic

# The function that kernels call -> the Question (question.py), which finds the kernel that answers for a state or a part.
questions: dict[Any, Any] = {}

types: Any = numba_types  # Any, because numba's stubs do not list all of its types
_HERE = Path(__file__).parent
_DRIVING = ("kernel.py", "fast_compile.py", "numba_compile.py", "digest.py", "compile_group.py")
_SETTINGS = ("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT")  # settings of numba that change machine code
_NUMBERS = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_COMPARED = (bool, int, float, complex, str, bytes, type(None), np.ndarray, np.generic)  # compared by value; others by identity
_PLAIN_TYPES = (
    types.Number,
    types.NumberClass,
    types.Boolean,
    types.NoneType,
    types.Omitted,
    types.Literal,
    types.UnicodeType,
    types.CharSeq,
    types.UnicodeCharSeq,
    types.NPDatetime,
    types.NPTimedelta,
)

_first_seen: dict[Any, list[Any]] = {}  # function -> the values of its global names when it was first read
_changed: set[Any] = set()  # functions with a global name whose value has changed since


class Undetermined(Exception):
    """A value may differ between processes. A kernel that uses it is compiled, but not kept on disk."""


def digest_of(*kernels: tuple[Dispatcher, tuple[Any, ...]]) -> tuple[str, list[type]]:
    """Compute a digest, of 32 hexadecimal digits, of all that the machine code of these kernels for these argument types depends on.

    Also return the NamedTuple classes that the kernels reach, always in the same order. Raises Undetermined.
    """
    reach = _Reach()
    for kernel, args in kernels:
        reach.note("kernel", reach.named(kernel))
        for arg in args:
            reach.note("argument", reach.of_type(arg))
    reach.follow_all()
    reach.note(*_circumstances(type(kernels[0][0])))
    return reach.digest.hexdigest()[:32], reach.classes


def _circumstances(how: type) -> Iterator[str]:
    yield f"{how.__module__}.{how.__qualname__}"
    yield sys.implementation.cache_tag or sys.version
    yield from (module.__version__ for module in (numba, llvmlite, np))
    yield repr(cpu_target.target_context.codegen().magic_tuple())
    yield from (f"{name}={getattr(numba.config, name, None)}" for name in _SETTINGS)
    yield _digest_of_drivers()


@cache
def _digest_of_drivers() -> str:
    return hashlib.sha256(b"\0".join((_HERE / name).read_bytes() for name in _DRIVING)).hexdigest()


class _Reach:
    """Collects all that some kernels reach. Objects are numbered in the order in which they are met, which is the same in every process."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.classes: list[type] = []  # the NamedTuple classes that were met
        self._numbers: dict[int, int] = {}  # id of a function, class or the like -> its number
        self._kept: list[Any] = []  # these objects in the order of their numbers; they are kept so that no id is used twice
        self._to_follow: list[Callable[[], None]] = []
        self._questions: list[Any] = []
        self._kinds: list[Any] = []  # numba types of states, and classes of parts
        self._asked: set[tuple[int, int]] = set()

    def note(self, *words: str) -> None:
        """Add these words to the digest."""
        for word in words:
            data = word.encode("utf-8", "surrogatepass")
            self.digest.update(b"%d:" % len(data) + data)

    def follow_all(self) -> None:
        """Read all that has been met, until nothing new is met."""
        while self._to_follow or self._ask():
            while self._to_follow:
                self._to_follow.pop(0)()

    def _ask(self) -> bool:
        """Ask each question met so far for each state and part met so far. Return whether any of these pairs was new."""
        new = [pair for pair in self._pairs() if pair not in self._asked]
        for question, kind in new:
            self._asked.add((question, kind))
            try:
                kernel = questions[self._questions[question]].kernel_for(self._kinds[kind])
            except TypingError:  # this state or part does not answer that question
                continue
            self.note(f"question {question} of {kind}", self.named(kernel))
        return bool(new)

    def _pairs(self) -> list[tuple[int, int]]:
        return [(question, kind) for question in range(len(self._questions)) for kind in range(len(self._kinds))]

    def _number(self, thing: Any, follow: Callable[[], None]) -> int:
        """Return the number of an object. When it is met for the first time, `follow` is kept, to be called later."""
        if id(thing) not in self._numbers:
            self._numbers[id(thing)] = len(self._kept)
            self._kept.append(thing)
            self._to_follow.append(follow)
        return self._numbers[id(thing)]

    # Values as words of the digest

    def named(self, value: Any) -> str:
        """Return the word for a value that code names: the value itself, or the number of an object that is followed."""
        if type(value) in _NUMBERS:
            return f"{type(value).__name__} {value!r}"
        if isinstance(value, np.ndarray):
            return self._of_array(value)
        if isinstance(value, np.generic):
            return f"scalar {self.named(value.dtype)} {value.tobytes().hex()}" if value.dtype.kind != "O" else _unknown(value)
        if isinstance(value, np.dtype):
            return self._of_dtype(value)
        if isinstance(value, enum.Enum):
            return f"member {value.name} of {self.named(type(value))}"
        if isinstance(value, tuple):
            inside = " ".join(f"({self.named(item)})" for item in value)
            return f"tuple {inside}" if type(value) is tuple else f"{self.named(type(value))} {inside}"
        if isinstance(value, list):
            return "list " + " ".join(f"({self.named(item)})" for item in value)
        if isinstance(value, slice):  # Python 3.14 keeps slices of constants among the constants of code
            return f"slice {self.named((value.start, value.stop, value.step))}"
        if isinstance(value, frozenset):
            return "set " + " ".join(sorted(f"({self.named(item)})" for item in value))
        return self._of_callable(value)

    def _of_callable(self, value: Any) -> str:
        if isinstance(value, types.Type):
            return self.of_type(value)
        if isinstance(value, Dispatcher):
            return f"kernel {self._number(value, lambda: self._follow_kernel(value))}"
        if isinstance(value, type):
            return self._of_class(value)
        if isinstance(value, ModuleType):
            return f"module {value.__name__}"
        if isinstance(value, FunctionType):
            if value in questions:
                return f"question {self._number(value, lambda: self._questions.append(value))}"
            if _is_library(value.__globals__.get("__name__")):
                return f"library {value.__module__}.{value.__qualname__}"
            return f"function {self._number(value, lambda: self._follow_function(value))}"
        if isinstance(value, _Intrinsic):
            return f"intrinsic {self._number(value, lambda: self._follow_function(value._defn))}"
        if isinstance(value, (BuiltinFunctionType, np.ufunc)) and _is_library(getattr(value, "__module__", None) or type(value).__module__):
            return f"library {type(value).__module__}.{value.__name__}"
        return _unknown(value)

    def _of_class(self, kind: type) -> str:
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return f"parts {self._number(kind, lambda: self._follow_part(kind))}"
        if issubclass(kind, enum.Enum):
            members = kind.__members__.items()
            return f"enum {kind.__qualname__} " + " ".join(f"{name}={self.named(member.value)}" for name, member in members)
        if _is_library(kind.__module__) or issubclass(kind, BaseException):
            return f"class {kind.__module__}.{kind.__qualname__}"
        return _unknown(kind)

    def _of_array(self, array: np.ndarray) -> str:
        if array.dtype.hasobject:
            return _unknown(array)
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        content = hashlib.sha256(array.tobytes(order="A")).hexdigest()
        return f"array {self._of_dtype(array.dtype)} {array.shape} {order} {array.flags.c_contiguous} {content}"

    def _of_dtype(self, dtype: np.dtype) -> str:
        return f"dtype {self.of_type(numba.from_dtype(dtype))}" if dtype.fields else f"dtype {dtype.str}"

    # Types of arguments as words of the digest

    def of_type(self, kind: Any) -> str:
        """Return the word for a type of numba. The states and parts in it are remembered."""
        if isinstance(kind, (types.NamedTuple, types.NamedUniTuple)):
            return f"{self.named(kind.instance_class)} " + " ".join(f"({self.of_type(field)})" for field in kind)
        if isinstance(kind, types.BaseTuple):
            return "tuple " + " ".join(f"({self.of_type(field)})" for field in kind)
        if isinstance(kind, types.Record):
            if kind not in self._kinds:
                self._kinds.append(kind)
            return str(kind)
        if isinstance(kind, types.Array):
            return f"{type(kind).__name__} {kind.ndim}{kind.layout} {kind.mutable} {kind.aligned} of {self.of_type(kind.dtype)} {kind}"
        if isinstance(kind, types.Optional):
            return f"optional {self.of_type(kind.type)}"
        if isinstance(kind, types.Dispatcher):
            return self.named(kind.dispatcher)
        if isinstance(kind, types.DType):
            return f"dtype {self.of_type(kind.dtype)}"
        if isinstance(kind, _PLAIN_TYPES):
            return str(kind)
        return _unknown(kind)

    # Following

    def _follow_part(self, kind: Any) -> None:
        self.note(kind.__module__, kind.__qualname__, *kind._fields, *(self.named(value) for value in kind._field_defaults.values()))
        self.classes.append(kind)
        self._kinds.append(kind)

    def _follow_kernel(self, kernel: Dispatcher) -> None:
        self.note(*(f"{name}={value!r}" for name, value in sorted(kernel.targetoptions.items())), repr(kernel.locals))
        self._follow_function(kernel.py_func)

    def _follow_function(self, function: Any) -> None:
        """Add the code of a function and everything that it names to the digest."""
        named = list(_names_in(function))
        self.note(function.__module__ or "", function.__qualname__, _scanned(function.__code__, function.__doc__).digest)
        words = [f"{name}={self.named(value)}" for name, value in named]
        _notice_changes(function, named)
        if function in _changed:
            raise Undetermined(f"{function.__qualname__} used constants or functions that have been replaced since")
        self.note(*words)
        for implementation in _overloads_of(function):
            self.note("overload", self.named(implementation))


def _unknown(value: Any) -> str:
    raise Undetermined(f"{value!r} is a {type(value).__qualname__}")


# Code


class _Scan:
    """A digest of a piece of code, and the names of the globals and attributes in it. Functions inside the code are included."""

    def __init__(self, code: CodeType, doc: str | None) -> None:
        self.globals: dict[str, None] = {}
        self.attributes: dict[str, None] = {}
        digest = hashlib.sha256()
        self._read(code, doc, digest)
        self.digest = digest.hexdigest()

    def _read(self, code: CodeType, doc: str | None, digest: Any) -> None:
        names = (code.co_varnames, code.co_cellvars, code.co_freevars, code.co_names)
        digest.update(repr((names, code.co_argcount, code.co_kwonlyargcount, code.co_flags)).encode() + b"\0")
        digest.update(code.co_code)
        for place, constant in enumerate(code.co_consts):
            if isinstance(constant, CodeType):
                # Before Python 3.14 nothing says which constant of an inner function is its docstring, so all of its constants count.
                self._read(constant, None, digest)
            elif place or not (isinstance(constant, str) and constant == doc):
                digest.update(_Reach().named(constant).encode("utf-8", "surrogatepass") + b"\0")
        for step in dis.get_instructions(code):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
                self.globals[step.argval] = None
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                self.attributes[step.argval] = None


@cache
def _scanned(code: CodeType, doc: str | None) -> _Scan:
    return _Scan(code, doc)


def _names_in(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names that a function uses for values from outside it, each with its value."""
    scan = _scanned(function.__code__, function.__doc__)
    for name in scan.globals:
        if name in function.__globals__:
            value = function.__globals__[name]
            yield name, value
            if isinstance(value, ModuleType):
                yield from _named_through(name, value, scan, set())
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents
        if isinstance(cell.cell_contents, ModuleType):
            yield from _named_through(name, cell.cell_contents, scan, set())
    for place, value in enumerate(function.__defaults__ or ()):
        yield f"default {place}", value
    yield from (function.__kwdefaults__ or {}).items()


def _named_through(path: str, module: ModuleType, scan: _Scan, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Yield the values in a module, and in the modules in it, whose names are used as attributes in the code."""
    if _is_library(module.__name__) or id(module) in seen:
        return
    seen.add(id(module))
    for attribute in scan.attributes:
        if attribute in vars(module):
            value = vars(module)[attribute]
            yield f"{path}.{attribute}", value
            if isinstance(value, ModuleType):
                yield from _named_through(f"{path}.{attribute}", value, scan, seen)


def _overloads_of(function: Any) -> Iterator[Any]:
    """Yield the functions that numba compiles in place of a Python function: those registered with numba.extending.overload."""
    cpu_target.typing_context.refresh()
    kind = cpu_target.typing_context._lookup_global(function)
    for template in getattr(kind, "templates", ()):
        implementation = getattr(template, "_overload_func", None)
        if implementation is not None:
            yield implementation
        elif not _is_library(template.__module__):
            _unknown(template)


def _notice_changes(function: Any, named: list[tuple[str, Any]]) -> None:
    """Mark a function as changed if a global name has another value than at first.

    Numba continues to use the first value, so code that was kept on disk under the new digest would be wrong.
    """
    now = [_Reach().named(value) if isinstance(value, _COMPARED) else value for _, value in named]
    first = _first_seen.setdefault(function, now)
    if len(first) != len(now) or not all(map(_is_same, first, now)):
        _changed.add(function)


def _is_same(one: Any, other: Any) -> bool:
    return one is other or (isinstance(one, str) and one == other)


@cache
def _is_library(name: str | None) -> bool:
    """Return whether a module belongs to numba, llvmlite, numpy or the standard library, whose versions are part of the digest."""
    if not isinstance(name, str):
        return False
    top = name.partition(".")[0]
    if top in ("numba", "llvmlite", "numpy", "builtins"):
        return True
    if top not in sys.stdlib_module_names:
        return False
    file = getattr(sys.modules.get(top), "__file__", None)  # a user's file may have the name of a standard module
    if file is None:
        return True
    return any(Path(file).is_relative_to(sysconfig.get_path(place)) for place in ("stdlib", "platstdlib")) and "site-packages" not in file
