"""The protocol of the paper's game server: its documents byte for byte, its oddities, and whole games of a client written from the page."""

import json
import random
import re
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kdom_client import Agent, Called, Server
from served import Served
from test_games import seated

import kdenv
from kdenv.server.kdom import Kdom, written
from kdenv.server.store import StoredSeat

EXAMPLES = Path(__file__).parents[1] / "data" / "kdom"
LETTERS = {"field": "w", "forest": "f", "water": "l", "pasture": "p", "clay": "c", "mine": "m", "castle": "X"}


@pytest.fixture
def server(served: Served) -> Server:
    return Server(served.kdom_port)


def example(name: str) -> str:
    return (EXAMPLES / f"{name}.json").read_text(encoding="utf-8")


# The layout


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.json")), ids=lambda path: path.stem)
def test_every_example_is_written_as_it_was_read(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert written(json.loads(text)) == text


# The documents of positions, set up as the examples have them


def position_of(game: Any) -> Any:
    """The table of kdenv in the position of a document of four players."""
    names = [kingdom["player"]["name"] for kingdom in game["kingdoms"]]
    n_moves = game["turn"] - 1
    kingdoms, seen = [], set()
    for kingdom in game["kingdoms"]:
        squares = {(each["position"]["row"], each["position"]["col"]): each["tile"] for each in kingdom["placedTiles"]}
        rows = range(min(row for row, _ in squares), max(row for row, _ in squares) + 1)
        cols = range(min(col for _, col in squares), max(col for _, col in squares) + 1)
        text = ["".join(LETTERS[t["terrain"]] + "+" * t["crowns"] if (t := squares.get((r, c))) else "." for c in cols) for r in rows]
        kingdoms.append("/".join(text))

    def row(dominoes: list[Any]) -> str:
        seen.update(each["domino"]["number"] for each in dominoes)
        return ",".join(
            str(each["domino"]["number"]) + (f":{names.index(each['player']['name'])}" if "player" in each else "") for each in dominoes
        )

    turn = n_moves % 4
    draft = row(game["currentDraft"]["dominoes"])
    if n_moves < 4:
        stage, queue, extra = "pick", "", f" caller={names.index(game['currentPlayer']['name'])}"
    elif game["gameOver"]:
        stage, queue, extra = "over", "", ""
    else:  # the dominoes that were placed in this round have left the document; any that are lower will do
        stage, extra = "place", ""
        waiting = game["previousDraft"]["dominoes"]
        queue = row(waiting)
    used = [domino["number"] for domino in game["usedDominoes"]]
    return names, stage, turn, n_moves // 4, kingdoms, queue, draft, extra, seen, used


def table_of(game: Any) -> Any:
    names, stage, turn, round_number, kingdoms, queue, draft, extra, seen, used = position_of(game)
    table = kdenv.table("kingdomino", players=4)
    if stage == "place" and turn:  # fill the queue with dominoes that were placed in this round, and are lower than those that wait
        chosen = [each for each in used if each not in seen and each < int(queue.partition(":")[0])][-turn:]
        placed = sorted(chosen)
        owners = [seat for seat in range(4) if f":{seat}" not in queue]
        queue = ",".join([*(f"{number}:{seat}" for number, seat in zip(placed, owners, strict=False)), queue])
        seen |= set(placed)
    if stage == "over":
        turn, round_number = 4, 12
    box = [number for number in range(1, 49) if number not in seen and number not in used]
    box = box[: 48 - 4 * min(round_number + 1, 12)]
    text = f"round={round_number} stage={stage} turn={turn}{extra} kingdoms={','.join(kingdoms)} queue={queue} draft={draft}"
    return table.at_position(text + " box=" + ",".join(map(str, box))), names, used


def sent(game: Any, what: str) -> str:
    """What our server writes about the position of this document."""
    table, names, used = table_of(game)
    times = SimpleNamespace(id=game["uuid"], created=0.0, updated=0.0, seats=[StoredSeat("player", name) for name in names])
    live = SimpleNamespace(kept=times, status="over" if game["gameOver"] else "running")
    past = SimpleNamespace(positions=[(table.states, len(used))], used=used)
    kdom = Kdom.__new__(Kdom)
    kdom._game = table.game
    document = getattr(kdom, what)(live, past, 0, game["turn"])
    for name in ("created", "updated"):
        if name in document:
            document[name] = game[name]
    return written(document)


@pytest.mark.parametrize("name", ["game_start", "game_mid", "game_last_round", "game_over"])
def test_the_document_of_a_position_is_that_of_the_example(name: str) -> None:
    assert sent(json.loads(example(name)), "_document") == example(name)


@pytest.mark.parametrize("game, moves", [("game_start", "moves_start"), ("game_mid", "moves_mid"), ("game_over", "moves_over")])
def test_the_moves_of_a_position_are_those_of_the_example(game: str, moves: str) -> None:
    assert sent(json.loads(example(game)), "_moves") == example(moves)


def test_all_forms_of_a_move_occur_with_the_keys_that_they_have() -> None:
    """No choice in the last round, no placement in the first round or where nothing fits: then the key is absent."""
    from kdenv.compiler.random import make_rng
    from kdenv.games.kingdomino import kdom as documents

    rng, chance, forms = random.Random(3), make_rng(3), set()
    for game in range(12):
        table = kdenv.table("kingdomino", players=(2, 3, 4)[game % 3])
        n_moves = 0
        table.run_chance(chance)
        while not table.over:
            assert documents.is_between_turns(table.states[0])
            assert documents.n_moves(table.states[0]) == n_moves
            found = documents.moves(table.states, 0, table.game.buffer())
            last, first = table.states[0]["round"] == table.states[0]["n_drafts"], table.states[0]["round"] == 0
            for move in found:
                forms.add((bool(first), bool(last), *list(move.document)[1:]))
            for action in rng.choice(found).actions:
                table.play(action)
            table.run_chance(chance)
            n_moves += 1
        assert documents.n_moves(table.states[0]) == n_moves == {2: 28, 3: 39, 4: 52}[table.players]
        assert documents.moves(table.states, 0, table.game.buffer()) == []
    assert forms == {
        (True, False, "chosenDomino"),
        (False, False, "chosenDomino", "placedDomino"),
        (False, False, "chosenDomino"),
        (False, True, "placedDomino"),
        (False, True),
    }


# Whole games


def played(agents: list[Agent]) -> Any:
    """Let agents play a game, each in a thread of its own as if in a process of its own; return the last document."""
    ends: list[Any] = []
    threads = [threading.Thread(target=lambda agent=agent: ends.append(agent.play())) for agent in agents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert len(ends) == len(agents)
    return ends[0]


@pytest.mark.parametrize("players, moves", [(2, 28), (3, 39), (4, 52)])
def test_whole_games_by_polling(served: Served, server: Server, players: int, moves: int) -> None:
    made = server.document("POST", f"//new-games/?playerCount={players}", 201)
    assert list(made) == ["uuid", "created", "updated", "numberOfPlayers", "joinedPlayers"]
    game, names = made["uuid"], ["Zoe", "_x", "10 abe", "é9"][:players]
    assert server.ask("GET", f"/games/{game}")[0] == 404  # until it is full
    agents = []
    for name in names:
        agents.append(Agent(server, game, name))
        waiting = [each["uuid"] for each in server.document("GET", "/new-games/")["newGames"]]
        assert (game in waiting) == (len(agents) < players)
    end = played(agents)
    assert (end["turn"], end["gameOver"]) == (moves + 1, True)
    assert sum(agent.n_moves for agent in agents) == moves
    assert end["currentDraft"] == end["previousDraft"] == {"dominoes": []}
    assert server.document("GET", f"/games/{game}/available-moves") == {"moves": []}
    assert server.document("GET", f"/games/{game}")["turn"] == moves + 1  # finished games stay
    brief = server.document("GET", "/games/")["games"][0]
    assert list(brief) == ["uuid", "created", "updated", "players", "round", "turn", "gameOver"]
    kings = 3 if players == 3 else 4
    assert (brief["uuid"], brief["round"], brief["turn"]) == (game, 1 + (moves + 1) // kings, moves + 1)
    # The same game on the page and in a record, with the same points.
    state = served.get(f"/games/{game}")
    assert {kingdom["player"]["name"]: kingdom["score"]["total"] for kingdom in end["kingdoms"]} == {
        seat["name"]: state["scores"][seat["seat"]] for seat in state["seats"]
    }
    assert kdenv.replay(served.get(f"/games/{game}/record")).over


@pytest.mark.parametrize("players, moves", [(2, 28), (3, 39), (4, 52)])
def test_whole_games_by_call_backs(server: Server, players: int, moves: int) -> None:
    game = server.document("POST", f"/new-games/?playerCount={players}", 201)["uuid"]
    agents = [Called(server, game, name) for name in ("Ann", "Bob", "Cyd", "Dan")[:players]]
    end = played(list(agents))
    assert end["turn"] == moves + 1
    for agent in agents:
        agent.end(1 + moves)
        assert agent.calls == [f"/turn/{agent.name}?x=1"] * (1 + moves)


def test_our_programs_and_people_play_with_the_papers_agents(served: Served, server: Server) -> None:
    """A game made by the API with a program and a person in it is joined by the paper's protocol."""
    game = served.make("kingdomino", ["full_greedy", "open", "open"], players=3)
    token = served.join(game, "Eva")
    agent = Agent(server, game, "Java")
    ends: list[Any] = []
    thread = threading.Thread(target=lambda: ends.append(agent.play()))
    thread.start()
    rng = random.Random(1)
    state = served.get(f"/games/{game}/seat", token)
    while state["status"] != "over":
        if state["legal"]:
            action = rng.choice(state["legal"])["action"]
            state = served.post(f"/games/{game}/act", {"step": state["step"], "action": action}, token)
        else:
            state = served.get(f"/games/{game}/seat?since={state['step']}&wait=5", token)
    thread.join(60)
    assert ends
    assert [kingdom["player"]["name"] for kingdom in ends[0]["kingdoms"]] == ["Eva", "Java", "full_greedy"]


# Positions of the past, and the middle of a turn


def test_turn_shows_the_past_and_never_goes_back(served: Served, server: Server) -> None:
    game = server.document("POST", "/new-games/?playerCount=2", 201)["uuid"]
    agents = {name: Agent(server, game, name) for name in ("Ann", "Bob")}
    seen = [server.document("GET", f"/games/{game}")]
    for _ in range(9):
        seen.append(agents[seen[-1]["currentPlayer"]["name"]].move())
    for turn, then in enumerate(seen):
        now = server.document("GET", f"/games/{game}?turn={turn}")
        assert now["turn"] == turn
        assert {**now, "turn": 0, "updated": ""} == {**then, "turn": 0, "updated": ""}
    live = server.document("GET", f"/games/{game}")
    assert server.document("GET", f"/games/{game}?turn=10") == live
    assert server.document("GET", f"/games/{game}?turn=x") == live
    for turn in (11, 99, -1):
        assert server.ask("GET", f"/games/{game}?turn={turn}")[0] == 404
    past = server.document("GET", f"/games/{game}/available-moves?turn=3")
    assert all("placedDomino" not in move for move in past["moves"])  # the first round
    name = live["currentPlayer"]["name"]
    after = server.document("POST", f"/games/{game}/players/{agents[name].token}/moves/0?turn=3")
    assert after["turn"] == 11  # not 4, as the original would say


def test_half_a_turn_that_the_page_has_made_is_not_shown(served: Served, server: Server) -> None:
    game, tokens = seated(served, "kingdomino", players=2)
    for _ in range(4):
        turn = served.get(f"/games/{game}")["turn"]
        state = served.get(f"/games/{game}/seat", tokens[turn])
        served.post(f"/games/{game}/act", {"step": state["step"], "action": state["legal"][0]["action"]}, tokens[turn])
    before = server.document("GET", f"/games/{game}")
    moves = server.document("GET", f"/games/{game}/available-moves")
    turn = served.get(f"/games/{game}")["turn"]
    state = served.get(f"/games/{game}/seat", tokens[turn])
    served.post(f"/games/{game}/act", {"step": state["step"], "action": state["legal"][0]["action"]}, tokens[turn])
    between = server.document("GET", f"/games/{game}")
    assert {**between, "updated": ""} == {**before, "updated": ""}
    assert server.document("GET", f"/games/{game}/available-moves") == moves
    state = served.get(f"/games/{game}/seat", tokens[turn])
    served.post(f"/games/{game}/act", {"step": state["step"], "action": state["legal"][0]["action"]}, tokens[turn])
    assert server.document("GET", f"/games/{game}")["turn"] == before["turn"] + 1


# Routes and mistakes


def test_what_is_refused_is_refused_as_in_the_original(server: Server) -> None:
    not_found = (404, "application/json", b"Not found")
    game = server.document("POST", "/new-games/?playerCount=2", 201)["uuid"]
    other = "6f1c0b8e-52c4-4d5e-9a77-0d1f3a9b2c11"
    ann = Agent(server, game, "Ann")
    for method, path in [
        ("POST", f"/new-games/{game}/join/Ann"),
        ("POST", f"/new-games/{other}/join/Ann"),
        ("GET", f"/games/{game}"),
        ("GET", f"/games/{game}/available-moves"),
        ("POST", f"/games/{game}/players/{ann.token}/moves/0"),
        ("GET", f"/games/{other}"),
        ("GET", "/games/no-uuid"),
    ]:
        assert server.ask(method, path) == not_found, path
    bob = Agent(server, game, "Bob")
    assert server.ask("POST", f"/new-games/{game}/join/Cyd") == not_found
    position = server.document("GET", f"/games/{game}")
    mover, waiting = (ann, bob) if position["currentPlayer"]["name"] == "Ann" else (bob, ann)
    for token, number in [(waiting.token, "0"), (other, "0"), ("x", "0"), (mover.token, "4"), (mover.token, "x"), (mover.token, "-1")]:
        assert server.ask("POST", f"/games/{game}/players/{token}/moves/{number}") == not_found
    assert server.document("GET", f"/games/{game}") == position
    for count in ("0", "1", "5", "-3", "x", ""):
        assert server.ask("POST", f"/new-games/?playerCount={count}")[:2] == (400, "application/json")
    for method, path in [
        ("GET", "/games"), ("GET", "/new-games"), ("GET", f"/games/{game}/"), ("GET", f"/new-games/{game}"), ("PUT", "/games/"),
        ("DELETE", f"/games/{game}"), ("OPTIONS", "/games/"), ("GET", "/nothing"), ("POST", "/new-games"), ("GET", "/ui/"),
    ]:  # fmt: skip
        status, kind, _ = server.ask(method, path)
        assert (status, kind) == (404, "text/html;charset=utf-8"), path


def test_small_things_are_as_the_page_says(served: Served, server: Server) -> None:
    assert server.ask("GET", "/ping") == (200, "application/json", b"Server is up")
    assert server.ask("HEAD", "/ping") == (200, "application/json", b"")
    status, kind, body = server.ask("GET", "/")
    assert (status, kind) == (200, "text/html;charset=utf-8")
    assert f'<a href="http://127.0.0.1:{served.port}/">'.encode() in body  # the page is on the other port
    made = server.document("POST", "/new-games/", 201)  # four play unless it says otherwise
    assert made["numberOfPlayers"] == 4
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", made["created"])
    raw = server.ask("GET", "/new-games/")[2]
    first = raw.decode().split("\n")[2]
    assert re.fullmatch(r'    "uuid":"[0-9a-f-]{36}",', first)  # the authors' scripts cut it out by its place
    whole = server.ask("POST", "/new-games/?playerCount=3")[2].decode()
    assert re.fullmatch("[0-9a-f-]{36}", whole[12:48])
    agent = Agent(server, made["uuid"], "a b+c/é")  # percent-encoded in the path, and a plus is a blank
    assert agent.token
    status, _, body = server.ask("POST", f"/new-games/{made['uuid']}/join/x+y")
    assert json.loads(body)["name"] == "x y"
    status, headers, _ = served.raw(
        "POST", "/new-games/", b"playerCount=3", {"Content-Type": "application/x-www-form-urlencoded"}, port=served.kdom_port
    )
    assert status == 201
    assert "access-control-allow-origin" not in headers


def test_call_backs_go_only_where_the_operator_allows(server: Server) -> None:
    game = server.document("POST", "/new-games/", 201)["uuid"]
    status, _, body = server.ask("POST", f"/new-games/{game}/join/Ann?callbackUrl=http://10.0.0.1/x")
    assert (status, body) == (400, b"Not found")
    listed = next(each for each in server.document("GET", "/new-games/")["newGames"] if each["uuid"] == game)
    assert listed["joinedPlayers"] == []


def test_games_by_other_rules_are_not_shown(served: Served, server: Server) -> None:
    others = [served.make("kingdomino", options={"size": 7}, players=2), served.make("kingdomino", casual=True), served.make("dominion")]
    hidden = served.make("kingdomino", public=False)
    shown = [each["uuid"] for each in server.document("GET", "/new-games/")["newGames"]]
    assert not {*others, hidden} & set(shown)
    for game in others:
        assert server.ask("POST", f"/new-games/{game}/join/Ann")[0] == 404


def test_games_of_the_protocol_go_on_after_a_restart(tmp_path: Path) -> None:
    with Served(tmp_path / "games.sqlite", kdom=True) as served:
        server = Server(served.kdom_port)
        game = server.document("POST", "/new-games/?playerCount=2", 201)["uuid"]
        agents = {name: Agent(server, game, name) for name in ("Ann", "Bob")}
        position = server.document("GET", f"/games/{game}")
        for _ in range(6):
            position = agents[position["currentPlayer"]["name"]].move()
        text = server.ask("GET", f"/games/{game}")[2]
    with Served(tmp_path / "games.sqlite", kdom=True) as served:
        server = Server(served.kdom_port)
        assert server.ask("GET", f"/games/{game}")[2] == text
        for agent in agents.values():
            agent.server = server
        start = time.monotonic()
        while not position["gameOver"] and time.monotonic() < start + 120:
            position = agents[position["currentPlayer"]["name"]].move()
        assert position["turn"] == 29
