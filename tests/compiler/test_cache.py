"""Is the machine code on disk never stale, and never made twice? Asked of new processes that use a copy of the package."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import PROCESS, Report, report_of

from kdenv.compiler import cache_folder

pytestmark = pytest.mark.cold

ROOT = Path(__file__).parents[2]

# Work for a process of a house; it ends with `result = ...`.
PLAY_AND_SEARCH = """
    import numpy as np
    from GAME_ROOM import GAME
    from kdenv.compiler.random import make_rng
    from kdenv.core.table import Table
    from kdenv.search.kernels.flat import Tally, sample_in_rotation
    from kdenv.search.outcome import Playouts
    from kdenv.search.playout import Uniform, play_games
    from kdenv.search.score import Margin
    rng, table = make_rng(1), Table(GAME, 2)
    states, totals, buffer = np.zeros(4, GAME.state_dtype), np.zeros(2, np.int64), GAME.buffer()
    states[0] = table.states[0]
    play_games(Uniform(), states, 50, buffer, rng, totals)
    table.run_chance(rng)
    states[0] = table.states[0]
    turns = np.array(table.legal()) + 1
    tally = Tally(np.zeros(len(turns), np.int64), np.zeros(len(turns)), np.zeros(len(turns)))
    playouts = Playouts(Uniform(), Margin(2), buffer, np.zeros(2), np.zeros(2, np.int64))
    sample_in_rotation(states, 0, turns, 50, 0, playouts, rng, tally)
    result = {"play_out": totals.tolist(), "search": tally.sums.tolist()}
"""

# A player that somebody wrote for themselves.
MY_PLAYER = """
from typing import NamedTuple
from kdenv.compiler.kernel import kernel
from kdenv.core.questions import plays
from kdenv.core.turns import packed
from kdenv.core.verbs import legal
class Last(NamedTuple):
    minus: int
@plays(Last)
@kernel
def _choose_last(player, states, k, out, rng):
    return packed(out[legal(states[k], out) - player.minus])
