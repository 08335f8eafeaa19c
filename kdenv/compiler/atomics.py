"""Atomic integers, a pause, and arrays by their address, for kernels on several threads.

Atomic integers are elements of arrays of int64. `store` and `fetch_add` release, `load` and `fetch_add` acquire: a thread that has read the
new number sees all that the other thread had written before. Without the compiler these functions are for one thread (IS_SAFE is false).
"""

import ctypes
import os
import platform
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

IS_SAFE = not numba.config.DISABLE_JIT  # True if several threads may call these functions

# LLVM's name for the instruction by which a thread in a waiting loop leaves the core to others for a moment. Other processors have none.
_ARM = "llvm.aarch64.hint"
_PAUSE = {"x86_64": "llvm.x86.sse2.pause", "AMD64": "llvm.x86.sse2.pause", "aarch64": _ARM, "arm64": _ARM}.get(platform.machine(), "")
_YIELD = 1  # the number of ARM's instruction among its hints


def fetch_add(numbers: Any, i: Any, n: Any) -> Any:
    """Add n to numbers[i], and return the number before."""
    before = int(numbers[i])
    numbers[i] += n
    return before


def load(numbers: Any, i: Any) -> Any:
    """Read numbers[i], which another thread may write at the same time."""
    return int(numbers[i])


def store(numbers: Any, i: Any, number: Any) -> None:
    """Write numbers[i], which other threads may read at the same time."""
    numbers[i] = number


def pause() -> None:
    """Wait for some nanoseconds, in a loop that reads a shared number."""


def yield_core() -> None:
    """Let another thread run that waits for this core."""


def address_of(array: Any) -> Any:
    """Return the address of the memory of an array. `array_at` makes an array of it again, in another thread."""
    return array.ctypes.data


def _place(context: Any, builder: Any, kind: Any, array: Any, i: Any) -> Any:
    """Return a pointer to an element of an array."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [i])


@intrinsic
def _atomic_add(typing_context, numbers, i, n):
    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], arguments[0], arguments[1])
        return builder.atomic_rmw("add", place, arguments[2], "acq_rel")

    return types.int64(numbers, types.int64, types.int64), generate


@intrinsic
def _atomic_load(typing_context, numbers, i):
    def generate(context, builder, signature, arguments):
        return builder.load_atomic(_place(context, builder, signature.args[0], *arguments), "acquire", 8)

    return types.int64(numbers, types.int64), generate


@intrinsic
def _atomic_store(typing_context, numbers, i, number):
    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], arguments[0], arguments[1])
        builder.store_atomic(arguments[2], place, "release", 8)
        return context.get_dummy_value()

    return types.void(numbers, types.int64, types.int64), generate


@intrinsic
def _wait_a_moment(typing_context):
    def generate(context, builder, signature, arguments):
        if _PAUSE:
            hints = [ir.IntType(32)(_YIELD)] if _PAUSE == _ARM else []
            kind = ir.FunctionType(ir.VoidType(), [hint.type for hint in hints])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, _PAUSE), hints)
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def _sched_yield(typing_context):
    def generate(context, builder, signature, arguments):
        if hasattr(os, "sched_yield"):  # the C library has this function; elsewhere the thread keeps its core
            builder.call(cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(32), []), "sched_yield"), [])
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def _address(typing_context, array):
    def generate(context, builder, signature, arguments):
        return builder.ptrtoint(context.make_array(signature.args[0])(context, builder, arguments[0]).data, ir.IntType(64))

    return types.int64(array), generate


@intrinsic
def _made_at(typing_context, like, address):
    def generate(context, builder, signature, arguments):
        made = context.make_array(signature.return_type)(context, builder, arguments[0])
        made.data = builder.inttoptr(arguments[1], made.data.type)
        made.meminfo = ir.Constant(made.meminfo.type, None)
        made.parent = ir.Constant(made.parent.type, None)
        return made._getvalue()

    return like(like, types.int64), generate


def _seen_at(like: Any, address: Any) -> Any:
    memory = (ctypes.c_byte * like.nbytes).from_address(int(address))
    return np.frombuffer(memory, like.dtype).reshape(like.shape)


# Returns the array at an address, with the type and shape of another array, which is contiguous. The caller keeps its memory alive.
# This is not an @overload, because numba does not let a compiled function return an array that is not an argument.
array_at: Any = _made_at if IS_SAFE else _seen_at


@overload(fetch_add)
def _fetch_add(numbers, i, n):
    return lambda numbers, i, n: _atomic_add(numbers, i, n)


@overload(load)
def _load(numbers, i):
    return lambda numbers, i: _atomic_load(numbers, i)


@overload(store)
def _store(numbers, i, number):
    return lambda numbers, i, number: _atomic_store(numbers, i, number)


@overload(address_of)
def _address_of(array):
    return lambda array: _address(array)


@overload(yield_core)
def _yield_core():
    return lambda: _sched_yield()


@overload(pause)
def _pause():
    return lambda: _wait_a_moment()
