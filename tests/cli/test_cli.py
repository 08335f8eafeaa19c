"""Does the command line do what it says, and tell a mistake in one sentence with exit code 2?"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from processes import shown_in_terminal
from random_games import random_game

from kdenv.cli import main
from kdenv.games import find_game


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The output of the command, which must succeed."""
    code = main(arguments)
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return captured.out


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one sentence that the command complains with."""
    try:
        code = main(arguments)
    except SystemExit as error:
        code = int(error.code or 0)
    captured = capsys.readouterr()
    assert code == 2
    assert captured.err.count("\n") == 1
    assert "Traceback" not in captured.err
    return captured.err


MATCH = ("match", "kingdomino", "full_greedy", "random", "--option", "size=3", "--games", "4", "--processes", "1", "--seed", "0")


def test_match_prints_a_table(capsys) -> None:
    out = run(capsys, *MATCH)
    assert out.startswith("kingdomino, 2 players size=3, 4 games, seed 0")
    assert "full_greedy" in out
    assert "too few deals" in out


def test_match_prints_json(capsys) -> None:
    result = json.loads(run(capsys, *MATCH, "--json"))
    assert result["finished"]
    assert [row["policy"] for row in result["policies"]] == ["full_greedy", "random"]


def test_match_goes_on_from_a_file(capsys, tmp_path: Path) -> None:
    file = tmp_path / "match.jsonl"
    run(capsys, *MATCH, "--out", str(file))
    before = file.read_text(encoding="utf-8")
    assert len(before.splitlines()) == 5
    run(capsys, *MATCH, "--out", str(file))
    assert file.read_text(encoding="utf-8") == before


def test_match_writes_a_report(capsys, tmp_path: Path) -> None:
    file = tmp_path / "report" / "match.html"
    run(capsys, *MATCH, "--report", str(file))
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")


def started(command: list[str], **environment: str) -> subprocess.Popen[str]:
    """A command as a terminal starts it: Ctrl-C reaches it even if these tests run in the background, where it is ignored."""

    def listen() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        start_new_session=True,
        preexec_fn=listen,
    )


def ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    """The output of a process, which is ended if it does not end by itself."""
    try:
        return process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise


@pytest.mark.cold
def test_ctrl_c_ends_a_match_cleanly(tmp_path: Path) -> None:
    file = tmp_path / "match.jsonl"
    command = [sys.executable, "-m", "kdenv", "match", "kingdomino", *["random"] * 4, "--games", "1000000", "--out", str(file)]
    process = started(command)
    deadline = time.monotonic() + 300  # the workers may have to compile first
    while not (file.exists() and file.read_text(encoding="utf-8").count("\n") > 3) and time.monotonic() < deadline:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    out, err = ended(process)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "interrupted after" in err
    assert "random" in out
    assert all(json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())


def test_policies_are_listed_in_groups_a_line_each(capsys) -> None:
    groups = [group.splitlines() for group in run(capsys, "policies", "kingdomino").split("\n\n")]
    by_heading = {heading: [line.split()[0] for line in lines] for heading, *lines in groups}
    assert by_heading["Players of the game"] == ["full_greedy", "gprd"]
    assert {"mce", "uct", "star2.5"} <= set(by_heading["Searches"])
    assert by_heading["Learned and other policies"] == ["random", "learned", "ppo"]
    assert groups[0][0].startswith("strongest  ")
    papers = next(names for heading, names in by_heading.items() if heading.startswith("Searches of papers"))
    assert "mce-fg/wdl" in papers and "mcts" not in papers  # mcts is of a paper on another game
    assert "pimc" not in by_heading["Searches"]  # nothing is hidden in Kingdomino


def test_a_policy_is_explained_with_all_its_parameters(capsys) -> None:
    out = run(capsys, "policies", "kingdomino", "uct")
    assert max(map(len, out.splitlines())) <= 100
    assert out.startswith("uct: ")
    about, parameters = out.split("\n\n")
    assert "paper: Gedda et al. 2018" in " ".join(about.split())
    paragraphs = [" ".join(text.split()) for text in re.split(r"\n  (?=\S)", parameters)[1:]]
    at = {text.partition(":")[0]: text[text.index(" It ") + 1 :] for text in paragraphs}
    assert at["least"] == "It is a whole number from 1 on. Default: 1."
    assert at["fpu"] == "It is a number from -1e+09 to 1e+09, or none. Default: none."
    assert at["reflex"] == "It may be yes or no. Default: no."
    assert at["seconds"] == "It is a number from 0.001 on. One of playouts, seconds, nodes, turn_seconds and game_seconds must be given."
    assert at["trees"] == "It is a whole number from 1 to 256. It need not be given."
    assert at["select"].endswith("a selection rule is ucb1, ucb_ratio, ucb1_tuned, thompson, thompson_beta or puct. Default: ucb1.")


def test_a_search_of_a_paper_is_explained_with_the_parameters_of_the_paper(capsys) -> None:
    out = " ".join(run(capsys, "policies", "kingdomino", "uct-eg").split())
    assert "paper: Gedda et al. 2018, UCT-eG, Table III" in out
    assert "stands for: uct(playout=epsilon_greedy(epsilon=0.75), bias=none, playouts=100, score=win," in out
    assert "Default: frozen." in out
    assert "If it is given, it takes the place of playouts=100." in out


def test_a_selection_rule_is_explained(capsys) -> None:
    assert "It is a number from 0 on. Default: 0.7." in " ".join(run(capsys, "policies", "kingdomino", "ucb1").split())


def test_perft_counts(capsys) -> None:
    out = run(capsys, "perft", "kingdomino", "3", "--players", "2", "--option", "size=3")
    assert out.splitlines()[4].split() == ["3", "103,776", "0", "0"]


def test_a_game_is_played_recorded_replayed_and_drawn(capsys, tmp_path: Path, monkeypatch) -> None:
    answers = iter(["nonsense", "999", "9" * 5000] + ["1"] * 1000)
    monkeypatch.setattr("builtins.input", lambda prompt: next(answers))
    record, drawing = tmp_path / "game.txt", tmp_path / "game.svg"
    out = run(capsys, "play", "kingdomino", "--against", "full_greedy", "--seed", "1", "--option", "size=3", "--record", str(record))
    assert "'nonsense' is no action" in out
    assert "1. seat" in out
    out = run(capsys, "replay", str(record), "--draw", str(drawing))
    assert "points:" in out
    assert drawing.read_text(encoding="utf-8").startswith("<svg")


def leave() -> str:
    return "q"


def end_of_file() -> str:
    raise EOFError


def ctrl_c() -> str:
    raise KeyboardInterrupt


def terminate() -> str:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(10)
    return "never reached"


@pytest.mark.parametrize("end, code", [(leave, 0), (end_of_file, 0), (ctrl_c, 130), (terminate, 143)])
def test_leaving_a_game_keeps_its_record(capsys, tmp_path: Path, monkeypatch, end: Callable[[], str], code: int) -> None:
    answers: Iterator[Callable[[], str]] = iter([lambda: "1", lambda: "1", lambda: "1", end])
    monkeypatch.setattr("builtins.input", lambda prompt: next(answers)())
    record = tmp_path / "game.txt"
    assert main(["play", "kingdomino", "--against", *["random"] * 3, "--seed", "1", "--record", str(record)]) == code
    assert f"the record so far (unfinished) is in {record}" in capsys.readouterr().err
    text = record.read_text(encoding="utf-8")
    assert text.count("\n0: ") == 3
    assert text.endswith("= unfinished\n")
    run(capsys, "replay", str(record))


def test_a_bug_in_mid_game_keeps_the_record_and_its_traceback(capsys, tmp_path: Path, monkeypatch) -> None:
    def broken(prompt: str) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr("builtins.input", broken)
    record = tmp_path / "game.txt"
    with pytest.raises(ZeroDivisionError):
        main(["play", "kingdomino", "--seed", "1", "--record", str(record)])
    assert record.read_text(encoding="utf-8").endswith("= unfinished\n")


# Files, pipes, encodings, colours

RECORD = Path(__file__).parents[2] / "examples" / "kingdomino.txt"


def kdenv(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The result of the command in a new process, in this environment."""
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "PYTHONIOENCODING")}
    command = [sys.executable, "-m", "kdenv", *arguments]
    return subprocess.run(command, env={**clean, **environment}, capture_output=True, timeout=120, check=False, input=b"q\n")


