"""What is said of a kernel that cannot be compiled: file, line, kernel, what is wrong and what was meant, in ten lines at most."""

import math
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from kdenv.compiler import fast_compile, numba_compile
from kdenv.compiler.errors import KernelError, story_of
from kdenv.compiler.kernel import allocating_kernel
from kdenv.compiler.random import below
from kdenv.compiler.state import state_dtype

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="then nothing is compiled")
ROOT = Path(__file__).parents[2]
COMPILERS = {"linked": fast_compile, "plain": numba_compile}
STATE = state_dtype(("stage", np.int8), ("points", np.int16, 2), ("turn", np.int64))
FINISHED = 4
TABLE = np.array([1, 2, 3])
TABLE.flags.writeable = False
LIST = [1, 2]
DICT = {1: 2}


class Bold(NamedTuple):
    shell: int = 2


def python_only(x):
    return x


def kernel(compiler: str, function: Any) -> Any:
    return COMPILERS[compiler].compiled_kernel(function, {"nogil": True, "_nrt": False})


def said_of(compiler: str, function: Any, *args: Any) -> tuple[str, int]:
    """The sentence about a kernel without its place, and the line of the place, counted from the first line of the function."""
    with pytest.raises(KernelError) as raised:
        kernel(compiler, function)(*(args or (np.zeros(1, STATE)[0],)))
    place, _, what = str(raised.value).partition(f", in {function.__name__}: ")
    file, _, line = place.rpartition(":")
    assert Path(file).absolute() == Path(__file__)
    source, hint = raised.value.__notes__
    assert source.strip() == Path(__file__).read_text(encoding="utf-8").splitlines()[int(line) - 1].strip()
    assert hint == "KDENV_TRACEBACK=full shows all that numba says"
    return what, int(line) - function.__code__.co_firstlineno


def reads_field(s):
    return s.trun


def writes_field(s):
    s.stage = 1
    s.pionts[0] = 1


def sets_field(s):
    s.trun = 1


def sets_key(s):
    s["trun"] = 1


def reads_key(s):
    return s["trun"]


def far_field(s):
    return s.xyz


def reads_part(part):
    return part.shel


def unknown_name(s):
    if s.turn == FINISHD:  # noqa: F821
        return 1
    return 0


def unknown_in_module(s):
    return math.sinn(1.0)


def of_array(s):
    return TABLE.shap


def adds_text(s):
    x = 1
    return x + "a"


def writes_text(s):
    s.stage = "a"


def changes_constant(s):
    TABLE[0] = 1


def two_types(s):
    if s.turn:
        x = 1
    else:
        x = TABLE
    return x


def returns_two_types(s):
    if s.turn:
        return 1
    return TABLE


def uses_dict(s):
    return DICT[1]


def uses_list(s):
    return LIST[0]


def uses_function(s):
    return python_only(s.turn)


def makes_list(s):
    x = [1, 2]
    return x[s.turn]


def makes_array(s):
    x = np.zeros(3)
    return x[0]


def imports(s):
    import math

    return math.pi


def opens(s):
    s.turn = 1
    with open("file") as f:  # noqa: PTH123
        return f


def tries(s):
    try:
        return s.turn
    except ValueError:
        return 0


def calls_number(s):
    return FINISHED(1)


def wrong_generator(s):
    return below(s, 3)


