"""Makes the fields of a frozen dataclass read-only. Policies get the Game, whose fields are used in later games, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any


def freeze_fields(holder: Any) -> None:
    """Replace every dict in a field of this dataclass by a read-only copy, and every list by a tuple. `__post_init__` calls this."""
    for each in fields(holder):
        value = getattr(holder, each.name, None)
        if isinstance(value, Mapping):
            object.__setattr__(holder, each.name, MappingProxyType(dict(value)))
        elif isinstance(value, list):
            object.__setattr__(holder, each.name, tuple(value))
