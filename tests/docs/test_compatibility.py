"""Does the page of compatibility name programs and tests that there are?"""

import re
from pathlib import Path

HOME = Path(__file__).parents[2]
PAGE = (HOME / "docs" / "compatibility.md").read_text("utf-8")


def test_each_library_is_shown_by_a_test_or_a_program_that_is_there() -> None:
    rows = [line for line in PAGE.split("## Autoreset")[0].splitlines() if line.startswith("| ") and "| library |" not in line]
    assert len(rows) > 10
    for row in rows:
        shown_by = row.split("|")[-2]
        files = re.findall(r"`((?:tests|examples)/[a-z_0-9/]+\.py)`", shown_by)
        assert len(files) == 1, row
        text = (HOME / files[0]).read_text("utf-8")
        for test in re.findall(r"`(test_[a-z_0-9]+)`", shown_by):
            assert f"def {test}(" in text, test


def test_each_test_that_the_page_names_is_in_the_file_before_it() -> None:
    file = ""
    for name in re.findall(r"`(tests/[a-z_0-9/]+\.py|test_[a-z_0-9]+)`", PAGE):
        if name.startswith("tests/"):
            file = (HOME / name).read_text("utf-8")
        else:
            assert f"def {name}(" in file, name
