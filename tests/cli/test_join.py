"""`kdenv join` with an address that is none, and with servers that are not kdenv's: one sentence each."""

import http.server
import threading
from collections.abc import Iterator

import pytest

from kdenv import client
from kdenv.cli import main

NO_ADDRESSES = [
    "http://[::1",
    "http://",
    "http://:8000",
    "http://host:port",
    "http://host:99999",
    "http://host:0",
    "http://a..b",
    f"http://{'a' * 70}.org",
    "http://h\u00f6st:80",
    "http://ho st",
    "http://host\n:80",
    "http://host\udcff",
    "ftp://host",
    "http://host?x=1",
    "http://ann@host",
    "http://host\\x",
    "127.0.0.1",
    "",
]


def complaint(capsys: pytest.CaptureFixture[str], url: str, game: str = "kingdomino") -> str:
    assert main(["join", url, game, "random"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


@pytest.mark.parametrize("url", NO_ADDRESSES, ids=ascii)
@pytest.mark.parametrize("game", ["kingdomino", "6f1c0b8e"])
def test_what_is_no_address_is_told_at_once(url: str, game: str, capsys) -> None:
    assert "is no address of a server; write http://host:port" in complaint(capsys, url, game)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/", "http://[::1]:8000", "https://play.example.org/kdenv"])
def test_addresses_are_taken(url: str) -> None:
    client._check_address(url)


class Stranger(http.server.BaseHTTPRequestHandler):
    answer = b""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.answer)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))  # the connection is reset if something of a request is not read
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def stranger() -> Iterator[str]:
    with http.server.HTTPServer(("127.0.0.1", 0), Stranger) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    "answer, what",
    [
        (b"<html>", "the answer is not JSON; is it a server of kdenv?"),
        (b"\xff\xfe", "the answer is not JSON"),
        (b"[" * 100_000, "the answer is not JSON"),
        (b"[]", "does not answer as a server of kdenv does"),
        (b'{"games": 5, "seat": null, "token": 1}', "does not answer as a server of kdenv does"),
    ],
    ids=["html", "bytes", "deep", "list", "others"],
)
@pytest.mark.parametrize("game", ["kingdomino", "6f1c0b8e"])
def test_another_server_is_told(stranger: str, answer: bytes, what: str, game: str, capsys, monkeypatch) -> None:
    monkeypatch.setattr(Stranger, "answer", answer)
    assert what in complaint(capsys, stranger, game)


def test_an_endless_answer_is_not_read_to_its_end(stranger: str, monkeypatch) -> None:
    monkeypatch.setattr(client, "_LARGEST", 1000)
    monkeypatch.setattr(Stranger, "answer", b" " * 100_000 + b"[]")
    with pytest.raises(client.Refused, match="the answer is not JSON"):
        client.ask(stranger, "GET", "/rules")
