"""`kdenv play`: what a person at the terminal is shown and can ask for, alone and with other people."""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import shown_in_terminal

import kdenv
from kdenv.cli import main
from kdenv.cli.person import explain
from kdenv.games import find_game, names

GAMES = pytest.mark.parametrize("game", names())
AT_RANDOM = {name: ["random"] * (find_game(name).players[0] - 1) for name in names()}  # opponents that are quick
WORD = {"kingdomino": "crowns", "dominion": "witch", "carcassonne": "cloister", "dominoes": "pass"}  # something that the rules explain


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Let a person give these answers and then leave. Returns the list of the questions, which is filled as the game goes on."""

    def prepare(*answers: str) -> list[str]:
        left, asked = iter(answers), list[str]()

        def reply(question: str) -> str:
            asked.append(question)
            return next(left, "q")

        monkeypatch.setattr("builtins.input", reply)
        return asked

    return prepare


@GAMES
def test_a_person_is_told_what_chance_and_the_others_did(game: str, answer, capsys) -> None:
    answer(*["1"] * 12)
    assert main(["play", game, "--against", *AT_RANDOM[game], "--seed", "1"]) == 0
    said = capsys.readouterr().out
    between = said.split("\n\n")  # drawings have empty lines around them
    assert any(re.search(r"^seat [1-3] \(random\): ", each, re.MULTILINE) for each in between)
    assert "chance: " in said


@pytest.mark.parametrize("game, own, unseen", [("dominoes", 7, 21), ("dominion", 5, 5)])
def test_what_chance_hides_is_counted_and_not_told(game: str, own: int, unseen: int, answer, capsys) -> None:
    answer()
    main(["play", game, "--against", *AT_RANDOM[game], "--seed", "1"])
    dealt = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("chance: "))
    assert dealt.count(",") == own
    assert dealt.endswith(f", {unseen} draws that you do not see")


@GAMES
def test_help_explains_a_word_of_the_rules(game: str, answer, capsys) -> None:
    answer("?", f"help {WORD[game]}", "help xyzzy")
    main(["play", game, "--against", *AT_RANDOM[game], "--seed", "1"])
    said = capsys.readouterr().out
    assert "hint        what a search would do" in said
    assert WORD[game] in said.split("q           leave the game")[1].lower()
    assert "the rules do not mention xyzzy" in said


@GAMES
def test_a_hint_names_turns_that_can_be_taken(game: str, answer, capsys) -> None:
    answer("hint")
    main(["play", game, "--against", *AT_RANDOM[game], "--seed", "1", "--hint", "mce(playouts=10)"])
    shown, hint = capsys.readouterr().out.split("mce(playouts=10) thinks best")
    first = hint.splitlines()[1].strip().split("  ")[0].split(", ")[0]
    assert f"  {first}" in shown


def test_a_policy_that_does_not_search_hints_too(answer, capsys) -> None:
    answer("hint")
    main(["play", "kingdomino", "--against", *AT_RANDOM["kingdomino"], "--seed", "1", "--hint", "full_greedy"])
    assert "full_greedy would play: pick" in capsys.readouterr().out


def test_a_policy_that_cannot_play_the_game_gives_no_hint(answer, capsys) -> None:
    answer("hint")
    assert main(["play", "kingdomino", "--against", *AT_RANDOM["kingdomino"], "--seed", "1", "--hint", "bmfsm"]) == 0
    assert "there is no hint: bmfsm plays dominion, not kingdomino" in capsys.readouterr().out


def test_undo_before_the_first_decision_says_so(answer, capsys) -> None:
    answer("undo")
    main(["play", "kingdomino", "--against", *AT_RANDOM["kingdomino"], "--seed", "1"])
    assert "there is no decision of yours to go back to" in capsys.readouterr().out


@pytest.mark.parametrize("game, opponents", [("carcassonne", ["greedy"]), ("dominoes", ["greedy"] * 3)])
def test_the_same_answers_after_undo_give_the_same_game(game: str, opponents: list[str], answer, tmp_path: Path) -> None:
    records = []
    for answers in (["1", "1", "1"], ["1", "1", "undo", "undo", "1", "1", "1"]):
        answer(*answers)
        main(["play", game, "--against", *opponents, "--seed", "5", "--record", str(tmp_path / "game.txt")])
        records.append((tmp_path / "game.txt").read_text(encoding="utf-8"))
    assert records[0] == records[1]
    assert records[0].count("\n0: ") >= 2


def test_people_who_share_a_terminal_do_not_see_each_others_hands(answer, capsys) -> None:
    asked = answer("1", "", "1")
    main(["play", "dominoes", "--against", "greedy", "--seat", "0,2", "--seed", "4"])
    said = capsys.readouterr().out
    assert [question.split(" (")[0].split(";")[0] for question in asked[:3]] == ["your action", "seat 0 decides", "your action"]
    first, second, *_ = said.split("-" * 40)
    assert len(re.findall(r"^. player 0  (?:\[ : \] ?){7}$", first, re.MULTILINE)) == 1
    assert len(re.findall(r"^. player 2  (?:\[ : \] ?)+$", second, re.MULTILINE)) >= 1


def test_people_need_not_hide_what_is_open_to_all(answer) -> None:
    asked = answer("1", "1", "1")
    main(["play", "carcassonne", "--seat", "0,1", "--seed", "4"])
    assert all(question.startswith("your action") for question in asked)


def test_carcassonne_draws_the_tile_in_hand(answer, capsys) -> None:
    answer()
    main(["play", "carcassonne", "--against", "random", "--seed", "3"])
    said = capsys.readouterr().out
    assert "chance: draw V\n" in said
    rotations = ["·····   ··│··   ··│··   ·····", "──╮··   ──╯··   ··╰──   ··╭──", "··│··   ·····   ·····   ··│··"]
    assert "\n".join([" r0      r1      r2      r3", *rotations]) in said


@pytest.mark.cold
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
@GAMES
def test_a_game_in_a_real_terminal(game: str, tmp_path: Path) -> None:
    record = tmp_path / "game.txt"
    game_and_rivals = [game, "--against", *AT_RANDOM[game]]
    command = [sys.executable, "-m", "kdenv", "play", *game_and_rivals, "--seed", "1", "--hint", "mce(playouts=5)", "--record", str(record)]
    answers = ["?", f"help {WORD[game]}", "hint", "1", "undo", "1", "1", "look", "q"]
    shown = shown_in_terminal(command, {**os.environ, "TERM": "xterm"}, answers, b"leave): ")
    text = shown.decode()
    assert "thinks best" in text
    assert "back at your last decision" in text
    assert "Traceback" not in text
    assert record.read_text(encoding="utf-8").endswith("= unfinished\n")


def test_the_opponents_of_a_person_who_names_none_are_the_strongest(answer, capsys) -> None:
    answer("1", "1")
    assert main(["play", "kingdomino", "--option", "size=3", "--option", "dominoes=8", "--players", "2", "--seed", "1"]) == 0
    assert "(strongest): " in capsys.readouterr().out


def test_where_nobody_has_been_measured_flat_monte_carlo_plays(answer, capsys, monkeypatch) -> None:
    """A game of an installed package may name no strongest policies."""
    monkeypatch.setattr("kdenv.policies.Strongest.why_not", classmethod(lambda cls, game: "has none"))
    answer()
    assert main(["play", "dominoes", "--seed", "1"]) == 0
    assert "(mce(seconds=1)): " in capsys.readouterr().out


def test_the_seats_and_opponents_are_named_at_the_start(answer, capsys) -> None:
    answer()
    main(["play", "dominoes", "--against", "greedy", "random", "--seat", "1", "--seed", "1"])
    first, *seats = capsys.readouterr().out.splitlines()[:5]
    assert first == "Dominoes, 4 players, seed 1"
    assert seats == [
        "  seat 0: greedy, with seat 2",
        "  seat 1: you, with seat 3",
        "  seat 2: random, with seat 0",
        "  seat 3: greedy, with seat 1",
    ]


def test_the_places_are_listed_in_their_order(answer, capsys) -> None:
    answer(*["1"] * 200)
    command = ["play", "kingdomino", "--against", *AT_RANDOM["kingdomino"], "--option", "size=3", "--option", "dominoes=12", "--seed", "2"]
    assert main(command) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if re.match(r"\d\. seat ", line)]
    assert len(lines) == 4
    assert [line[0] for line in lines] == sorted(line[0] for line in lines)
    points = [int(line.split(": ")[1].removesuffix(" points")) for line in lines]
    assert points == sorted(points, reverse=True)
    assert sum("(you)" in line for line in lines) == 1


def test_too_many_opponents_are_one_sentence(capsys) -> None:
    assert main(["play", "carcassonne", "--against", "random", "random", "--players", "2"]) == 2
    assert "2 opponents are named for 1 seat at 2 players" in capsys.readouterr().err


def test_help_finds_whole_words_and_their_plurals_only(answer, capsys) -> None:
    answer("help pick", "help pic")
    main(["play", "kingdomino", "--against", *AT_RANDOM["kingdomino"], "--seed", "1"])
    assert "the rules do not mention pic;" in capsys.readouterr().out


def test_help_shows_items_of_the_rules_from_their_beginnings_to_their_ends() -> None:
    lines = explain(kdenv.table("kingdomino"), "ascending")
    assert lines[0].startswith("- In every later round a new draft is drawn.")
    assert lines[-1].strip().startswith("dominoes are only placed.") and len(lines) == 3
    (row,) = explain(kdenv.table("kingdomino"), "harmony")[:1]
    assert row.startswith("  harmony   yes, no;")
