"""The pictures of strength by time are those of the tables beside them, and each has a ceiling."""

import pytest

from baselines.tools.pictures import AGAINST, FOLDER, picture_of, rows_of


@pytest.mark.parametrize("game", AGAINST)
def test_the_picture_is_that_of_its_table(game: str) -> None:
    drawn = picture_of(game)
    assert (FOLDER / f"{game}.svg").read_text(encoding="utf-8") == drawn
    assert any(row["game"] == game for row in rows_of("ceilings.csv"))
    for row in rows_of(f"{game}.csv"):
        assert float(row["margin_low"]) <= float(row["margin"]) <= float(row["margin_high"])
