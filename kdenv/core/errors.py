"""What can go wrong for a user, each told in one sentence: what, where, and what would be right."""

_LONGEST = 80  # letters of a user's word that an error quotes


class KdenvError(ValueError):
    """Any mistake of a user; the command line prints it and exits with code 2."""


class IllegalAction(KdenvError):
    """An action that the rules do not allow in this position, or that is no action at all."""


class BadOption(KdenvError):
    """A game, option, number of players, policy or parameter that does not exist or may not have this value."""


class BadRecord(KdenvError):
    """A text that is not the record of a game or position."""


class NotSupported(KdenvError):
    """Something this game or policy cannot do; the message says which can."""


class WrongOrder(KdenvError, AttributeError):
    """A call that comes too early or too late, such as a step before the first reset."""


class MissingExtra(KdenvError, ImportError):
    """A feature needs an optional dependency; the message names the extra to install."""


def shown(value: object) -> str:
    """A value as a sentence quotes it: its beginning is enough where it is long."""
    if isinstance(value, int) and value.bit_length() > _LONGEST:  # Python refuses to write out thousands of digits
        return f"a number of {value.bit_length()} bits"
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def missing_extra(feature: str, extra: str) -> MissingExtra:
    """The error for a feature whose optional dependency is not installed."""
    return MissingExtra(f"{feature} needs the extra '{extra}': pip install 'kdenv[{extra}]'")
