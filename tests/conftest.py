"""`--slow` runs the long statistics too, `--luck N` gives all tests other luck. Tests write only to their temporary folders.

What a test does not seed is drawn from the test's name: it comes out the same every time, alone and among others.
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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="long statistics; run with --slow"))