@pytest.mark.parametrize("ending, begin", [("svg", b"<svg"), ("png", b"\x89PNG"), ("gif", b"GIF89a")])
def test_a_picture_is_what_its_ending_says(capsys, tmp_path: Path, ending: str, begin: bytes) -> None:
    file = tmp_path / f"game.{ending}"
    run(capsys, "replay", str(RECORD), "--step", "6", "--gif" if ending == "gif" else "--draw", str(file))
    assert file.read_bytes().startswith(begin)


def test_a_gif_has_a_picture_for_every_line(capsys, tmp_path: Path) -> None:
    from PIL import Image

    run(capsys, "replay", str(RECORD), "--step", "6", "--gif", str(tmp_path / "game.gif"))
    with Image.open(tmp_path / "game.gif") as picture:
        assert picture.n_frames == 7


def test_a_gif_of_fewer_positions_has_the_first_and_the_last_one(capsys, tmp_path: Path) -> None:
    from PIL import Image

    many, few = tmp_path / "many.gif", tmp_path / "few.gif"
    run(capsys, "replay", str(RECORD), "--step", "6", "--gif", str(many))
    run(capsys, "replay", str(RECORD), "--step", "6", "--gif", str(few), "--gif-frames", "3")
    with Image.open(many) as all_frames, Image.open(few) as three:
        assert three.n_frames == 3
        for ours, theirs in ((0, 0), (1, 3), (2, 6)):
            three.seek(ours)
            all_frames.seek(theirs)
            assert three.convert("RGB").tobytes() == all_frames.convert("RGB").tobytes()