NO_MEMORY = "a kernel may not make a list, a dict, a text or a new array; take it as an argument, or mark the kernel @allocating_kernel"
CASES: list[tuple[Any, int, str]] = [
    (reads_field, 1, "a state has no field 'trun'; did you mean 'turn'?"),
    (writes_field, 2, "a state has no field 'pionts'; did you mean 'points'?"),
    (sets_field, 1, "a state has no field 'trun'; did you mean 'turn'?"),
    (sets_key, 1, "a state has no field 'trun'; did you mean 'turn'?"),
    (reads_key, 1, "a state has no field 'trun'; did you mean 'turn'?"),
    (far_field, 1, "a state has no field 'xyz'; it has stage, points, turn"),
    (unknown_name, 1, "the name 'FINISHD' is not defined; did you mean 'FINISHED'?"),
    (unknown_in_module, 1, "module 'math' has no attribute 'sinn'; did you mean 'sin'?"),
    (of_array, 1, "readonly array(int64, 1d, C) has no attribute 'shap'; did you mean 'shape'?"),
    (adds_text, 2, "numba cannot compile add(1, 'a') for values of these types"),
    (writes_text, 1, "int8 cannot hold 'a'"),
    (changes_constant, 1, "numba cannot compile setitem(readonly array(int64, 1d, C), 0, 1): Cannot modify readonly array of type"),
    (two_types, 5, "x is readonly array(int64, 1d, C) in one place and 1 in another"),
    (returns_two_types, 3, "it returns values whose types do not fit together: 1, readonly array(int64, 1d, C)"),
    (uses_dict, 1, "DICT is of the type dict, which a kernel cannot use; it can use numbers, texts, tuples, arrays and kernels"),
    (uses_list, 1, "LIST is of the type list, which a kernel cannot use; make it a tuple or an array"),
    (uses_function, 1, "python_only is a function of Python; mark it @kernel"),
    (makes_list, 1, NO_MEMORY),
    (makes_array, 1, NO_MEMORY),
    (imports, 1, "numba cannot compile this: Use of unsupported opcode (IMPORT_NAME) found"),
    (opens, 2, "numba cannot compile this: The 'with (context manager) as (variable):' construct is not supported"),
    (tries, 3, "numba cannot compile exception_match(none, ValueError): Exception matching is limited to <class 'Exception'>"),
    (calls_number, 1, "numba cannot compile this: Invalid use of 4 with parameters (1)"),
    (wrong_generator, 1, "what a kernel is to draw from is no generator of random numbers; give what kdenv.author.make_rng(seed) returns"),
]


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("function, line, sentence", CASES, ids=lambda value: getattr(value, "__name__", None))
def test_a_mistake_is_told_in_one_sentence(compiler: str, function: Any, line: int, sentence: str) -> None:
    what, where = said_of(compiler, function)
    assert what.startswith(sentence)
    assert where == line
    assert "\n" not in what


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_field_of_a_part_is_one_of_its_class(compiler: str) -> None:
    assert said_of(compiler, reads_part, Bold()) == ("Bold has no field 'shel'; did you mean 'shell'?", 1)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_an_object_of_python_as_an_argument_is_told_by_its_name(compiler: str) -> None:
    sentence = "the argument part is an object of Python; give numbers, arrays, states and named tuples of these"
    assert said_of(compiler, reads_part, {1: 2})[0] == sentence


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_place_is_in_the_kernel_that_has_the_mistake_and_not_in_its_callers(compiler: str) -> None:
    inner = kernel(compiler, reads_field)

    def middle(s):
        return inner(s) + 1

    middle = kernel(compiler, middle)

    def outer(s):
        x = 0
        for _ in range(3):
            x += middle(s)
        return x

    with pytest.raises(KernelError, match=r"test_errors\.py:\d+, in reads_field: a state has no field 'trun'; did you mean 'turn'\?\n"):
        kernel(compiler, outer)(np.zeros(1, STATE)[0])


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("given, problem", [(1, "missing a required argument: 'b'"), (3, "too many positional arguments")])
def test_a_call_with_the_wrong_number_of_arguments_is_told_by_the_caller(compiler: str, given: int, problem: str) -> None:
    def two(a, b):
        return a + b

    two = kernel(compiler, two)

    def few(s):
        return two(1)

    def many(s):
        return two(1, 2, 3)

    assert said_of(compiler, few if given == 1 else many)[0] == f"two(a, b) cannot be called so: {problem}"


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_type_that_fits_only_later_is_no_mistake(compiler: str) -> None:
    """Numba infers types in several rounds: in the first one, x is None and the call of the inner kernel does not compile."""

    def inner(x):
        return x + 1

    inner = kernel(compiler, inner)

    def outer(n):
        x = None
        for i in range(n):
            if x is not None:
                return inner(x)
            x = i
        return -1

    assert kernel(compiler, outer)(5) == 1


def test_a_kernel_that_allocates_may_make_a_list() -> None:
    assert allocating_kernel(lambda n: len([n, n]))(1) == 2


def test_all_that_numba_says_is_told_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KDENV_TRACEBACK", "full")
    with pytest.raises(KernelError, match="has no field 'trun'") as raised:
        kernel("linked", reads_field)(np.zeros(1, STATE)[0])
    assert isinstance(raised.value.__cause__, KeyError)
    assert len(story_of(raised.value).splitlines()) > 30


def test_the_error_goes_from_one_process_to_another_whole() -> None:
    with pytest.raises(KernelError) as raised:
        kernel("linked", reads_field)(np.zeros(1, STATE)[0])
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (type(copy), str(copy), copy.__notes__) == (KernelError, str(raised.value), raised.value.__notes__)
    assert story_of(copy) == ""
    assert raised.value._render_traceback_()[-3:] == [f"kdenv.compiler.errors.KernelError: {copy}", *copy.__notes__]


# Through all of kdenv: a game from outside with a misspelt field. Every way is tried in one process, which shows what would end a program.

