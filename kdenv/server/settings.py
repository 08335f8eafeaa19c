"""The settings of a server, which its operator chooses: where it listens, its files, and its limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Limits:
    """The limits for one client, one game and one search. /api/v1/limits lists them."""

    games: int = 2000  # waiting and running at the same time; one client may have half of them
    games_an_hour: int = 500  # that one client may make in an hour
    games_without_people: int = 40  # in which only programs play, running at the same time; one client may have half of them
    requests: float = 200.0  # a second, of one client; twice as many may come at once
    connections: int = 600  # of one client at the same time, and never more than half of what the system allows
    header_seconds: float = 10.0  # for the headers of a request
    body_seconds: float = 20.0  # for its body
    tasks: int = 16  # of one client that wait for their turn: drawings, curves, statistics
    body: int = 16_384  # bytes of a request
    name: int = 40  # letters of a player's name
    policy: int = 300  # letters of a policy's text
    turn_seconds: int = 7 * 86_400  # the longest time that a game may give for a decision
    usual_turn_seconds: int = 600  # the time for a decision where several people play, if a game names none
    undos: int = 200  # in one game
    waiting_seconds: int = 7 * 86_400  # that a game may wait for players
    wait: float = 25.0  # seconds that a request for events may wait for one
    listeners: int = 1000  # requests that wait for events at the same time
    listeners_of_client: int = 100  # of one client
    search_seconds: float = 10.0  # for a decision of a program
    analysis_seconds: float = 5.0  # for an analysis
    search_size: int = 100_000  # playouts, nodes or any other whole number in a policy's text
    decision_seconds: float = 60.0  # after which a program that has not decided loses its seat; compiling is not counted
    analyses: int = 16  # of one client that wait for a process


@dataclass(frozen=True)
class ServerSettings:
    """The settings of a server."""

    host: str = "127.0.0.1"
    port: int = 8000
    database: Path = Path("kdenv.sqlite")
    host_names: tuple[str, ...] = ()  # that it answers to, beside its address and the names of this machine
    kdom_port: int | None = None  # for the protocol of the Kingdomino paper; None: nowhere
    workers: int = 1  # processes that search
    callbacks: tuple[str, ...] | None = None  # hosts that may be called back; None: this machine, if nobody else can reach the server
    policies: Path | None = None  # a folder whose modules and models the texts of policies may name
    proxy: str | None = None  # the address of a proxy whose X-Forwarded-For is trusted
    limits: Limits = field(default_factory=Limits)
