"""Is the machine code on disk never stale, and never made twice? Asked of new processes that use a copy of the package."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import Report, report_of

from kdenv.core import kernel

ROOT = Path(__file__).parents[1]

# Work for a process of a house; it ends with `result = ...`.
PLAY_AND_SEARCH = """
    import numpy as np
    from GAME_ROOM import GAME
    from kdenv.core.random import make_rng
    from kdenv.core.table import Table
    from kdenv.search.kernels.flat import Tally, sample_in_rotation
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
    sample_in_rotation(states, 0, turns, len(turns), 50, 0, Uniform(), Margin(2), buffer, np.zeros(2, np.int64), rng, tally)
    result = {"play_out": totals.tolist(), "search": tally.sums.tolist()}
"""

# A player that somebody wrote for themselves.
MY_PLAYER = """
from typing import NamedTuple
from kdenv.core.kernel import kernel
from kdenv.core.player import packed, plays
from kdenv.core.protocol import legal
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
        self.folder, self.cache = folder, folder / "cache"
        shutil.copytree(ROOT / "kdenv", folder / "kdenv", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "examples" / "three_shells.py", folder)

    def run(self, work: str, **environment: str) -> Report:
        """What a new process makes of this work."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        told = {"PYTHONPATH": str(self.folder), "KDENV_CACHE_DIR": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1", **environment}
        return report_of(work, self.folder, {**clean, **told})

    def play_and_search(self, room: str = "three_shells", **environment: str) -> Report:
        return self.run(PLAY_AND_SEARCH.replace("GAME_ROOM", room), **environment)

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
    """What is done where the version of numba is none that core/compiling.py knows; in a directory of its own."""
    plain = house.play_and_search(KDENV_COMPILER="numba")
    assert plain.result == original
    assert "play_games" in plain.compiled
    assert house.play_and_search(KDENV_COMPILER="numba") == (original, [])


def test_editing_a_player_outside_the_package_is_noticed(house: House) -> None:
    (house.folder / "mine.py").write_text(MY_PLAYER)
    work = "from mine import Last\n" + PLAY_AND_SEARCH.replace("Uniform()", "EpsilonGreedy(Last(1), 0.5)").replace(
        "import Uniform", "import EpsilonGreedy"
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
    ours = PLAY_AND_SEARCH.replace("GAME_ROOM", "three_shells").replace("Uniform()", "EpsilonGreedy(Uniform(), 0.5)")
    assert "play_games" in house.run(ours.replace("import Uniform", "import EpsilonGreedy, Uniform")).compiled
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


def test_checked_code_has_a_directory_of_its_own(house: House) -> None:
    """NUMBA_BOUNDSCHECK is not in numba's own key: without this, unchecked code would run where checks are wanted."""
    work = "from kdenv.core import kernel; result = kernel.cache_dir().name"
    plain, checked = house.run(work).result, house.run(work, NUMBA_BOUNDSCHECK="1").result
    assert checked == plain + "-checked"
    off_the_end = """
    import numpy as np
    from kdenv.core.random import below
    try:
        below(np.zeros(0, np.uint64), 3)
        result = "no error"
    except IndexError:
        result = "caught"
    """
    assert house.run("from kdenv.core.random import below, make_rng; result = int(below(make_rng(1), 3))").result in range(3)
    assert house.run(off_the_end, NUMBA_BOUNDSCHECK="1").result == "caught"


def test_importing_a_game_compiles_nothing(house: House) -> None:
    work = "import kdenv.games.kingdomino, kdenv.policies.searching, kdenv.search.perft, kdenv.core.table; result = True"
    assert house.run(work, KDENV_CACHE_DIR=str(house.folder / "empty")).compiled == []
    assert [path for path in (house.folder / "empty").rglob("*") if path.is_file()] == []


def versions(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir())


def made_at(root: Path, names: list[str]) -> None:
    """Folders, each a second newer than the one before."""
    for second, name in enumerate(names):
        (root / name).mkdir()
        os.utime(root / name, (second, second))


def test_pruning_keeps_the_newest_eight_versions(tmp_path: Path) -> None:
    names = [f"{version:012x}" for version in range(9)] + ["00000000000a-checked"]
    made_at(tmp_path, names)
    kernel._prune(tmp_path)
    assert versions(tmp_path) == sorted(names[2:])


def test_pruning_touches_nothing_but_versions(tmp_path: Path) -> None:
    """KDENV_CACHE_DIR may be a folder that holds other things, such as /tmp."""
    names = ["photos", "0123456789ab-mine", "0123456789abcdef", *(f"{version:012x}" for version in range(9))]
    made_at(tmp_path, names)
    (tmp_path / "00000000000f").write_text("a file of that name")
    kernel._prune(tmp_path)
    assert versions(tmp_path) == sorted([*names[:3], *names[4:], "00000000000f"])


def test_a_version_in_use_is_among_the_newest(house: House) -> None:
    [used] = {house.run("from kdenv.core import kernel; result = kernel.cache_dir().name").result}
    os.utime(house.cache / used, (0, 0))
    house.run("import kdenv.core.kernel; result = True")
    assert max(house.cache.iterdir(), key=lambda path: path.stat().st_mtime).name == used


def test_a_cache_that_cannot_be_made_is_told_in_one_sentence(house: House) -> None:
    (house.folder / "file").write_text("")
    work = """
    try:
        import kdenv.core.kernel
    except OSError as error:
        result = str(error)
    """
    chosen = house.folder / "file" / "cache"
    assert (
        house.run(work, KDENV_CACHE_DIR=str(chosen)).result
        == f"KDENV_CACHE_DIR={chosen} cannot be made a folder; name one that can be written"
    )