"""


class House:
    """A copy of the package with Three Shells beside it, and a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache, self.temporary = folder, folder / "cache", folder / "temporary"
        self.temporary.mkdir()  # machine code that other processes keep in the shared temporary folder must not be found
        shutil.copytree(ROOT / "kdenv", folder / "kdenv", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "examples" / "three_shells.py", folder)

    def run(self, work: str, **environment: str) -> Report:
        """What a new process makes of this work."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        told = {"PYTHONPATH": str(self.folder), "KDENV_CACHE_DIR": str(self.cache), "TMPDIR": str(self.temporary)}
        told |= {"PYTHONDONTWRITEBYTECODE": "1", **environment}
        return report_of(work, self.folder, {**clean, **told})

    def play_and_search(self, room: str = "three_shells", **environment: str) -> Report:
        return self.run(PLAY_AND_SEARCH.replace("GAME_ROOM", room), **environment)

    @property
    def kept(self) -> list[Path]:
        """The files of machine code."""
        return sorted(self.cache.rglob("*" + cache_folder.ENDING))

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.folder / file
        text = path.read_text()
        assert text.count(old) == 1, f"{file} has {old!r} {text.count(old)} times"
        path.write_text(text.replace(old, new))


@pytest.fixture(scope="module")
def cold(tmp_path_factory: pytest.TempPathFactory) -> tuple[House, Report]:
    """A house whose cache was empty, and what the first process reported."""
    house = House(tmp_path_factory.mktemp("house"))
    return house, house.play_and_search()


@pytest.fixture
def house(cold: tuple[House, Report]) -> Iterator[House]:
    """The house with its cache warm; edits are taken back afterwards."""
    house, _ = cold
    before = {path: path.read_text() for path in house.folder.rglob("*.py")}
    yield house
    for path, text in before.items():
        if path.read_text() != text:
            path.write_text(text)


@pytest.fixture
def original(cold: tuple[House, Report]) -> Any:
    """The results before any edit."""
    return cold[1].result


def test_the_first_process_compiles(cold: tuple[House, Report]) -> None:
    """So that the tests below do not pass because nobody ever compiles."""
    assert {"play_games", "sample_in_rotation", "sample_chance"} <= set(cold[1].compiled)


def test_a_second_process_compiles_nothing_and_says_the_same(house: House, original: Any) -> None:
    assert house.play_and_search() == (original, [])


def test_editing_a_rule_is_noticed_by_cached_searches(house: House, original: Any) -> None:
    house.edit("three_shells.py", "else -int(s.stake)", "else -3 * int(s.stake)")
    edited = house.play_and_search().result
    assert edited["play_out"] != original["play_out"]
    assert edited["search"] != original["search"]


def test_editing_a_table_is_noticed_by_cached_searches(house: House, original: Any) -> None:
    house.edit("three_shells.py", "FACTOR = np.array([1, 2], np.int64)", "FACTOR = np.array([1, 5], np.int64)")
    edited = house.play_and_search().result
    assert edited["play_out"] != original["play_out"]
    assert edited["search"] != original["search"]


def test_editing_a_callee_is_noticed_and_going_back_is_warm(house: House, original: Any) -> None:
    """`worth` and `scores` are compiled into the search, which lies in a file that does not change."""
    house.edit("kdenv/search/score.py", "return float(numbers[seat] - best", "return 10 + float(numbers[seat] - best")
    edited = house.play_and_search()
    assert edited.result["search"] != original["search"]
    assert edited.result["play_out"] == original["play_out"]
    house.edit("kdenv/search/score.py", "return 10 + float(numbers[seat] - best", "return float(numbers[seat] - best")
    assert house.play_and_search() == (original, [])


def test_numba_alone_compiles_the_same(house: House, original: Any) -> None:
    """What is done where the version of numba is none that compiler/fast_compile.py knows; its machine code is kept apart."""
    plain = house.play_and_search(KDENV_COMPILER="numba")
    assert plain.result == original
    assert "play_games" in plain.compiled
    assert house.play_and_search(KDENV_COMPILER="numba") == (original, [])


def test_editing_a_player_outside_the_package_is_noticed(house: House) -> None:
    (house.folder / "mine.py").write_text(MY_PLAYER)
    work = "from mine import Last\n" + PLAY_AND_SEARCH.replace("Uniform()", "EpsilonGreedyPlayer(Last(1), 0.5)").replace(
        "import Uniform", "import EpsilonGreedyPlayer"
    )
    work = work.replace("GAME_ROOM", "three_shells")
    first = house.run(work)
    assert house.run(work) == (first.result, [])
    house.edit("mine.py", "- player.minus", "- 2 * player.minus")
    edited = house.run(work).result
    assert edited["play_out"] != first.result["play_out"]
    assert edited["search"] != first.result["search"]


def test_a_player_of_another_program_is_no_obstacle_and_stays_cached(house: House, original: Any) -> None:
    """The index of a search lists all the players it was compiled for, those of modules that only others have included."""
    (house.folder / "mine.py").write_text(MY_PLAYER)
    work = "from mine import Last\n" + PLAY_AND_SEARCH.replace("Uniform()", "Last(1)").replace("GAME_ROOM", "three_shells")
    theirs = house.run(work)
    (house.folder / "mine.py").rename(house.folder / "away.py")
    assert house.play_and_search() == (original, [])
    ours = PLAY_AND_SEARCH.replace("GAME_ROOM", "three_shells").replace("Uniform()", "EpsilonGreedyPlayer(Uniform(), 0.5)")
    assert "play_games" in house.run(ours.replace("import Uniform", "import EpsilonGreedyPlayer, Uniform")).compiled
    (house.folder / "away.py").rename(house.folder / "mine.py")
    assert house.run(work) == (theirs.result, [])


def test_editing_a_table_of_kingdomino_is_noticed(house: House) -> None:
    room = "kdenv.games.kingdomino"
    first = house.play_and_search(room)
    assert house.play_and_search(room) == (first.result, [])
    house.edit("kdenv/games/kingdomino/tables.py", "MIDDLE_BONUS = 10", "MIDDLE_BONUS = 30")
    edited = house.play_and_search(room).result
    assert edited["play_out"] != first.result["play_out"]
    assert edited["search"] != first.result["search"]


def test_checked_code_is_kept_apart(house: House) -> None:
    """NUMBA_BOUNDSCHECK is not in numba's own key: without this, unchecked code would run where checks are wanted."""
    off_the_end = """
    import numpy as np
    from kdenv.compiler.random import below
    try:
        below(np.zeros(0, np.uint64), 3)
        result = "no error"
    except IndexError:
        result = "caught"
    """
    assert house.run("from kdenv.compiler.random import below, make_rng; result = int(below(make_rng(1), 3))").result in range(3)
    assert house.run(off_the_end, NUMBA_BOUNDSCHECK="1").result == "caught"


