"""Takes an error from a process that plays to the one that has begun the match, with what has caused it."""

from __future__ import annotations

import pickle
from typing import NamedTuple

from kdenv.compiler.errors import KernelError, kernel_error_in, story_of
from kdenv.core.errors import KdenvError, describe_error


class Failure(NamedTuple):
    """An error on its way to another process."""

    error: type[KdenvError]
    sentence: str
    trace: str = ""  # the traceback there
    cause: bytes = b""  # what has caused it, pickled; empty if there is nothing or it cannot be pickled
    cause_told: str = ""  # the same in words
    kernel: KernelError | None = None  # the error itself, if it is that of a kernel

    @classmethod
    def of(cls, error: KdenvError | KernelError) -> Failure:
        """An error that is being handled."""
        if isinstance(error, KernelError):
            return cls(KdenvError, str(error), kernel=error)
        cause, packed = kernel_error_in(error) or error.__cause__, b""
        if cause is None:
            return cls(type(error), str(error), story_of(error))
        try:
            packed = pickle.dumps(cause)
        except Exception:  # whatever the error of a policy has in it
            packed = b""
        return cls(type(error), str(error), story_of(error), packed, describe_error(cause))

    def raised(self) -> KdenvError | KernelError:
        """The error, to be raised here. Its cause is a RuntimeError with the same words if the class of the cause is not known here."""
        error = self.kernel or self.error(self.sentence)
        if self.trace:
            error.add_note(self.trace)
        if self.cause_told:
            try:
                error.__cause__ = pickle.loads(self.cause)
            except Exception:  # its module, or what its class takes, is known there only
                error.__cause__ = RuntimeError(self.cause_told)
        return error
