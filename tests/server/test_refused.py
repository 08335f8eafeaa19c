"""What a server refuses: every mistake gets a status of 400 to 499 and one sentence, and changes nothing."""

import dataclasses
import json
import random
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from served import GENEROUS, Served
from test_games import decide, seated

import kdenv
from kdenv.core.errors import BadOption, KdenvError
from kdenv.policies import learned
from kdenv.policies.learned import shipped_models
from kdenv.server.policy_limits import checked
from kdenv.server.rate_limit import Limiter
from kdenv.server.settings import Limits, ServerSettings
from kdenv.server.store import Store

INJECTED = [
    "'; DROP TABLE games; --", "<script>alert(1)</script>", "../../etc/passwd", "\x00", "a\nb", "%2e%2e%2f", "${7*7}",
    "\ud800", "\u202egnp", "", " ", "x" * 41, "x" * 100_000, "os:system", "learned(/etc/passwd)", 'learned("/etc/passwd")', "ppo(../x.zip)",
    "mce(playout=os:x)",
]  # fmt: skip
HARMLESS = [
    "'; DROP TABLE games; --",
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "%2e%2e%2f",
    "${7*7}",
    "1",
    "one",
    "os:system",
    "learned(/etc/passwd)",
    'learned("/etc/passwd")',
    "ppo(../x.zip)",
    "mce(playout=os:x)",
]  # fmt: skip  (as names of players)
WRONG = [None, True, -1, 0.5, 1e400, 10**30, "1", "one", [], [1], {}, {"a": 1}, *INJECTED]


