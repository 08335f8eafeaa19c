"""Explains in one sentence why numba cannot compile a kernel: file, line, kernel, the mistake, and what was probably meant.

Numba's own message has hundreds of lines, and for some mistakes it does not name the file. A kernel that another kernel calls is compiled
while numba infers the types of its caller. So numba may catch its error, write it into the error of the caller, or infer other types
and try again. An error in an inner kernel is therefore replaced by a TypingError with a number, by which the error of the outermost
kernel finds the first mistake.
"""

from __future__ import annotations

import builtins
import linecache
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np
from numba.core import types as numba_types
from numba.core.bytecode import ByteCodeInst
from numba.core.errors import ForceLiteralArg, NumbaError, TypingError, UnsupportedBytecodeError
from numba.core.ir import Loc
from numba.core.typeinfer import TypeInferer

from kdenv.compiler.errors import PACKAGE, KernelError, instead, no_field, wants_all

types: Any = numba_types  # Any, because numba's stubs do not list all of its types
_MARK = re.compile(r"mistake (\d+) in a kernel")
_OURS = re.compile(r"\w+ does not answer \w+\(\): .*|(\S+|a record of .*) is not the state of a registered game")  # question.py, verbs.py
_NO_REASON = ("Failed in ", "During: ", "File ", "- Resolution failure")  # lines that begin so do not name the mistake
_LONGEST = 200  # characters of a message of numba


class _Place(NamedTuple):
    """A line of a kernel."""

    file: str
    line: int
    kernel: str

    def __str__(self) -> str:
        file, here = Path(self.file), Path.cwd()
        return f"{file.relative_to(here) if file.is_relative_to(here) else file}:{self.line}, in {self.kernel}"


class _Mistake(NamedTuple):
    """A mistake and its lines: first that of the innermost kernel, then those that call it."""

    what: str
    is_ours: bool  # the sentence is kdenv's; numba's need the place
    places: list[_Place]
    error: Exception | None  # numba's error, if it is to be shown


_known: list[_Mistake] = []  # by their numbers; they are kept, because numba may raise the same error again
_kernels: list[FunctionType] = []  # the kernels that are being compiled now; each is called by the one before it


@contextmanager
def explained(function: Any) -> Iterator[None]:
    """Raise a KernelError in place of errors of numba in this block, which compiles this function."""
    _kernels.append(function)
    try:
        yield
    except ForceLiteralArg:  # no mistake: numba then tries other types
        raise
    except Exception as error:
        mistake = _mistake(error, function)
        if len(_kernels) > 1:
            _known.append(mistake)
            raise TypingError(f"mistake {len(_known) - 1} in a kernel") from error
        raise _error_of(mistake) from mistake.error
    finally:
        _kernels.pop()


def _error_of(mistake: _Mistake) -> KernelError:
    what, is_ours, places, _ = mistake
    innermost = places[0]
    of_user = next((place for place in places if not place.file.startswith(PACKAGE)), None)
    place = of_user or innermost
    if of_user is None and is_ours:
        return KernelError(what)
    within = "" if place == innermost or is_ours else f"{innermost.kernel}() fails in line {innermost.line} of {innermost.file}: "
    error = KernelError(f"{place}: {within}{what}")
    error.add_note("    " + linecache.getline(place.file, place.line).strip())
    if not wants_all():
        error.add_note("KDENV_TRACEBACK=full shows all that numba says")
    return error


def _mistake(error: Exception, function: Any) -> _Mistake:
    place = _Place(function.__code__.co_filename, _line(error, function.__code__), function.__name__)
    marked = _MARK.search(str(error))
    if marked is not None:
        inner = _known[int(marked[1])]
        return inner._replace(places=[*inner.places, place])
    return _Mistake(*_what(error, function), [place], error if wants_all() else None)


# The line of the mistake


def _line(error: BaseException, code: CodeType) -> int:
    """Return the line of this code that numba was compiling when it raised the error; the first line if that is unknown."""
    last = max(line for each in _all_code(code) for *_, line in each.co_lines() if line is not None)
    lines = (line for line in _lines(error, code.co_filename) if code.co_firstlineno <= line <= last)
    return next(lines, code.co_firstlineno)


def _all_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_code(constant)


def _lines(error: BaseException, file: str) -> Iterator[int]:
    """Yield lines of this file that numba was compiling: first the one in the error, then those in numba's functions, innermost first."""
    for thing in (error, *(value for variables in _variables(error) for value in variables.values())):
        loc = getattr(thing, "loc", None)
        if isinstance(loc, Loc) and loc.filename == file:
            yield loc.line
        elif isinstance(thing, ByteCodeInst):
            yield thing.lineno


def _variables(error: BaseException | None) -> Iterator[dict[str, Any]]:
    """Yield the local variables of all functions in the traceback of the error, innermost first."""
    if error is None:
        return
    yield from _variables(error.__cause__ or error.__context__)
    trace, frames = error.__traceback__, []
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    for frame in reversed(frames):
        yield frame.f_locals


# The sentence


