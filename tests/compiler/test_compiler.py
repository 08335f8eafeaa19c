"""Does compiler/fast_compile.py fit this numba, is it said when it is not used, and does everything run without it?"""

import contextlib
import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from packaging.requirements import Requirement

from kdenv.compiler import digest, kernel, selfcheck
from kdenv.compiler.cache import KeptKernel
from kdenv.core.errors import MissingExtra
from kdenv.games import find_game, names

ROOT = Path(__file__).parents[2]


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def test_this_numba_fits() -> None:
    assert selfcheck.misfits() == []


def test_a_name_that_numba_has_lost_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("numba.core.compiler.CompileResult._reduce")
    monkeypatch.delattr("numba.core.typing.templates.infer_global")
    assert selfcheck.misfits() == [
        f"numba {numba.__version__} has no numba.core.compiler.CompileResult._reduce, which kdenv/compiler needs",
        f"numba {numba.__version__} has no numba.core.typing.templates.infer_global, which kdenv/compiler needs",
    ]


def test_other_results_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    real = selfcheck._results_of

    def wrong(compiler: object) -> dict[str, list[float]]:
        return {**real(compiler), **({"a sum": [0.0]} if compiler.__name__.endswith("fast_compile") else {})}

    monkeypatch.setattr(selfcheck, "_results_of", wrong)
    assert selfcheck.main() == 1
    [sentence] = selfcheck.misfits()
    assert sentence.startswith(f"with numba {numba.__version__}, compiler/fast_compile.py computes [0.0] for a sum, and numba alone [")


def test_an_unknown_numba_is_told_in_one_line_and_left_alone() -> None:
    code = "import numba; numba.version_info = numba.version_info._replace(short=(0, 99)); from kdenv.compiler import kernel"
    done = run("-c", code + "; print(kernel.IS_PLAIN)")
    assert done.stdout == "True\n"
    assert done.stderr.startswith(f"kdenv: numba {numba.__version__} is not one of the versions that kdenv was tested with (0.65 to 0.68)")
    assert done.stderr.count("\n") == 1


def test_numba_alone_is_no_reason_to_say_anything_when_it_was_asked_for() -> None:
    assert run("-c", "from kdenv.compiler import kernel", KDENV_COMPILER="numba").stderr == ""


def test_no_numba_is_installed_that_was_not_tested() -> None:
    import tomllib

    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    [numbas] = [Requirement(text) for text in dependencies if Requirement(text).name == "numba"]
    last = kernel._KNOWN[1]
    assert numbas.specifier.contains(f"{last[0]}.{last[1]}.1")
    assert not numbas.specifier.contains(f"{last[0]}.{last[1] + 1}.0")


def test_what_every_kernel_of_the_package_depends_on_can_be_told() -> None:
    """So all of them are kept on disk: asked of each kernel, with the states of every game and all parts that answer anything."""
    for name in ("compiler", "core", "search", "networks", "policies", "games", "envs", "arena", "training"):
        room = importlib.import_module(f"kdenv.{name}")
        for module in pkgutil.walk_packages(room.__path__, room.__name__ + "."):
            with contextlib.suppress(MissingExtra):  # such modules have no kernels
                importlib.import_module(module.name)
    states = tuple(numba.from_dtype(find_game(name).state_dtype) for name in names())
    kinds = {kind for asked in digest.questions.values() for kind in asked.kernels if isinstance(kind, type)}
    modules = [module for name, module in sys.modules.items() if name.startswith("kdenv.")]
    kernels = {id(value): value for module in modules for value in vars(module).values() if isinstance(value, KeptKernel)}
    assert len(kernels) > 500
    assert len(kinds) > 20
    for compiled in kernels.values():
        walk = digest._Reach()
        for what in (compiled, *kinds):
            walk.named(what)
        for state in states:
            walk.of_type(state)
        walk.follow_all()


def test_a_slice_among_the_constants_of_code_is_known() -> None:
    """As Python 3.14 and later keep x[1:3]; older versions build it when the code runs."""

    def digest_with(*parts: object) -> str:
        code = (lambda x: x).__code__
        return digest._Scan(code.replace(co_consts=(*code.co_consts, slice(*parts))), None).digest

    assert digest_with(1, 3) == digest_with(1, 3)
    assert (
        len({digest_with(1, 3), digest_with(1, 4), digest_with(1, 3, 2), digest_with(None, 3), digest_with(1, None), digest_with(1.0, 3)})
        == 6
    )


@pytest.mark.cold
def test_a_slice_of_the_tests_passes_with_numba_alone() -> None:
    """Verbs, parts and whole games; the rest does not depend on who compiles."""
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/core/test_verbs.py", KDENV_COMPILER="numba")
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.skipif(kernel.IS_PLAIN or bool(numba.config.DISABLE_JIT), reason="only fast_compile.py makes drafts")
def test_small_and_large_integers_share_a_draft() -> None:
    @kernel.kernel
    def twice(number):
        return number + number

    for integer in (numba.int8, numba.int16, numba.int32, numba.int64, numba.types.literal(3)):
        twice.get_call_template((integer,), {})
    assert list(twice._drafts.overloads) == [(numba.int64,)]


ALIKE = """
import warnings
import numpy as np
from kdenv.author import kernel, state_dtype

warnings.simplefilter("error")

@kernel
def inner(s):
    return s.one + 1

@kernel
def outer(states, k):
    return inner(states[k])

for fields in (("one", np.int64),), (("one", np.int64), ("more", np.int64)):
    print(outer(np.zeros(1, state_dtype(*fields)), 0))
"""


def test_states_that_begin_with_the_same_fields_are_compiled_without_a_warning(tmp_path: Path) -> None:
    done = run("-c", ALIKE, KDENV_CACHE_DIR=str(tmp_path))
    assert (done.stdout.split(), done.returncode) == (["1", "1"], 0), done.stderr


@kernel.allocating_kernel
def _sum_of_squares(numbers):
    return (numbers**2 + 1).sum()


def test_a_kernel_that_allocates_computes_with_whole_arrays() -> None:
    """Numba compiles a sum of arrays apart, with other flags, which are not those of the kernel."""
    assert _sum_of_squares(np.array([1, 2, 3])) == 17
