"""A client of the game server (`kdenv serve`) that needs nothing but the standard library.

>>> from kdenv.client import Seat, make
>>> url = "http://127.0.0.1:8000"
>>> game = make(url, "kingdomino", seats=["open", "full_greedy"], options={"size": 3})
>>> seat = Seat.join(url, game, "Ann")
>>> last = seat.play(lambda state: state["legal"][0]["action"])
>>> last["status"], len(last["scores"])
('over', 2)

`kdenv join` plays any policy of kdenv with it. /api/v1/openapi.json of the server describes a state.
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Refused", "Seat", "State", "ask", "make"]

State = dict[str, Any]
_PATIENCE = 60.0  # seconds for an answer
_LARGEST = 1 << 26  # bytes of an answer
_SHOWN = 80  # letters of an address that a message shows
_WAIT = 20  # seconds that one request waits for an event of the game
_PAUSES = (0.2, 1.0, 3.0, 10.0)  # seconds before a request is repeated that found no server, or a busy one


class Refused(Exception):
    """The server has refused a request. The message is its sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def ask(url: str, method: str, path: str, body: Any = None, token: str | None = None) -> Any:
    """The answer of the server at this address to one request.

    Raises Refused, ValueError if this is no address, and OSError if there is no server.

    If the answer gets lost, questions and decisions are sent again. Making and joining a game must not happen twice, so they are not.

    >>> from kdenv.client import ask
    >>> [game["game"] for game in ask("http://127.0.0.1:8000", "GET", "/rules")["games"]][:2]
    ['kingdomino', 'dominion']
    """
    _check_address(url)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{url.rstrip('/')}/api/v1{path}", data, headers, method=method)
    for pause in (*_PAUSES, None):
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
                return _json(answer)
        except urllib.error.HTTPError as error:
            with error:
                refused = Refused(error.code, _sentence(error))
            if error.code not in (429, 503) or pause is None:
                raise refused from None
        except (OSError, http.client.HTTPException) as error:
            was_never_sent = isinstance(getattr(error, "reason", None), ConnectionRefusedError)
            if pause is None or not (was_never_sent or method == "GET" or path.endswith("/act")):
                reason = getattr(error, "reason", error)  # urllib wraps the error
                raise ConnectionError(f"the server at {url} does not answer: {getattr(reason, 'strerror', None) or reason}") from error
        time.sleep(pause)
    raise AssertionError("the last try returns or raises")


def _check_address(url: str) -> None:
    try:
        parts = urllib.parse.urlsplit(url)
        host = parts.hostname or ""
        host.encode("idna")  # it refuses a text that cannot be the name of a host
        is_plain = url.isascii() and url.isprintable() and not any(letter in url for letter in " @?#\\")
        is_one = parts.scheme in ("http", "https") and host and parts.port != 0 and is_plain
    except ValueError:  # also of the port, which is read here
        is_one = False
    if not is_one:
        raise ValueError(f"{url[:_SHOWN]!r} is no address of a server; write http://host:port")


def _json(answer: Any) -> Any:
    """The JSON of an answer. Raises Refused if it is no JSON, or too long, and IncompleteRead if its end got lost."""
    data = answer.read(_LARGEST)
    if len(data) < _LARGEST and answer.length:
        raise http.client.IncompleteRead(data, answer.length)
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise Refused(answer.status, "the answer is not JSON; is it a server of kdenv?") from None


def _sentence(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["error"])
    except (ValueError, KeyError, TypeError):
        return f"the server answered {error.code} {error.reason}; is it a server of kdenv?"


def make(url: str, game: str, **more: Any) -> str:
    """Make a game, with `seats=`, `options=` and whatever else the API takes. Return its id.

    >>> from kdenv.client import ask, make
    >>> url = "http://127.0.0.1:8000"
    >>> game = make(url, "dominoes", seats=["open", "greedy", "greedy", "greedy"])
    >>> ask(url, "GET", f"/games/{game}")["status"]
    'waiting'
    """
    return str(ask(url, "POST", "/games", {"game": game, **more})["id"])


@dataclass(frozen=True)
class Seat:
    """A seat that this program plays."""

    url: str
    game: str  # the id of the game
    seat: int
    token: str  # a secret: anybody who has it can play the seat

    @classmethod
    def join(cls, url: str, game: str, name: str, **more: Any) -> Seat:
        """Take an open seat under this name. `seat=` chooses one, `callback=` gives an address that is called when the seat decides."""
        taken = ask(url, "POST", f"/games/{urllib.parse.quote(game)}/join", {"name": name, **more})
        return cls(url, game, int(taken["seat"]), str(taken["token"]))

    def state(self, since: int | None = None) -> State:
        """The state of the game as the seat may know it. If `since` is a step, wait some seconds until the game is beyond it."""
        query = "" if since is None else f"?since={since}&wait={_WAIT}"
        return dict(ask(self.url, "GET", f"/games/{self.game}/seat{query}", token=self.token))

    def act(self, state: State, action: int) -> State:
        """Take an action in this state, and return the state after it. The request may be sent again if the answer gets lost."""
        body = {"step": state["step"], "action": int(action)}
        return dict(ask(self.url, "POST", f"/games/{self.game}/act", body, self.token))

    def resign(self) -> State:
        """Give the seat up."""
        return dict(ask(self.url, "POST", f"/games/{self.game}/resign", {}, self.token))

    def play(self, choose: Callable[[State], int], told: Callable[[State], None] = lambda state: None) -> State:
        """Play to the end of the game: `choose` takes a state and returns one of its legal actions. Return the last state.

        `told` is called with every state.
        """
        state = self.state()
        while state["status"] != "over":
            told(state)
            state = self.act(state, choose(state)) if state["legal"] else self.state(state["step"])
        told(state)
        return state
