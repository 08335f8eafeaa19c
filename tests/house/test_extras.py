"""Does each extra, alone in an environment, do what it is for? Does an install without any say which one is missing?"""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from clean import environment

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]

BEGIN = """
import subprocess, sys
import kdenv
from kdenv.author import make_rng
from kdenv.cli import main
assert "site-packages" in kdenv.__file__, kdenv.__file__

def said_by(*command):
    done = subprocess.run([sys.executable, "-m", "kdenv", *command], capture_output=True, encoding="utf-8", timeout=600)
    return done.returncode, done.stderr

def write_record():
    env = __import__("kdenv.kingdomino_v0").kingdomino_v0.env(players=2)
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
    open("game.txt", "w", encoding="utf-8").write(env.record())
"""

# What a user of each extra does.
DOES = {
    "": """
write_record()
open("model.zip", "w").close()
open("league.toml", "w").write('game = "kingdomino"\\npolicies = ["full_greedy", "random"]\\n')
for extra, *command in (
    ("serve", "serve"),
    ("ray", "match", "kingdomino", "random", "random", "--ray", "auto"),
    ("ray", "compare", "kingdomino", "full_greedy", "gprd", "--ray", "auto"),
    ("ray", "league", "league.toml", "--ray", "auto"),
    ("render", "replay", "game.txt", "--draw", "game.png"),
    ("render", "replay", "game.txt", "--gif", "game.gif"),
    ("rl", "match", "kingdomino", "ppo(model)", "random", "--games", "4", "--processes", "1"),
):
    code, words = said_by(*command)
    assert code == 2 and len(words.splitlines()) == 1, (command, words)
    words = words.removesuffix("\\n").removesuffix(" (--traceback shows where)")  # of the trial game
    assert words.endswith(f"needs the extra '{extra}': pip install '.[{extra}]' in a clone of kdenv"), words
for pictures in (["--draw", "game.svg"], ["--html", "game.html"]):
    assert main(["replay", "game.txt", *pictures]) == 0
from kdenv.core.errors import MissingExtra
try:
    from kdenv.envs import SeatVecEnv
except MissingExtra as error:
    assert "pip install '.[rl]' in a clone of kdenv" in str(error)
try:
    import kdenv.rl
except MissingExtra as error:
    assert "pip install '.[rl]' in a clone of kdenv" in str(error)
else:
    raise AssertionError("kdenv.rl is there without torch")
""",
    "serve": """
import signal, urllib.request
from kdenv.client import Refused, Seat, ask, make
server = subprocess.Popen([sys.executable, "-m", "kdenv", "serve", "--port", "0"], stderr=subprocess.PIPE, encoding="utf-8")
try:
    line = server.stderr.readline()
    while "the page is at" not in line:
        assert line, "the server has ended"
        line = server.stderr.readline()
    url = line.split("the page is at ")[1].split()[0].rstrip("/")
    assert "<title>kdenv</title>" in urllib.request.urlopen(url).read().decode()
    game = make(url, "kingdomino", seats=["open", "full_greedy"], options={"size": 3})
    ann = Seat.join(url, game, "Ann")
    assert ann.play(lambda state: state["legal"][0]["action"])["status"] == "over"
    second = make(url, "dominoes", seats=["open", "greedy", "greedy", "greedy"], options={"mode": "round"})
    assert main(["join", url, second, "mce(playouts=8)"]) == 0
    try:
        ask(url, "GET", f"/games/{game}/film.gif", token=ann.token)
    except Refused as error:
        assert error.status == 501 and ".[render]" in str(error), error
    else:
        raise AssertionError("there is a film without the extra")
finally:
    server.terminate()
    server.communicate(timeout=60)
""",
    "render": """
write_record()
assert main(["replay", "game.txt", "--draw", "game.png", "--gif", "game.gif"]) == 0
from PIL import Image
picture, film = Image.open("game.png"), Image.open("game.gif")
assert picture.size[0] > 400 and len(picture.convert("RGB").getcolors(1 << 24)) > 50
assert film.n_frames > 20
from kdenv import dominion_v0
env = dominion_v0.env(render_mode="rgb_array")
env.reset(seed=1)
assert env.render().shape[2] == 3
""",
    "rl": """
from sb3_contrib import MaskablePPO
from kdenv.envs import SeatVecEnv
learner = SeatVecEnv("kingdomino", size=3, pool=["full_greedy", "random"], seat="rotate", num_envs=16, players=2)
MaskablePPO("MlpPolicy", learner, n_steps=16, batch_size=64, seed=1).learn(512).save("model")
assert main(["match", "kingdomino", "ppo(model)", "random", "--option", "size=3", "--games", "4", "--processes", "1"]) == 0
assert main(["export", "model.zip"]) == 0
assert kdenv.evaluate("model.npz", "kingdomino", against="random", deals=2, players=2, options={"size": 3}).rows[0].games == 4
from kdenv.envs import SelfPlay
from kdenv.rl import TurnNetwork, TurnPPO
games = SelfPlay("kingdomino", 8, players=2, size=3, reward="margin", encoding="prospects")
training = TurnPPO(games, TurnNetwork(games.n_observed, (8,)), n_steps=8)
training.learn(decisions=64)
training.save("scores.npz")
assert kdenv.evaluate("scores.npz", "kingdomino", against="random", deals=2).options == {"size": 3}
""",
    "ray": """
code, words = said_by("match", "kingdomino", "random", "random", "--games", "4", "--ray", "127.0.0.1:1")
assert code == 2 and "no Ray cluster can be reached at 127.0.0.1:1" in words, words
""",
}


def test_every_extra_for_users_is_tried() -> None:
    assert {extra for extra in DOES if extra} == EXTRAS.keys() - {"docs", "dev"}


@pytest.mark.slow
@pytest.mark.parametrize("extra", DOES, ids=lambda extra: extra or "none")
def test_an_extra_alone_does_what_it_is_for(built: Path, tmp_path: Path, extra: str) -> None:
    (wheel,) = built.glob("*.whl")
    clean = environment(sys.executable, tmp_path / "venv", wheel, extra)
    done = subprocess.run(
        [clean, "-c", BEGIN + DOES[extra]], cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=1800, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
