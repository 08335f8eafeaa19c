"""What is hidden stays hidden: no byte that a viewer is sent changes when what it cannot know is drawn anew."""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import three_shells
from served import Served
from test_games import ALL, decide, seated

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import make_rng
from kdenv.compiler.state import state_dtype
from kdenv.core import verbs
from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.server import visibility
from kdenv.server.running_game import Live


def drawn_anew(table: Table, viewer: int | None, rng: random.Random) -> Table:
    """A copy of a table in which everything is drawn anew that the viewer cannot know; None is anybody who watches."""
    twin = table.clone()
    seats = list(range(table.players)) if viewer is None else [viewer]
    for seat in rng.sample(seats, len(seats)) * (2 if viewer is None else 1):
        verbs.resample_hidden_at(twin.states, 0, seat, make_rng(rng.randrange(1 << 60)))
    return twin


@contextmanager
def another_truth(live: Live, viewer: int | None, rng: random.Random) -> Iterator[None]:
    """In this block the game has other hidden cards, now and at every earlier step, and other events that the viewer did not see."""
    table, rows = live.table, live.rows
    earlier = [each.clone() for each in live.tables()]
    live.table = drawn_anew(table, viewer, rng)
    secret = [row._replace(number=rng.randrange(99), words=f"secret {rng.random()}") for row in rows]
    live.rows = [row if row.seen_by & live.knows(viewer) == live.knows(viewer) else other for row, other in zip(rows, secret, strict=True)]
    live.table_at = lambda step: live.table if step == len(rows) else drawn_anew(earlier[step], viewer, rng)  # type: ignore[method-assign]
    live.tables = lambda: (drawn_anew(each, viewer, rng) for each in earlier)  # type: ignore[method-assign]
    try:
        yield
    finally:
        live.table, live.rows = table, rows
        del live.table_at, live.tables


