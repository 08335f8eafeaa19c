"""Takes an error from a process that plays to the one that has begun the match, with what has caused it."""

from __future__ import annotations

import pickle
import traceback
from typing import NamedTuple

from kdenv.core.errors import KdenvError, told


class Failure(NamedTuple):
    """An error on its way to another process."""

    error: type[KdenvError]
    sentence: str
    trace: str = ""  # the traceback there
    cause: bytes = b""  # what has caused it, pickled; empty if there is nothing or it cannot be pickled
    cause_told: str = ""  # the same in words

    @classmethod
    def of(cls, error: KdenvError) -> Failure:
        """An error that is being handled."""
        cause, packed = error.__cause__, b""
        if cause is None:
            return cls(type(error), str(error), traceback.format_exc())
        try:
            packed = pickle.dumps(cause)
        except Exception:  # whatever the error of a policy has in it
            packed = b""
        return cls(type(error), str(error), traceback.format_exc(), packed, told(cause))

    def raised(self) -> KdenvError:
        """The error, to be raised here. Its cause is a RuntimeError with the same words if the class of the cause is not known here."""
        error = self.error(self.sentence)
        if self.trace:
            error.add_note(self.trace)
        if self.cause_told:
            try:
                error.__cause__ = pickle.loads(self.cause)
            except Exception:  # its module, or what its class takes, is known there only
                error.__cause__ = RuntimeError(self.cause_told)
        return error