def test_importing_a_game_compiles_nothing(house: House) -> None:
    work = "import kdenv.games.kingdomino, kdenv.policies.searching, kdenv.search.perft, kdenv.core.table; result = True"
    assert house.run(work, KDENV_CACHE_DIR=str(house.folder / "empty")).compiled == []
    assert [path for path in (house.folder / "empty").rglob("*") if path.is_file()] == []


# A game in two files, which takes a constant and a kernel from a third one, and its player from a fourth.


def in_two_files(house: House) -> str:
    """Divide Three Shells into files; the room of the whole."""
    text = (house.folder / "three_shells.py").read_text()
    scores = text[text.index("@kernel\ndef scores") : text.index("@kernel\ndef standings")]
    player = text[text.index("@plays(Bold)") : text.index("# Words and a drawing")]
    rest = text.replace(scores, "").replace(player, "").replace("PASS_COSTS = 1\n", "")
    rest = rest.replace("@kernel\ndef standings", "from points import scores\n@kernel\ndef standings")
    head = "from kdenv.compiler.kernel import kernel\n"
    names = "FACTOR, FINISHED, PASS = np.array([1, 2], np.int64), 4, 3\nFIRST_GUESS, STAKING = 3, 1\n"
    files = {
        "costs.py": head + "PASS_COSTS = 1\n@kernel\ndef doubled(points, factor):\n    return points * factor\n",
        "points.py": head
        + "import numpy as np\nimport costs\nfrom costs import doubled\n"
        + names
        + scores.replace("-PASS_COSTS", "-costs.PASS_COSTS").replace("won * FACTOR[int(s.coin)]", "doubled(won, FACTOR[int(s.coin)])"),
        "divided.py": rest.replace("# Words and a drawing", "from boldness import _choose_boldly\n"),
        "boldness.py": head
        + "import numpy as np\nfrom kdenv.core.questions import plays\nfrom kdenv.core.turns import packed\nfrom divided import Bold\n"
        + names
        + player,
    }
    for name, content in files.items():
        (house.folder / name).write_text(content)
    return "divided"


EDITS = {
    "a verb in the second file": ("points.py", "else -int(s.stake)", "else -3 * int(s.stake)"),
    "a table beside it": ("points.py", "np.array([1, 2], np.int64)", "np.array([1, 5], np.int64)"),
    "a constant of a third file": ("costs.py", "PASS_COSTS = 1", "PASS_COSTS = 4"),
    "a kernel of a third file": ("costs.py", "points * factor", "points * factor * 3"),
    "a verb in the first file": ("divided.py", "return 0 if below(rng, COIN_ODDS[0]", "return 1 if below(rng, COIN_ODDS[0]"),
}


@pytest.fixture(params=["", "numba"], ids=["drafts", "plain"])
def compiler(request: pytest.FixtureRequest) -> dict[str, str]:
    return {"KDENV_COMPILER": request.param}


def test_whatever_is_edited_in_a_game_of_several_files_is_noticed(house: House, compiler: dict[str, str]) -> None:
    room = in_two_files(house)
    before = house.play_and_search(room, **compiler)
    assert house.play_and_search(room, **compiler) == (before.result, [])
    for what, edit in EDITS.items():
        house.edit(*edit)
        assert house.play_and_search(room, **compiler).result["play_out"] != before.result["play_out"], what
        house.edit(edit[0], edit[2], edit[1])
        assert house.play_and_search(room, **compiler) == (before.result, []), what


WITH_A_PLAYER = """
    from mine import Last
    import numpy as np
    from three_shells import GAME
    from kdenv.core.questions import choose_at
    from kdenv.compiler.random import make_rng
    from kdenv.core.table import Table
    table = Table(GAME, 2)
    table.run_chance(make_rng(1))
    result = int(choose_at(Last(1), table.states, 0, GAME.buffer(), make_rng(1)))
"""


