"""Checks whether other users can change a folder or a file. A user who can change machine code can run code as this user.

A folder is safe if only this user and root can put files into it, or put another folder in its place. So all folders and links on the
way to it are checked, too. If a user chooses the folder of a group, the members of that group are trusted as well.
On Windows, where users have no numbers, nothing is checked, because each user has separate folders.
"""

from __future__ import annotations

import errno
import os
import shlex
import stat
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_ROOT = 0
_MOST_LINKS = 40  # Linux follows as many
_REMEDY = "set KDENV_CACHE_DIR to a folder of your own"


def user_number() -> int | None:
    """Return the number of this user; None on systems where users have none."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def danger(folder: Path, *, for_group: bool, holds_files: bool = True) -> str:
    """Return a sentence that names who else could change files in this folder, and a remedy; empty if nobody could.

    Raises OSError if there is no such folder.

    Args:
        folder: The folder to check.
        for_group: Whether to trust the members of the folder's group, if this user is one of them.
        holds_files: Whether the files are in the folder itself. If not, they are in folders of this user inside it.

    """
    way = list(_way_to(folder))
    end, found = way[-1]
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    if user_number() is None:
        return ""
    group = _trusted_group(found, for_group)
    above = way[0][1].st_uid  # the owner of "/" could change anything; in some containers that is not user 0
    like_tmp = set()  # every user can make files in these folders, but only the owner of a file can rename or delete it
    for place, found in way:
        is_holder = holds_files and place == end
        here = f"{place} (mode {stat.S_IMODE(found.st_mode):04o})"
        writers = "" if stat.S_ISLNK(found.st_mode) else _other_writers(found, for_group)
        if writers and (is_holder or not found.st_mode & stat.S_ISVTX):
            mend = f"run 'chmod {'go-w' if is_holder else '+t'} {shlex.quote(str(place))}', or " if found.st_uid == user_number() else ""
            return f"{writers} may write to {here}; {mend}{_REMEDY}"
        if writers:
            like_tmp.add(place)
        if not (found.st_uid in (_ROOT, user_number()) or (found.st_uid == above and not is_holder)) and (
            place.parent in like_tmp or not _is_member(found.st_uid, group)  # in /tmp the group does not count
        ):
            return f"{here} belongs to the user {_name_of_user(found.st_uid)}; {_REMEDY}"
    return ""


def danger_in_file(found: os.stat_result, folder: Path, *, for_group: bool) -> str:
    """Return a sentence that names who else could have written an open file of this folder; empty if nobody could."""
    if user_number() is None:
        return ""
    mode = f"(mode {stat.S_IMODE(found.st_mode):04o})"
    if writers := _other_writers(found, for_group):
        return f"{writers} may write to it {mode}"
    if found.st_uid in (_ROOT, user_number()) or _is_member(found.st_uid, _trusted_group(folder.stat(), for_group)):
        return ""
    return f"it belongs to the user {_name_of_user(found.st_uid)} {mode}"


def share(new: Path) -> None:
    """Let the group that may write to a folder use a new file or folder in it, too, if this user belongs to that group."""
    found = new.parent.stat()
    is_group_s = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) == stat.S_IWGRP
    if user_number() is not None and is_group_s and found.st_gid in _groups():
        os.chown(new, -1, found.st_gid)
        more = stat.S_ISGID | stat.S_IRWXG if new.is_dir() else stat.S_IRGRP
        new.chmod(stat.S_IMODE(new.stat().st_mode) | found.st_mode & more)


def _way_to(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield all folders and links on the path to this folder, from "/" on, and last the folder itself."""
    place = Path(folder.anchor)
    yield place, place.lstat()
    rest, links = list(folder.parts[:0:-1]), 0
    while rest:
        name = rest.pop()
        if name == "..":
            place = place.parent
            continue
        found = (place / name).lstat()
        yield place / name, found
        if not stat.S_ISLNK(found.st_mode):
            place /= name
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(folder))
        target = (place / name).readlink()
        rest += target.parts[:0:-1] if target.is_absolute() else target.parts[::-1]
        place = Path(target.anchor) if target.is_absolute() else place
    yield place, place.lstat()


def _other_writers(found: os.stat_result, for_group: bool) -> str:
    """Return the users who may write, besides root and those that are trusted; empty if there are none."""
    if found.st_mode & stat.S_IWOTH:
        return "every user"
    trusted = found.st_gid == _ROOT or _is_private(found.st_gid) or _trusted_group(found, for_group) is not None
    return "" if trusted or not found.st_mode & stat.S_IWGRP else f"the group {_name_of_group(found.st_gid)}"


def _trusted_group(found: os.stat_result, for_group: bool) -> int | None:
    return found.st_gid if for_group and found.st_gid in _groups() else None


def _groups() -> set[int]:
    """Return the groups of this user."""
    return {os.getegid(), *os.getgroups()}


@cache
def _is_private(group: int) -> bool:
    """Return whether this user is the only member of a group. Many systems give each user such a group."""
    import grp
    import pwd

    try:
        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return user.pw_gid == group and found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}


@cache
def _is_member(user: int, group: int | None) -> bool:
    import pwd

    try:
        known = pwd.getpwuid(user)
    except KeyError:
        return False
    return group is not None and group in os.getgrouplist(known.pw_name, known.pw_gid)


def _name_of_user(number: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _name_of_group(number: int) -> str:
    import grp

    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
