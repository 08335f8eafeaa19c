"""Carries an error, with its cause, from a process that plays to the process that began the match."""

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
    cause: bytes = b""  # the error that caused it, pickled; empty if there is none or it cannot be pickled
    cause_words: str = ""  # the same in words
    kernel: KernelError | None = None  # the error itself, if it is a KernelError

    @classmethod
    def of(cls, error: KdenvError | KernelError) -> Failure:
        """Pack an error that is being handled."""
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
        """The error, to be raised here. If the class of its cause cannot be imported, the cause is a RuntimeError with the same words."""
        error = self.kernel or self.error(self.sentence)
        if self.trace:
            error.add_note(self.trace)
        if self.cause_words:
            try:
                error.__cause__ = pickle.loads(self.cause)
            except Exception:  # its module, or what its class takes, is known there only
                error.__cause__ = RuntimeError(self.cause_words)
        return error