@pytest.mark.parametrize(
    "name, of, value, other",
    [
        ("a number", "K", "K = 0", "K = 1"),
        ("a member of an enum", "K.ONE.value", "from enum import IntEnum\nclass K(IntEnum):\n    ONE = 0", "...ONE = 1"),
        ("an array", "K[1]", "import numpy as np\nK = np.array([0, 0])", "...[0, 1]"),
        ("a tuple", "K[1]", "K = (0, 0)", "K = (0, 1)"),
        ("a kernel", "K()", "from kdenv.compiler.kernel import kernel\n@kernel\ndef K():\n    return 0", "...return 1"),
        ("a closure", "K()", "from made import make\nK = make(0)", "...make(1)"),
        ("a default", "K()", "from kdenv.compiler.kernel import kernel\n@kernel\ndef K(n=0):\n    return n", "...n=1"),
        ("a function that numba overloads", "f()", "from made import f, K", "...f, K  #"),
    ],
)
def test_what_a_player_takes_from_another_file_counts(house: House, name: str, of: str, value: str, other: str) -> None:
    (house.folder / "made.py").write_text(
        "from numba.extending import overload\nfrom kdenv.compiler.kernel import kernel\nK = 0\n"
        "def make(n):\n    @kernel\n    def made():\n        return n\n    return made\n"
        "def f():\n    return K\n@overload(f)\ndef _f():\n    return lambda: K\n"
    )
    (house.folder / "const.py").write_text(value + "\n")
    player = MY_PLAYER.replace("- player.minus", f"- player.minus - {of}")
    (house.folder / "mine.py").write_text(player.replace("import NamedTuple", "import NamedTuple\nfrom const import *"))
    first = house.run(WITH_A_PLAYER)
    assert house.run(WITH_A_PLAYER) == (first.result, [])
    if other.endswith("#"):
        house.edit("made.py", "K = 0", "K = 1")
    elif other.startswith("..."):
        tail = other[3:]
        start = {"ONE = 1": "ONE = 0", "[0, 1]": "[0, 0]", "return 1": "return 0", "make(1)": "make(0)", "n=1": "n=0"}[tail]
        house.edit("const.py", start, tail)
    else:
        house.edit("const.py", value, other)
    assert house.run(WITH_A_PLAYER).result == first.result - 1


def test_a_player_of_a_script_is_kept_too(house: House) -> None:
    """Its class has no name to import it by."""
    work = "\n".join("    " + line for line in MY_PLAYER.splitlines()) + WITH_A_PLAYER.replace("from mine import Last", "")
    first = house.run(work)
    assert first.compiled
    assert house.run(work) == (first.result, [])
    assert house.run(work.replace("- player.minus", "- 2 * player.minus")).result != first.result


def test_a_comment_compiles_nothing(house: House, original: Any) -> None:
    for file in ("three_shells.py", "kdenv/compiler/random.py", "kdenv/search/kernels/flat.py"):
        (house.folder / file).write_text("# A comment.\n" + (house.folder / file).read_text())
    house.edit("three_shells.py", "Write the points of both seats to out.", "What both seats have won.")
    assert house.play_and_search() == (original, [])


def test_an_edit_in_one_game_does_not_compile_another(house: House) -> None:
    room = "kdenv.games.kingdomino"
    first = house.play_and_search(room)
    house.edit("kdenv/games/dominoes/tables.py", "import numpy as np", "import numpy as np\n_NEW = 1")
    house.edit("three_shells.py", "PASS_COSTS = 1", "PASS_COSTS = 2")
    assert house.play_and_search(room) == (first.result, [])


def test_what_a_search_does_not_ask_does_not_compile_it(house: House, original: Any) -> None:
    house.edit("three_shells.py", "out[3] = s.stake / 3.0", "out[3] = s.stake / 6.0")
    assert house.play_and_search() == (original, [])


REPLACED_LATER = WITH_A_PLAYER.replace(
    "    result = ",
    """
    import mine
    from kdenv.search.playout import EpsilonGreedyPlayer
    choose_at(Last(1), table.states, 0, GAME.buffer(), make_rng(1))
    mine.K = 2
    result = """,
).replace("int(choose_at(Last(1)", "int(choose_at(EpsilonGreedyPlayer(Last(1), 0.0)")


def test_a_constant_that_is_replaced_later_is_not_kept(house: House) -> None:
    """Numba goes on with the value it found first; another process must not take that for the new one."""
    (house.folder / "mine.py").write_text("K = 1\n" + MY_PLAYER.replace("- player.minus", "- K"))
    assert house.run(REPLACED_LATER).result == 3
    house.edit("mine.py", "K = 1", "K = 2")
    assert house.run(REPLACED_LATER).result == 2


