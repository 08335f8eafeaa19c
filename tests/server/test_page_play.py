"""The page as a person plays on it: words of the game, whole turns as hints, tiles that are turned, a telephone, two people at a device."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from served import Served
from test_page import GAMES, SHIFTS, Screen, click_a_decision, until
from test_page import browser as browser  # a fixture
from test_page import pytestmark as pytestmark

SMALL = {"width": 390, "height": 844}


@pytest.fixture
def screen(browser: Any, served: Served) -> Iterator[Screen]:
    shown = Screen(browser, served)
    yield shown
    shown.close()


@pytest.fixture
def phone(browser: Any, served: Served) -> Iterator[Screen]:
    shown = Screen(browser, served, has_touch=True, is_mobile=True)
    shown.page.set_viewport_size(SMALL)
    yield shown
    shown.close()


def made(served: Served, game: str, **about: Any) -> str:
    return served.make(game, GAMES[game]["seats"], casual=True, **{k: v for k, v in GAMES[game].items() if k != "seats"} | about)


def step_shown(page: Any) -> str:
    return str(page.locator(".row span.muted").first.text_content())


def test_the_log_is_in_words_of_the_game_and_goes_to_its_steps(screen: Screen, served: Served) -> None:
    page = screen.page
    screen.sit(served, made(served, "carcassonne"))
    for _ in range(3):
        assert screen.wait_for_turn()
        click_a_decision(screen)
    screen.wait_for_turn()
    lines = page.locator(".events li a")
    words = lines.all_text_contents()
    assert any(re.match(r"0You placed a tile with ", line) for line in words)
    assert any(re.match(r"1greedy (placed|put)", line) for line in words)
    first = lines.last
    assert re.match(r"place [A-X][+-]\d", first.get_attribute("title"))  # the notation is a tooltip
    first.click()
    until(page, "document.querySelector('.row span.muted').textContent.startsWith('2 of')")
    until(page, "document.querySelector('.events .shown a')?.title.startsWith('place ')")


def test_a_tile_is_shown_turned_and_laid(phone: Screen, served: Served) -> None:
    page = phone.page
    phone.sit(served, made(served, "carcassonne"))
    assert phone.wait_for_turn()
    until(page, "document.querySelectorAll('.target').length")
    step = step_shown(page)
    for target in page.locator(".target").all():
        target.tap()
        until(page, "document.querySelector('.ghost use') !== null")
        if page.locator("button:has-text('turn it')").count():
            break
        page.click(".choices button:has-text('back')")
    before = page.locator(".ghost use").get_attribute("transform")
    page.tap("button:has-text('turn it')")
    after = page.locator(".ghost use").get_attribute("transform")
    assert before.partition(" rotate")[0] == after.partition(" rotate")[0]
    assert before != after
    page.locator(".target.taken").tap()
    assert page.locator(".ghost use").get_attribute("transform") != after
    assert step_shown(page) == step  # nothing is laid before the button says so
    page.tap("button:has-text('lay it')")
    until(page, "old => document.querySelector('.row span.muted').textContent !== old", step)


def test_a_hint_names_one_best_turn_and_draws_it_whole(screen: Screen, served: Served) -> None:
    page = screen.page
    screen.sit(served, made(served, "carcassonne"))
    assert screen.wait_for_turn()
    page.fill("input[aria-label='the search that is asked']", "mce(playouts=300)")
    page.locator("body").click(position={"x": 2, "y": 300})
    page.keyboard.press("h")
    page.wait_for_selector(".hint text.best")
    assert page.locator(".hint text").all_text_contents()[-1] != "best" or page.locator(".hint text").count() == 1
    best = page.locator(".analysis strong")
    words = best.text_content()
    assert re.match(r"place the tile \d .* of the start.*; put (no|a) meeple", words)
    assert re.match(r"place [A-X][+-]\d.*, claim ", best.get_attribute("title"))  # the notation is a tooltip
    assert len(page.locator(".hint path.best").all()) == 1 + words.count("put a meeple")
    assert 1 <= page.locator(".analysis li").count() <= 3
    drawn = page.locator(".canvas svg").get_attribute("viewBox")
    page.set_viewport_size(SMALL)  # the drawing is another one then
    until(page, "old => document.querySelector('.canvas svg').getAttribute('viewBox') !== old", drawn)
    until(page, "document.querySelector('.hint text.best') !== null")
    choices = page.locator(".actions button")
    assert all(re.match(r"place the tile \d", each) for each in choices.all_text_contents())
    assert re.match(r"place [A-X][+-]\d", choices.first.get_attribute("title"))


# The words of those targets in the window whose middle is covered by something that is no part of the drawing.
COVERED = """[...document.querySelectorAll(".target")].filter((target) => {
    const { x, y, width, height } = target.getBoundingClientRect();
    const found = document.elementFromPoint(x + width / 2, y + height / 2);
    return found && !found.closest("svg");
}).map((target) => target.getAttribute("aria-label"))"""


@pytest.mark.parametrize("game", GAMES)
def test_a_telephone_shows_the_turn_the_board_and_what_to_do_without_scrolling(phone: Screen, served: Served, game: str) -> None:
    page = phone.page
    phone.sit(served, made(served, game))
    for _ in range(3):
        assert phone.wait_for_turn()
        click_a_decision(phone)
    assert phone.wait_for_turn()
    until(page, "document.querySelectorAll('.target, .choices button').length")
    page.wait_for_timeout(200)
    bar = page.locator(".bar").bounding_box()
    assert page.locator(".canvas").bounding_box()["y"] >= bar["y"] + bar["height"] - 1  # the form, which was below the board, has gone
    for place in (".status", ".canvas"):
        box = page.locator(place).bounding_box()
        assert box["y"] >= 0
        assert box["y"] + min(box["height"], 500) <= SMALL["height"], place
    if page.locator(".choices button").count():
        assert page.locator(".choices").bounding_box()["y"] < SMALL["height"]
    assert page.evaluate(COVERED) == []
    boxes = "[...document.querySelectorAll('.target')].map((each) => each.getBoundingClientRect())"
    sizes = page.evaluate(f"{boxes}.map((box) => Math.min(box.width, box.height))")
    assert all(size >= 24 for size in sizes), sizes
    assert page.evaluate("document.documentElement.scrollWidth") <= SMALL["width"]
    whole = page.locator(".canvas svg").get_attribute("viewBox")
    page.click("button[aria-label='larger']")
    assert float(page.locator(".canvas svg").get_attribute("viewBox").split()[2]) < float(whole.split()[2])
    page.click("button[aria-label='the whole drawing']")
    assert page.locator(".canvas svg").get_attribute("viewBox") == whole
    phone.picture(f"{game}-phone")


def test_a_telephone_magnifies_places_that_a_finger_would_not_hit(phone: Screen, served: Served) -> None:
    """In a wide landscape the places of meeples on a tile were 15 px wide."""
    page, id = phone.page, served.make("carcassonne", ["open", "open"])
    tokens = [served.join(id, name) for name in ("Ann", "Bob")]
    turn, claims, wide = 0, False, 0
    while wide < 12 or not claims:
        turn = served.get(f"/games/{id}")["turn"]
        state = served.get(f"/games/{id}/seat", tokens[turn])
        claims = state["legal"][0]["words"].startswith("claim")
        if wide < 12 or not claims:
            last = max(state["legal"], key=lambda each: int((re.findall(r"[+-]\d+", each["words"]) or ["0"])[0]))
            wide = max(wide, int((re.findall(r"[+-]\d+", last["words"]) or ["0"])[0]))
            served.post(f"/games/{id}/act", {"step": state["step"], "action": last["action"]}, tokens[turn])
    phone.go()
    kept = json.dumps([{"seat": turn, "token": tokens[turn]}])
    page.evaluate("([id, kept]) => localStorage.setItem(`kdenv ${id}`, kept)", [id, kept])
    phone.go(f"games/{id}")
    sizes = "[...document.querySelectorAll('.target')].map((each) => each.getBoundingClientRect().width)"
    until(page, f"Math.min(...{sizes}) >= 24 && {sizes}.length")
    assert page.evaluate(COVERED) == []
    page.locator(".target").first.tap()
    until(page, "!document.querySelector('.target')")
    until(page, "!document.querySelector('.zoomed')")  # then all is seen again


def test_nothing_moves_on_a_telephone_until_a_game_is_over(phone: Screen, served: Served) -> None:
    page = phone.page
    page.add_init_script(SHIFTS)
    phone.sit(served, made(served, "kingdomino", options={"size": 3, "dominoes": 4}))
    n = 0
    while phone.wait_for_turn():
        if n == 1:
            page.click("button:has-text('hint')")
            page.wait_for_selector(".analysis strong")
        click_a_decision(phone)
        n += 1
    page.wait_for_selector(".curve")
    page.wait_for_timeout(300)
    assert page.evaluate("window.shift") < 0.1
    bar = page.locator(".bar").bounding_box()
    for inside in page.locator(".bar > *:visible").all():
        box = inside.bounding_box()
        assert box["y"] >= bar["y"]
        assert box["y"] + box["height"] <= bar["y"] + bar["height"]
        assert box["x"] + box["width"] <= SMALL["width"]


def test_a_board_that_is_less_high_moves_nothing_below_it(phone: Screen, served: Served) -> None:
    page = phone.page
    id = made(served, "carcassonne")
    phone.sit(served, id)
    heights, below, letters = set(), set(), set()
    page.click("summary:has-text('The position in letters')")
    for _ in range(6):
        assert phone.wait_for_turn()
        until(page, "document.querySelector('pre').textContent !== ''")
        letters.add(page.locator("pre").bounding_box()["height"])
        click_a_decision(phone)
    assert phone.wait_for_turn()
    assert len(letters) == 1
    for step in range(served.get(f"/games/{id}")["step"], -1, -3):
        page.locator("input[type=range]").fill(str(step))
        until(page, "step => document.querySelector('.row span.muted').textContent.startsWith(`${step} of`)", step)
        until(page, "step => document.querySelector('.canvas svg').getAttribute('aria-label').includes(`step ${step}`)", step)
        heights.add(round(page.locator(".canvas svg").bounding_box()["height"]))
        below.add(round(page.evaluate("document.querySelector('.back').offsetTop")))
    assert len(heights) > 1
    assert max(below) - min(below) < 4
    ground = "[document.querySelector('.canvas'), document.querySelector('.canvas svg > rect')].map((each) => getComputedStyle(each))"
    canvas, rect = page.evaluate(f"(([canvas, rect]) => [canvas.backgroundColor, rect.fill])({ground})")
    assert canvas == rect  # no gap is seen


# Notes the words of each dialog, and how many rectangles of the board are drawn when it comes. (Clicking a decision goes on by itself.)
DIALOGS = """window.dialogs = []; addEventListener("DOMContentLoaded", () => new MutationObserver((changes) => {
    for (const made of changes.flatMap((each) => [...each.addedNodes])) if (made.localName === "dialog")
        window.dialogs.push([made.querySelector("h2").textContent, made.querySelector("p").textContent,
            document.querySelectorAll(".canvas svg rect").length]);
}).observe(document.body, { childList: true }))"""


def test_a_round_of_dominoes_is_summed_up_before_the_next(screen: Screen, served: Served) -> None:
    page = screen.page
    page.add_init_script(DIALOGS)
    screen.sit(served, made(served, "dominoes"))
    for _ in range(16):
        assert screen.wait_for_turn()
        if page.evaluate("window.dialogs.length"):
            break
        click_a_decision(screen)
    title, words, drawn = page.evaluate("window.dialogs[0]")
    assert title == "The round is over"
    assert re.match(r"Round 1 is over\. .* \(100 points lose\)\.$", words)
    assert "Ann and greedy" in words
    assert "player" not in words
    assert drawn > 20  # the table is seen as it was before the last tile


def test_people_at_one_device_do_not_see_each_others_hands(screen: Screen, served: Served) -> None:
    id = served.make("dominoes", ["open", "greedy", "open", "greedy"])
    kept = [{"seat": seat, "token": served.join(id, name)} for seat, name in ((0, "Ann"), (2, "Bob"))]
    page = screen.page
    page.add_init_script(DIALOGS)
    screen.go()
    page.evaluate("([id, kept]) => localStorage.setItem(`kdenv ${id}`, JSON.stringify(kept))", [id, kept])
    screen.go(f"games/{id}")
    for _ in range(3):
        assert screen.wait_for_turn()
        click_a_decision(screen)
    dialogs = page.evaluate("window.dialogs")
    assert {name for name, _, _ in dialogs} == {"Ann", "Bob"}
    assert all(drawn == 0 for _, _, drawn in dialogs)


def test_a_late_answer_takes_nothing_back(screen: Screen, served: Served) -> None:
    """Two people at one device: the second one's turn was shown, then came the answer to the first one's decision."""
    id, held = served.make("carcassonne", ["open", "open"]), list[Any]()
    kept = [{"seat": seat, "token": served.join(id, name)} for seat, name in enumerate(("Ann", "Bob"))]
    turn = served.get(f"/games/{id}")["turn"]
    state = served.get(f"/games/{id}/seat", kept[turn]["token"])
    served.post(f"/games/{id}/act", {"step": state["step"], "action": state["legal"][0]["action"]}, kept[turn]["token"])
    page = screen.page
    screen.go()
    page.evaluate("([id, kept]) => localStorage.setItem(`kdenv ${id}`, JSON.stringify(kept))", [id, kept])
    screen.go(f"games/{id}")
    page.route(lambda url: "/act?" in url, lambda route: held.append((route, route.fetch())))
    until(page, "document.querySelectorAll('.choices button').length")
    page.locator(".choices button").first.click()
    other = ("Ann", "Bob")[1 - turn]
    until(page, "name => document.querySelector('.status')?.textContent === `your turn: ${name}`", other)
    until(page, "document.querySelectorAll('.actions button').length")
    (route, answer), *_ = held
    route.fulfill(response=answer)
    page.wait_for_timeout(500)
    assert page.locator(".actions button").count()
    assert page.locator(".target").count()


def test_a_decision_is_not_offered_again_while_it_is_sent(screen: Screen, served: Served) -> None:
    """The board is drawn anew for the night before the server has answered."""
    id, held = served.make("carcassonne", ["open", "greedy"]), list[Any]()
    screen.sit(served, id)
    assert screen.wait_for_turn()
    page = screen.page
    page.route(lambda url: "/act?" in url, lambda route: held.append(route))
    page.locator(".actions button").first.evaluate("button => button.click()")
    until(page, "document.querySelectorAll('.actions button').length === 0")
    old = page.locator(".board svg").first.inner_html()
    page.emulate_media(color_scheme="dark")
    until(page, "old => document.querySelector('.board svg').innerHTML !== old", old)
    page.wait_for_timeout(500)
    assert page.locator(".actions button").count() == 0
    assert page.locator(".target").count() == 0
    held[0].continue_()
    assert screen.wait_for_turn()
    assert len(held) == 1


@pytest.mark.parametrize("likes", [True, False])
def test_a_forced_move_is_made_by_itself_unless_the_person_likes_to_make_it(screen: Screen, served: Served, likes: bool) -> None:
    """The player who leads a match of dominoes must open with 6-6."""
    page = screen.page
    screen.go()
    page.evaluate("likes => localStorage.setItem('kdenv settings', JSON.stringify({ forced: likes }))", likes)
    for _ in range(20):
        id = served.make("dominoes", ["open", "open", "open", "open"])
        tokens = [served.join(id, name) for name in ("Ann", "Bob", "Cy", "Di")]
        turn = served.get(f"/games/{id}")["turn"]
        if turn == 0:
            break
    step = served.get(f"/games/{id}")["step"]
    page.evaluate(
        "([id, turn, token]) => localStorage.setItem(`kdenv ${id}`, JSON.stringify([{ seat: turn, token }]))", [id, turn, tokens[turn]]
    )
    screen.go(f"games/{id}")
    page.wait_for_selector(".status")
    if likes:
        until(page, "document.querySelector('.events li a')?.textContent.includes('You opened with 6|6')")
    else:
        until(page, "document.querySelectorAll('.actions button').length === 1")
        page.wait_for_timeout(1500)
        assert served.get(f"/games/{id}")["step"] == step


# A window that nobody looks at, and that notes its notifications and sounds.
CALLS = """window.calls = [];
    Object.defineProperty(document, "hidden", { get: () => true });
    window.Notification = class {
        static permission = "granted";
        constructor(title, { body }) { window.calls.push(`${title}: ${body}`); }
    };
    const Audible = window.AudioContext;
    window.AudioContext = class extends Audible { constructor() { super(); window.calls.push("sound"); } };"""


@pytest.mark.parametrize(("likes", "calls"), [("{}", []), ('{"sounds": true, "notify": true}', ["sound", "your turn: Carcassonne"])])
def test_a_person_is_called_when_it_is_its_turn(screen: Screen, served: Served, likes: str, calls: list[str]) -> None:
    page, id = screen.page, served.make("carcassonne", ["open", "open"])
    page.add_init_script(CALLS)
    bob = served.join(id, "Bob", seat=0)
    screen.go()
    page.evaluate("likes => localStorage.setItem('kdenv settings', likes)", likes)
    screen.sit(served, id)
    for _ in range(2):  # also the first time
        until(page, "document.querySelector('.status')?.textContent === 'Bob decides'")
        assert page.title().startswith("Carcassonne")
        assert page.evaluate("window.calls.splice(0)") == []
        while served.get(f"/games/{id}")["turn"] == 0:
            state = served.get(f"/games/{id}/seat", bob)
            served.post(f"/games/{id}/act", {"step": state["step"], "action": state["legal"][0]["action"]}, bob)
        assert screen.wait_for_turn()
        assert page.title().startswith("your turn · Carcassonne")
        until(page, "n => window.calls.length >= n", len(calls))
        page.wait_for_timeout(100)
        assert page.evaluate("window.calls.splice(0)") == calls
        while served.get(f"/games/{id}")["turn"] == 1:  # a turn may have two decisions
            assert screen.wait_for_turn()
            click_a_decision(screen)


def test_a_game_is_played_again_and_a_table_is_joined_from_the_lobby(screen: Screen, served: Served) -> None:
    page = screen.page
    id = served.make("carcassonne", ["open", "open"], called="again and again")
    token = served.post(f"/games/{id}/join", {"name": "Bob", "seat": 1})["token"]
    screen.go()
    page.evaluate("localStorage.setItem('kdenv name', 'Ann')")
    page.locator(".card", has_text="again and again").locator("button:has-text('sit down')").click()
    until(page, "document.querySelector('.status')?.textContent.length > 3 && document.querySelectorAll('.seats li').length === 2")
    assert served.get(f"/games/{id}")["seats"][0]["name"] == "Ann"
    served.post(f"/games/{id}/resign", {}, token)
    page.click("button:has-text('play again')")
    until(page, "old => !location.hash.includes(old)", id)
    page.wait_for_selector(".status:has-text('waiting')")
    again = served.get(f"/games/{page.evaluate('location.hash').rpartition('/')[2]}")
    assert [(seat["kind"], seat["name"]) for seat in again["seats"]] == [("player", "Ann"), ("open", "")]
    assert again["called"] == "again and again"


def test_the_rules_are_a_page(screen: Screen) -> None:
    page = screen.page
    screen.go("rules/dominion")
    page.wait_for_selector(".prose h2:has-text('Dominion')")
    assert page.locator(".prose tr", has_text="Village").count() >= 1  # the texts of the cards
    assert page.locator(".prose li").count() >= 3
    page.select_option("select[aria-label='game']", "carcassonne")
    page.wait_for_selector(".prose h2:has-text('Carcassonne')")


def test_nothing_moves_by_itself_where_less_motion_is_wanted(browser: Any, served: Served) -> None:
    for motion, name in (("reduce", "none"), ("no-preference", "appear")):
        shown = Screen(browser, served, reduced_motion=motion)
        shown.sit(served, made(served, "carcassonne"))
        assert shown.wait_for_turn()
        until(shown.page, "document.querySelector('.canvas .last')")
        assert shown.page.evaluate("getComputedStyle(document.querySelector('.canvas .last')).animationName") == name
        shown.close()
