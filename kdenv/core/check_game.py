"""`check_game`: plays random games and checks all that a game must guarantee, as PettingZoo's api_test does for environments."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numba
import numpy as np

from kdenv.compiler.random import below, derive_seed, make_rng
from kdenv.core import bounds, without_compiler
from kdenv.core.bounds import Findings
from kdenv.core.checks import Checker, Inferred, at_line
from kdenv.core.errors import BadGame, BadOption, KdenvError
from kdenv.core.fields import LARGEST
from kdenv.core.game import Game, Option
from kdenv.core.record import record_of, replay
from kdenv.core.without_compiler import Run, numbers_of

_LONGEST = 20_000  # the most events of a game; a longer random game counts as endless
_CLOSELY = 40  # everything is checked at the first 40 events of a game, and at one in ten of the others
_INFERRED = 3  # a seat that inferred an outcome of chance each time, and as often as this, sees it
_MOST_ACTIONS = 0xFFFF  # actions are packed into 16 bits, as action + 1


def check_game(
    game: Game,
    games: int = 20,
    *,
    seed: int = 0,
    players: int | None = None,
    options: Mapping[str, Any] | None = None,
    say: Callable[[str], object] = print,
) -> None:
    """Play random games and check what a game must guarantee. Raise BadGame with a sentence for every kind of fault.

    Args:
        game: The game; it need not have been added.
        games: The number of games to play, with every number of players. Options with `choices` and whole numbers with bounds are drawn.
        seed: The same seed plays the same games.
        players: The only number of players to play with.
        options: Options that are not drawn. Other options that are not given have their defaults.
        say: A function that gets lines about the progress.

    It plays with guard words behind every buffer. It checks bounds, order and determinism of what the verbs list, the odds of chance,
    encodings, points, players, notation, drawings and records. A new draw of what is hidden must not change what a seat knows. Then it
    plays again in a process without the compiler, which must compute the same numbers. That process imports the script that runs, so a
    script calls check_game under `if __name__ == "__main__":`.

    >>> from examples.three_shells import GAME
    >>> from kdenv.author import check_game
    >>> check_game(GAME, games=4)
    three_shells: 4 games, ... positions, no fault
    three_shells: 3 games without the compiler, the same numbers

    """
    runs = list(_runs(game, games, seed, players, dict(options or {})))
    found = play(game, runs, say)
    if not found:
        _compare(game, runs, found, say)
    if found:
        raise BadGame(found.sentences())


def play(game: Game, runs: list[Run], say: Callable[[str], object]) -> Findings:
    """Play these games, and return the faults."""
    found, positions, inferred = Findings(game.name), 0, Inferred()
    _check_options(game, found)
    for number, run in enumerate(runs, 1):
        events, over = _play(game, run, found, number, inferred)
        positions += len(events) + 1
        if over and not found:  # tables trust bounds and verbs
            _check_record(game, run, events, found, number)
    _check_inferred(inferred, found)
    many = "no fault" if not found else f"{len(found.sentences())} kind{'s' * (len(found.sentences()) > 1)} of fault"
    say(f"{game.name}: {len(runs):,} games, {positions:,} positions, {many}")
    return found


def _runs(game: Game, games: int, seed: int, players: int | None, given: dict[str, Any]) -> Iterator[Run]:
    """Yield the games to play: first one with the defaults for each number of players, then random numbers of players and options."""
    if games < 1:
        raise BadOption(f"games={games} is not possible; at least one game is played")
    dice, counts = random.Random(seed), [players] if players is not None else list(game.players)
    for number in range(games):
        drawn = {option.name: dice.choice(values) for option in game.options if number >= len(counts) and (values := _values(option, dice))}
        count = counts[number] if number < len(counts) else dice.choice(counts)
        yield Run(*game.variant(count, **{**drawn, **given}), derive_seed("check", seed, number))


def _values(option: Option, dice: random.Random) -> Sequence[Any]:
    """Return values of an option to draw from: its choices, or the bounds of a number and one between them; none if it has neither."""
    if option.choices or option.type is not int or option.encode is not None or max(-option.least, option.most) >= LARGEST:
        return option.choices
    least, most = int(option.least), int(option.most)
    return least, most, dice.randint(least, most)


def _play(game: Game, run: Run, found: Findings, number: int, inferred: Inferred) -> tuple[list[int], bool]:
    """Play one game. Return its events as a log has them, and whether it was played to its end."""
    actions = game.n_actions(run.players, run.variant)
    if isinstance(actions, bool) or not isinstance(actions, (int, np.integer)) or not 1 <= actions < _MOST_ACTIONS:
        right = f"it must be a whole number from 1 to {_MOST_ACTIONS - 1:,}"
        found.note("n_actions", f"n_actions is {actions} for {run.players} players; {right}")
        return [], False
    teams = game.teams(run.players)
    if not 1 <= teams <= run.players:
        found.note("teams", f"teams is {teams} for {run.players} players; it must be 1 to {run.players}")
    checker, rng, events = Checker(game, run.players, run.variant, found, number, inferred), make_rng(run.seed), list[int]()
    checker.begin()
    while (step := checker.check(rng, closely=len(events) < _CLOSELY or below(rng, 10) == 0)) is not None:
        if len(events) == _LONGEST:
            checker.note("end", f"a random game is not over after {_LONGEST:,} events", "let it end: playouts wait for the end of a game")
            return events, False
        checker.advance(step)
        verb, chosen = step
        events.append(chosen if verb == "apply" else ~chosen)
    return events, "phase" not in found


def _check_inferred(inferred: Inferred, found: Findings) -> None:
    """Check that no seat can always infer an outcome of chance that it does not see. Now and then the next position may show it."""
    for (_, _, _, seat), places in inferred.items():
        if len(places) >= _INFERRED and all(places):
            fault = f"witnesses leaves out seat {seat}, which sees a different position after each outcome of chance"
            found.note("inferred", f"{fault} {places[0]}; set its bit, so that its log has the outcome")


def _check_options(game: Game, found: Findings) -> None:
    """Check that the values of every option are equal after a conversion to integers and back."""
    for option in game.options:
        if option.choices and option.default not in option.choices:
            found.note("default", f"the option {option.name} has the default {option.default!r}, which is not among its choices; add it")
            continue
        for value in _values(option, random.Random(0)) or (option.default,):
            for players in game.players:
                integers = list(option.to_integers(value, players))
                if len(integers) != option.width:
                    wrong = f"the option {option.name}={value} stands for {len(integers)} integers, and its width is {option.width}"
                    found.note("width", f"{wrong}; declare width={len(integers)}")
                elif list(option.to_integers(option.from_integers(integers), players)) != integers:
                    back = f"comes back from its integers as {option.from_integers(integers)}"
                    found.note("option", f"the option {option.name}={value} {back}; decode what encode gives")


def _check_record(game: Game, run: Run, events: list[int], found: Findings, number: int) -> None:
    """Check that the record of a game is the same game when it is played again."""
    options, log = game.options_of(run.variant), np.array(events, np.int32)
    bounds.trust(game)  # tables need not check again what has been checked here
    try:
        text = record_of(game, run.players, options, log)
        *_, table = replay(text, lambda name: game)
    except KdenvError as error:
        found.note("record", f"the record of game {number} is refused when it is played again: {error}")
        return
    except Exception as error:
        found.note("record", f"writing or reading the record of game {number} raises {at_line(error)}; records must be read back")
        return
    if table.log.rows[0, : table.log.n].tolist() != events:
        found.note("record", f"the record of game {number} is another game when it is played again; words must be read back as written")


def _compare(game: Game, runs: list[Run], found: Findings, say: Callable[[str], object]) -> None:
    """Play some of the games in a process without the compiler, and note the first number that differs."""
    if numba.config.DISABLE_JIT:
        say(f"{game.name}: the compiler is off, so there is nothing to compare with")
        return
    some = runs[: without_compiler.MOST_GAMES]
    try:
        plain = without_compiler.played(game, some)
    except without_compiler.NotPlayed as error:
        say(f"{game.name}: not compared with games without the compiler, because {error}")
        return
    for number, (run, told) in enumerate(zip(some, plain, strict=True), 1):
        if difference := without_compiler.difference(numbers_of(game, run), told):
            found.note("compiler", f"{difference} (game {number}, {run.players} players)")
    result = "other numbers" if "compiler" in found else "the same numbers"
    say(f"{game.name}: {len(some)} games without the compiler, {result}")
