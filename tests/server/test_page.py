"""The page in a real browser: a person plays by clicking on the drawing or by keyboard alone, watches, and looks back.

Needs playwright and Debian's chromium; without them these tests skip. `--slow` plays whole games of all four, else a few decisions.
KDENV_SCREENSHOTS=FOLDER keeps the pictures of the page.
"""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served import Served

import kdenv
from kdenv import games

playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.cold,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine: apt-get install chromium"),
]

GAMES: dict[str, dict[str, Any]] = {
    "kingdomino": {"players": 2, "seats": ["open", "full_greedy"], "options": {"size": 3, "dominoes": 12}},
    "carcassonne": {"seats": ["open", "greedy"]},
    "dominoes": {"seats": ["open", "greedy", "greedy", "greedy"]},
    "dominion": {"players": 2, "seats": ["open", "big_money"]},
}


def until(page: Any, expression: str, arg: Any = None) -> None:
    """Wait until a JavaScript expression is true. (wait_for_function evaluates in the page, which its security policy forbids.)"""
    deadline = time.monotonic() + float(os.environ.get("KDENV_PATIENCE", "60000")) / 1000
    while not page.evaluate(expression, arg):
        assert time.monotonic() < deadline, f"{expression}; the page says {page.inner_text('body')!r}"
        page.wait_for_timeout(40)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


# The person of a test makes forced moves, too, so that nothing happens while it clicks.
BY_HAND = """if (location.protocol === "http:" && !localStorage.getItem("kdenv settings")) {
    localStorage.setItem("kdenv settings", '{"forced": false}');
}"""


class Screen:
    """A window of the browser. What goes wrong in it is noted."""

    def __init__(self, browser: Any, served: Served, **about: Any) -> None:
        self.window = browser.new_context(viewport={"width": 1280, "height": 900}, **about)
        self.page, self.wrong, self.url = self.window.new_page(), list[str](), f"http://127.0.0.1:{served.port}"
        self.page.add_init_script(BY_HAND)
        self.page.set_default_timeout(float(os.environ.get("KDENV_PATIENCE", "60000")))
        self.page.on("console", lambda message: self.wrong.append(message.text) if message.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        allowed = (self.url, "blob:", "data:")  # nothing comes from other hosts
        self.page.on("request", lambda request: None if request.url.startswith(allowed) else self.wrong.append(request.url))

    def go(self, where: str = "") -> None:
        self.page.goto(f"{self.url}/#/{where}")

    def sit(self, served: Served, id: str, name: str = "Ann") -> None:
        """Open a table and join it on the page."""
        self.go(f"games/{id}")
        self.page.fill("input[aria-label='your name']", name)
        self.page.click("button:has-text('join')")

    def wait_for_turn(self) -> bool:
        """Wait until the person is to decide; False if the game is over. What is told between two rounds is read."""
        status = "(document.querySelector('.status')?.textContent ?? '')"
        mine = "document.querySelector('.actions button')"  # the words may be there a moment before the buttons, or a moment longer
        mine_now = f"{status}.includes('your turn') && {mine} !== null"
        until(self.page, f"document.querySelector('dialog button')?.click(), {status}.startsWith('over') || ({mine_now})")
        return not self.page.locator(".status").text_content().startswith("over")

    def picture(self, name: str) -> None:
        if folder := os.environ.get("KDENV_SCREENSHOTS"):
            self.page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)

    def close(self) -> None:
        self.window.close()
        assert self.wrong == []


@pytest.fixture
def screen(browser: Any, served: Served) -> Iterator[Screen]:
    shown = Screen(browser, served)
    yield shown
    shown.close()


def click_a_decision(screen: Screen) -> bool:
    """Decide by clicking on the drawing, or by the list of words if nothing can be clicked there. Return whether it was clicked."""
    page = screen.page
    step = page.locator(".row span.muted").first.text_content()
    until(page, "document.querySelectorAll('.target').length || document.querySelectorAll('.actions button').length")
    page.wait_for_timeout(150)
    on_drawing = page.locator(".target, .choices button").count() > 0
    for _ in range(3):
        if not on_drawing:
            page.locator(".actions button").first.click()
        elif page.locator(".choices .main").count():  # the tile that is shown as a ghost
            page.locator(".choices .main").dispatch_event("click")
        elif page.locator(".target").count():
            page.locator(".target").last.dispatch_event("click")
        elif page.locator(".choices button").count():
            page.locator(".choices button").last.dispatch_event("click")
        page.wait_for_timeout(60)
        if page.locator(".row span.muted").first.text_content() != step:
            break
    gone_on = "document.querySelector('.row span.muted').textContent !== old"
    until(page, f"old => (document.querySelector('dialog button')?.click(), {gone_on})", arg=step)  # the summary of a round is read
    return bool(on_drawing)