WAYS = """
import sys
import gymnasium
import bad_shells, kdenv
from kdenv.arena import Match, play
from kdenv.author import make_rng
from kdenv.cli import main
from kdenv.core.table import Table
kdenv.add_game(bad_shells.GAME)

def table():
    table = Table(bad_shells.GAME, 2)
    table.run_chance(make_rng(1))
    return table.seat

def environment():
    gymnasium.make("kdenv/ThreeShells-v0", opponents="bold", seat=1).reset(seed=1)

def batch():
    gymnasium.make_vec("kdenv/ThreeShells-v0", num_envs=2, opponents="bold", seat=1).reset(seed=1)

def match(processes=1):
    play(Match("three_shells", ["random", "bold"], games=2, seed=1), processes=processes, on_result=print)

def processes():
    match(2)

def command():
    print("exit", main(["match", "three_shells", "random", "bold", "--games", "1", "--processes", "1"]), file=sys.stderr)

if __name__ == "__main__":
    for way in sys.argv[1:]:
        print(f"### {way}", file=sys.stderr, flush=True)
        try:
            globals()[way]()
        except Exception:
            sys.excepthook(*sys.exc_info())
"""


def shown(folder: Path, misspelt: tuple[str, str], *ways: str, **environment: str) -> dict[str, list[str]]:
    """The lines on stderr for each way."""
    text = (ROOT / "examples/three_shells.py").read_text(encoding="utf-8")
    assert text.count(misspelt[0]) == 1
    (folder / "bad_shells.py").write_text(text.replace(*misspelt), encoding="utf-8")
    (folder / "ways.py").write_text(WAYS, encoding="utf-8")
    command = [sys.executable, "ways.py", *ways]
    told = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(command, cwd=folder, env=told, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    parts = [part.splitlines() for part in done.stderr.split("### ")[1:]]
    assert [part[0] for part in parts] == list(ways)
    return {part[0]: part[1:] for part in parts}


SEAT = ("return 0 if s.stage == STAKING else 1", "return 0 if s.stge == STAKING else 1")
LINE = 1 + (ROOT / "examples/three_shells.py").read_text(encoding="utf-8").partition(SEAT[0])[0].count("\n")
SENTENCE = f"bad_shells.py:{LINE}, in seat: a state has no field 'stge'; did you mean 'stage'?"
ALL = ("table", "environment", "batch", "match", "processes", "command")


@pytest.mark.cold
@pytest.mark.parametrize("compiler, ways", [("", ALL), ("numba", ("table", "processes"))], ids=["linked", "plain"])
def test_a_misspelt_field_of_a_game_from_outside_is_told_in_ten_lines(tmp_path: Path, compiler: str, ways: tuple[str, ...]) -> None:
    for way, lines in shown(tmp_path, SEAT, *ways, KDENV_COMPILER=compiler).items():
        assert len(lines) <= 10, "\n".join(lines)
        if way == "command":
            assert lines == [f"kdenv: {SENTENCE}", "exit 2"]
        elif way == "environment":  # gymnasium.make raises an error of its own with the sentence of ours
            assert lines[-1].startswith(f"kdenv.compiler.errors.KernelError: {SENTENCE}")
        else:
            assert lines[-3:] == [
                f"kdenv.compiler.errors.KernelError: {SENTENCE}",
                "    return 0 if s.stge == STAKING else 1",
                "KDENV_TRACEBACK=full shows all that numba says",
            ]
            assert any("ways.py" in line for line in lines)


@pytest.mark.cold
def test_the_mistake_of_a_player_is_told_by_the_match_that_asks_it(tmp_path: Path) -> None:
    misspelt = ("int(states[k].most) - 1", "int(states[k].mots) - 1")
    for lines in shown(tmp_path, misspelt, "match", "processes").values():
        assert len(lines) <= 10, "\n".join(lines)
        assert ", in _choose_boldly: a state has no field 'mots'; did you mean 'most'?" in "\n".join(lines)


def test_with_the_switch_the_command_line_and_python_show_everything(tmp_path: Path) -> None:
    told = shown(tmp_path, SEAT, "table", KDENV_TRACEBACK="full")
    assert any(line.endswith("KeyError: 'stge'") for line in told["table"])
    assert len(told["table"]) > 50


@pytest.mark.parametrize(
    "misspelt, name, meant", [(SEAT, "stge", "stage"), (("s.stage = HIDING", "s.stge = HIDING"), "stge", "stage")], ids=["read", "written"]
)
def test_without_the_compiler_python_names_file_and_line_and_kdenv_the_field(
    tmp_path: Path, misspelt: tuple[str, str], name: str, meant: str
) -> None:
    lines = shown(tmp_path, misspelt, "table", NUMBA_DISABLE_JIT="1")["table"]
    assert lines[-1] == f"AttributeError: a state has no field {name!r}; did you mean {meant!r}?"
    assert any("bad_shells.py" in line and ", line " in line for line in lines)