def test_a_picture_without_the_extra_names_it(capsys, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert "pip install '.[render]' in a clone of kdenv" in complaint(capsys, "replay", str(RECORD), "--draw", str(tmp_path / "game.png"))


def test_a_step_beyond_the_end_is_told(capsys) -> None:
    run(capsys, "replay", str(RECORD), "--step", "0")
    assert "--step 1000 is beyond the end of the record" in complaint(capsys, "replay", str(RECORD), "--step", "1000")


def test_a_file_that_is_no_text_is_told(capsys, tmp_path: Path) -> None:
    file = tmp_path / "x.png"
    file.write_bytes(b"\x89PNG\r\n")
    assert f"{file} is not a text file in UTF-8: its byte 0 is 0x89" in complaint(capsys, "replay", str(file))
    assert "is not a text file" in complaint(capsys, "analyse", str(file), "mce(playouts=1)")


def test_a_forced_move_is_called_forced(capsys, tmp_path: Path) -> None:
    rounds = (random_game(find_game("dominoes"), seed, None, seed) for seed in range(1, 1000))
    table = next(table for table in rounds if table.seat is not None and len(table.legal()) == 1)
    record = tmp_path / "game.txt"
    record.write_text(table.record(), encoding="utf-8")
    out = run(capsys, "analyse", str(record), "mce(playouts=20)")
    assert "nan" not in out
    assert "forced" in out


@pytest.mark.cold
def test_a_closed_pipe_ends_quietly() -> None:
    """The same happens in `kdenv policies kingdomino | head -1`."""
    reading, writing = os.pipe()
    os.close(reading)
    for command in (["policies", "kingdomino"], ["--help"], ["replay", str(RECORD), "--every"]):
        process = subprocess.run(
            [sys.executable, "-m", "kdenv", *command], stdout=writing, stderr=subprocess.PIPE, encoding="utf-8", timeout=60, check=False
        )
        assert (process.returncode, process.stderr) == (0, "")
    os.close(writing)


@pytest.mark.cold
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
@pytest.mark.parametrize("game", ["carcassonne", "dominion"])
def test_play_works_in_any_encoding(encoding: str, game: str) -> None:
    done = kdenv("play", game, "--seed", "1", PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    assert b"your action" in done.stdout
    if game == "carcassonne" and encoding == "ascii":
        assert b">-----" in done.stdout  # the road of the start tile
        assert b"?" not in done.stdout


@pytest.mark.cold
@pytest.mark.parametrize("locale", ["C", "POSIX"])
def test_play_works_in_the_locale_of_a_bare_container(locale: str) -> None:
    """Python sets up the streams differently there: bytes that are no letters are passed on, and letters that ASCII lacks are refused."""
    done = kdenv("play", "carcassonne", "--seed", "1", LC_ALL=locale, PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert done.returncode == 0, done.stderr
    assert b">-----" in done.stdout


@pytest.mark.cold
def test_escape_codes_stay_out_of_pipes() -> None:
    replay = ("replay", str(RECORD))
    assert b"\x1b" not in kdenv(*replay).stdout
    assert b"\x1b[" in kdenv(*replay, FORCE_COLOR="1").stdout
    assert b"\x1b" not in kdenv(*replay, FORCE_COLOR="1", NO_COLOR="1").stdout


@pytest.mark.cold
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
@pytest.mark.parametrize("environment, coloured", [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_a_terminal_gets_colours_unless_it_asks_for_none(environment: dict[str, str], coloured: bool) -> None:
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    command = [sys.executable, "-m", "kdenv", "replay", str(RECORD)]
    shown = shown_in_terminal(command, {**clean, "TERM": "xterm", **environment})
    assert b"points:" in shown
    assert (b"\x1b[" in shown) == coloured


def test_the_version_is_told(capsys) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"kdenv {version('kdenv')}\n"


@pytest.mark.cold
def test_ctrl_c_ends_perft_at_once() -> None:
    process = started([sys.executable, "-c", PERFT])
    assert process.stdout is not None
    while process.stdout.readline() != "ready\n":  # it compiles, and counts a little
        assert process.poll() is None
    time.sleep(1)  # now it counts
    start = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, err = ended(process)
    assert time.monotonic() - start < 5
    assert process.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err


PERFT = """
import sys
from kdenv.cli import main
main(["perft", "kingdomino", "1"])
sys.stdout = sys.stderr
sys.argv = ["kdenv", "perft", "kingdomino", "12"]
sys.__stdout__.write("ready\\n")
sys.__stdout__.flush()
raise SystemExit(main())
"""


@pytest.mark.cold
@pytest.mark.parametrize(
    "arguments",
    [["warm", "kingdomino"], ["match", "kingdomino", "mce(playouts=9)", "random", "--processes", "1"], ["play", "kingdomino"]],
    ids=lambda arguments: arguments[0],
)
def test_ctrl_c_while_a_command_compiles_ends_it_in_a_sentence(arguments: list[str], tmp_path: Path) -> None:
    process = started([sys.executable, "-m", "kdenv", *arguments], KDENV_CACHE_DIR=str(tmp_path))
    while not [*tmp_path.rglob("*.lock")]:
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, err = ended(process)
    assert process.returncode == 130
    assert err.strip().splitlines()[-1].startswith("kdenv: interrupted")
    assert "Traceback" not in err
    assert "ignored" not in err


def test_a_search_is_asked_for_its_opinion(capsys, tmp_path: Path) -> None:
    record = tmp_path / "game.txt"
    record.write_text("kdenv kingdomino players=2 size=3\n* draw 48, draw 47, draw 1, draw 2, king 1\n= unfinished\n", encoding="utf-8")
    out = run(capsys, "analyse", str(record), "mce(playouts=40)")
    assert "seat 1 decides" in out
    assert out.count("pick ") == 4


@pytest.mark.cold
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="how to know that the workers are starting is known on Linux only")
def test_ctrl_c_while_the_workers_start_is_clean_too() -> None:
    command = [sys.executable, "-m", "kdenv", "match", "kingdomino", *["random"] * 4, "--games", "1000000"]
    process = started(command)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while len(children.read_text(encoding="utf-8").split()) < 2:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, err = ended(process)
    assert process.returncode == 130
    assert "Traceback" not in err


MANY = "9" * 5000


@pytest.mark.parametrize(
    "arguments, what",
    [
        (["match", "kingdomio", "random", "random"], "did you mean kingdomino"),
        (["match", "kingdomino", "random"], "cannot be played by 1 players"),
        (["match", "kingdomino", "random", "mce(playouts=x)"], "playouts=x is not possible"),
        (["match", "kingdomino", "random", "random", "--option", "size=4"], "size=4 is not possible; size may be 5, 3 or 7"),
        (["match", "kingdomino", "random", "random", "--option", "size"], "is not NAME=VALUE"),
        (["match", "kingdomino", "random", "random", "--games", "many"], "invalid int value"),
        (["match", "kingdomino", "random", "random", "--processes", "0"], "it is a whole number from 1 to"),
        (["match", "kingdomino", "random", "ppo(nowhere)"], "there is no model nowhere"),
        (["play", "kingdomino", "--against", *["random"] * 4, "--players", "4"], "4 opponents are named for 3 seats at 4 players"),
        (["play", "kingdomino", "--against", "random", "--seat", "7"], "--seat 7 is not at this table"),
        (["perft", "kingdomino", "-1"], "argument depth: -1 is not possible; it is a whole number from 0 to 1000"),
        (["perft", "kingdomino", "1", "--position", "nonsense"], "no part of a position"),
        (["policies", "chess"], "there is no game chess"),
        (["match", "examples.three_shells:GAME", "random", "random"], "a game of yours has a name once a script calls kdenv.add_game, or"),
        (["policies", "kingdomino", "utc"], "there is no policy utc (did you mean uct?); 'kdenv policies kingdomino' lists"),
        (["policies", "dominoes", "star1"], "star1 looks ahead where everybody sees everything, and dominoes hides something"),
        (["policies", "dominoes", "uct-fg"], "uct-fg cannot be used in dominoes; 'kdenv policies dominoes' lists what can be used"),
        (["perft", "kingdomino", MANY], f"argument depth: {MANY[:20]}... is not possible"),
        (["perft", "kingdomino", "1", "--option", "players=4"], "players is no option of a game"),
        (["perft", "kingdomino", "1", "--option", "game=x"], "kingdomino has no option game"),
        (["perft", "kingdomino", "1", "--option", "self=x"], "kingdomino has no option self"),
        (["perft", "kingdomino", "1", "--option", f"dominoes={MANY}"], f"dominoes={MANY[:20]}... is not possible"),
        (["perft", "dominion", "1", "--option", f"max_turns={MANY}"], f"max_turns={MANY[:20]}... is not possible"),
        (["perft", "kingdomino", "1", "--option", "size=3", "--option", "size=5"], "--option size is given twice"),
        (["perft", "kingdomino", "1", "--players", "-1"], "argument --players: -1 is not possible"),
        (["play", "kingdomino", "--players", "0"], "cannot be played by 0 players"),
        (["play", "kingdomino", "--seed", "many"], "argument --seed: many is not possible; it is a whole number from 0 to"),
        (["play", "kingdomino", "--seed", MANY], f"argument --seed: {MANY[:20]}... is not possible"),
        (["play", "kingdomino", "--seed", "-1"], "argument --seed: -1 is not possible"),
        (["play", "kingdomino", "--record", "/nowhere/game.txt"], "/nowhere/game.txt: No such file"),
        (["play", "kingdomino", "--record", "/"], "/: Is a directory"),
        (["policies", "a\nb"], "there is no game a b"),
        (["replay", "/nowhere.txt"], "/nowhere.txt: No such file"),
        (["replay", "/"], "/: Is a directory"),
        (["replay", "a\0b"], "embedded null byte"),
        (["replay", "x.txt", "--step", "-1"], "argument --step: -1 is not possible"),
        (["replay", "x.txt", "--step", MANY], f"argument --step: {MANY[:20]}... is not possible"),
        (["replay", "x.txt", "--draw", "x.bmp"], "--draw x.bmp ends in neither .svg nor .png; --gif, --svg-frames and --html"),
        (["analyse", "x", "random", "--game", "kingdomino"], "no part of a position"),
        (["match", "kingdomino", "random", "random", "--out", "a\0b"], "embedded null byte"),
        (["serve", "--database", "a\0b"], "embedded null byte"),
        (["match", "kingdomino", "random", "random", "--seed", "-1"], "argument --seed: -1 is not possible"),
        (["match", "kingdomino", "random", "random", "--seed", MANY], f"argument --seed: {MANY[:20]}... is not possible"),
        (["compare", "kingdomino", "mce", "uct", "--at", "seconds=x"], "seconds=x is no budget; x is no number of seconds"),
        (["compare", "kingdomino", "mce", "uct", "--at", "playouts=2", "--out", "/"], "--out / and the budget playouts=2 make no name"),
        (["compare", "kingdomino", "mce", "uct", "--at", "playouts=2/3", "--out", "x"], "--out x and the budget playouts=2/3 make no name"),
        (["league", ""], ".: Is a directory"),
        (["league", "/"], "/: Is a directory"),
        (["dance"], "there is no command dance"),
        (["match", "kingdomino", "random", "--agianst", "random"], "(did you mean --against?) ('kdenv match --help' shows how)"),
        (["--xyz", "games"], "games does not take --xyz ("),
        (["mach", "kingdomino"], "there is no command mach (did you mean match?)"),
        ([], "required"),
    ],
)
def test_a_mistake_is_one_sentence(capsys, arguments: list[str], what: str) -> None:
    assert what in complaint(capsys, *arguments)


@pytest.mark.parametrize(
    "text, what",
    [
        ("", "it is empty"),
        ("hello", "not with 'kdenv <game>"),
        ("kdenv kingdomino players=4\n* draw 1", "cut short"),
        ("kdenv kingdomino players=9\n= unfinished", "line 1 .* cannot be played by 9 players"),
        ("kdenv kingdomino players=4\n* draw 99\n= unfinished", "line 2 .* 'draw 99' is nothing that chance does"),
    ],
)
def test_a_bad_record_is_one_sentence(capsys, tmp_path: Path, text: str, what: str) -> None:
    import re

    file = tmp_path / "game.txt"
    file.write_text(text, encoding="utf-8")
    assert re.search(what, complaint(capsys, "replay", str(file)))


def test_the_number_of_players_is_no_option(capsys) -> None:
    assert main(["match", "dominoes", *["random"] * 4, "--option", "players=4"]) == 2
    assert "players is no option of a game" in capsys.readouterr().err


def test_a_match_of_one_policy_and_its_opponents(capsys) -> None:
    assert "kingdomino, 3 players, 3 games" in run(
        capsys, "match", "kingdomino", "full_greedy", "--against", "gprd", "random", "--games", "3"
    )
    out = run(capsys, "match", "dominoes", "greedy", "--against", "random", "--games", "4", "--option", "mode=round", "--seed", "1")
    names = [line.split()[:2] for line in out.splitlines() if " x2 " in line]
    assert names == [["greedy", "x2"], ["random", "x2"]]  # partners play the same


@pytest.mark.parametrize(
    "words, what",
    [
        (["gprd", "random", "--against", "random"], "--against is for one policy and its opponents, but 2 are named before it"),
        (["gprd", "random", "--players", "3"], "2 policies are named for 3 seats"),
        (["gprd", "--against", "random", "random", "--players", "2"], "2 policies are given for the 1 seat of the others"),
    ],
)
def test_a_match_whose_seats_cannot_be_filled(words: list[str], what: str, capsys) -> None:
    assert main(["match", "kingdomino", *words]) == 2
    assert what in capsys.readouterr().err
