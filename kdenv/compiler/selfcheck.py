"""Checks whether fast_compile.py fits the installed numba: `python -m kdenv.compiler.selfcheck`. The exit code is 1 if it does not.

1. Every private name of numba that fast_compile.py, compile_group.py, cache.py, explain.py and digest.py use must be there.
2. A few kernels are compiled by fast_compile.py and by numba alone. The results must be the same.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numba
import numpy as np

# The names of numba that are used: a module, a class or function in it, and attributes of that.
NEEDED = (
    ("numba.core.codegen", "JITCodeLibrary", ("finalize", "_optimize_functions", "_optimize_final_module", "_get_module_for_linking")),
    ("numba.core.codegen", "JITCodeLibrary", ("_ensure_finalized", "enable_object_caching", "serialize_using_object_code")),
    ("numba.core.codegen", "JITCPUCodegen", ("_function_pass_manager", "set_env", "magic_tuple", "unserialize_library")),
    ("numba.core.compiler", "Compiler", ("define_pipelines",)),
    ("numba.core.compiler", "CompileResult", ("_reduce", "_rebuild", "_find_referenced_environments", "_replace")),
    ("numba.core.compiler", "compile_result", ()),
    ("numba.core.cpu", "CPUContext", ("get_executable", "insert_user_function")),
    ("numba.core.compiler", "Flags", ("copy", "no_compile", "no_cpython_wrapper", "no_cfunc_wrapper")),
    ("numba.core.bytecode", "ByteCodeInst", ()),
    ("numba.core.compiler_lock", "global_compiler_lock", ()),
    ("numba.core.errors", "ForceLiteralArg", ()),
    ("numba.core.errors", "UnsupportedBytecodeError", ()),
    ("numba.core.ir", "Loc", ()),
    ("numba.core.typeinfer", "TypeInferer", ()),
    ("numba.core.caching", "NullCache", ("load_overload", "save_overload")),
    ("numba.core.registry", "CPUDispatcher", ("add_overload",)),
    ("numba.core.registry", "CPUDispatcher", ("compile", "get_call_template", "get_overload", "nopython_signatures", "is_compiling")),
    ("numba.core.serialize", "NumbaPickler", ("reducer_override",)),
    ("numba.core.sigutils", "normalize_signature", ()),
    ("numba.core.event", "trigger_event", ()),
    ("numba.core.types", "Dispatcher", ("get_call_type", "get_overload")),
    ("numba.core.types", "NamedTuple", ("key",)),
    ("numba.core.types.misc", "unliteral", ()),
    ("numba.core.typing.context", "Context", ("_lookup_global", "refresh")),
    ("numba.core.typing.templates", "AbstractTemplate", ("get_impl_key",)),
    ("numba.core.typing.templates", "infer_global", ()),
    ("numba.extending", "_Intrinsic", ()),
)


def misfits() -> list[str]:
    """Return one sentence for each name or result that does not fit; empty if everything fits."""
    missing = _missing_names()
    return missing or _differences()


def _missing_names() -> list[str]:
    missing = []
    for module, name, attributes in NEEDED:
        try:
            found = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            missing.append(f"numba {numba.__version__} has no {module}.{name}, which kdenv/compiler needs")
            continue
        lacks = [attribute for attribute in attributes if not hasattr(found, attribute)]
        missing += [f"numba {numba.__version__} has no {module}.{name}.{attribute}, which kdenv/compiler needs" for attribute in lacks]
    return missing


def _differences() -> list[str]:
    from kdenv.compiler import fast_compile, numba_compile

    ours, numbas = _results_of(fast_compile), _results_of(numba_compile)
    name = f"with numba {numba.__version__}, compiler/fast_compile.py"
    return [f"{name} computes {ours[what]} for {what}, and numba alone {numbas[what]}" for what in numbas if ours[what] != numbas[what]]


def _results_of(compiler: Any) -> dict[str, list[float]]:
    """Compute the results of a few kernels, compiled by this module. They have nested calls, a question, records, constants and floats."""
    from numba.core.caching import NullCache

    options = {"nogil": True, "_nrt": False}
    table = np.array([3, 1, 4, 1, 5], np.int64)
    state = np.dtype([("sum", np.int64), ("small", np.int8)], align=True)

    def asked(x: Any, n: Any) -> Any:
        """Call one of two kernels, depending on the type of x."""

    def taken(s: Any, n: Any) -> Any:
        s.sum += table[n % 5]
        s.small = np.int8(n)

    def twice(s: Any, n: Any) -> Any:
        take(s, n)
        take(s, n + 1)

    def all_of(states: Any, n: Any) -> Any:
        for i in range(n):
            two(states[0], i)
            states[1] = states[0]
        return asked(states[1].sum, n) + asked(0.5, n) + np.sqrt(float(n))

    def of_integers(x: Any, n: Any) -> Any:
        return x * 10.0 + n

    def of_floats(x: Any, n: Any) -> Any:
        return x / 8.0

    take = compiler.compiled_kernel(taken, options)
    two = compiler.compiled_kernel(twice, options)
    integers, floats = compiler.compiled_kernel(of_integers, options), compiler.compiled_kernel(of_floats, options)
    compiler.resolve_by_type(asked, lambda kind: integers if isinstance(kind, numba.types.Integer) else floats)
    whole = compiler.compiled_kernel(all_of, options)
    for made in (take, two, integers, floats, whole):
        made._cache = NullCache()  # do not read code from disk: the code that is compared must have been compiled now
    states = np.zeros(2, state)
    result = float(whole(states, 7))
    return {"a sum": [result], "a state": [int(states[1]["sum"]), int(states[1]["small"])]}


def main() -> int:
    """Print what does not fit, or that everything fits. Return the exit code."""
    found = misfits()
    print("\n".join(found) or f"compiler/fast_compile.py fits numba {numba.__version__}")
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