def _what(error: Exception, function: Any) -> tuple[str, bool]:
    """Return a sentence about an error that numba raises for this function, and whether the sentence is kdenv's."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))  # without colours
    ours = _OURS.search(text)
    if ours is not None or _is_raised_by_kdenv(error):
        return ours[0] if ours is not None else _brief(text), True
    if isinstance(error, KeyError):
        for record in _all_of(types.Record, error):
            return no_field(str(error.args[0]), record.fields), False
    if isinstance(error, AttributeError):
        return f"{error}{instead(error.name, dir(error.obj)) if error.name else ''}", False
    for pattern, sentence in _SENTENCES:
        found = pattern.search(text)
        if found is not None:
            return sentence(found, error, function), False
    lines = [line.strip() for line in text.partition(" Raised from ")[0].splitlines()]
    reason = next((line for line in lines if line and not line.startswith(_NO_REASON)), "")
    if isinstance(error, (NumbaError, UnsupportedBytecodeError)):
        return f"numba cannot compile this: {_brief(reason)}", False
    return f"numba fails with {type(error).__name__}: {_brief(reason)}", False


def _is_raised_by_kdenv(error: BaseException) -> bool:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename.startswith(PACKAGE)


def _all_of(kind: Any, error: BaseException) -> Iterator[Any]:
    return (value for variables in _variables(error) for value in variables.values() if isinstance(value, kind))


def _types(error: BaseException) -> dict[str, Any]:
    """Return the inferred types of the kernel's variables, by name; the name of an argument begins with "arg."."""
    found = {name: variable.type for inferring in _all_of(TypeInferer, error) for name, variable in inferring.typevars.items()}
    return {name: kind for name, kind in found.items() if kind is not None}


def _brief(text: str) -> str:
    """Shorten a message of numba and the names of types in it."""
    text = re.sub(r"Record\(.*?;\d+;(True|False)\)", "state", text)
    text = re.sub(r"Literal\[str\]\((.*?)\)", r"'\1'", text)
    text = re.sub(r"Literal\[\w+\]\((.*?)\)", r"\1", text)
    text = " ".join(text.replace("unicode_type", "str").split())
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _no_key(found: re.Match[str], error: Exception, function: Any) -> str:
    return no_field(found[1], re.findall(r"\w+", found[2]))


def _no_attribute(found: re.Match[str], error: Exception, function: Any) -> str:
    name, of = found[1], _brief(found[2])
    for kind in _types(error).values():
        if str(kind) == found[2]:
            if isinstance(kind, types.BaseNamedTuple):
                return f"{kind.instance_class.__name__} has no field {name!r}{instead(name, list(kind.fields))}"
            if isinstance(kind, types.Array):
                return f"{of} has no attribute {name!r}{instead(name, dir(np.ndarray))}"
    return f"{of} has no attribute {name!r}"


def _no_name(found: re.Match[str], error: Exception, function: Any) -> str:
    code = function.__code__
    known = {*function.__globals__, *vars(builtins), *code.co_varnames, *code.co_freevars}
    return f"the name {found[1]!r} is not defined{instead(found[1], sorted(known))}"


def _bad_call(found: re.Match[str], error: Exception, function: Any) -> str:
    called = re.search(r"resolving callee type: .*?<function (\S+)", str(error))
    name = called[1].rpartition(".")[2] if called is not None else "the kernel"
    return f"{name}{found[1]} cannot be called so: {found[2]}"


def _no_implementation(found: re.Match[str], error: Exception, function: Any) -> str:
    reasons = re.findall(r"raised a specific error:\s+\w+: (.+)", str(error))
    reason = next((_brief(reason) for reason in reasons if not reason.startswith("Failed in")), "")
    return f"numba cannot compile {_brief(found[1])}" + (f": {reason}" if reason else " for values of these types")


def _of_python(found: re.Match[str], error: Exception, function: Any) -> str:
    name, kind = found[1], found[2].rpartition(".")[2]
    if kind == "function":
        return f"{name} is a function of Python; mark it @kernel"
    return f"{name} is of the type {kind}, which a kernel cannot use; it can use numbers, texts, tuples, arrays and kernels"


def _of_list(found: re.Match[str], error: Exception, function: Any) -> str:
    kind = found[1].partition("(")[0].removeprefix("reflected ")
    return f"{found[2]} is of the type {kind}, which a kernel cannot use; make it a tuple or an array"


def _argument_of_python(found: re.Match[str], error: Exception, function: Any) -> str:
    names = [name.removeprefix("arg.") for name, kind in _types(error).items() if name.startswith("arg.") and kind == types.pyobject]
    return f"the argument {', '.join(names)} is an object of Python; give numbers, arrays, states and named tuples of these"


_SENTENCES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Exception, Any], str]], ...] = (
    (
        re.compile(r"NRT required but not enabled|Only accept returning of array passed"),
        lambda found, error, function: (
            "a kernel may not make a list, a dict, a text or a new array; take it as an argument, or mark the kernel @allocating_kernel"
        ),
    ),
    (re.compile(r"NameError: name '(\w+)' is not defined"), _no_name),
    (re.compile(r"Field '(\w+)' was not found in record with fields \((.*)\)"), _no_key),
    (re.compile(r"Unknown attribute '(\w+)' of type (.+)"), _no_attribute),
    (re.compile(r"Cannot bind 'args=.*' to signature '(\(.*?\))' due to \"TypeError: (.*)\"\."), _bad_call),
    (re.compile(r">>> (.+)"), _no_implementation),
    (re.compile(r"Untyped \w+ name '(\w+)': Cannot determine Numba type of <class '(.+)'>"), _of_python),
    (re.compile(r"The use of a (.+?) type, assigned to variable '(\w+)' in globals"), _of_list),
    (re.compile(r"non-precise type pyobject"), _argument_of_python),
    (re.compile(r"Cannot cast (.+?) to (.+?): "), lambda found, error, _: f"{found[2]} cannot hold {_brief(found[1])}"),
    (
        re.compile(r"Cannot unify (.+) and (.+) for '(\w+).*?', defined at"),
        lambda found, error, _: f"{found[3]} is {_brief(found[1])} in one place and {_brief(found[2])} in another",
    ),
    (
        re.compile(r"Can't unify return type from the following types: (.+)"),
        lambda found, error, _: f"it returns values whose types do not fit together: {_brief(found[1])}",
    ),
)
