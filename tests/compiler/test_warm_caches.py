"""Do all searches of all games work from the cache?

A kernel that calls itself runs in the process that compiles it and crashes in every later one, which finds it in the cache.
"""

import os
from pathlib import Path

import pytest
from processes import Report, report_of

from kdenv.games import names

pytestmark = pytest.mark.cold

HOME = Path(__file__).parents[2]
WORK = """
    import sys
    sys.path[:0] = [".", "tests/support"]
    from everyone import answers_of_all
    result = answers_of_all("GAME")
"""


def all_asked(game: str, hash_seed: str) -> Report:
    """What every policy answers in a new process that shares the cache of these tests."""
    return report_of(WORK.replace("GAME", game), HOME, {**os.environ, "PYTHONHASHSEED": hash_seed})


@pytest.mark.parametrize("game", names())
def test_a_later_process_finds_everything_compiled_and_answers_the_same(game: str) -> None:
    first, later = all_asked(game, "1"), all_asked(game, "2")
    assert len(first.result) > 30
    assert later == (first.result, [])