def decide_by_key(screen: Screen) -> None:
    """Take the first decision of the list by its key, and once more if the page offers the same again, as after a refused request."""
    page = screen.page
    step = page.locator(".row span.muted").first.text_content()
    offered = "old => document.querySelector('.actions button') !== null && document.querySelector('.row span.muted').textContent === old"
    for tries in range(3):
        page.keyboard.press("l")
        page.keyboard.press("Enter")
        since = time.monotonic()
        while page.evaluate(offered, step) and time.monotonic() - since < 5:
            page.wait_for_timeout(40)
        if not page.evaluate(offered, step):
            break
        print(f"try {tries}: {page.inner_text('body')!r}, {screen.wrong}")
    # the other person's hand may be asked for before the board has been drawn, and the summary of a round is read
    gone_on = "document.querySelector('.row span.muted').textContent !== old"
    until(page, f"old => (document.querySelector('dialog button')?.click(), {gone_on})", arg=step)


@pytest.mark.parametrize("game", GAMES)
def test_a_person_plays_by_clicking(screen: Screen, served: Served, game: str, request: pytest.FixtureRequest) -> None:
    id = served.make(game, GAMES[game]["seats"], casual=True, **{k: v for k, v in GAMES[game].items() if k != "seats"})
    screen.sit(served, id)
    whole, decisions, clicked = request.config.getoption("--slow"), 0, 0
    while (whole or decisions < 6) and screen.wait_for_turn():
        clicked += click_a_decision(screen)
        decisions += 1
        if decisions == 4:
            screen.picture(f"{game}-play")
    assert decisions >= 6
    assert clicked >= 0.8 * decisions
    if whole:
        assert kdenv.replay(served.get(f"/games/{id}/record")).over


def test_a_person_plays_a_whole_game_by_keyboard_alone(screen: Screen, served: Served) -> None:
    id = served.make("kingdomino", ["open", "full_greedy"], players=2, options={"size": 3, "dominoes": 8})
    screen.go(f"games/{id}")
    screen.page.wait_for_selector("input[aria-label='your name']")
    screen.page.focus("input[aria-label='your name']")
    screen.page.keyboard.type("Kay")
    screen.page.keyboard.press("Enter")
    n = 0
    while screen.wait_for_turn():
        if n % 2 and screen.page.locator(".target").count():
            step = screen.page.locator(".row span.muted").first.text_content()
            screen.page.evaluate("document.querySelector('.target').focus()")
            screen.page.keyboard.press("Enter")
            if screen.page.locator(".target").count() and screen.page.locator(".row span.muted").first.text_content() == step:
                screen.page.evaluate("document.querySelector('.target')?.focus()")
                screen.page.keyboard.press(" ")
            until(screen.page, "old => document.querySelector('.row span.muted').textContent !== old", arg=step)
        else:
            decide_by_key(screen)
        n += 1
    assert n >= 6
    assert served.get(f"/games/{id}")["result"]["finished"]


def test_a_second_window_watches_live_and_sees_no_hand(browser: Any, screen: Screen, served: Served) -> None:
    id = served.make("dominoes", ["open", "greedy", "greedy", "greedy"], casual=True)
    screen.sit(served, id)
    watcher = Screen(browser, served)
    watcher.go(f"games/{id}")
    watcher.page.wait_for_selector(".board svg")
    for _ in range(3):
        assert screen.wait_for_turn()
        click_a_decision(screen)
    screen.wait_for_turn()
    step = served.get(f"/games/{id}")["step"]
    until(watcher.page, "step => document.querySelector('.row span.muted').textContent === `${step} of ${step}`", arg=step)
    assert watcher.page.locator(".target").count() == 0
    assert watcher.page.locator(".actions button").count() == 0
    watcher.picture("watching")
    watcher.close()


