"""Finds what a text such as "module:Name" names. The module is imported, so such a text is as much to be trusted as a program."""

from __future__ import annotations

from functools import reduce
from importlib import import_module
from typing import Any

from kdenv.core.errors import BadOption, describe_error, did_you_mean, shown


def import_object(text: str) -> Any:
    """What stands at "module:Name" or "module:Class.name". BadOption if it cannot be imported or is not there."""
    module, _, path = text.partition(":")
    try:
        return reduce(_inside, path.split("."), import_module(module))
    except BadOption:
        raise
    except Exception as error:
        raise BadOption(f"{shown(text)}: the module {shown(module)} cannot be imported ({describe_error(error)})") from error


def _inside(holder: Any, name: str) -> Any:
    """What a module or class has under this name."""
    if not hasattr(holder, name):
        raise BadOption(f"{holder.__name__} has no {shown(name) or 'such name'}{did_you_mean(name, vars(holder))}; write module:Name")
    return getattr(holder, name)
