"""Policies from outside kdenv: added by add_policy, by installed packages, or named in texts as "module:Name".

Such a policy is a class derived from Policy, or a function of a view.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar

from kdenv.core.entry_points import POLICIES
from kdenv.core.errors import BadOption, shown
from kdenv.core.import_path import import_object
from kdenv.core.view import View
from kdenv.policies.base import Policy
from kdenv.policies.players import rule_class
from kdenv.policies.text.value import Finder, Value, add_class, add_finder, named


def add_policy(name: str, policy: type[Policy] | Callable[[View], int]) -> None:
    """Add a policy class, or a function of a view, under this name in texts. Raises TypeError if the name is taken."""
    if rule_class(name) is not None:
        raise TypeError(f"there already is a {name}, a player of a game; choose another name")
    add_class(name, _class_for(name, policy))


class FunctionPolicy(Policy):
    """A policy without parameters that calls a function. Each function has a separate class."""

    function: ClassVar[Callable[[View], int]]

    def act(self, view: View) -> int:
        """The action that the function returns."""
        return type(self).function(view)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by the name, because the class is in no module."""
        return _remade, (self.kind,)


def _remade(name: str) -> Policy:
    return Policy.from_json({"kind": name})


def _class_for(name: str, given: Any) -> type[Policy]:
    """The class with this name in texts: a policy class itself, or a new class for a function. Raises TypeError for anything else."""
    if isinstance(given, type) and issubclass(given, Policy):
        return _named_class(name, given)
    if isinstance(given, Policy):
        raise TypeError(f"{name} stands for a policy that is already made; write it as {given}, or give its class")
    if not callable(given) or isinstance(given, type):
        what = f"the class {given.__name__}" if isinstance(given, type) else shown(repr(given))
        raise TypeError(f"{name} stands for {what}; a policy is a class derived from kdenv.author.Policy, or a function of a view")
    module, path = getattr(given, "__module__", ""), getattr(given, "__qualname__", name)
    about = inspect.getdoc(given) if inspect.isroutine(given) else None
    body = {"__doc__": about or f"The function {path} of {module}", "__module__": module, "__qualname__": path}
    return named(name, listed=False)(type(path, (FunctionPolicy,), {**body, "function": staticmethod(given)}))


def _named_class(name: str, cls: type[Policy]) -> type[Policy]:
    """Give the class this name, if it has none, and return it. It is made a frozen dataclass, unless it defines __init__."""
    if ":" in cls.kind and ":" not in name:
        cls.kind = name  # its old name is only the place where it was found
    if cls.kind:
        return cls
    if "__init__" not in vars(cls):
        if not cls.__dict__.get("__doc__"):
            cls.__doc__ = f"The class {cls.__qualname__} of {cls.__module__}"
        return named(name, listed=False)(cls)
    try:
        inspect.signature(cls).bind()
    except TypeError as error:
        raise TypeError(
            f"{cls.__name__}() cannot be made by its name ({error}); make what its __init__ takes fields of the class, or give it defaults"
        ) from None
    cls.kind = name
    return cls


# "module:Name"


_found: dict[str, tuple[Any, type[Policy]]] = {}  # by "module:Name": the object found there, and the class for it


def _class_at(text: str) -> type[Policy] | None:
    """Import the module of "module:Name" and return the class for the object named; None if the text has another form."""
    if ":" not in text:
        return None
    given = import_object(text)
    if text not in _found or _found[text][0] is not given:
        try:
            _found[text] = given, _class_for(text, given)
        except TypeError as error:
            raise BadOption(str(error)) from None
    return _found[text][1]


add_finder(Finder(Policy, _class_at, list))


# Installed packages


def _take(name: str, found: Any) -> None:
    """Add the object that a package offers under this name: a policy, another class marked @named, or a module that adds policies."""
    if isinstance(found, ModuleType):
        return
    if not (isinstance(found, type) and issubclass(found, Value) and found.kind == name):
        add_policy(name, found)


POLICIES.on_load(_take)
