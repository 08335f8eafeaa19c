"""Games that are damaged in the database: they are set aside and logged, nothing of them is deleted, and all other games go on."""

import logging
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from kdom_client import Server
from served import Served
from test_games import decide, seated
from test_refused import everything

from kdenv.server.running_game import Live
from kdenv.server.store import Store

SMALL = {"size": 3, "dominoes": 4}
# What is done to a running game, and what the operator is told.
OF_A_GAME = {
    "UPDATE games SET options = '{\"size\": 3' WHERE id = :id": "its options",
    "UPDATE games SET options = '{\"size\": 1e400}' WHERE id = :id": "its options",
    "UPDATE games SET options = '{\"players\": 2}' WHERE id = :id": "players",
    "UPDATE games SET options = '{\"size\": 4}' WHERE id = :id": "size",
    "UPDATE games SET options = x'ff00' WHERE id = :id": "its options",
    "UPDATE games SET settings = '{}' WHERE id = :id": "field `turn_seconds` - at `$.settings`",
    "UPDATE games SET settings = '[1]' WHERE id = :id": "got `array` - at `$.settings`",
    "UPDATE games SET secret = 'text' WHERE id = :id": "its data: Expected `bytes`, got `str` - at `$.secret`",
    "UPDATE games SET game = 'ludo' WHERE id = :id": "there is no game ludo",
    "UPDATE games SET game = CAST(x'ff41' AS TEXT) WHERE id = :id": "there is no game",
    "UPDATE games SET players = 10000000000 WHERE id = :id": "`$.players`",
    "UPDATE games SET players = 3 WHERE id = :id": "its list of seats",
    "UPDATE games SET status = 'lost' WHERE id = :id": "`$.status`",
    "UPDATE games SET updated = 1e300 WHERE id = :id": "`$.updated`",
    "UPDATE seats SET kind = 'nobody' WHERE game = :id AND seat = 1": "`$.seats[1].kind`",
    "UPDATE seats SET token = 'text' WHERE game = :id AND seat = 0": "`$.seats[0].token`",
    "DELETE FROM seats WHERE game = :id AND seat = 1": "its list of seats",
    "UPDATE events SET number = 1000000000 WHERE game = :id AND kind = 'action'": "action 1000000000, is not possible",
    "UPDATE events SET number = 1000000000 WHERE game = :id AND kind = 'chance'": "chance 1000000000, is not possible",
    "UPDATE events SET number = 'text' WHERE game = :id AND n = 1": "`$[1][2]`",
    "UPDATE events SET kind = 'undo', number = 77 WHERE game = :id AND n = 3": "its event 3, undo 77, is not possible",
    "UPDATE events SET kind = 'left', number = 9 WHERE game = :id AND n = 3": "its event 3, left 9, is not possible",
    "UPDATE events SET kind = 'jump' WHERE game = :id AND n = 3": "its events: Invalid enum value 'jump' - at `$[3][0]`",
    "UPDATE events SET seat = 1 - seat WHERE game = :id AND kind = 'action'": "is not possible",
    "UPDATE events SET words = x'00' WHERE game = :id AND n = 1": "`$[1][4]`",
    "UPDATE events SET time = 'soon' WHERE game = :id AND n = 1": "`$[1][5]`",
    "DELETE FROM events WHERE game = :id AND n = 2": "its event 2 is missing",
    "DELETE FROM events WHERE game = :id": "its 0 events",
    "UPDATE games SET status = 'waiting' WHERE id = :id": "events are not those of a game that is waiting",
}
OF_A_RESULT = {
    "UPDATE games SET result = '{\"scores\": [1' WHERE id = :id": "its result",
    "UPDATE games SET result = '{\"scores\": [1, 2]}' WHERE id = :id": "its result",
    "UPDATE games SET result = replace(result, '[', '[1, ') WHERE id = :id": "its result",
}


def damage(database: Path, games: dict[str, str]) -> None:
    """Do to each game what its statement says."""
    with sqlite3.connect(database) as db:
        for statement, id in games.items():
            assert db.execute(statement, {"id": id}).rowcount
    db.close()