def everything_sent(served: Served, id: str, token: str | None, step: int, act: dict[str, Any]) -> dict[str, tuple[int, bytes]]:
    """All that the server sends this viewer about a game: the status and the bytes of every answer, also to what it refuses."""
    assert served.hall is not None
    place, headers = f"/api/v1/games/{id}", {"Authorization": f"Bearer {token}"} if token else {}
    paths = ["", "/seat", "/seat?numbers=true&view=true", "/events", "/record", "/curve", "/film.gif"]
    paths += [f"/steps/{n}/{what}" for n in (step, step // 2, 1) for what in ("picture.svg", "picture.svg?narrow=true", "shapes")]
    posted = [("/act", act), ("/act", {**act, "actions": [3, 4, 5]}), ("/undo", {"step": step})]
    posted.append((f"/steps/{step}/analysis", {"policy": "x"}))
    answers = {}
    served.hall.results.clear()
    for path in paths:
        status, _, body = served.raw("GET", place + path, None, headers)
        answers[path] = status, body
    for path, document in posted:
        body = json.dumps({name: value for name, value in document.items() if name != "action" or "actions" not in document}).encode()
        status, _, answer = served.raw("POST", place + path, body, {**headers, "Content-Type": "application/json"})
        answers[f"POST {path} {body!r}"] = status, answer
        assert status >= 400
    return answers


@pytest.mark.parametrize("game", ALL)
def test_no_byte_depends_on_what_the_viewer_cannot_know(served: Served, game: str) -> None:
    rng = random.Random(5)
    id, tokens = seated(served, game, casual=True)
    assert served.hall is not None
    live = served.hall.find(id)
    hides, moved = not live.game.open_information, 0
    for n_decisions in (3, 12, 25):
        for _ in range(n_decisions):
            if served.get(f"/games/{id}")["status"] == "running":
                decide(served, id, tokens, rng.choice)
        if live.status == "over":
            break
        for viewer, token in [(None, None), *enumerate(tokens)]:
            act = {"step": live.step, "action": 10**6 + rng.randrange(99)}
            truth = everything_sent(served, id, token, live.step, act)
            face_up = live.table.svg()
            for _ in range(2):
                with another_truth(live, viewer, rng):
                    moved += live.table.svg() != face_up
                    api = everything_sent(served, id, token, live.step, act)
                assert api == truth, [path for path in truth if api[path] != truth[path]]
    assert (moved > 3) == hides  # what is hidden was in fact drawn anew


@pytest.mark.parametrize("game", ["dominion", "dominoes"])
def test_the_check_notices_a_picture_that_shows_too_much(served: Served, game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kdenv.server.visibility.picture", lambda live, table, viewer, **look: table.svg())
    with pytest.raises(AssertionError, match="picture"):
        test_no_byte_depends_on_what_the_viewer_cannot_know(served, game)


@pytest.mark.parametrize("name", ["dominion", "dominoes"])
def test_what_people_are_told_does_not_depend_on_what_they_cannot_know(name: str) -> None:
    game, rng = find_game(name), random.Random(3)
    table, drawing, chance = Table(game, max(game.players)), game.drawing, make_rng(4)

    def anew(states: Any, viewer: int | None) -> Any:
        for seat in range(table.players) if viewer is None else (viewer,):
            states = states.copy()
            verbs.resample_hidden_at(states, 0, seat, make_rng(rng.randrange(10**6)))
        return states

    different = 0
    for _ in range(80):
        befores, outcomes, seen_by = [], [], []
        while table.at_chance:
            befores.append(table.states.copy())
            outcomes.append(table.sample_chance(chance))
            seen_by.append(int(verbs.witnesses_at(table.states, 0)))
            table.chance(outcomes[-1])
        for viewer in (None, *range(table.players)) if befores else ():
            knows = (1 << table.players) - 1 if viewer is None else 1 << viewer
            known = [outcome if seen & knows == knows else None for outcome, seen in zip(outcomes, seen_by, strict=True)]
            others = [anew(before, viewer)[0] for before in befores]
            assert drawing.told_chance(others, known) == drawing.told_chance([before[0] for before in befores], known)
        if table.over:
            return
        before, action = table.states.copy(), rng.choice(table.legal())
        table.play(action)
        for viewer in (None, *range(table.players)):
            one, two = anew(before, viewer), anew(table.states, viewer)
            different += one.tobytes() != before.tobytes()
            assert drawing.told(one, two, action) == drawing.told(before, table.states, action)
    assert different > 50


@pytest.mark.parametrize("game", ["dominion", "dominoes"])
def test_a_seat_is_told_of_its_own_cards_and_others_of_their_number(served: Served, game: str) -> None:
    id, tokens = seated(served, game)
    told = [
        [line["words"] for event in served.get(f"/games/{id}/events?told=true", token)["events"] for line in event["told"]]
        for token in (None, *tokens)
    ]
    if game == "dominion":
        assert told[0] == ["drew 5 cards"] * len(tokens)
        assert all("Copper" in words[seat] for seat, words in enumerate(told[1:]))
        assert told[1][1] == "drew 5 cards"
    else:
        assert all(words == ["the tiles of round 1 were dealt"] for words in told)


@pytest.mark.parametrize("game", ["dominion", "dominoes"])
def test_a_seat_sees_its_own_hand_and_a_spectator_none(served: Served, game: str) -> None:
    id, tokens = seated(served, game)
    step = served.get(f"/games/{id}")["step"]
    pictures = {served.get(f"/games/{id}/steps/{step}/picture.svg", token) for token in (None, *tokens)}
    assert len(pictures) == len(tokens) + 1
    events = served.get(f"/games/{id}/events")["events"]
    assert all(event["words"] is None for event in events[:4])  # the first cards are dealt in secret
    mine = served.get(f"/games/{id}/events", tokens[0])["events"]
    assert any(event["words"] for event in mine)
    assert served.ask("GET", f"/games/{id}/record")[0] == 403
    assert served.ask("GET", f"/games/{id}/steps/{step}/shapes")[1]["shapes"] == []
    for token in tokens[1:]:
        served.post(f"/games/{id}/resign", {}, token)
    assert served.get(f"/games/{id}")["status"] == "over"
    assert None not in [event["words"] for event in served.get(f"/games/{id}/events")["events"]]


@kernel
def _scores_by_pea(s, out):
    out[0] = s.pea + 1
    out[1] = -out[0]


def test_points_that_a_seat_cannot_know_are_not_told() -> None:
    """In this variant of Three Shells the points tell where the pea is, which only seat 0 sees."""
    room = ModuleType("secret_points")
    fields = [(name, three_shells.STATE[name]) for name in three_shells.STATE.names]
    room.__dict__.update(vars(three_shells), scores=_scores_by_pea, STATE=state_dtype(*fields, ("of_secret_points", np.int8)))
    game = replace(three_shells.GAME, name="secret_points", room=(room,))
    told: dict[int | None, set[tuple[int, ...]]] = {0: set(), 1: set(), None: set()}
    for pea in range(3):
        table = Table(game)
        table.chance(pea)
        assert visibility._scores(SimpleNamespace(is_open=True), table, None) == [pea + 1, -pea - 1]
        for viewer, points in told.items():
            points.add(tuple(visibility._scores(SimpleNamespace(is_open=False), table, viewer)))
    assert told[0] == {(1, -1), (2, -2), (3, -3)}
    assert len(told[1]) == len(told[None]) == 1


def test_tokens_are_random_hashed_and_never_told_again(served: Served) -> None:
    id, tokens = seated(served, "dominoes")
    assert len({len(token) for token in tokens}) == 1
    assert len(tokens[0]) == 43  # 32 bytes
    file = served.settings.database
    database = file.read_bytes() + file.with_name(f"{file.name}-wal").read_bytes()
    for token in tokens:
        assert token.encode() not in database
        for path in ("", "/seat", "/events"):
            assert token not in json.dumps(served.get(f"/games/{id}{path}", tokens[0]))


def test_answers_forbid_scripts_of_others(served: Served) -> None:
    for path in ("/", "/api/v1/games", "/nothing"):
        _, headers, _ = served.raw("GET", path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers
