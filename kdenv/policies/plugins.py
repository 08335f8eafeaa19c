"""Policies from outside kdenv: those that add_policy names, those of installed packages, and those that texts name as "module:Name".

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
    """Let a policy class or a function of a view be found by this name in texts. TypeError if the name is taken."""
    if rule_class(name) is not None:
        raise TypeError(f"there already is a {name}, a player of a game; choose another name")
    add_class(name, _class_for(name, policy))


class FunctionPolicy(Policy):
    """A policy without parameters that calls a function. Each function has a class of its own."""

    function: ClassVar[Callable[[View], int]]

    def act(self, view: View) -> int:
        """The action that the function returns."""
        return type(self).function(view)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by the name, because no module has the class."""
        return _remade, (self.kind,)


def _remade(name: str) -> Policy:
    return Policy.from_json({"kind": name})


def _class_for(name: str, given: Any) -> type[Policy]:
    """The class whose values texts write with this name: a policy class itself, or a new class for a function. TypeError for others."""
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
    """The class itself, which gets this name if it has none. It then is a frozen dataclass, unless it has an __init__ of its own."""
    if ":" in cls.kind and ":" not in name:
        cls.kind = name  # it had no name of its own, only its place
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


_found: dict[str, tuple[Any, type[Policy]]] = {}  # what "module:Name" stands for, and the class for it


def _class_at(text: str) -> type[Policy] | None:
    """The class for what "module:Name" stands for; the module is imported. None if the text is not written so."""
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
    """Add what a package offers by this name: a policy, another class marked @named, or a module, which adds policies itself."""
    if isinstance(found, ModuleType):
        return
    if not (isinstance(found, type) and issubclass(found, Value) and found.kind == name):
        add_policy(name, found)


POLICIES.on_load(_take)