def everything(database: Path) -> list[Any]:
    """All that the database holds."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        db.text_factory = bytes
        rows = [db.execute(f"SELECT * FROM {table}").fetchall() for table in ("games", "seats", "events")]
    db.close()
    return rows


def refused(answer: tuple[int, dict[str, str], bytes]) -> None:
    status, headers, body = answer
    assert 400 <= status < 500, (status, body)
    assert headers["content-type"] == "application/json"
    document = json.loads(body)
    assert list(document) == ["error"]
    sentence = document["error"]
    assert 10 < len(sentence) < 2000
    assert "Traceback" not in sentence
    assert "\n" not in sentence


def bad_request(rng: random.Random, world: dict[str, Any]) -> tuple[str, str, bytes | None, dict[str, str]]:
    """A request that must be refused: method, path, body and headers."""
    id, token, state = world["id"], world["token"], world["state"]
    kind = rng.randrange(12)
    bearer = {"Authorization": f"Bearer {token}"}
    act = f"/api/v1/games/{id}/act"

    def sent(path: str, body: Any, headers: dict[str, str]) -> tuple[str, str, bytes, dict[str, str]]:
        return "POST", path, json.dumps(body).encode(), {"Content-Type": "application/json", **headers}

    if kind == 0:  # wrong tokens, and those of other games
        wrong = rng.choice([world["other"], "x", token[:-1], token + "A", "A" * 43, "'", "é", "a b", "\t"])
        header = f"Bearer {wrong}".encode().decode("latin-1")
        return sent(act, {"step": state["step"], "action": state["legal"][0]["action"]}, {"Authorization": header})
    if kind == 1:  # actions that are not legal
        action = rng.choice([rng.randrange(10**6), state["legal"][-1]["action"] + 1 + rng.randrange(1000)])
        return sent(act, {"step": state["step"], "action": 10**6 + action}, bearer)
    if kind == 2:  # late, early
        step = rng.choice([n for n in range(state["step"] + 50) if n != state["step"]])
        return sent(act, {"step": step, "action": 10**8}, bearer)
    if kind == 3:  # wrong types
        body = {"step": state["step"], "action": rng.choice([w for w in WRONG if w is not True])}
        return sent(act, body, bearer)
    if kind == 4:  # names
        wrong = rng.choice([w for w in WRONG if w not in HARMLESS])
        return sent(f"/api/v1/games/{world['waiting']}/join", {"name": wrong} if rng.random() < 0.9 else {}, {})
    if kind == 5:  # games
        body = {"game": "kingdomino"} | {rng.choice(["game", "players", "options", "seats", "turn_seconds", "zzz"]): rng.choice(WRONG[3:])}
        body = body | ({"players": 99} if _is_fine(body) else {})
        return sent("/api/v1/games", body, {})
    if kind == 6:  # programs
        text = rng.choice([*INJECTED[3:], "mce(seconds=1e9)", "mce(playouts=1e17)"])
        return sent("/api/v1/games", {"game": "kingdomino", "seats": [text]}, {})
    if kind == 7:  # huge, or no JSON
        long = b'{"name": "' + b"x" * 50_000 + b'"}'
        body = rng.choice([b"{" * 10_000, b"[" * 100_000, long, b"\xff\xfe", b"nan", b"{]", b'"x"', b"[1]"])
        return "POST", f"/api/v1/games/{world['waiting']}/join", body, {"Content-Type": "application/json"}
    if kind == 8:  # addresses
        games = ["/api/v1/games/x", f"/api/v1/games/{id.upper()}", "/api/v2/games"]
        path = rng.choice([*games, "/api/v1/nothing", "/../pyproject.toml", "/%2e%2e/x"])
        return rng.choice(["GET", "POST", "DELETE"]), path, None, {}
    if kind == 9:  # queries
        long = ["page=" + "9" * 30, "game=" + "x" * 61]
        query = rng.choice(["page=0", "page=x", "size=101", "status=lost", "page=1&page=2", "zzz=1", *long])
        return "GET", f"/api/v1/games?{query}", None, {}
    if kind == 10:  # methods and types
        return rng.choice([("PUT", act, b"{}", bearer), ("DELETE", f"/api/v1/games/{id}", None, bearer), ("POST", act, b"{}", bearer)])
    step = rng.choice([10**8, 999_999_999])  # steps and analyses
    if rng.random() < 0.5:
        return "GET", f"/api/v1/games/{id}/steps/{step}/picture.svg", None, {}
    return sent(f"/api/v1/games/{id}/steps/{state['step']}/analysis", {"policy": rng.choice(INJECTED)}, bearer)


def _is_fine(body: dict[str, Any]) -> bool:
    """Whether these happen to be good settings of a game."""
    return body["game"] == "kingdomino" and body.get("options") in ({}, None) and body.get("seats") in ([], None)


def test_2000_bad_requests_get_a_sentence_and_change_nothing(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    rng = random.Random(16)
    with Served(tmp_path / "games.sqlite") as served:
        id, tokens = seated(served, "dominoes")
        _, others = seated(served, "dominoes")
        state = decide(served, id, tokens, lambda legal: legal[0])
        turn = state["turn"]
        world = {
            "id": id,
            "token": tokens[turn],
            "other": rng.choice([*others, tokens[(turn + 1) % 4]]),
            "state": served.get(f"/games/{id}/seat", tokens[turn]),
            "waiting": served.make("dominoes"),
        }
        before = everything(tmp_path / "games.sqlite")
        for _ in range(2000):
            method, path, body, headers = bad_request(rng, world)
            try:
                refused(served.raw(method, path, body, headers))
            except AssertionError as error:
                raise AssertionError(f"{method} {path} {body!r:.300} {headers}") from error
        assert everything(tmp_path / "games.sqlite") == before
        assert served.get(f"/games/{id}/seat", tokens[turn]) == world["state"]


@pytest.mark.parametrize(
    "text",
    ["os:system", "json.tool:main", "learned(/etc/passwd)", 'learned("../x.npz")', "ppo(C:\\x)", "mce(leaf=learned(nothing), score=goal)",
     "mce(playout=os:system)", "mce(seconds=11)", "mce(turn_seconds=11)", "mce(playouts=100001)", "mce(playouts=[5, 100001])",
     "mce(threads=2, playouts=5)", "uct(game_seconds=1)"],
)  # fmt: skip
def test_a_program_may_not_name_files_nor_cost_too_much(served: Served, text: str) -> None:
    status, answer = served.ask("POST", "/games", {"game": "kingdomino", "seats": [text]})
    assert status == 422
    assert "kdenv" in answer["error"] or "server" in answer["error"]
    assert "No such file" not in answer["error"]


@pytest.mark.parametrize(
    "text",
    ["/etc/passwd", "../x", "mce-fg/r/../../x(seconds=1)", "mce-fg/r:main", "mce-fg/x(seconds=1)", "/mce-fg/r", "mce-fg//r",
     "mce-fg\\r(seconds=1)", "mce-fg\u2215r(seconds=1)", '"mce-fg/r"', "star2.5/best:Policy", "star2.5/../best", "kdenv/models/kingdomino",
     "C:/x", "file:///x", "//host/x(seconds=1)", "learned(mce-fg/r)", "learned(star2.5/best)", "ppo(model=ucb_orig/t23)",
     "ppo(mce-fg/r(seconds=1))", "mce(playout=tests/x, seconds=1)", "mce(leaf=learned(mce-fg/r), score=goal, seconds=1)",
     "mce-fg/r(playout=learned(./x), seconds=1)", "mce-fg/r(playout=os:system, seconds=1)", 'mce-fg/r(playout="os/x", seconds=1)',
     "mce-fg/r(seconds=11)", "star2.5/best", "star2.5/best(evaluate=learned(x/y), seconds=1)", "star2(evaluate=learned(here))",
     'star2(evaluate="learned(here)")', 'star2(evaluate="learned(\\u0068ere)")', 'star2.5/best(evaluate="learned(here)", seconds=1)'],
)  # fmt: skip
def test_a_slash_opens_nothing(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name with a slash that is no policy is refused, and a model is loaded by no text, although one lies in the working directory."""
    for name in ("here.npz", "here.zip"):
        shutil.copy(shipped_models()["kingdomino"], tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(learned, "load", lambda path: pytest.fail(f"{path} was loaded"))
    with pytest.raises(KdenvError) as refusal:
        checked(text, kdenv.game("kingdomino"), 4, {}, ServerSettings(), 10)
    assert "Error" not in str(refusal.value)


def test_a_fraction_is_a_number_and_no_file() -> None:
    made = checked("ims(beta=1/4)", kdenv.game("dominoes"), 4, {}, ServerSettings(), 10)
    assert made.text == "ims(beta=0.25)"
    with pytest.raises(BadOption, match="1/4 is no model of this server"):
        checked("learned(1/4)", kdenv.game("dominoes"), 4, {}, ServerSettings(), 10)


def test_an_operator_may_allow_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "my_agents_16.py").write_text("def last(view):\n    return view.legal()[-1]\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    with Served(tmp_path / "games.sqlite", policies=folder) as served:
        id = served.make("kingdomino", ["my_agents_16:last", "my_agents_16:last"], options={"size": 3, "dominoes": 4})
        state = served.get(f"/games/{id}")
        while state["status"] != "over":
            state = served.get(f"/games/{id}?since={state['step']}&wait=20")
        assert [seat["left"] for seat in state["seats"]] == [None, None]
        status, refusal = served.ask("POST", "/games", {"game": "kingdomino", "seats": ["os:system", "open"]})
        assert status == 422 and "os:system names a module or a file, which is not in the folder of --policies" in refusal["error"]


def test_one_client_may_not_ask_without_end(tmp_path: Path) -> None:
    with Served(tmp_path / "games.sqlite", limits=dataclasses.replace(Limits(), requests=5)) as served:
        statuses = [served.ask("GET", "/limits")[0] for _ in range(40)]
    assert statuses[:10] == [200] * 10
    assert 429 in statuses


def test_a_bucket_fills_at_its_rate() -> None:
    now = [0.0]
    limiter = Limiter(2, 3, lambda: now[0])
    assert [limiter.take("a") > 0 for _ in range(4)] == [False, False, False, True]
    assert limiter.take("b") == 0
    assert limiter.take("a") == pytest.approx(0.5)
    now[0] = 1.0
    assert [limiter.take("a") > 0 for _ in range(3)] == [False, False, True]


def test_there_are_no_more_games_than_allowed(tmp_path: Path) -> None:
    with Served(tmp_path / "games.sqlite", limits=dataclasses.replace(GENEROUS, games=4)) as served:
        first = served.make("carcassonne")
        served.make("carcassonne")
        status, answer = served.ask("POST", "/games", {"game": "carcassonne"})  # two others are for other clients
        assert (status, "no more" in answer["error"]) == (429, True)
        tokens = [served.join(first, name) for name in ("Ann", "Bob")]
        served.post(f"/games/{first}/resign", {}, tokens[0])
        served.make("carcassonne")


def test_a_locked_database_is_a_sentence_and_nothing_is_lost(tmp_path: Path) -> None:
    with Served(tmp_path / "games.sqlite") as served:
        id, tokens = seated(served, "carcassonne")
        turn = served.get(f"/games/{id}")["turn"]
        state = served.get(f"/games/{id}/seat", tokens[turn])
        body = {"step": state["step"], "action": state["legal"][0]["action"]}
        other = sqlite3.connect(tmp_path / "games.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        status, answer = served.ask("POST", f"/games/{id}/act", body, tokens[turn])
        assert (status, "nothing has changed" in answer["error"]) == (503, True)
        assert served.get(f"/games/{id}/seat", tokens[turn]) == state
        assert served.ask("POST", "/games", {"game": "carcassonne"})[0] == 503
        waiting_status = served.ask("POST", f"/games/{id}/resign", {}, tokens[turn])[0]
        assert waiting_status == 503
        other.execute("ROLLBACK")
        other.close()
        assert served.post(f"/games/{id}/act", body, tokens[turn])["step"] > state["step"]


def test_a_full_disk_is_a_sentence_and_nothing_is_lost(tmp_path: Path) -> None:
    with Served(tmp_path / "games.sqlite") as served:
        id, tokens = seated(served, "dominion")
        assert served.hall is not None
        database = served.hall.store._db
        (pages,) = database.execute("PRAGMA page_count").fetchone()
        database.execute(f"PRAGMA max_page_count={pages}")
        statuses, made = [], 0
        while 503 not in statuses and made < 200:
            status, answer = served.ask("POST", "/games", {"game": "dominion", "called": "x" * 40})
            statuses.append(status)
            made += 1
        assert (statuses[-1], "nothing has changed" in answer["error"]) == (503, True)
        listed = served.get("/games?size=100")["total"]
        assert listed == made  # those that were answered with 201, and the first
        database.execute("PRAGMA max_page_count=1000000")
        assert served.ask("POST", "/games", {"game": "dominion"})[0] == 201
        decide(served, id, tokens, lambda legal: legal[0])


def test_two_servers_do_not_share_a_database_and_no_other_file_is_taken(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.sqlite") as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    (tmp_path / "text").write_text("this is no database, and long enough to be noticed as none " * 20, encoding="utf-8")
    for name in ("other.sqlite", "text"):
        with pytest.raises(BadOption, match="database"):
            Store(tmp_path / name)
