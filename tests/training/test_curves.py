"""Are the curves of trainings read back, and drawn in one picture?"""

from pathlib import Path

import pytest

from kdenv.cli import main
from kdenv.training.curve import Strength, TrainingCurve, read_curve


def curve(*opponents: str) -> TrainingCurve:
    """Four measurements against each of these opponents, the first one before a second has passed."""
    times = (0.2, 10.0, 100.0, 1000.0)
    return TrainingCurve(Strength(int(10 * s), s, 0.1, who, 1.5, 0.2, 0.2 * i, 0.05) for i, s in enumerate(times, 1) for who in opponents)


def test_a_curve_is_read_as_it_was_written(tmp_path: Path) -> None:
    curve("greedy", "random").write(tmp_path, "title")
    assert read_curve(tmp_path / "curve.csv").points == curve("greedy", "random").points


def test_several_curves_are_drawn_in_one_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, opponents in (("chess", ["greedy"]), ("draughts", ["greedy", "random"])):
        (tmp_path / name).mkdir()
        curve(*opponents).write(tmp_path / name, "title")
    curves = [str(tmp_path / name / "curve.csv") for name in ("chess", "draughts")]
    assert main(["trainings", *curves, "--draw", str(tmp_path / "all.svg")]) == 0
    assert capsys.readouterr().out == f"the picture is {tmp_path / 'all.svg'}\n"
    drawn = (tmp_path / "all.svg").read_text(encoding="utf-8")
    assert all(name in drawn for name in ("chess against greedy", "draughts against greedy", "draughts against random"))
    assert drawn.count("<polyline") == 3
    assert drawn.count("<circle") == 9  # those after the first second


def test_a_file_that_is_no_curve_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n", encoding="utf-8")
    assert main(["trainings", str(other), "--draw", str(tmp_path / "all.svg")]) == 2
    assert "is not the curve of a training ('games'); give a curve.csv that 'kdenv train' has written" in capsys.readouterr().err
    assert main(["trainings", str(other), "--draw", str(tmp_path / "all.bmp")]) == 2
    assert "the picture is an .svg" in capsys.readouterr().err
