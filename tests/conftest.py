"""Options of the tests, and what holds for all of them. Tests write only to their temporary folders.

`--slow` runs the long statistics too, `--cold` the tests that are cold on purpose, and `--luck N` gives all tests other random numbers.
`--quick` leaves out what took more than a fifth of a second in the quickest run in this clone so far.
What a test does not seed is drawn from the test's name: it comes out the same every time, alone and among others.

Compiling takes most of the time. Tests are therefore sorted by game, so that each worker of pytest-xdist compiles other kernels
(`--dist worksteal` gives each worker a part of the list), and no kernel may be called while tests are collected.
"""

import random
import secrets
import signal
import sys
import zlib
from collections.abc import Generator
from unittest import mock

import numpy as np
import pytest
from hypothesis import settings

from kdenv.compiler.cache import KeptKernel

# The same examples every time, and no deadline: the first of them compiles.
settings.register_profile("kdenv", deadline=None, derandomize=True)
settings.load_profile("kdenv")

# A shell lets processes in the background ignore Ctrl-C, nohup lets them ignore a closed terminal, and what they start inherits that.
# Tests send both, so they must be heard.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the long statistics too")
    parser.addoption("--cold", action="store_true", help="run the tests that are cold on purpose too")
    parser.addoption("--quick", action="store_true", help="leave out tests that took more than a fifth of a second in every run so far")
    parser.addoption("--luck", default="", help="what the chance of every test is drawn from, besides its name")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    name = f"{item.nodeid} {item.config.getoption('--luck')}"
    chance = random.Random(name)
    random.seed(name)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(zlib.crc32(name.encode()))
    with (
        mock.patch.object(np.random.bit_generator, "randbits", chance.getrandbits),  # what generators without a seed begin with
        mock.patch.object(secrets, "randbits", chance.getrandbits),
        mock.patch.object(secrets, "token_bytes", lambda n=32: chance.randbytes(n or 32)),
        mock.patch.object(secrets, "choice", chance.choice),
    ):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect tests. A kernel that is called meanwhile is an error, because each worker would compile or load it before its first test."""

    def refuse(kernel: KeptKernel, signature: object) -> None:
        raise RuntimeError(f"the kernel {kernel.__qualname__} is called while tests are collected; call it in a test or a fixture")

    with mock.patch.object(KeptKernel, "compile", refuse):
        return (yield)


# The order in which games stand, so that each half of the list has about half of the kernels. Tests of no game stand between.
GAMES = ["kingdomino", "wong", "dominoes", "", "carcassonne", "dominion"]
BY_GAME = {"games", "policies", "search", "envs", "networks", "core", "baselines"}  # rooms whose tests are sorted by game


def place_of(item: pytest.Item) -> int:
    """The place of the game that a test is about, among GAMES."""
    named = [place for place, game in enumerate(GAMES) if game and game in item.name.lower()]
    named += [place for place, game in enumerate(GAMES) if game and game in item.path.name]
    return named[0] if named and item.path.parent.name in BY_GAME else GAMES.index("")


SECONDS = "kdenv/seconds"  # in pytest's cache: the least seconds that each test took so far
QUICK = 0.2
_took: dict[str, float] = {}  # in this run, by the id of the test


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=place_of)
    for mark, reason in (("slow", "long statistics"), ("cold", "cold on purpose")):
        if config.getoption(f"--{mark}"):
            continue
        for item in items:
            if item.get_closest_marker(mark):
                item.add_marker(pytest.mark.skip(reason=f"{reason}; run with --{mark}"))
    if config.getoption("--quick"):
        cache = getattr(config, "cache", None)  # None with -p no:cacheprovider
        seconds = cache.get(SECONDS, {}) if cache else {}
        config.hook.pytest_deselected(items=[item for item in items if seconds.get(item.nodeid, 0.0) > QUICK])
        items[:] = [item for item in items if seconds.get(item.nodeid, 0.0) <= QUICK]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when != "teardown" and not report.skipped:  # a test that is skipped has a teardown, too, of no time
        _took[report.nodeid] = _took.get(report.nodeid, 0.0) + report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    cache = getattr(session.config, "cache", None)
    if cache and not hasattr(session.config, "workerinput"):  # not in the workers of pytest-xdist
        known = cache.get(SECONDS, {})
        least = {name: round(min(took, known.get(name, took)), 3) for name, took in _took.items()}
        cache.set(SECONDS, {**known, **least})
