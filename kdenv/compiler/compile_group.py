"""Compiles several kernels that Python calls as one piece of machine code in one file.

A kernel that Python calls is optimised with all kernels that it calls. If several of them call the same large kernels, such as the rules
of a game, these would be optimised once for each. In one module they are optimised once.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from numba.core import event
from numba.core.compiler import CompileResult, compile_result
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from kdenv.compiler.cache import CodeFiles
from kdenv.compiler.errors import KernelError
from kdenv.compiler.interrupts import delayed


class KernelGroup:
    """Kernels that are compiled when the first of them is called. Their first argument has the same type in all of them."""

    def __init__(self, title: str, kernels: tuple[Any, ...], types: Mapping[str, Any]) -> None:
        """types: the numba type of every argument but the first, by its name."""
        self._title, self._files = title, CodeFiles()
        self._rest = {kernel: tuple(types[name] for name in list(inspect.signature(kernel.py_func).parameters)[1:]) for kernel in kernels}
        self._separate: set[Any] = set()  # types of the first argument for which one of the kernels has an error
        for kernel in kernels:
            kernel.group = self

    def has(self, kernel: Any, args: tuple[Any, ...]) -> bool:
        """Return whether compile() makes the machine code of this kernel for these types."""
        return args[1:] == self._rest[kernel] and args[0] not in self._separate

    def compile(self, first: Any) -> None:
        """Compile all kernels for this type of the first argument, or read them from disk."""
        kernels = [(kernel, (first, *rest)) for kernel, rest in self._rest.items()]
        with delayed(), global_compiler_lock, self._files.one_at_a_time():
            if all(args in kernel.overloads for kernel, args in kernels):
                return  # another thread has compiled them
            entry = self._files.entry(self._title, *kernels)
            results = None if entry is None else self._files.find(entry, _rebuilt)
            if results is None:
                try:
                    results = _compiled(self._title, kernels)
                except KernelError:  # from now on each is compiled separately, so that the kernel that has the error raises it
                    self._separate.add(first)
                    return
                entry = self._files.entry(self._title, *kernels, warn=True)
                if entry is not None and not results[0].library.has_dynamic_globals:
                    entry.write(_reduced(results))
            for (kernel, _), result in zip(kernels, results, strict=True):
                kernel.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
                kernel.add_overload(result)


def _compiled(title: str, kernels: list[tuple[Any, tuple[Any, ...]]]) -> list[CompileResult]:
    """Compile each kernel to a separate module, and then make machine code of all the modules."""
    members = []
    for kernel, args in kernels:
        with event.trigger_event("numba:compile", data={"dispatcher": kernel, "args": args, "return_type": None}):
            members.append(kernel.member(args))
    library = type(members[0].library).of(title, [member.library for member in members])
    return [_with_entry_point(member._replace(library=library)) for member in members]


def _with_entry_point(result: CompileResult) -> CompileResult:
    """Return the same result with a function that Python can call."""
    function = result.target_context.get_executable(result.library, result.fndesc, result.environment)
    for environment in result._find_referenced_environments():
        result.codegen.set_env(environment.env_name, environment)
    return result._replace(entry_point=function)


def _reduced(results: list[CompileResult]) -> tuple[Any, ...]:
    """Return the arguments from which _rebuilt makes these results again."""
    for result in results:
        result.fndesc.typemap = result.fndesc.calltypes = None  # large, and only needed to compile
    kernels = [(result.fndesc, result.environment, result.signature, result.reload_init) for result in results]
    return results[0].library.serialize_using_object_code(), kernels, results[0]._find_referenced_environments()


def _rebuilt(library_data: Any, kernels: list[tuple[Any, ...]], environments: list[Any]) -> list[CompileResult]:
    """Make the results from what was written to disk, with functions that Python can call."""
    target_context = cpu_target.target_context
    target_context.refresh()
    for start in {start: None for _, _, _, starts in kernels for start in starts}:
        start()
    library = target_context.codegen().unserialize_library(library_data)
    for environment in environments:
        library.codegen.set_env(environment.env_name, environment)
    return [
        compile_result(
            typing_context=target_context.typing_context,
            target_context=target_context,
            library=library,
            environment=environment,
            entry_point=target_context.get_executable(library, fndesc, environment),
            fndesc=fndesc,
            signature=signature,
            objectmode=False,
            lifted=(),
            reload_init=starts,
        )
        for fndesc, environment, signature, starts in kernels
    ]
