"""Does kdenv know what an installed package brings by entry points, wherever it is asked, and does a broken package break nothing?

The package is tests/toy_package: a game, a card, a rule player, two policies and an encoding.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.cold

ROOT = Path(__file__).parents[2]
TOY = ROOT / "tests" / "toy_package"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed the toy package."""
    target = tmp_path_factory.mktemp("site")
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *offline, "--target", str(target), str(TOY)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return target


def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments in a process that has kdenv, and what is installed in this folder."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=site,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{site}"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def output(site: Path, *arguments: str) -> str:
    """What Python prints with these arguments; it has nothing to complain about."""
    done = run(site, *arguments)
    complaints = [line for line in done.stderr.splitlines() if not line.startswith("compiling ")]
    assert (done.returncode, complaints) == (0, [])
    return done.stdout


# Matches. Their processes are spawned, so each of them has to find the package anew.

MATCHES = [
    ("toy_heap", ["toy_place(place=1)", "toy_last"], []),
    ("kingdomino", ["toy_first", "toy_first(last=yes)", "mce(playout=toy_first, playouts=3)"], []),
    ("dominion", ["toy_last", "random"], ["--option", "kingdom=Toy Shop,Village,Smithy,Market"]),
]


@pytest.mark.parametrize("game, policies, options", MATCHES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_match_in_two_processes_knows_the_package(installed: Path, game: str, policies: list[str], options: list[str]) -> None:
    games = str(2 * len(policies))
    printed = output(installed, "-m", "kdenv", "match", game, *policies, *options, "--games", games, "--processes", "2", "--json")
    assert [row["policy"] for row in json.loads(printed)["policies"]] == policies


# The listing.


def test_policies_and_players_of_the_package_are_listed(installed: Path) -> None:
    groups = output(installed, "-m", "kdenv", "policies", "kingdomino").split("\n\n")
    players = next(group for group in groups if group.startswith("Players of the game"))
    others = next(group for group in groups if group.startswith("Learned and other policies"))
    assert "Takes the first legal action, or the last one" in players.partition("toy_first")[2]
    assert "toy_place" in others
    assert "The last legal action" in others


def test_one_policy_is_explained(installed: Path) -> None:
    printed = output(installed, "-m", "kdenv", "policies", "toy_heap", "toy_place")
    assert printed.startswith("toy_place: The legal action at this place of the list\nwritten: toy_place(place=0)\n")


def test_the_game_is_listed_and_its_rules_are_printed(installed: Path) -> None:
    assert output(installed, "-c", "import kdenv; print(*kdenv.games())") == "kingdomino dominion dominoes carcassonne toy_heap\n"
    assert "\ntoy_heap: ToyHeap, 2 players\n" in output(installed, "-m", "kdenv", "games")
    assert "Whoever takes the last stone gets a point." in " ".join(output(installed, "-m", "kdenv", "rules", "toy_heap").split())


# Environments.

LATE = """
import sys, gymnasium, pettingzoo, kdenv
assert not {"toy_kdenv", "numba"} & sys.modules.keys()
env = gymnasium.make("kdenv/ToyHeap-v0", opponents="toy_last")
observation, info = env.reset(seed=1)
assert info["action_mask"].tolist() == [1, 1], info
assert env.unwrapped.table.game.name == "toy_heap"
assert gymnasium.make("kdenv/Kingdomino-v0", encoding="toy_mover").observation_space.shape == (4,)
if hasattr(pettingzoo, "make"):
    assert pettingzoo.make("aec", "kdenv/ToyHeap-v0").possible_agents == ["player_0", "player_1"]
print(type(env.unwrapped).__name__, env.spec.id)
"""


def test_environments_know_the_package_which_is_imported_only_when_one_is_made(installed: Path) -> None:
    assert output(installed, "-c", LATE) == "SeatEnv kdenv/ToyHeap-v0\n"


FORKSERVER = """
from functools import partial
import gymnasium, kdenv, numpy as np
from kdenv.envs import SeatEnv
from stable_baselines3.common.vec_env import SubprocVecEnv

def make(name, **how):
    import kdenv
    return gymnasium.make(name, **how)

if __name__ == "__main__":
    for makers in (
        [partial(make, "kdenv/ToyHeap-v0", opponents=each) for each in ("toy_last", "toy_place(place=1)")],
        [partial(make, "kdenv:kdenv/Kingdomino-v0", opponents="toy_first(last=yes)", encoding="toy_mover")],
        [partial(SeatEnv, kdenv.game("kingdomino"), encoding="toy_mover")],
        [partial(make, "kdenv/Dominion-v0", kingdom=["Toy Shop", "Village", "Smithy", "Market"], opponents="toy_last")],
    ):
        envs = SubprocVecEnv(makers, start_method="forkserver")
        envs.reset()
        masks = envs.env_method("action_masks")
        envs.step(np.array([mask.argmax() for mask in masks]))
        envs.close()
    print("stepped")
"""


def test_forked_environments_know_the_package(installed: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(FORKSERVER)
    assert output(installed, str(script)) == "stepped\n"


# Broken packages.

BROKEN = [
    ("games", "gone = nowhere:GAME", "(ModuleNotFoundError: No module named 'nowhere')"),
    ("games", "raising = raising", "(ZeroDivisionError: division by zero (raising.py:1, in <module>))"),
    ("games", "endless = endless", f"(ValueError: {'very ' * 40}... (endless.py:1, in <module>))"),
    ("games", "leaving = leaving", "(SystemExit: 3 (leaving.py:1, in <module>))"),
    ("games", "number = math:pi", "(TypeError: it is of type float, and must be a Game, or a module that adds something to number)"),
    ("policies", "gone = nowhere:Policy", "(ModuleNotFoundError: No module named 'nowhere')"),
    ("policies", "number = math:pi", "(TypeError: number stands for 3.141592653589793; a policy is a class derived from "),
    ("policies", "uct = builtins:len", "(TypeError: there already is a uct; choose another name for len)"),
    ("policies", "full_greedy = builtins:len", "(TypeError: there already is a full_greedy, a player of a game; choose another name)"),
]


def broken_package(site: Path, group: str, entry: str) -> None:
    about = site / "broken-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[kdenv.{group}]\n{entry}\n")
    (site / "raising.py").write_text("1 / 0")
    (site / "endless.py").write_text("raise ValueError('very ' * 10**5 + 'long')")
    (site / "leaving.py").write_text("raise SystemExit(3)")


@pytest.mark.parametrize("group, entry, why", BROKEN, ids=lambda value: value.split(" ")[0] if isinstance(value, str) else "")
def test_a_broken_package_is_named_in_one_sentence_and_breaks_nothing(tmp_path: Path, group: str, entry: str, why: str) -> None:
    broken_package(tmp_path, group, entry)
    done = run(tmp_path, "-m", "kdenv", "policies", "kingdomino")
    assert done.returncode == 0
    assert "full_greedy" in done.stdout
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith(f"kdenv: the package broken 1.0 offers {entry} to kdenv.{group}, but this cannot be loaded {why}")


def test_a_package_that_fails_twice_for_one_reason_is_named_once(tmp_path: Path) -> None:
    broken_package(tmp_path, "games", "one = raising:ONE\ntwo = raising:TWO\nthree = leaving:THREE\n[kdenv.policies]\nfour = raising:Four")
    done = run(tmp_path, "-m", "kdenv", "policies", "kingdomino")
    assert (done.stderr.count("ZeroDivisionError"), done.stderr.count("SystemExit")) == (1, 1)


def test_a_match_in_two_processes_names_a_broken_package_once(tmp_path: Path) -> None:
    broken_package(tmp_path, "games", "kingdomino = raising")
    done = run(tmp_path, "-m", "kdenv", "match", "kingdomino", "full_greedy", "random", "--games", "4", "--processes", "2")
    assert (done.returncode, done.stderr.count("ZeroDivisionError")) == (0, 1)
    assert "full_greedy" in done.stdout


def test_a_broken_package_is_not_noticed_by_those_who_do_not_need_it(tmp_path: Path) -> None:
    broken_package(tmp_path, "games", "raising = raising")
    code = "import kdenv; kdenv.table('kingdomino').legal(); print(kdenv.policy('random'))"
    assert output(tmp_path, "-c", code) == "random\n"


def test_a_name_that_a_broken_package_offers_is_told_to_be_unknown(tmp_path: Path) -> None:
    broken_package(tmp_path, "games", "raising = raising")
    done = run(tmp_path, "-m", "kdenv", "match", "raising", "random", "random")
    broken, unknown = done.stderr.splitlines()
    assert done.returncode == 2
    assert broken.startswith("kdenv: the package broken 1.0 offers raising = raising to kdenv.games, but ")
    assert unknown == "kdenv: there is no game raising; the games are kingdomino, dominion, dominoes, carcassonne"


OTHER_TITLE = """
import sys
sys.path.insert(0, EXAMPLES)
from three_shells import GAME
"""


def test_a_game_must_be_offered_by_its_name(tmp_path: Path) -> None:
    broken_package(tmp_path, "games", "shells = shells:GAME")
    (tmp_path / "shells.py").write_text(OTHER_TITLE.replace("EXAMPLES", repr(str(ROOT / "examples"))))
    done = run(tmp_path, "-c", "import kdenv; print(kdenv.games())")
    assert "it is the game three_shells with the title ThreeShells; the entry point must be called three_shells, and" in done.stderr
