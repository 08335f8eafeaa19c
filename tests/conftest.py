"""`--slow` runs the long statistics too. Tests write only to their temporary folders; kernels come from the shared cache."""

import signal

import pytest
from hypothesis import settings

# The same examples every time, and no deadline: the first of them compiles.
settings.register_profile("kdenv", deadline=None, derandomize=True)
settings.load_profile("kdenv")

# A shell lets processes in the background ignore Ctrl-C, and what they start inherits that. Tests send it, so it must be heard.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the long statistics too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="long statistics; run with --slow"))
