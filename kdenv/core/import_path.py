"""Imports the object that a text such as "module:Name" names. The import runs the module, so the text must come from a trusted source."""

from __future__ import annotations

from functools import reduce
from importlib import import_module
from typing import Any

from kdenv.core.errors import BadOption, describe_error, did_you_mean, shown


def import_object(text: str) -> Any:
    """Import the object at "module:Name" or "module:Class.name". Raises BadOption if that fails."""
    module, _, path = text.partition(":")
    try:
        return reduce(_inside, path.split("."), import_module(module))
    except BadOption:
        raise
    except Exception as error:
        raise BadOption(f"{shown(text)}: the module {shown(module)} cannot be imported ({describe_error(error)})") from error


def _inside(holder: Any, name: str) -> Any:
    """Return an attribute of a module or class. Raises BadOption if there is none."""
    if not hasattr(holder, name):
        raise BadOption(f"{holder.__name__} has no {shown(name) or 'such name'}{did_you_mean(name, vars(holder))}; write module:Name")
    return getattr(holder, name)
