"""Are policies from outside found by what texts call them: a name given by add_policy, or "module:Name"?"""

import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from matches import HERE, results_of, run_script

import kdenv
from kdenv.arena import GameFailed, Match
from kdenv.author import BadOption, IllegalAction, Policy, View, make_rng
from kdenv.policies import Uct
from kdenv.policies.text import value

MODULE = '''
from kdenv.author import Policy

class Place(Policy):
    """The legal action at this place of the list."""
    place: int = 0

    def act(self, view):
        return view.legal()[min(self.place, len(view.legal()) - 1)]

class WithInit(Policy):
    def __init__(self, place=1):
        self.place = place

    def act(self, view):
        return view.legal()[min(self.place, len(view.legal()) - 1)]

class Needy(Policy):
    def __init__(self, place):
        self.place = place

class Homeless:
    def act(self, view):
        return view.legal()[0]

def first(view):
    """The first legal action."""
    return view.legal()[0]

ready = WithInit()
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module of a user, which can be imported while a test runs."""
    (tmp_path / "of_a_user.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield "of_a_user"
    sys.modules.pop("of_a_user", None)


@pytest.fixture(autouse=True)
def names_of_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test adds is taken away when it ends."""
    monkeypatch.setattr(value, "_classes", dict(value._classes))


# "module:Name"


@pytest.mark.parametrize("text", ["of_a_user:Place", "of_a_user:Place(place=2)", "of_a_user:first"])
def test_a_module_and_a_name_are_a_policy_in_every_form(module: str, text: str) -> None:
    policy = kdenv.policy(text)
    assert str(policy) == text
    assert policy == kdenv.policy(text) == kdenv.policy(policy.to_json()) == pickle.loads(pickle.dumps(policy))


def test_a_class_with_an_init_of_its_own_is_made_without_parameters(module: str) -> None:
    policy = kdenv.policy("of_a_user:WithInit")
    assert (str(policy), policy.place) == ("of_a_user:WithInit", 1)


def test_a_class_that_has_a_name_keeps_it() -> None:
    assert str(kdenv.policy("kdenv.policies:Uct(playouts=5)")) == "uct(playouts=5)"


NO_CLASS = r"a policy is a class derived from kdenv.author.Policy, or a function of a view"
WRONG = [
    ("of_a_user:frst", r"of_a_user has no frst \(did you mean first\?\); write module:Name"),
    ("of_a_user:Place(size=1)", r"of_a_user:Place has no parameter size; its parameters are place"),
    ("of_a_user:first(place=1)", r"of_a_user:first has no parameter place; it has none"),
    ("of_a_user:Needy", r"Needy\(\) cannot be made by its name \(missing a required argument: 'place'\); make what its __init__ takes .*"),
    ("of_a_user:Homeless", f"of_a_user:Homeless stands for the class Homeless; {NO_CLASS}"),
    ("of_a_user:ready", r"of_a_user:ready stands for a policy that is already made; write it as WithInit, or give its class"),
    ("of_nobody:Place", r"of_nobody:Place: the module of_nobody cannot be imported \(ModuleNotFoundError: No module named 'of_nobody'\)"),
    ("math:pi", rf"math:pi stands for 3.14\d*; {NO_CLASS}"),
    (":Place", r":Place: the module  cannot be imported \(ValueError: Empty module name\)"),
]


@pytest.mark.parametrize("text, sentence", WRONG, ids=[text for text, _ in WRONG])
def test_a_wrong_module_or_name_is_told(module: str, text: str, sentence: str) -> None:
    with pytest.raises(BadOption, match=f"^{sentence}$"):
        kdenv.policy(text)


def test_a_module_that_fails_is_told_with_its_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "failing.py").write_text("import math\nmath.sqrt(-1)")
    (tmp_path / "failing_at_length.py").write_text("raise ValueError('very ' * 10**5 + 'long')")
    monkeypatch.syspath_prepend(tmp_path)
    why = r"ValueError: math domain error \(failing\.py:2, in <module>\)"
    with pytest.raises(BadOption, match=rf"^failing:X: the module failing cannot be imported \({why}\)$"):
        kdenv.policy("failing:X")
    with pytest.raises(BadOption, match=r"very \.\.\. \(failing_at_length\.py:1, in <module>\)\)$") as error:
        kdenv.policy("failing_at_length:X")
    assert len(str(error.value)) < 350


def test_a_policy_that_cannot_be_made_is_told_with_its_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from kdenv.author import Policy\nclass Brittle(Policy):\n    n: int = 0\n    def __post_init__(self):\n        1 / self.n\n"
    (tmp_path / "brittle.py").write_text(f"{code}    def act(self, view):\n        return 0")
    monkeypatch.syspath_prepend(tmp_path)
    what = r"brittle:Brittle\(n=0\) cannot be made: ZeroDivisionError: division by zero \(brittle\.py:5, in __post_init__\)"
    with pytest.raises(BadOption, match=f"^{what}$") as error:
        kdenv.policy("brittle:Brittle(n=0)")
    assert isinstance(error.value.__cause__, ZeroDivisionError)


@pytest.mark.cold
def test_the_command_line_and_its_processes_find_a_module_in_the_working_directory(tmp_path: Path) -> None:
    """The command `kdenv` lies in a folder of its own, which Python puts on the path in place of the working directory."""
    (tmp_path / "of_a_user.py").write_text(MODULE)
    command = tmp_path / "bin" / "kdenv"
    command.parent.mkdir()
    command.write_text("import sys\nfrom kdenv.cli import main\nif __name__ == '__main__':\n    sys.exit(main())")
    words = ["match", "kingdomino", "of_a_user:Place(place=1)", "of_a_user:first", "--games", "4", "--processes", "2"]
    done = subprocess.run([sys.executable, str(command), *words], cwd=tmp_path, env=HERE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "of_a_user:Place(place=1)" in done.stdout


# add_policy


class Unmarked(Policy):
    place: int = 0

    def act(self, view: View) -> int:
        return view.legal()[min(self.place, len(view.legal()) - 1)]


def test_a_class_gets_a_name_and_its_fields_are_parameters() -> None:
    kdenv.add_policy("unmarked", Unmarked)
    assert kdenv.policy("unmarked(place=2)") == Unmarked(place=2)
    assert Unmarked.meaning() == f"The class Unmarked of {__name__}"


def test_a_function_gets_a_name() -> None:
    kdenv.add_policy("the_last", lambda view: view.legal()[-1])
    (result,) = results_of(Match("dominoes", ["the_last", "random"] * 2, games=1))
    assert result.turns[0] > 0


@pytest.mark.parametrize("name, what", [("uct", ""), ("ismcts", ""), ("full_greedy", ", a player of a game")])
def test_a_name_that_is_taken_is_refused(name: str, what: str) -> None:
    with pytest.raises(TypeError, match=f"^there already is a {name}{what}; choose another name"):
        kdenv.add_policy(name, lambda view: 0)


def test_a_class_has_one_name() -> None:
    with pytest.raises(TypeError, match=r"^Uct has the name uct already; use that one in place of my_uct$"):
        kdenv.add_policy("my_uct", Uct)


def test_a_class_derived_from_a_named_one_does_not_inherit_its_name() -> None:
    """Its text would stand for the class above it: a match would play that one."""

    class Changed(Uct):
        """A UCT that does something else."""

    assert Changed.kind == ""
    assert str(Changed(playouts=5)) == "Changed(playouts=5)"


SCRIPT = """
import kdenv
from kdenv.arena import Match, play

kdenv.add_policy("lowest", lambda view: view.legal()[0])

if __name__ == "__main__":
    play(Match("kingdomino", ["lowest", "random"], games=4), processes=2, on_result=print)
"""


@pytest.mark.cold
def test_the_processes_of_a_match_know_what_a_script_adds(tmp_path: Path) -> None:
    done = run_script(tmp_path, SCRIPT)
    assert (done.returncode, done.stdout.count("Result(")) == (0, 4), done.stderr


# What act may return.


@pytest.mark.parametrize("kind", [int, np.int8, np.int64, np.uint64, np.array])
def test_act_may_return_whole_numbers_of_python_and_numpy(kind: type) -> None:
    (result,) = results_of(Match("dominoes", [lambda view: kind(view.legal()[0]), *["random"] * 3], games=1))
    assert result.turns[0] > 0


NO_ACTIONS = {  # made of a legal action
    "NoneType": lambda action: None,
    "float": float,
    "float32": np.float32,
    "bool": bool,
    "str": str,
    "list": lambda action: [action],
    "ndarray": lambda action: np.array([action]),
}


@pytest.mark.parametrize("kind", NO_ACTIONS)
def test_anything_else_is_refused_in_a_sentence(kind: str) -> None:
    make = NO_ACTIONS[kind]
    what = rf"cannot go on: action \S+ \(of type {kind}, not a whole number\) is not legal in kingdomino .*; legal: \d+ "
    with pytest.raises(GameFailed, match=what) as error:
        results_of(Match("kingdomino", [lambda view: make(view.legal()[0]), "random"], games=1))
    assert "\n" not in str(error.value)


def test_a_refused_action_changes_nothing() -> None:
    table = kdenv.table("kingdomino", 2)
    table.run_chance(make_rng(1))
    legal = table.legal()
    with pytest.raises(IllegalAction, match=r" \(of type float, not a whole number\) is not legal in "):
        table.play(float(legal[0]))
    assert table.legal() == legal
