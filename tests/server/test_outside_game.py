"""A game from outside the package plays on the server, with nothing but what every game has: words, no shapes."""

from pathlib import Path

import pytest
from served import Served
from test_games import seated

import kdenv
from kdenv import games


@pytest.fixture
def with_shells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Served:
    import three_shells

    monkeypatch.setitem(games._from_outside, "three_shells", three_shells.GAME)
    return Served(tmp_path / "games.sqlite")


def test_three_shells_is_played_by_its_words(with_shells: Served) -> None:
    with with_shells as served:
        rules = next(each for each in served.get("/rules")["games"] if each["game"] == "three_shells")
        assert rules["clickable"] is False
        id, tokens = seated(served, "three_shells")
        state = served.get(f"/games/{id}")
        while state["status"] == "running":
            turn, step = state["turn"], state["step"]
            assert [each["paths"] for each in served.get(f"/games/{id}/steps/{step}/shapes", tokens[turn])["shapes"]]
            assert served.get(f"/games/{id}/steps/{step}/picture.svg").startswith("<svg")
            mine = served.get(f"/games/{id}/seat", tokens[turn])
            assert mine["legal"][0]["words"]
            state = served.post(f"/games/{id}/act", {"step": step, "action": mine["legal"][0]["action"]}, tokens[turn])
        assert kdenv.replay(served.get(f"/games/{id}/record")).over
