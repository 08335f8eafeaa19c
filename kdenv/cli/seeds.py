"""The seed of a command that plays games: the one that is given, or that is kept with its games, or a new one.

A new seed is drawn, because a policy that knows the seed can compute all chance. It is printed, so that the same games can be played again.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from kdenv.core.errors import BadRecord, shown
from kdenv.core.files import read_text

_BITS = 53  # so that JSON keeps the seed in every language
_NAME = "seed.txt"  # the file of a folder of games that keeps their seed
_USUAL = 0  # of folders without such a file: older versions took this seed


def kept_in_files(files: Sequence[Path]) -> int | None:
    """The seed of the first of these files of results that is there; None if none is."""
    from kdenv.arena.results import match_in

    kept = (match_in(file).get("seed") for file in files if file.exists())
    return next((seed for seed in kept if isinstance(seed, int)), None)


def kept_in_folders(folders: Sequence[Path], has_games: Callable[[Path, int], bool]) -> int | None:
    """The seed of the first of these folders that has games of a command; None if none has.

    has_games: whether a folder has games of this command with this seed.
    """
    kept = (_kept(folder, has_games) for folder in folders if folder.is_dir())
    return next((seed for seed in kept if seed is not None), None)


def _kept(folder: Path, has_games: Callable[[Path, int], bool]) -> int | None:
    path = folder / _NAME
    if not path.exists():
        return _USUAL if has_games(folder, _USUAL) else None
    text = read_text(path).strip()
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise BadRecord(f"{path} holds no seed but {shown(repr(text))}; delete it, and give the seed of these games")
    return int(text)


def keep_seed(folder: Path, seed: int) -> None:
    """Keep the seed in a folder that is to have games, if none is kept there yet."""
    if not (folder / _NAME).exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _NAME).write_text(f"{seed}\n", encoding="utf-8")


def chosen(given: int | None, kept: int | None) -> int:
    """The seed that is given, else the one that is kept, else a new one."""
    known = kept if given is None else given
    return secrets.randbits(_BITS) if known is None else known