def test_what_cannot_be_told_is_compiled_anew_and_said(house: House) -> None:
    work = """
    import ctypes, contextlib, io
    from kdenv.compiler.kernel import kernel
    libc = ctypes.CDLL(None).abs
    libc.argtypes, libc.restype = [ctypes.c_int], ctypes.c_int
    @kernel
    def f(x):
        return libc(x)
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        answer = f(-3)
    result = [answer, said.getvalue()]
    """
    for _ in range(2):
        done = house.run(work)
        assert "f" in done.compiled
        assert done.result[0] == 3
        assert done.result[1].startswith("kdenv: every process compiles f again, because kdenv cannot find out what it depends on: ")


# The cases are a class of a script, such a class within a tuple, and a class that a function makes; a class of a module is kept.
@pytest.mark.parametrize(
    "made, returned, kept",
    [("Pair", "Pair(n, n)", False), ("Pair", "(n, Pair(n, n))", False), ("local", "Local(n, n)", False), ("Found", "Found(n, n)", True)],
)
def test_a_kernel_returns_the_class_of_its_script_in_every_process(house: House, made: str, returned: str, kept: bool) -> None:
    (house.folder / "found.py").write_text("from typing import NamedTuple\nclass Found(NamedTuple):\n    a: int\n    b: int\n")
    work = f"""
    from typing import NamedTuple
    from found import Found
    from kdenv.compiler.kernel import kernel
    class Pair(NamedTuple):
        a: int
        b: int
    def local():
        class Local(NamedTuple):
            a: int
            b: int
        return Local
    Local = local()
    @kernel
    def answer(n):
        return {returned}
    found = answer(3)
    found = found[1] if type(found) is tuple else found
    result = [type(found) is {"Local" if made == "local" else made}, *found]
    """
    assert [house.run(work).result for _ in range(2)] == [[True, 3, 3]] * 2
    assert house.run(work) == ([True, 3, 3], [] if kept else ["answer"])


# Several processes at a time