def test_hint_and_undo(screen: Screen, served: Served) -> None:
    id = served.make("carcassonne", ["open", "greedy"], casual=True)
    screen.sit(served, id)
    assert screen.wait_for_turn()
    screen.page.keyboard.press("h")
    screen.page.wait_for_selector(".hint text")
    assert screen.page.locator(".hint path").count() >= 1
    assert screen.page.locator("table tbody tr").count() >= 2
    screen.picture("hint")
    click_a_decision(screen)
    assert screen.wait_for_turn()
    screen.page.keyboard.press("u")
    screen.page.wait_for_selector("text=goes back to step")


def test_looking_back_at_a_finished_game(screen: Screen, served: Served) -> None:
    id = served.make("carcassonne")
    tokens = [served.join(id, name) for name in ("<b>Eva</b>", "Fay")]
    for _ in range(9):
        turn = served.get(f"/games/{id}")["turn"]
        state = served.get(f"/games/{id}/seat", tokens[turn])
        served.post(f"/games/{id}/act", {"step": state["step"], "action": state["legal"][0]["action"]}, tokens[turn])
    served.post(f"/games/{id}/resign", {}, tokens[1])
    last = served.get(f"/games/{id}")["step"]
    page = screen.page

    def at(step: int) -> None:
        until(page, "([a, b]) => document.querySelector('.row span.muted').textContent === `${a} of ${b}`", arg=[step, last])

    screen.go(f"games/{id}/3")
    page.wait_for_selector(".curve")
    at(3)
    page.keyboard.press("ArrowRight")
    at(4)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    at(2)
    until(page, "hash => location.hash === hash", f"#/games/{id}/2")
    page.click("button[aria-label='first step']")
    at(0)
    page.locator("input[type=range]").fill("5")
    at(5)
    page.keyboard.press("Escape")
    page.click("button[aria-label='now']")
    at(last)
    page.locator(".curve").click(position={"x": 3, "y": 20})
    at(0)
    assert page.locator("li", has_text="<b>Eva</b>").count() >= 1  # a name is a text, not markup
    assert page.locator("main b").count() == 0
    assert page.locator("a[download]").count() == 3
    assert page.locator("summary:has-text('Your decision')").is_hidden()  # nobody decides any more
    screen.picture("looking-back")


def test_a_search_tells_the_values_along_a_finished_game(screen: Screen, served: Served) -> None:
    id = served.make("kingdomino", ["full_greedy", "random"], players=2, options={"size": 3, "dominoes": 12})
    served.get(f"/games/{id}?since=0&wait=25")
    page = screen.page
    screen.go(f"games/{id}")
    until(page, "/over:/.test(document.querySelector('.status')?.textContent ?? '')")
    told = served.get(f"/games/{id}/events")["events"]
    decisions = [event["event"] for event in told if event["kind"] == "action"]
    page.fill("input[aria-label='the search that is asked']", "mce(playouts=40)")
    page.click("text=search along the game")
    until(page, "words => document.body.innerText.includes(words)", f"mce(playouts=40): {len(decisions)} positions")
    assert page.locator(".curve").count() == 2
    lines = page.locator(".curve").last.locator("polyline.line")
    values: list[dict[int, float]] = [{}, {}]
    for step in decisions:
        found = served.post(f"/games/{id}/steps/{step}/analysis", {"policy": "mce(playouts=40)"})  # as it was found for the page
        if found["value"] is not None:
            values[found["seat"]][step] = found["value"]
    for seat in range(2):
        drawn = [point.split(",") for point in lines.nth(seat).get_attribute("points").split()]
        assert len(drawn) == len(values[seat])
        higher = [float(y) for _, y in drawn]  # y grows downwards
        best = max(values[seat], key=lambda step: values[seat][step])
        assert higher[list(values[seat]).index(best)] == min(higher)
    page.locator(".curve").last.click(position={"x": 3, "y": 20})
    until(page, "last => document.querySelector('.row span.muted').textContent === `0 of ${last}`", told[-1]["event"] + 1)
    screen.picture("values")


