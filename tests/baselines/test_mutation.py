"""Do the known faults fit the sources as they are, so that `python -m baselines.tools.mutation --known` tries all of them?"""

from pathlib import Path

from baselines.tools.known_faults import KNOWN

ROOT = Path(__file__).parents[2]
FAULTS = [fault for part in KNOWN.values() for fault in part]


def test_the_text_of_every_known_fault_is_in_its_file_once() -> None:
    counts = {(fault.path, fault.old): (ROOT / fault.path).read_text(encoding="utf-8").count(fault.old) for fault in FAULTS}
    assert [where for where, count in counts.items() if count != 1] == []


def test_the_test_of_every_known_fault_exists() -> None:
    tests = {fault.test.split("[")[0].partition("::")[::2] for fault in FAULTS}
    assert [each for each in tests if f"def {each[1]}(" not in (ROOT / "tests" / each[0]).read_text(encoding="utf-8")] == []