def test_several_processes_compile_everything_once(tmp_path: Path) -> None:
    house = House(tmp_path)
    work = PROCESS.replace(
        'record.data["dispatcher"].py_func.__qualname__',
        '(type(record.data["dispatcher"]).__name__, record.data["dispatcher"].py_func.__qualname__, str(record.data["args"]))',
    )
    code = work.replace("    WORK", "    " + PLAY_AND_SEARCH.replace("GAME_ROOM", "three_shells").strip())
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "KDENV_CACHE_DIR": str(house.cache), "PYTHONDONTWRITEBYTECODE": "1"}
    processes = [
        subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    told = [json.loads(process.communicate()[0]) for process in processes]
    assert all(result == told[0][0] for result, _ in told)
    wholes = Counter(tuple(what[1:]) for _, compiled in told for what in compiled if what[0] == "CompiledKernel")
    assert len(wholes) > 5
    assert set(wholes.values()) == {1}
    assert house.play_and_search() == (told[0][0], [])


def test_a_process_that_holds_a_lock_for_ever_is_not_waited_for(house: House, original: Any) -> None:
    """It may be stopped, or on another machine: after a while the others compile, too."""
    shutil.rmtree(house.cache)
    house.run("import kdenv.compiler.cache; result = True")
    less = "import kdenv.compiler.cache as cache; cache.LONGEST_WAIT = 0.5\n    "
    work = less + PLAY_AND_SEARCH.strip().replace("GAME_ROOM", "three_shells")
    assert house.play_and_search().result == original
    locks = list(house.cache.rglob("*.lock"))
    for path in house.kept:
        path.unlink()
    held = "from filelock import FileLock; from pathlib import Path; import sys, time\n"
    held += f"locks = [FileLock(path) for path in Path({str(house.cache)!r}).rglob('*.lock')]\n[lock.acquire() for lock in locks]\n"
    held += "print('held', flush=True); time.sleep(600)"
    holder = subprocess.Popen([sys.executable, "-c", held], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        start = time.perf_counter()
        assert house.run(work).result == original
        assert time.perf_counter() - start < 100
        assert len(locks) >= 3  # of the table, the playouts and the search
    finally:
        holder.kill()
        holder.communicate()


# Folders and files that are not as they should be


def test_damaged_files_are_as_good_as_none(house: House, original: Any) -> None:
    dice = random.Random(1)
    house.play_and_search()
    for path in house.kept:
        data = bytearray(path.read_bytes())
        kind = dice.randrange(4)
        if kind == 0:
            del data[dice.randrange(len(data)) :]
        elif kind == 1:
            data.clear()
        elif kind == 2:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        else:
            data[:] = dice.randbytes(len(data))
        path.write_bytes(data)
    damaged = house.play_and_search()
    assert damaged.result == original
    assert "play_games" in damaged.compiled
    assert house.play_and_search() == (original, [])


def test_a_file_with_a_right_digest_that_names_what_is_not_there_is_as_good_as_none(house: House, original: Any) -> None:
    """As when a module has been renamed."""
    import hashlib

    for path in house.kept:
        data = b"\x80\x04cno_such_module\nthing\n."
        path.write_bytes(hashlib.sha256(data).digest() + data)
    assert house.play_and_search().result == original


A_KERNEL = """
    import contextlib, io, sys
    said = io.StringIO()
    BEFORE
    with contextlib.redirect_stderr(said):
        from kdenv.compiler.random import below, make_rng
        drawn = int(below(make_rng(1), 3))
    from kdenv.compiler import cache_folder
    result = [drawn, said.getvalue(), str(cache_folder.folder_to_write()), [str(path) for path in cache_folder.folders_to_read()]]
"""
NOBODY = 65534
AS_NOBODY = f"""
    import os
    if os.getuid() == 0:
        import grp, pwd, numba, kdenv.compiler.random  # and whatever else that user may not read
        numba.njit(lambda x: x + 1)(1)
        os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
"""


def a_kernel(house: House, before: str = "", **environment: str) -> Report:
    """What becomes of calling a kernel: the number, what was said on stderr, and the folders."""
    return house.run(A_KERNEL.replace("    BEFORE\n", before.strip("\n") + "\n"), **environment)


@pytest.fixture
def open_house(tmp_path: Path) -> Iterator[House]:
    """A house that another user may enter, with a folder for temporary files in it."""
    house = House(tmp_path)
    for path in (tmp_path, *tmp_path.parents):
        if path == Path(tempfile.gettempdir()):
            break
        path.chmod(0o755)
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp").chmod(0o1777)
    yield house
    for path in tmp_path.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)


def where(house: House, **more: str) -> dict[str, str]:
    """An environment without a cache of its own, whose temporary folder is in the house."""
    return {"KDENV_CACHE_DIR": "", "TMPDIR": str(house.folder / "tmp"), "HOME": str(house.folder / "home"), **more}


def test_the_folder_is_the_platform_s(open_house: House) -> None:
    assert a_kernel(open_house, **where(open_house)).result[2] == str(open_house.folder / "home/.cache/kdenv/machine-code")
    xdg = a_kernel(open_house, **where(open_house, XDG_CACHE_HOME=str(open_house.folder / "xdg")))
    assert xdg.result[2] == str(open_house.folder / "xdg/kdenv/machine-code")
    chosen = a_kernel(open_house, **where(open_house, XDG_CACHE_HOME="/nowhere", KDENV_CACHE_DIR=str(open_house.folder / "mine")))
    assert chosen.result[2] == str(open_house.folder / "mine/machine-code")


def unwritable(house: House) -> dict[str, str]:
    """An environment whose cache folder cannot be made, by root neither."""
    (house.folder / "home").write_text("a file")
    return where(house)


def fallback(house: House) -> Path:
    return house.folder / "tmp" / f"kdenv-{os.geteuid()}"


def test_where_that_cannot_be_written_the_user_s_own_temporary_folder_is_used(open_house: House) -> None:
    environment = unwritable(open_house)
    first = a_kernel(open_house, **environment)
    assert first.result[2] == str(fallback(open_house))
    assert fallback(open_house).stat().st_mode & 0o777 == 0o700
    assert a_kernel(open_house, **environment) == (first.result, [])


def give_away(path: Path, user: int = NOBODY) -> None:
    """Let a file, folder or link belong to another user."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    os.chown(path, user, user, follow_symlinks=False)


@pytest.mark.parametrize("trap", ["a link", "writable by others", "a file", "somebody else's"])
def test_a_temporary_folder_that_may_be_a_trap_is_not_used(open_house: House, trap: str) -> None:
    environment = unwritable(open_house)
    own = fallback(open_house)
    if trap == "a link":
        (open_house.folder / "mine").mkdir(mode=0o700)
        own.symlink_to(open_house.folder / "mine")
        give_away(own)
    elif trap == "a file":
        own.write_text("")
    else:
        own.mkdir(mode=0o700)
        if trap == "writable by others":
            own.chmod(0o777)
        else:
            give_away(own)
    done = a_kernel(open_house, **environment)
    assert done.result[0] in range(3)
    assert Path(done.result[2]).parent == own.parent
    assert done.result[2] != str(own)
    assert str(own) not in done.result[3]
    assert not Path(done.result[2]).exists()  # it goes with the process
    assert trap == "a file" or list(own.iterdir()) == []


# A file is a pickle, so whoever can write one runs code as the user who reads it. tests/compiler/test_permissions.py asks of more folders.

PLANTED = """
import hashlib, pickle, sys
class Trap:
    def __reduce__(self):
        return open, (sys.argv[1], "w")
data = pickle.dumps((Trap(),))
sys.stdout.buffer.write(hashlib.sha256(data).digest() + data)
"""


def plant(house: House) -> None:
    """Replace each file of machine code by a pickle that makes the file `trapped` when it is read."""
    trap = subprocess.run([sys.executable, "-c", PLANTED, house.folder / "trapped"], capture_output=True, check=True).stdout
    assert house.kept
    for path in house.kept:
        path.write_bytes(trap)


def test_a_planted_file_does_not_run_if_everybody_may_write_to_the_folder(open_house: House) -> None:
    environment = where(open_house, KDENV_CACHE_DIR=str(open_house.cache))
    drawn = a_kernel(open_house, **environment).result[0]
    plant(open_house)
    place, trapped = open_house.cache / "machine-code", open_house.folder / "trapped"
    place.chmod(0o777)
    done = a_kernel(open_house, **environment)
    said = f"because every user may write to {place} (mode 0777); run 'chmod go-w {place}', or set KDENV_CACHE_DIR to a folder of your own"
    assert done.result[:3] == [drawn, f"kdenv: machine code is not kept in {place}, {said}\n", str(fallback(open_house))]
    assert done.result[3] == [str(fallback(open_house))]
    assert not trapped.exists()
    place.chmod(0o700)
    shutil.rmtree(fallback(open_house))
    with pytest.raises(AssertionError):  # where all is this user's, it is read and runs: so the above could have failed
        a_kernel(open_house, **environment)
    assert trapped.exists()


def test_a_planted_file_does_not_run_if_it_is_somebody_else_s(open_house: House) -> None:
    """As one from before the folder was closed to others. The user's own takes its place."""
    environment = where(open_house, KDENV_CACHE_DIR=str(open_house.cache))
    drawn = a_kernel(open_house, **environment).result[0]
    plant(open_house)
    for path in open_house.kept:
        give_away(path)
    done = a_kernel(open_house, **environment)
    assert not (open_house.folder / "trapped").exists()
    assert done.result[0] == drawn
    assert re.fullmatch(
        r"kdenv: machine code such as \S+ is compiled anew, because it belongs to the user nobody \(mode 0644\)\n", done.result[1]
    )
    assert a_kernel(open_house, **environment) == ([drawn, "", *done.result[2:]], [])


def test_the_members_of_a_group_share_the_folder_that_they_ask_for(open_house: House) -> None:
    """Made as the page on the cache says, and used with the most careful umask."""
    if os.geteuid() != 0:
        pytest.skip("only root can make folders for other users")
    environment = where(open_house, KDENV_CACHE_DIR=str(open_house.cache))
    open_house.cache.mkdir()
    os.chown(open_house.cache, NOBODY, NOBODY)
    open_house.cache.chmod(0o2770)
    member = AS_NOBODY.replace("os.setgroups([])", "os.umask(0o077); os.setgroups([])")
    first = a_kernel(open_house, member, **environment)
    assert first.result[1:3] == ["", f"{open_house.cache}/machine-code"]
    daemon = member.replace(f"setgid({NOBODY})", "setgid(1)").replace(f"setuid({NOBODY})", "setuid(1)")
    second = a_kernel(open_house, daemon.replace("setgroups([])", f"setgroups([{NOBODY}])"), **environment)
    assert second.result == first.result
    assert "below" not in second.compiled


def test_a_chosen_folder_that_cannot_be_made_stops_nothing(open_house: House) -> None:
    (open_house.folder / "file").write_text("")
    done = a_kernel(open_house, **where(open_house, KDENV_CACHE_DIR=str(open_house.folder / "file" / "cache")))
    assert done.result[:3] == [done.result[0], "", str(fallback(open_house))]


def test_a_cache_that_can_only_be_read_is_read(open_house: House) -> None:
    """As in the image of a container, whose code was compiled when it was built."""
    environment = where(open_house, KDENV_CACHE_DIR=str(open_house.cache))
    drawn = a_kernel(open_house, **environment).result[0]
    for path in (open_house.cache, open_house.cache / "machine-code"):
        path.chmod(0o555)
    for path in open_house.cache.rglob("*.*"):
        path.chmod(0o444)
    done = a_kernel(open_house, AS_NOBODY, **environment)
    assert "below" not in done.compiled
    assert done.result[:2] == [drawn, ""]
    assert done.result[2] != str(open_house.cache / "machine-code")


def test_where_nothing_can_be_written_that_is_said_once_and_all_runs(open_house: House) -> None:
    """As on a disk that is full."""
    full = "    import resource, signal\n    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
    done = a_kernel(open_house, full, **where(open_house, KDENV_CACHE_DIR=str(open_house.cache)))
    assert done.result[0] in range(3)
    assert done.result[1].startswith("kdenv: compiled code cannot be kept")
    assert done.result[1].count("\n") == 1
    assert open_house.kept == []
    assert list(open_house.cache.rglob("*.part")) == []


def test_a_user_without_a_home_has_a_cache(open_house: House) -> None:
    before = AS_NOBODY + "    import pwd; pwd.getpwuid = lambda uid: {}[uid]; del os.environ['HOME']\n"
    done = a_kernel(open_house, before, **where(open_house))
    uid = NOBODY if os.geteuid() == 0 else os.geteuid()
    assert done.result[2] == str(open_house.folder / "tmp" / f"kdenv-{uid}")
    assert not (open_house.folder / "~").exists()


def test_a_system_without_user_numbers_has_a_cache(open_house: House) -> None:
    """As Windows."""
    done = a_kernel(open_house, "    import os, platformdirs; del os.getuid, os.geteuid\n", **unwritable(open_house))
    assert done.result[2] == str(open_house.folder / "tmp" / "kdenv")


# Pruning


def made_at(root: Path, names: list[str], size: int = 1) -> None:
    """Files, each a day older than the one after; the last is new."""
    root.mkdir(exist_ok=True)
    for age, name in enumerate(reversed(names)):
        (root / name).write_bytes(b"x" * size)
        os.utime(root / name, (time.time() - age * 24 * 3600, time.time() - age * 24 * 3600))


def names_in(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir())


def test_pruning_deletes_what_has_not_been_used_longest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_at(tmp_path, [f"f-{number}{cache_folder.ENDING}" for number in range(9)], size=100)
    (tmp_path / cache_folder._MARKER).write_text("")
    monkeypatch.setattr(cache_folder, "_MOST_BYTES", 500)
    cache_folder.prune(tmp_path)
    assert names_in(tmp_path) == [cache_folder._MARKER, *(f"f-{number}{cache_folder.ENDING}" for number in range(4, 9))]
    monkeypatch.setattr(cache_folder, "_MOST_SECONDS", 2.5 * 24 * 3600)
    cache_folder.prune(tmp_path)
    assert names_in(tmp_path) == [cache_folder._MARKER, *(f"f-{number}{cache_folder.ENDING}" for number in range(6, 9))]


def test_pruning_deletes_old_locks_and_halves_of_files(tmp_path: Path) -> None:
    made_at(tmp_path, ["a.lock", "b.part", "c.lock"])
    (tmp_path / cache_folder._MARKER).write_text("")
    cache_folder.prune(tmp_path)
    assert names_in(tmp_path) == [cache_folder._MARKER, "c.lock"]


def test_pruning_touches_nothing_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither other files in our folder, nor anything in a folder that we have not made."""
    monkeypatch.setattr(cache_folder, "_MOST_BYTES", 0)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for root in (ours, theirs):
        made_at(root, ["photo.png", "0123456789ab", "f" + cache_folder.ENDING])
        (root / "0123456789ac").mkdir()
    (ours / cache_folder._MARKER).write_text("")
    cache_folder.prune(ours)
    cache_folder.prune(theirs)
    assert names_in(ours) == sorted([cache_folder._MARKER, "0123456789ab", "0123456789ac", "photo.png"])
    assert names_in(theirs) == sorted(["0123456789ab", "0123456789ac", "f" + cache_folder.ENDING, "photo.png"])


def test_what_was_used_is_among_the_newest(house: House) -> None:
    for path in house.kept:
        os.utime(path, (0, 0))
    work = "from kdenv.compiler.random import below, make_rng; result = int(below(make_rng(1), 3))"
    house.run(work)
    house.run(work)
    assert [path.name.partition("-")[0] for path in house.kept if path.stat().st_mtime > 1e6] == ["below"]