def test_the_search_along_a_game_can_be_stopped_and_a_wrong_one_is_told(screen: Screen, served: Served) -> None:
    id = served.make("kingdomino", ["full_greedy", "random"], players=2)
    page = screen.page
    screen.go(f"games/{id}")
    until(page, "/over:/.test(document.querySelector('.status')?.textContent ?? '')")
    field = "input[aria-label='the search that is asked']"
    page.fill(field, "mce(seconds=0.5)")
    page.click("text=search along the game")
    until(page, "document.querySelectorAll('.curve').length === 2")
    page.click("button:has-text('stop')")
    until(page, "/mce.seconds=0.5.: [0-9]+ of [0-9]+ positions/.test(document.body.innerText)")
    assert page.locator("button:has-text('search along the game')").count() == 1
    page.fill(field, "full_greedy")
    page.click("text=search along the game")
    page.wait_for_selector("#notice:has-text('does not search')")
    assert [words for words in screen.wrong if "422" not in words] == []  # the browser tells of an answer of 422 by itself
    screen.wrong.clear()


def test_a_table_is_set_up_and_listed(screen: Screen, served: Served) -> None:
    page = screen.page
    screen.go()
    page.wait_for_selector(".card, .muted")
    screen.picture("lobby")
    page.click("text=set up a table")
    page.wait_for_selector("#players")
    page.select_option("#game", "dominion")
    until(page, "document.querySelectorAll('[data-option]').length > 1")
    page.select_option("#players", "2")
    page.fill("#name", "Ida")
    page.fill("#called", "<i>our table</i>")
    screen.picture("setup")
    page.click("button[type=submit]")
    assert screen.wait_for_turn()
    assert page.locator("h1").text_content().startswith("<i>our table</i>")
    listed = served.get("/games?status=running&player=Ida")
    assert [game["called"] for game in listed["games"]] == ["<i>our table</i>"]
    screen.go("history")
    page.wait_for_selector("table")
    screen.picture("history")
    screen.go("api")
    page.wait_for_selector("h2:has-text('/api/v1/games')")


def test_no_table_is_made_while_the_programs_of_its_game_are_fetched(screen: Screen) -> None:
    """The form still had the rules of the game before, with which the server refused the other game."""
    page, held = screen.page, list[Any]()
    screen.go("new")
    page.wait_for_selector("#players")
    page.route(lambda url: url.endswith("/policies?game=dominion"), lambda route: held.append(route))
    page.select_option("#game", "dominion")
    while not held:
        page.wait_for_timeout(20)
    assert page.is_disabled("button[type=submit]")
    assert page.locator("[data-option]").count() == 0
    held[0].continue_()
    page.wait_for_selector("[data-option]")
    assert page.is_enabled("button[type=submit]")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_fits_a_phone_and_a_desk_by_day_and_night(browser: Any, served: Served, scheme: str, width: int) -> None:
    id = served.make("kingdomino", ["open", "full_greedy", "full_greedy"], casual=True)
    screen = Screen(browser, served, color_scheme=scheme)
    screen.page.set_viewport_size({"width": width, "height": 840})
    for where in ("", "new", "history"):
        screen.go(where)
        screen.page.wait_for_selector("h1")
        screen.page.wait_for_timeout(300)
        screen.picture(f"{where or 'lobby'}-{width}-{scheme}")
        assert screen.page.evaluate("document.documentElement.scrollWidth") <= width
    screen.sit(served, id)
    screen.page.wait_for_selector(".board svg, .status")
    screen.page.wait_for_timeout(500)
    assert screen.page.evaluate("document.documentElement.scrollWidth") <= width
    screen.picture(f"table-{width}-{scheme}")
    screen.close()


