"""The errors for mistakes of a user. Each message is one sentence with the mistake, the place and the remedy."""

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

_LONGEST = 80  # a message shows this many characters of a value
_LONGEST_ERROR = 200  # a message shows this many characters of another error
_HERE = str(Path(__file__).parents[1])
_LOG10_OF_2 = 0.30103


class KdenvError(ValueError):
    """Any mistake of a user; the command line prints it and exits with code 2."""


class IllegalAction(KdenvError):
    """An action that the rules do not allow in this position, or that is no action at all."""


class BadOption(KdenvError):
    """A game, option, number of players, policy or parameter that does not exist or may not have this value."""


class BadRecord(KdenvError):
    """A text that is not the record of a game or position."""


class NotSupported(KdenvError):
    """A feature that this game or policy does not have. The message names an alternative."""


class BadGame(KdenvError):
    """A game whose verbs break their rules. It has one sentence for each fault; `findings` lists them."""

    def __init__(self, findings: Sequence[str]) -> None:
        super().__init__("\n".join(findings))
        self.findings = tuple(findings)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the findings, which are the argument of the class."""
        return BadGame, (self.findings,)


class WrongOrder(KdenvError, AttributeError):
    """A call that comes too early or too late, such as a step before the first reset."""


class KdenvWarning(UserWarning):
    """A warning, such as for a package that is broken. The command line prints it as a sentence."""


class MissingExtra(KdenvError, ImportError):
    """A feature needs an optional dependency; the message names the extra to install."""


def missing_extra(feature: str, extra: str) -> MissingExtra:
    """Make the error for a feature whose optional dependency is not installed."""
    return MissingExtra(f"{feature} needs the extra '{extra}': pip install '.[{extra}]' in a clone of kdenv")


def shown(value: Any, longest: int = _LONGEST) -> str:
    """Return a value that a user gave as text on one line, short enough for a sentence."""
    if isinstance(value, int) and abs(value) >> 256:  # Python refuses to write numbers of more than 4,300 digits
        return f"a number of about {int(value.bit_length() * _LOG10_OF_2) + 1:,} digits"
    text = " ".join(str(value).split())
    return text if len(text) <= longest else text[:longest] + "..."


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the text ' (did you mean ...?)' for an error message if a known word is similar; else the empty text."""
    close = difflib.get_close_matches(word, list(known), 1) if len(word) < 100 else []  # comparing long words takes long
    return f" (did you mean {close[0]}?)" if close else ""


def describe_error(error: BaseException) -> str:
    """Return an error that code from outside kdenv has raised as short text: its type, its message, and the line of that code."""
    text, where = shown(next(iter(str(error).splitlines()), ""), _LONGEST_ERROR), _place_of(error)
    return type(error).__name__ + (f": {text}" if text else "") + (f" ({where})" if where else "")


def _place_of(error: BaseException) -> str:
    """Return the innermost line that led to the error in code that is neither kdenv nor Python's, as in "agent.py:26, in act".

    Lines of installed packages count if there are no others.
    """
    import sysconfig
    import traceback

    installed, python = (tuple(sysconfig.get_path(f"{kind}lib") for kind in kinds) for kinds in (("pure", "plat"), ("std", "platstd")))
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith((_HERE, "<frozen"))]
    frames = [frame for frame in frames if (frame.filename, frame.name) != ("<string>", "__init__")]  # dataclasses write it
    packages = [frame for frame in frames if frame.filename.startswith(installed)]
    others = [frame for frame in frames if not frame.filename.startswith((*installed, *python))]
    return next((f"{Path(each.filename).name}:{each.lineno}, in {each.name}" for each in reversed(others or packages)), "")