def test_damaged_games_keep_no_other_game_from_going_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    database = tmp_path / "games.sqlite"
    with Served(database) as served:
        made = {}
        for statement in OF_A_GAME:
            made[statement], tokens = seated(served, "kingdomino", players=2, options=SMALL)
            decide(served, made[statement], tokens, lambda legal: legal[0])
        healthy, tokens = seated(served, "carcassonne")
    damage(database, made)
    before = everything(database)
    with caplog.at_level(logging.ERROR, "kdenv.server"), Served(database, kdom=True) as served:
        assert any(f"set aside: {len(made)};" in words for words in served.said)
        assert served.hall is not None
        assert list(served.hall.live) == [healthy]
        for statement, id in made.items():
            status, answer = served.ask("GET", f"/games/{id}")
            assert (status, "is damaged" in answer["error"]) == (500, True), statement
            told = [record.getMessage() for record in caplog.records if id in record.getMessage()]
            assert len(told) == 1, statement
            assert OF_A_GAME[statement] in told[0]
            assert "\n" not in told[0]
        listed = served.get("/games?size=100")["games"]
        assert [game["id"] for game in listed] == [healthy]
        assert served.get("/statistics?game=kingdomino")["games"] == 0
        assert Server(served.kdom_port).ask("GET", "/games/")[0] == 200
        assert everything(database) == before
        decide(served, healthy, tokens, lambda legal: legal[0])


def test_a_damaged_result_spoils_neither_the_list_nor_the_statistics(tmp_path: Path) -> None:
    database = tmp_path / "games.sqlite"
    with Served(database, kdom=True) as served:
        ids = []
        for _ in range(len(OF_A_RESULT) + 2):
            id, tokens = seated(served, "kingdomino", players=2)
            for _ in range(4):
                decide(served, id, tokens, lambda legal: legal[0])
            served.post(f"/games/{id}/resign", {}, tokens[0])
            ids.append(id)
        made = dict(zip(OF_A_RESULT, ids, strict=False))
        damage(database, made)
        damage(database, {"DELETE FROM events WHERE game = :id": ids[-1]})  # which is found when it is read
    with Served(database, kdom=True) as served:
        assert served.get("/statistics?game=kingdomino")["games"] == 2
        assert {game["id"] for game in served.get("/games")["games"]} == set(ids[-2:])
        assert served.hall is not None
        assert set(served.hall.store.damaged) == set(made.values())
        status, _, body = Server(served.kdom_port).ask("GET", "/games/")
        assert (status, [id in body.decode() for id in ids]) == (200, [False, False, False, True, False])
        assert [served.ask("GET", f"/games/{id}")[0] for id in ids] == [500, 500, 500, 200, 500]


def test_a_game_with_everything_in_it_is_not_taken_for_damaged(served: Served) -> None:
    """Undone decisions, a seat that is left and a program: all kinds of events are read again."""
    id = served.make("dominoes", ["open", "greedy", "greedy", "greedy"], casual=True)
    token = served.join(id, "Ann")

    def mine() -> Any:
        state = served.get(f"/games/{id}/seat", token)
        while not state["legal"] and state["status"] == "running" and not state["seats"][0]["left"]:
            state = served.get(f"/games/{id}/seat?since={state['step']}&wait=20", token)
        return state

    for _ in range(2):
        state = mine()
        served.post(f"/games/{id}/act", {"step": state["step"], "action": state["legal"][0]["action"]}, token)
        state = mine()
        served.post(f"/games/{id}/undo", {"step": state["step"]}, token)
    served.post(f"/games/{id}/resign", {}, token)
    state = served.get(f"/games/{id}")
    while state["status"] == "running":
        state = served.get(f"/games/{id}?since={state['step']}&wait=20")
    record = served.get(f"/games/{id}/record")
    store = Store(served.settings.database)
    kept = store.load(id)
    assert kept is not None
    rows = store.rows(id)
    assert {row.kind for row in rows} == {"action", "chance", "undo", "left"}
    assert Live(kept, rows).table.record() == record
    store.close()