# The largest sum of shifts within 5 s that are not a second apart, as browsers count "cumulative layout shift".
SHIFTS = """window.shift = 0; let sum = 0, first = 0, last = 0; new PerformanceObserver((list) => {
    for (const each of list.getEntries()) {
        if (each.hadRecentInput) continue;
        if (each.startTime - last > 1000 || each.startTime - first > 5000) { sum = 0; first = each.startTime; }
        last = each.startTime;
        sum += each.value;
        window.shift = Math.max(window.shift, sum);
    }
}).observe({ type: "layout-shift", buffered: true })"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("game", GAMES)
def test_nothing_moves_while_a_page_comes_and_a_decision_asks_once(browser: Any, served: Served, game: str, width: int) -> None:
    about = {k: v for k, v in GAMES[game].items() if k != "seats"}
    id = served.make(game, GAMES[game]["seats"], casual=True, **about)
    token = served.join(id, "Annabel")
    screen = Screen(browser, served, color_scheme="dark")
    page = screen.page
    page.set_viewport_size({"width": width, "height": 844})
    screen.go()
    page.evaluate("([id, token]) => localStorage.setItem(`kdenv ${id}`, JSON.stringify([{ seat: 0, token }]))", [id, token])
    page.add_init_script(SHIFTS)
    page.goto("about:blank")
    screen.go(f"games/{id}")
    page.wait_for_selector(".board svg")
    assert screen.wait_for_turn()
    page.wait_for_timeout(500)
    assert page.evaluate("window.shift") < 0.1
    assert page.locator(".board g[aria-label^='player ']").count() == 0
    assert page.locator(".board g[aria-label*='Annabel']").count() >= (game != "dominoes")  # which numbers the seats
    assert page.evaluate("document.querySelectorAll('.board g[aria-label]:not([role])').length") == 0  # labels need a role
    assert page.locator(".seats .badge").count() == len(served.get(f"/games/{id}")["seats"])
    drawn = page.locator(".canvas").inner_html()
    assert not [colour for colour in getattr(games.find_game(game).drawing, "DARK", {}) if colour in drawn]
    asked = list[str]()
    page.on("request", lambda request: asked.append(request.url.partition("/api/v1")[2]))
    click_a_decision(screen)
    assert any(path.startswith(f"/games/{id}/act?drawing=true") for path in asked)
    assert not any("/events" in path for path in asked)  # the answers have the last ones
    screen.picture(f"{game}-{width}-dark")
    screen.close()


def test_the_page_asks_less_and_less_often_while_it_is_refused(screen: Screen, served: Served) -> None:
    """A page whose listener was refused asked 20 times a second."""
    id, asked = served.make("carcassonne", ["open", "open"]), list[float]()
    served.join(id, "Bob", seat=1)

    def refuse(route: Any) -> None:
        asked.append(time.monotonic())
        route.fulfill(status=429, content_type="application/json", body='{"error": "100 of your requests wait"}')

    screen.page.route(lambda url: "since=" in url, refuse)
    screen.sit(served, id)
    screen.page.wait_for_selector(".board svg")
    screen.page.wait_for_timeout(4000)
    assert 2 <= len(asked) <= 4
    assert screen.page.locator("#notice").is_hidden()
    expected(screen, 429)


def test_targets_can_be_seen_in_forced_colours(browser: Any, served: Served) -> None:
    colours = list[str]()
    for forced in ("none", "active"):
        screen = Screen(browser, served, forced_colors=forced)
        screen.sit(served, served.make("carcassonne", ["open", "greedy"]))
        assert screen.wait_for_turn()
        until(screen.page, "document.querySelectorAll('.target').length")
        colours.append(screen.page.evaluate("getComputedStyle(document.querySelector('.target')).stroke"))
        shown = screen.page.evaluate("""() => {
            const probe = document.body.appendChild(document.createElement("i"));
            probe.style.color = "Highlight";
            return getComputedStyle(probe).color;
        }""")
        screen.close()
    assert colours[0] == "rgb(210, 86, 42)"
    assert colours[1] == shown


def test_an_address_that_is_no_page_shows_the_tables(screen: Screen) -> None:
    for where in ("__proto__", "constructor", "toString/x"):
        screen.go(where)
        screen.page.wait_for_selector("h1:has-text('Tables')")


def test_the_lobby_shows_the_games_of_this_browser_first(screen: Screen, served: Served) -> None:
    id = served.make("carcassonne", ["open", "open"], called="mine")
    screen.sit(served, id)
    screen.page.wait_for_selector("button:has-text('leave the table')")
    screen.page.emulate_media(color_scheme="dark")
    screen.go()
    screen.page.wait_for_selector("section[aria-label='Your games'] .card:has-text('mine')")
    assert screen.page.locator("section[aria-label='Your games'] .card.turn").count() == 0
    served.join(id, "Bob")
    turns = int(served.get(f"/games/{id}")["turn"] == 0)
    until(screen.page, f"document.querySelectorAll(\"section[aria-label='Your games'] .card.turn\").length === {turns}")
    small = screen.page.locator("section[aria-label='Your games'] img").get_attribute("src")
    assert small.endswith("/picture.svg?dark=true")


def test_a_table_is_left_on_its_page(screen: Screen, served: Served) -> None:
    id = served.make("carcassonne", called="short")
    screen.sit(served, id)
    screen.page.click("button:has-text('leave the table')")
    screen.page.wait_for_selector("h1:has-text('Tables')")
    assert served.ask("GET", f"/games/{id}")[0] == 404


def expected(screen: Screen, status: int) -> None:
    """The browser notes by itself that a request was refused with this status; nothing else may have gone wrong."""
    assert [words for words in screen.wrong if str(status) not in words] == []
    screen.wrong.clear()


@pytest.mark.parametrize("id", ["6f1c0b8e-52c4-4d5e-9a77-0d1f3a9b2c11", "nonsense", "..", "%2e%2e"])
def test_a_game_that_does_not_exist_is_told_once(screen: Screen, id: str) -> None:
    screen.go(f"games/{id}")
    screen.page.wait_for_selector("h1:has-text('No game')")
    screen.page.wait_for_timeout(300)
    assert screen.page.locator("#notice").is_hidden()
    expected(screen, 404)


def test_a_step_that_does_not_exist_is_the_last_one(screen: Screen, served: Served) -> None:
    id = served.make("carcassonne", ["open", "greedy"])
    for linked in ("999999", "nonsense", "-1"):
        screen.go(f"games/{id}/{linked}")
        until(screen.page, "document.querySelector('.row span.muted')?.textContent === '0 of 0'")


def test_a_seat_whose_token_is_wrong_is_forgotten_and_the_game_is_watched(screen: Screen, served: Served) -> None:
    id = served.make("carcassonne", ["open", "greedy"])
    served.join(id, "Ann")
    screen.go()
    screen.page.evaluate("id => localStorage.setItem(`kdenv ${id}`, JSON.stringify([{ seat: 0, token: 'wrong' }]))", id)
    screen.go(f"games/{id}")
    screen.page.wait_for_selector("#notice:has-text('you are watching')")
    screen.page.wait_for_selector(".board svg")
    assert screen.page.evaluate("id => localStorage.getItem(`kdenv ${id}`)", id) == "[]"
    assert screen.page.locator("button:has-text('resign')").is_hidden()
    expected(screen, 403)


def test_the_focus_stays_where_a_decision_was_made(screen: Screen, served: Served) -> None:
    id = served.make("carcassonne", ["open", "greedy"])
    screen.sit(served, id)
    page = screen.page
    for press, place in (("Enter", ".actions button"), (" ", ".target"), ("Enter", ".target"), ("Enter", ".actions button")):
        assert screen.wait_for_turn()
        until(page, "place => document.querySelectorAll(place).length", place)
        step = page.locator(".row span.muted").first.text_content()
        page.evaluate("place => document.querySelector(place).focus()", place)
        page.keyboard.press(press)
        until(
            page, "old => document.querySelector('.row span.muted').textContent !== old || document.querySelector('.choices .main')", step
        )
        if page.locator(".choices .main").count():  # a tile takes two presses: its place on the drawing, and the button that lays it
            page.locator(".choices .main").focus()
            page.keyboard.press(press)
        until(page, "old => document.querySelector('.row span.muted').textContent !== old", step)
        if screen.wait_for_turn():
            until(page, "place => document.activeElement.matches(place)", place)


def test_names_may_run_from_right_to_left_and_be_long(screen: Screen, served: Served) -> None:
    hebrew, long = "עמיחי (1", "W" * 40
    id = served.make("carcassonne", called="ملك الدومينو (")
    tokens = [served.join(id, name) for name in (hebrew, long)]
    turn = served.get(f"/games/{id}")["turn"]
    state = served.get(f"/games/{id}/seat", tokens[turn])
    served.post(f"/games/{id}/act", {"step": state["step"], "action": state["legal"][0]["action"]}, tokens[turn])
    page = screen.page
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 840})
        screen.go(f"games/{id}")
        page.wait_for_selector(".events li")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("h1 bdi").text_content() == "ملك الدومينو ("
        assert page.locator(".seats bdi").all_text_contents() == [hebrew, long]
        assert page.locator(".events bdi").count() >= 1
        assert page.evaluate("[...document.querySelectorAll('.seats strong')].every((each) => each.getClientRects().length === 1)")
        screen.go()
        page.wait_for_selector(f".card bdi:has-text('{hebrew}')")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_lobby_of_two_hundred_games_shows_some_and_more_if_asked(browser: Any, tmp_path: Path) -> None:
    with Served(tmp_path / "many.sqlite") as served:
        for number in range(200):
            served.make("dominoes", ["open"] * 4, called=f"table {number}")
        for _ in range(3):
            served.make("carcassonne", ["greedy", "open"])
        screen = Screen(browser, served)
        screen.go()
        screen.page.wait_for_selector("h2:has-text('Open tables (12 of 203)')")
        assert screen.page.locator(".card").count() == 12
        screen.page.locator(".card a").nth(3).focus()
        href = screen.page.evaluate("document.activeElement.getAttribute('href')")
        served.make("dominoes", ["open"] * 4)
        screen.page.wait_for_selector("h2:has-text('Open tables (12 of 204)')")
        assert screen.page.evaluate("document.activeElement.getAttribute('href')") == href  # it is looked at anew, and the focus stays
        screen.page.click("text=show more")
        screen.page.wait_for_selector("h2:has-text('Open tables (100 of 204)')")
        assert screen.page.locator(".card").count() == 100
        screen.picture("lobby-many")
        screen.close()


def test_a_screen_reader_is_told_what_others_do_and_finds_a_name_for_everything(screen: Screen, served: Served) -> None:
    id = served.make("carcassonne", ["open", "greedy"], casual=True)
    screen.sit(served, id)
    assert screen.wait_for_turn()
    page = screen.page
    page.evaluate("""() => {
        const spoken = document.querySelector('.spoken');
        window.said = [];  // what comes in two answers is said in two sentences, of which the second replaces the first
        new MutationObserver(() => window.said.push(spoken.textContent)).observe(spoken, { childList: true, subtree: true });
    }""")
    for _ in range(2):
        click_a_decision(screen)
        screen.wait_for_turn()
    until(page, "window.said.some((text) => /greedy placed/.test(text))")
    assert page.locator(".spoken").get_attribute("aria-live") == "polite"
    unreachable = """[...document.querySelectorAll("main *")].filter((each) => each.checkVisibility()
        && each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).overflowX === "auto" && each.tabIndex < 0
        && !each.querySelector("a, button, input, select")).map((each) => each.outerHTML)"""
    page.set_viewport_size({"width": 390, "height": 844})
    page.click("summary:has-text('The position in letters')")
    until(page, "document.querySelector('pre').scrollWidth > document.querySelector('pre').clientWidth")
    assert page.evaluate(unreachable) == []  # what is scrolled can be scrolled by keyboard
    page.set_viewport_size({"width": 1280, "height": 900})
    nameless = """[...document.querySelectorAll('a, button, input, select, [role=button], [role=img], [role=group], img')]
        .filter((each) => each.checkVisibility())
        .filter((each) => !(each.textContent.trim() || each.getAttribute('aria-label') || each.alt || each.labels?.length))
        .map((each) => each.outerHTML)"""
    for where in (None, "", "new", "history", "api"):
        if where is not None:
            screen.go(where)
            page.wait_for_selector("h1")
            page.wait_for_timeout(400)
        assert page.evaluate(nameless) == []
        assert page.locator("h1").count() == 1
        assert page.title().endswith("kdenv")
        assert page.title() != "kdenv"
        assert page.evaluate("document.querySelectorAll('a button, button a').length") == 0


def test_a_game_from_outside_is_played_by_its_list_of_words_alone(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import three_shells

    monkeypatch.setitem(games._from_outside, "three_shells", three_shells.GAME)
    with Served(tmp_path / "shells.sqlite") as served:
        screen = Screen(browser, served)
        page = screen.page
        screen.go("new")
        page.wait_for_selector("#players")
        page.select_option("#game", "three_shells")
        until(page, "document.querySelectorAll('[data-option]').length === 1")
        for seat in range(2):
            page.select_option(f"[id='seat {seat}']", "me")
        page.fill("#name", "Ann")
        page.click("button[type=submit]")
        decided = 0
        while screen.wait_for_turn():
            words = page.locator(".actions button").all_text_contents()
            assert all(words)
            assert page.locator(".target").count() == 0
            assert page.locator(".board svg").count() == 1
            if not decided:
                page.click("summary:has-text('letters')")
                until(page, "document.querySelector('details pre').textContent.includes('stage=1')")
                screen.picture("three-shells")
            decide_by_key(screen)
            decided += 1
        assert decided == 2
        screen.picture("three-shells-over")
        screen.close()
