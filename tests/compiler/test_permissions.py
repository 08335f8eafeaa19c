"""Which folders and files could another user change? Real folders with real owners and modes; test_cache.py plants files in some."""

import grp
import os
import pwd
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kdenv.compiler import cache_folder, permissions

NOBODY = 65534  # a user, and a group
DAEMON = 1
ME = os.geteuid()
needs_root = pytest.mark.skipif(ME != 0, reason="only root can give a folder away, or be another user")
REMEDY = "set KDENV_CACHE_DIR to a folder of your own"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder of this user, in a folder of this user."""
    made = tmp_path / "above" / "code"
    made.mkdir(parents=True, mode=0o700)
    made.parent.chmod(0o755)
    yield made
    for path in (made.parent, made):
        if path.exists() and path.stat().st_uid == ME:
            path.chmod(0o755)


def become(monkeypatch: pytest.MonkeyPatch, user: int, *groups: int) -> None:
    """Let this process take itself for another user. Root can still make and read everything."""
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(os, "getegid", lambda: pwd.getpwuid(user).pw_gid)
    monkeypatch.setattr(os, "getgroups", lambda: list(groups))
    permissions._is_private.cache_clear()


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    permissions._is_private.cache_clear()


def danger(place: Path, *, for_group: bool = False) -> str:
    return permissions.danger(place, for_group=for_group)


def another_group() -> int:
    """A group in which others could be, and to which this user can give a folder."""
    found = [NOBODY] if ME == 0 else [group for group in os.getgroups() if group and not permissions._is_private(group)]
    if not found:
        pytest.skip("this user has no group that others could be in")
    return found[0]


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o711, 0o500])
def test_a_folder_that_only_this_user_may_write_to_is_safe(place: Path, mode: int) -> None:
    place.chmod(mode)
    assert danger(place) == ""


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o733, 0o702])
def test_a_folder_that_everybody_may_write_to_is_refused(place: Path, mode: int) -> None:
    place.chmod(mode)
    said = f"every user may write to {place} (mode {mode:04o}); run 'chmod go-w {place}', or {REMEDY}"
    assert [danger(place), danger(place, for_group=True)] == [said, said]


def test_so_is_one_in_a_folder_that_everybody_may_write_to(place: Path) -> None:
    """Anybody could put another folder in its place."""
    place.parent.chmod(0o777)
    assert danger(place) == f"every user may write to {place.parent} (mode 0777); run 'chmod +t {place.parent}', or {REMEDY}"


def test_but_not_in_one_like_the_folder_for_temporary_files(place: Path) -> None:
    place.parent.chmod(0o1777)
    assert danger(place) == ""


@pytest.mark.parametrize("where", ["", ".."])
def test_a_folder_that_a_group_may_write_to_is_refused(place: Path, where: str) -> None:
    spoilt = (place / where).resolve()
    os.chown(spoilt, -1, another_group())
    spoilt.chmod(0o775)
    assert danger(place).startswith(f"the group {grp.getgrgid(another_group()).gr_name} may write to {spoilt} (mode 0775); run 'chmod ")


def test_the_group_that_a_system_gives_each_user_alone_is_nobody_else(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    """On systems with such groups, the umask lets the group write to new folders."""
    members: list[str] = []
    monkeypatch.setattr(pwd, "getpwuid", lambda number: pwd.struct_passwd(("ada", "x", ME, 4711, "", "", "")))
    monkeypatch.setattr(grp, "getgrgid", lambda number: grp.struct_group(("ada", "x", 4711, members)))
    assert permissions._is_private(4711)
    assert not permissions._is_private(4712)
    members.append("bob")
    permissions._is_private.cache_clear()
    assert not permissions._is_private(4711)


@needs_root
@pytest.mark.parametrize("where", ["", ".."])
def test_a_folder_of_another_user_is_refused(place: Path, where: str) -> None:
    spoilt = (place / where).resolve()
    os.chown(spoilt, NOBODY, NOBODY)
    mode = spoilt.stat().st_mode & 0o777
    assert danger(place) == f"{spoilt} (mode {mode:04o}) belongs to the user nobody; {REMEDY}"


@needs_root
def test_a_folder_of_root_is_safe_for_all(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    """As in the image of a container, which root has made."""
    become(monkeypatch, NOBODY)
    assert danger(place) == ""


def test_the_remedy_for_a_folder_with_spaces_can_be_copied(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b").chmod(0o777)
    assert f"run 'chmod go-w '{tmp_path}/a b''" in danger(tmp_path / "a b")


# Links


def test_all_folders_behind_a_link_count(place: Path) -> None:
    """As ~/.cache on a cluster, whose users have little room at home."""
    (place.parent / "link").symlink_to("../above/code", target_is_directory=True)
    assert danger(place.parent / "link") == ""
    place.chmod(0o777)
    assert f"every user may write to {place} " in danger(place.parent / "link")
    place.chmod(0o1777)
    (place / "mine").mkdir(mode=0o700)
    assert danger(place.parent / "link" / "mine") == ""
    place.chmod(0o777)
    assert f"every user may write to {place} " in danger(place.parent / "link" / "mine")


@needs_root
def test_a_link_of_another_user_is_refused(place: Path) -> None:
    place.parent.chmod(0o1777)
    link = place.parent / "link"
    link.symlink_to(place, target_is_directory=True)
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    assert danger(link) == f"{link} (mode 0777) belongs to the user nobody; {REMEDY}"


def test_links_without_end_and_files_are_no_folders(place: Path) -> None:
    (place / "a").symlink_to(place / "b")
    (place / "b").symlink_to(place / "a")
    (place / "c").write_text("")
    for name in ("a", "c", "d"):
        with pytest.raises(OSError, match=r"Too many|Not a dir|No such"):
            danger(place / name)


# The folder of a group, which another member has made


@pytest.fixture
def of_group(place: Path) -> Path:
    if ME != 0:
        pytest.skip("only root can make folders for other users")
    os.chown(place, NOBODY, NOBODY)  # nobody is in the group of nobody; daemon is not, but a test lets it be
    place.chmod(0o2770)
    return place


def test_a_member_may_ask_for_it(monkeypatch: pytest.MonkeyPatch, of_group: Path) -> None:
    become(monkeypatch, DAEMON, NOBODY)
    assert danger(of_group, for_group=True) == ""
    assert danger(of_group).startswith(f"the group nogroup may write to {of_group} (mode 2770); {REMEDY}")


def test_whoever_is_no_member_may_not(monkeypatch: pytest.MonkeyPatch, of_group: Path) -> None:
    become(monkeypatch, DAEMON)
    assert danger(of_group, for_group=True).startswith("the group nogroup may write to")
    of_group.chmod(0o750)
    assert "belongs to the user nobody" in danger(of_group, for_group=True)


def test_nor_is_a_folder_of_somebody_in_the_group_but_not_of_the_group(monkeypatch: pytest.MonkeyPatch, of_group: Path) -> None:
    os.chown(of_group, NOBODY, 2)
    of_group.chmod(0o700)
    become(monkeypatch, DAEMON, NOBODY)
    assert "belongs to the user nobody" in danger(of_group, for_group=True)


def test_nor_is_one_that_anybody_could_have_made(monkeypatch: pytest.MonkeyPatch, of_group: Path) -> None:
    """Some systems have all users in one group, so each of them could have made it in /tmp before this user did."""
    of_group.parent.chmod(0o1777)
    become(monkeypatch, DAEMON, NOBODY)
    assert "belongs to the user nobody" in danger(of_group, for_group=True)


def test_files_of_members_are_used_and_files_of_others_are_not(monkeypatch: pytest.MonkeyPatch, of_group: Path) -> None:
    file = of_group / "file"
    file.write_text("")
    become(monkeypatch, DAEMON, NOBODY)

    def said(user: int, mode: int, *, for_group: bool = True) -> str:
        os.chown(file, user, NOBODY)
        file.chmod(mode)
        return permissions.danger_in_file(file.stat(), of_group, for_group=for_group)

    assert [said(user, 0o640) for user in (DAEMON, 0, NOBODY)] == ["", "", ""]
    assert said(2, 0o640) == "it belongs to the user bin (mode 0640)"
    assert said(NOBODY, 0o640, for_group=False) == "it belongs to the user nobody (mode 0640)"
    assert said(NOBODY, 0o660) == ""
    assert said(NOBODY, 0o666) == "every user may write to it (mode 0666)"


# What cache_folder.py makes of it


@pytest.fixture
def chosen(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of machine code, which does not exist, in a folder that is asked for."""
    monkeypatch.setenv("KDENV_CACHE_DIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", str(place.parent))
    monkeypatch.setattr(cache_folder, "_printed", set())
    cache_folder._second_folder.cache_clear()
    return place / "machine-code"


