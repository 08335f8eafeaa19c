"""Pages of other sites: a server is asked only by its own names, and only by its own pages."""

import json
from typing import Any

import pytest
from served import Served
from test_games import seated

from kdenv.cli import main
from kdenv.server.origin_check import Names

UPGRADE = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}  # fmt: skip


def sentence(answer: tuple[int, dict[str, str], bytes]) -> str:
    status, headers, body = answer
    assert (status, headers["content-type"]) == (403, "application/json"), body
    document = json.loads(body)
    assert list(document) == ["error"]
    assert "\n" not in document["error"]
    return str(document["error"])


@pytest.mark.parametrize("host", ["evil.org:8000", "localhost.evil.org", "10.0.0.1", "0.0.0.0:8000", "a@localhost", "[::1", "x y", ""])
def test_a_name_that_is_not_the_servers_is_refused_on_both_ports(served: Served, host: str) -> None:
    """A page of evil.org, whose name was made to lead here, could otherwise read and play."""
    for path, port in [("/", 0), ("/api/v1/games", 0), ("/games/", served.kdom_port), ("/ping", served.kdom_port)]:
        assert "does not answer to the name" in sentence(served.raw("GET", path, None, {"Host": host}, port))


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "localhost.:8000", "127.0.0.1:8000", "127.9.9.9", "[::1]:8000"])
def test_the_names_of_this_machine_are_known(served: Served, host: str) -> None:
    assert served.raw("GET", "/api/v1/limits", None, {"Host": host})[0] == 200
    assert served.raw("GET", "/ping", None, {"Host": host}, served.kdom_port)[0] == 200


def test_a_page_of_another_site_can_neither_make_games_nor_decide_nor_listen(served: Served) -> None:
    id, tokens = seated(served, "carcassonne")
    served.post(f"/games/{id}/resign", {}, tokens[0])  # so that a stream of its events would end
    before = served.get(f"/games/{id}"), served.get("/games")["total"]
    act = json.dumps({"step": before[0]["step"], "action": 0}).encode()
    kind = {"Content-Type": "application/json"}
    for origin in (f"http://evil.org:{served.port}", "null", "http://127.0.0.1:1", f"http://localhost:{served.port}", "x", ""):
        foreign = {"Origin": origin}
        answers = [
            served.raw("POST", "/api/v1/games", b'{"game": "dominoes"}', kind | foreign),
            served.raw("POST", f"/api/v1/games/{id}/act", act, kind | foreign | {"Authorization": f"Bearer {tokens[0]}"}),
            served.raw("GET", f"/api/v1/games/{id}/events", None, foreign | {"Accept": "text/event-stream"}),
            served.raw("GET", f"/api/v1/games/{id}/events", None, foreign | UPGRADE),
            served.raw("POST", "/new-games/?playerCount=2", None, foreign, served.kdom_port),
            served.raw("GET", "/games/", None, foreign | UPGRADE, served.kdom_port),
        ]
        for answer in answers:
            assert "may not ask this server" in sentence(answer)
    assert (served.get(f"/games/{id}"), served.get("/games")["total"]) == before


def test_the_servers_own_pages_may_ask(served: Served) -> None:
    own = {"Content-Type": "application/json", "Origin": f"http://127.0.0.1:{served.port}"}
    assert served.raw("POST", "/api/v1/games", b'{"game": "dominoes"}', own)[0] == 201


@pytest.mark.parametrize(
    ("host", "origin", "allowed"),
    [
        ("games.example.org", "https://games.example.org", True),
        ("Games.Example.org:8000", "http://games.example.org:8000", True),
        ("127.0.0.1:8000", "https://games.example.org", True),  # a proxy that asks by the address
        ("10.0.0.7:8000", "http://10.0.0.7:8000", True),
        ("10.0.0.7", "", True),
        ("10.0.0.8", "", False),
        ("localhost:8000", "http://localhost:8000", True),
        ("localhost:8000", "http://10.0.0.7:8000", False),  # another of our addresses may be another site of this machine
        ("example.org", "", False),
        ("games.example.org.evil.org", "", False),
        ("games.example.org", "https://example.org", False),
    ],
)
def test_the_operator_gives_the_server_names(host: str, origin: str, allowed: bool) -> None:
    names = Names(["10.0.0.7"], ["Games.Example.org"])
    obstacle = names.refusal_reason([host], [origin] if origin else [])
    assert (not obstacle) is allowed, obstacle


def test_a_server_on_all_addresses_answers_to_any_number_but_to_no_other_name() -> None:
    for everywhere in ("0.0.0.0", "::"):
        names = Names([everywhere], [])
        asked: dict[str, Any] = {
            host: names.refusal_reason([host], []) for host in ("10.0.0.1:80", "[2001:db8::1]", "0.0.0.0:8000", "evil.org")
        }
        assert [host for host, obstacle in asked.items() if obstacle] == ["evil.org"]


@pytest.mark.parametrize("name", ["http://games.example.org", "games.example.org:80", "a b", ""])
def test_a_wrong_name_is_a_sentence(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--host-name", name]) == 2
    assert "is no name of a host" in capsys.readouterr().err
