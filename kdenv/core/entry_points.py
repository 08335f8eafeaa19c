"""Loads games, additions to games, and policies from entry points of installed packages.

    [project.entry-points."kdenv.games"]
    toy_shells = "toy.shells:GAME"         # a Game of this name
    dominion = "toy.cards"                 # a module; importing it adds something to this game

    [project.entry-points."kdenv.policies"]
    toy_first = "toy.policies:First"       # a policy class or a function of a view

An entry point is imported when its name is first looked up, or when all names are listed. If that fails, a warning names the package,
and everything else works. `import kdenv` imports no entry points. This module does not know what games and policies are.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


_warned: set[tuple[str, str]] = set()  # packages, and the reasons why they cannot be loaded


class Group:
    """The entry points of one group, of all installed packages."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._tried: set[EntryPoint] = set()
        self._take: Callable[[str, Any], None] = lambda name, found: None

    def on_load(self, take: Callable[[str, Any], None]) -> None:
        """Call `take` with the name and the value of each entry point when it is loaded. `take` may refuse it with an error."""
        self._take = take

    def names(self) -> list[str]:
        """Return the names of the entry points, each once. Nothing is imported."""
        return list(dict.fromkeys(entry.name for entry in self._entries))

    def load(self, name: str | None = None) -> None:
        """Load the entry points of this name, or all of them, if this has not been tried before."""
        for entry in self._entries:
            if name in (None, entry.name) and entry not in self._tried:
                self._tried.add(entry)  # before the import, which may look this name up, too
                try:
                    self._take(entry.name, entry.load())
                except (Exception, SystemExit) as error:
                    self._warn(entry, error)

    def _warn(self, entry: EntryPoint, error: BaseException) -> None:
        """Warn that an entry point cannot be loaded, unless another entry point of the same package has failed for the same reason."""
        from kdenv.core.errors import KdenvWarning, describe_error

        reason = "" if entry.dist is None else entry.dist.name, describe_error(error)
        if reason not in _warned:
            _warned.add(reason)
            warnings.warn(_sentence(entry, error), KdenvWarning, stacklevel=3)

    @cached_property
    def _entries(self) -> Sequence[EntryPoint]:
        if not self._is_in_any_file():
            return ()
        from importlib.metadata import entry_points

        # First those that name an object in a module, such as a game. Modules, which add to a game, come after it.
        return sorted(entry_points(group=self.name), key=lambda entry: not entry.attr)

    def _is_in_any_file(self) -> bool:
        """Return whether an installed package has this group. Importing importlib.metadata takes ten times as long as this."""
        header = f"[{self.name}]".encode()
        for folder in sys.path:
            try:
                names = os.listdir(folder or ".")  # noqa: PTH208  (`import kdenv` waits for this, and pathlib is slower)
            except OSError:  # such as a zip file, or a folder that is gone
                continue
            for name in names:
                if name.endswith("-info"):
                    try:
                        with open(f"{folder or '.'}/{name}/entry_points.txt", "rb") as file:  # noqa: PTH123
                            if header in file.read():
                                return True
                    except OSError:  # most packages have none
                        continue
        return False


def _sentence(entry: EntryPoint, error: BaseException) -> str:
    """Return the warning about an entry point that cannot be loaded."""
    from kdenv.core.errors import describe_error, shown

    package = "a package" if entry.dist is None else f"the package {shown(entry.dist.name)} {shown(entry.dist.version)}"
    offer = f"{shown(entry.name)} = {shown(entry.value)}"
    return f"{package} offers {offer} to {entry.group}, but this cannot be loaded ({describe_error(error)})"


GAMES = Group("kdenv.games")
POLICIES = Group("kdenv.policies")