def modes(*paths: Path) -> set[int]:
    return {path.stat().st_mode & 0o7777 for path in paths}


def test_new_folders_are_this_user_s_alone_whatever_the_umask(chosen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KDENV_CACHE_DIR", str(chosen.parent / "a" / "b"))
    before = os.umask(0)
    try:
        made = cache_folder.folder_to_write()
        assert made == chosen.parent / "a/b/machine-code"
        cache_folder.write(made / "file", b"code")
    finally:
        os.umask(before)
    assert modes(made, made.parent, made.parent.parent) == {0o700}
    assert modes(made / "file") == {0o644}
    assert cache_folder.content_of(made / "file") == b"code"


def test_a_new_folder_in_that_of_a_group_is_the_group_s_too(chosen: Path) -> None:
    group = another_group() if ME else 0
    os.chown(chosen.parent, -1, group)
    chosen.parent.chmod(0o2770)
    before = os.umask(0o077)
    try:
        assert cache_folder.folder_to_write() == chosen
        cache_folder.write(chosen / "file", b"code")
    finally:
        os.umask(before)
    assert (chosen.stat().st_gid, *modes(chosen)) == (group, 0o2770)
    assert ((chosen / "file").stat().st_gid, *modes(chosen / "file")) == (group, 0o640)


def test_nothing_is_made_in_a_folder_of_others_and_that_is_said_once(chosen: Path, capfd: pytest.CaptureFixture[str]) -> None:
    chosen.parent.chmod(0o777)
    for _ in range(2):
        assert cache_folder.folder_to_write() == chosen.parent.parent / f"kdenv-{ME}"
        cache_folder.folders_to_read()
    assert list(chosen.parent.iterdir()) == []
    said = capfd.readouterr().err
    assert re.fullmatch(rf"kdenv: machine code is not kept in {chosen}, because every user may write to {chosen.parent} .*\n", said)


def test_if_no_folder_is_safe_there_is_none(chosen: Path, capfd: pytest.CaptureFixture[str]) -> None:
    chosen.parent.parent.chmod(0o777)
    assert cache_folder.folder_to_write() is None
    assert cache_folder.folders_to_read() == []
    assert capfd.readouterr().err.count("because every user may write to") == 3


def test_a_link_in_the_folder_is_no_file(chosen: Path) -> None:
    chosen.mkdir()
    (chosen / "file").write_bytes(b"code")
    (chosen / "link").symlink_to("file")
    assert [cache_folder.content_of(chosen / name) for name in ("file", "link", "none")] == [b"code", None, None]
