"""Mutated positions of all games: each is refused in a sentence, or whatever can be done with a position can be done with it.

`python tests/support/fuzz_positions.py GAME SEED POSITIONS` tries so many and prints what became of them; the position in hand
is in the file given last, so that it is known when a kernel hangs or crashes. test_positions.py runs it.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import Rng, below, make_rng
from kdenv.core import verbs
from kdenv.core.errors import KdenvError
from kdenv.core.game import Game
from kdenv.core.questions import choose
from kdenv.core.record import replay, write_record
from kdenv.core.table import Table
from kdenv.core.turns import SCRATCH, first_action, rest_of
from kdenv.core.verbs import CHANCE, DECIDE, OVER, apply, apply_chance, legal, phase, sample_chance, seat
from kdenv.games import find_game
from kdenv.games.dominion.cards import random_kingdom
from kdenv.search.playout import EpsilonGreedyPlayer, Uniform

MOST_DECISIONS = 300
WRONG_TURN, WRONG_ACTION = -1, -2


# --- Positions ---


def variants(name: str, dice: random.Random) -> tuple[int, dict[str, Any]]:
    """A number of players and options at random."""
    if name == "kingdomino":
        players = dice.choice([2, 3, 4])
        options = {"size": dice.choice([3, 5, 7]), "tiebreak": dice.choice(["shared", "official"]), "middle": dice.random() < 0.5}
        return players, options | ({"dominoes": 12} if options["size"] == 3 else {})
    if name == "carcassonne":
        return dice.choice([2, 3, 5]), {"unplaceable": dice.choice(["return", "discard"])}
    if name == "dominoes":
        rules = dice.choice(["paper", "dominai_code", "openspiel", "puerto_rico"])
        lead = dice.choice(["rules", "drawn"])
        return 4, {"rules": rules, "mode": dice.choice(["match", "round"]), "lead": lead, "calls": dice.random() < 0.3}
    options = {"kingdom": random_kingdom(dice.randrange(1000)), "max_turns": dice.choice([6, 12, 30]), "curses": dice.random() < 0.3}
    options |= {"supply": dice.choice(["standard", "thesis"]), "info": dice.choice(["honest", "open_discard"])}
    return dice.choice([1, 2, 2, 3, 4]), options


def positions(game: Game, dice: random.Random) -> Iterator[tuple[Table, str]]:
    """Positions of random games, now and then one, each with a table of its game to be set up."""
    while True:
        players, options = variants(game.name, dice)
        table = Table(game, players, **options)
        rng = make_rng(dice.getrandbits(32))
        often = dice.choice([0.02, 0.1, 0.3])
        while True:
            if dice.random() < often or table.over:
                yield table, table.position()
            if table.over:
                break
            if table.at_chance:
                table.chance(table.sample_chance(rng))
            else:
                actions = table.legal()
                table.play(dice.choice([action for action in actions if action] or actions))  # in Dominion 0 ends a phase


# --- Mutations ---

NUMBERS = (-129, -128, -1, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 16, 17, 24, 36, 48, 60, 72, 99, 100, 127, 128, 255, 9999)


def mutated(text: str, other: str, dice: random.Random) -> str:
    """The text with up to three changes, large or small; `other` is a position to take words from."""
    kinds = dice.choice([LARGE, SMALL])
    for _ in range(dice.choice([1, 1, 1, 1, 2, 2, 3])):
        text = dice.choice(kinds)(text, other, dice)
    return text


def _two_alike(text: str, dice: random.Random) -> list[re.Match[str]]:
    """Two numbers that mean the same kind of thing, in the order of the text: the same sign before them, the same card after them."""
    kinds: dict[tuple[str, str], list[re.Match[str]]] = {}
    for number in re.finditer(r"(\W)(\d+)(?!: )( [A-Z]\w*|)", text):
        kinds.setdefault((number[1], number[3]), []).append(number)
    several = [numbers for numbers in kinds.values() if len(numbers) > 1]
    return sorted(dice.sample(dice.choice(several), 2), key=lambda number: number.start()) if several else []


def _with_numbers(text: str, numbers: list[re.Match[str]], values: list[int]) -> str:
    for number, value in reversed([*zip(numbers, values, strict=True)]):
        text = f"{text[: number.start(2)]}{value}{text[number.end(2) :]}"
    return text


def move_one(text: str, other: str, dice: random.Random) -> str:
    """One number becomes smaller by one, the other larger: a card goes to another pile, a tile to another field."""
    two, more = _two_alike(text, dice), dice.choice([-1, 1])
    return _with_numbers(text, two, [int(number[2]) + sign * more for number, sign in zip(two, (1, -1), strict=False)])


def swap_numbers(text: str, other: str, dice: random.Random) -> str:
    """Two numbers change places: dominoes between the box and the table, kings on dominoes, cards between piles."""
    two = _two_alike(text, dice)
    return _with_numbers(text, two, [int(number[2]) for number in reversed(two)])


def change_alike(text: str, other: str, dice: random.Random) -> str:
    """A small letter in the value of a part becomes another one of this value: a terrain of a kingdom, the feature of a claim."""
    parts, between, sign = _parts(text)
    letters = [(i, match) for i, part in enumerate(parts) for match in re.finditer(r"[a-z]", part) if match.start() > part.find(sign)]
    if letters:
        i, match = dice.choice(letters)
        letter = dice.choice([match[0] for j, match in letters if j == i])
        parts[i] = parts[i][: match.start()] + letter + parts[i][match.end() :]
    return between.join(parts)


def end_list(text: str, other: str, dice: random.Random) -> str:
    """A list ends before it did: fewer tiles lie, fewer turns were taken."""
    parts, between, _ = _parts(text)
    lists = [i for i, part in enumerate(parts) if "," in part]
    if lists:
        i = dice.choice(lists)
        words = parts[i].split(",")
        parts[i] = ",".join(words[: dice.randrange(1, len(words))])
    return between.join(parts)


def change_number(text: str, other: str, dice: random.Random) -> str:
    numbers = list(re.finditer(r"-?\d+", text))
    if not numbers:
        return text
    match = dice.choice(numbers)
    number = dice.choice([*NUMBERS, int(match[0][:9]) + 1, int(match[0][:9]) - 1, *["9" * 5000] * (dice.random() < 0.02)])
    return f"{text[: match.start()]}{number}{text[match.end() :]}"


def _words(text: str) -> list[str]:
    return re.split(r"([ ;,:=/.@])", text)


def move_word(text: str, other: str, dice: random.Random) -> str:
    """One word becomes another one of either position."""
    words = _words(text)
    words[dice.randrange(0, len(words), 2)] = dice.choice(_words(dice.choice([text, other]))[::2])
    return "".join(words)


def delete_word(text: str, other: str, dice: random.Random) -> str:
    words = _words(text)
    at = dice.randrange(0, len(words), 2)
    del words[at : at + dice.choice([1, 2])]
    return "".join(words)


def _parts(text: str) -> tuple[list[str], str, str]:
    """The parts of a position, what is between them, and between a name and its value."""
    return (text.split("; "), "; ", ":") if ";" in text else (text.split(" "), " ", "=")


def swap_parts(text: str, other: str, dice: random.Random) -> str:
    """Two parts exchange their values, or one is left out."""
    parts, between, sign = _parts(text)
    i, j = dice.randrange(len(parts)), dice.randrange(len(parts))
    if dice.random() < 0.2:
        del parts[i]
        return between.join(parts)
    (name, _, value), (other_name, _, other_value) = parts[i].partition(sign), parts[j].partition(sign)
    parts[i], parts[j] = f"{name}{sign}{other_value}", f"{other_name}{sign}{value}"
    return between.join(parts)


def take_part(text: str, other: str, dice: random.Random) -> str:
    """A part is as in the other position, or comes from there."""
    parts, between, sign = _parts(text)
    taken = dice.choice(_parts(other)[0])
    names = [part.partition(sign)[0] for part in parts]
    name = taken.partition(sign)[0]
    if name in names:
        parts[names.index(name)] = taken
    else:
        parts.insert(dice.randrange(len(parts) + 1), taken)
    return between.join(parts)


def change_letter(text: str, other: str, dice: random.Random) -> str:
    at = dice.randrange(len(text) + 1)
    return text[:at] + dice.choice(["", *"0129:;=,-+./@ \nXwlNc\0é²٣"]) + text[at + dice.choice([0, 1]) :]


LARGE = [change_number, change_number, move_word, delete_word, swap_parts, take_part, change_letter]
SMALL = [move_one, swap_numbers, change_alike, end_list]  # more of these are accepted


# --- What is done with an accepted one ---


def players_of(game: Game) -> dict[str, Any]:
    """Every compiled player of the game: rule players, reflex and those of playouts."""
    known = game.knowledge
    players = {name: rule.make() for name, rule in known.players.items()}
    if known.reflex is not None:
        players["reflex"] = known.reflex.make()
    return {**players, "random": Uniform(), "epsilon_greedy": EpsilonGreedyPlayer(players[known.greedy or next(iter(players))], 0.5)}


@kernel
def _is_legal(s, action, out):
    found = False
    for i in range(legal(s, out)):
        found = found or out[i] == action
    return found


@kernel
def follow(player, states, most, out, rng):
    """Play states[0] on as this player wants, chance as it comes, up to so many events, checking every action of every turn.

    Where it has nothing to say (a reflex) any action is taken. Returns the number of events, WRONG_TURN where
    a turn goes on although its seat does not decide any more, or WRONG_ACTION - action.
    """
    n = 0
    while n < most and phase(states[0]) != OVER:
        if phase(states[0]) == CHANCE:
            apply_chance(states[0], sample_chance(states[0], rng))
            n += 1
            continue
        mover = seat(states[0])
        turn = choose(player, states, 0, out, rng)
        if turn == 0:
            turn = out[below(rng, legal(states[0], out))] + 1
        while turn != 0:
            if phase(states[0]) != DECIDE or seat(states[0]) != mover:
                return WRONG_TURN
            if not _is_legal(states[0], first_action(turn), out):
                return WRONG_ACTION - first_action(turn)
            apply(states[0], first_action(turn))
            turn = rest_of(turn)
            n += 1
    return n


def ask_players(table: Table, rng: Rng) -> None:
    """Let every player play on from here, as in a playout."""
    states = np.zeros(1 + SCRATCH, table.states.dtype)
    for name, player in players_of(table.game).items():
        states[0] = table.states[0]
        n = int(follow(player, states, 2 * MOST_DECISIONS, table.game.buffer(), rng))
        if n < 0:
            what = "a turn too long" if n == WRONG_TURN else f"action {WRONG_ACTION - n}"
            raise AssertionError(f"{name} plays {what} at {table.game.notation.position_text(states, 0)}")


def look(table: Table, rng: Rng) -> None:
    """Everything that can be asked about a position."""
    assert len(table.scores()) == table.players == len(table.standings())
    twin = Table(table.game, table.players, **table.options).at_position(table.position())
    assert twin.position() == table.position()
    assert (twin.legal(), twin.chances(), twin.seat, twin.scores()) == (table.legal(), table.chances(), table.seat, table.scores())
    for me in range(table.players):
        for encoding in table.game.encodings:
            assert np.isfinite(table.observation(me, encoding.name)).all()
            assert (twin.observation(me, encoding.name) == table.observation(me, encoding.name)).all()
        verbs.resample_hidden_at(twin.states, 0, me, rng)
        drawn = twin.position()
        assert twin.at_position(drawn).position() == drawn
        twin.at_position(table.position())


def check_numbers(table: Table) -> None:
    """No pile of Dominion has a number of cards below 0, and none are lost or made."""
    if table.game.name == "dominion":
        for pile in ("supply", "trash", "play", "aside", "loot", "hand", "deck", "discard", "open", "owned"):
            assert (table.states[0][pile] >= 0).all(), f"{pile} below 0 at {table.position()}"


def play_on(table: Table, dice: random.Random) -> None:
    """Play at random to the end or for 300 decisions; look at some positions on the way, and read the record."""
    rng = make_rng(dice.getrandbits(32))
    look(table, rng)
    ask_players(table, rng)
    for n in range(MOST_DECISIONS):
        table.run_chance(rng)
        check_numbers(table)
        if table.over:
            break
        actions = table.legal()
        assert actions and actions == sorted(set(actions))
        table.play(dice.choice(actions))
        if dice.random() < 4 / (n + 4) / 4:
            look(table, rng)
    look(table, rng)
    *_, again = replay(write_record(table), find_game)
    assert again.position() == table.position()


def fuzz(name: str, seed: int, many: int, file: Path | None = None) -> dict[str, Any]:
    """Try so many mutated positions of a game."""
    game, dice, began = find_game(name), random.Random(seed), time.process_time()
    found: dict[str, Any] = {"game": name, "tried": 0, "accepted": 0, "failed": []}
    recent = [""]
    for table, text in positions(game, dice):
        recent = [*recent[-20:], text]
        for mutant in [text, *(mutated(text, dice.choice(recent) or text, dice) for _ in range(9))]:
            if found["tried"] == many:
                return found | {"seconds": round(time.process_time() - began)}
            found["tried"] += 1
            options = table.options
            if file is not None:
                file.write_text(f"{game.name} {table.players} {options} {mutant[:5000]}", "utf-8")
            try:
                changed = Table(game, table.players, **options).at_position(mutant)
            except KdenvError as error:
                if "\n" in str(error) or len(str(error)) > 1000:
                    found["failed"].append([f"a refusal of {len(str(error))} characters", table.players, str(options), mutant[:3000]])
                if mutant == text:
                    found["failed"].append([f"a position of a game is refused: {error}", table.players, str(options), mutant])
                continue
            except Exception as error:  # any: that is what is tested
                found["failed"].append([f"reading: {error!r}"[:300], table.players, str(options), mutant[:3000]])
                continue
            found["accepted"] += mutant != text
            try:
                play_on(changed, dice)
            except Exception as error:
                found["failed"].append([f"{error!r}"[:600], table.players, str(options), mutant[:3000]])
    return found


if __name__ == "__main__":
    _, NAME, SEED, MANY, *FILE = sys.argv
    print(json.dumps(fuzz(NAME, int(SEED), int(MANY), Path(FILE[0]) if FILE else None)))
