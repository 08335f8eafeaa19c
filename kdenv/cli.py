"""The command line: parse, call, print. A user's mistake is one sentence on stderr and exit code 2."""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from kdenv.core.errors import BadOption, KdenvError

if TYPE_CHECKING:
    from kdenv.arena.match import Match, Result
    from kdenv.core.table import Table

_INTERRUPTED = 130  # what a shell expects of a program ended by Ctrl-C


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parsed = _parser().parse_args(arguments)
    try:
        return int(parsed.run(parsed) or 0)
    except (KdenvError, OSError) as error:
        print(f"kdenv: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nkdenv: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        return 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One sentence, not the whole usage."""
        print(f"kdenv: {message} ('{self.prog} --help' shows how)", file=sys.stderr)
        raise SystemExit(2)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="kdenv", description="Tabletop games of chance and hidden information: play, match, measure.")
    commands = parser.add_subparsers(metavar="command", required=True, parser_class=_Parser)

    def command(name: str, run: Callable[[argparse.Namespace], int | None], text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(run=run)
        return added

    match = command("match", _match, "let policies play each other, on shared deals and from every seat")
    _add_game(match)
    match.add_argument("policies", nargs="+", metavar="policy", help="one per seat, as 'kdenv policies GAME' shows them")
    match.add_argument("--games", type=int, default=100, metavar="N", help="how many games (100)")
    match.add_argument("--seed", type=int, default=0, metavar="N", help="of the deals and of all policies (0)")
    match.add_argument("--processes", type=int, metavar="N", help="how many games at a time (as many as cores)")
    match.add_argument("--json", action="store_true", help="print the result for programs")
    match.add_argument("--out", type=Path, metavar="FILE", help="keep every game in this file as JSON lines, and go on from what it holds")
    match.add_argument("--report", type=Path, metavar="FILE", help="write a page to look at")

    play = command("play", _play, "play a game in the terminal")
    _add_game(play)
    play.add_argument("policies", nargs="*", metavar="policy", help="your opponents, in the order of their seats (random)")
    play.add_argument("--seat", type=int, default=0, metavar="N", help="where you sit (0)")
    play.add_argument("--players", type=int, metavar="N", help="how many play (as many as there are opponents, and you)")
    play.add_argument("--seed", type=int, metavar="N", help="of chance and opponents (by the clock)")
    play.add_argument("--record", type=Path, metavar="FILE", help="where to write the record of the game")

    policies = command("policies", _policies, "list the policies that can play a game")
    policies.add_argument("game")

    analyse = command("analyse", _analyse, "show what a search thinks of every turn in a position")
    analyse.add_argument("where", help="a record file, or a position as 'kdenv replay' and error messages write it")
    analyse.add_argument("policy", help="a search, as 'kdenv policies GAME' shows them")
    analyse.add_argument("--game", help="which game a position (not a record) is of")
    analyse.add_argument("--players", type=int, metavar="N", help="how many play in a position")
    analyse.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the game in a position")
    analyse.add_argument("--step", type=int, metavar="N", help="stop after this many lines of the record")
    analyse.add_argument("--seed", type=int, default=0, metavar="N")

    warm = command("warm", _warm, "compile ahead what games and their policies need")
    warm.add_argument("game", nargs="?", help="one game only")

    bench = command("bench", _bench, "measure the speed of everything on this machine")
    bench.add_argument("game", nargs="?", help="one game only")
    bench.add_argument("--json", action="store_true", help="print the result for programs")

    perft = command("perft", _perft, "count the chance, decision and final nodes of a game tree, depth by depth")
    _add_game(perft)
    perft.add_argument("depth", type=int)
    perft.add_argument("--players", type=int, metavar="N")
    perft.add_argument("--position", metavar="TEXT", help="count from here, not from the beginning")

    replay = command("replay", _replay, "play a record again, check it, show or draw it")
    replay.add_argument("file", type=Path)
    replay.add_argument("--step", type=int, metavar="N", help="stop after this many lines of the record")
    replay.add_argument("--every", action="store_true", help="show the position after every line")
    replay.add_argument("--svg", type=Path, metavar="FILE", help="draw the last position into this file")
    return parser


def _add_game(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("game")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the game, may be repeated")


def _options(words: Sequence[str]) -> dict[str, str]:
    options = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise BadOption(f"--option {word} is not NAME=VALUE")
        options[name] = value
    return options


# match


def _match(parsed: argparse.Namespace) -> int:
    from kdenv.arena import match as arena
    from kdenv.arena import report

    match = arena.Match(parsed.game, parsed.policies, parsed.games, parsed.seed, _options(parsed.option))
    match.check()
    if parsed.processes is not None and parsed.processes < 1:
        raise BadOption(f"--processes {parsed.processes} is not possible; at least one game is played at a time")
    results: list[Result] = []
    if parsed.out is not None and parsed.out.exists():
        results += arena.read_results(parsed.out, match)
    progress = Progress(match.games, "games", len(results))

    def on_result(result: Result) -> None:
        results.append(result)
        if parsed.out is not None:
            arena.append_result(parsed.out, match, result)
        progress.step()

    finished = arena.play(match, processes=parsed.processes, done=[result.number for result in results], on_result=on_result)
    progress.end()
    results.sort(key=lambda result: result.number)
    rows = arena.table_of(match, results)
    if parsed.report is not None and results:
        parsed.report.parent.mkdir(parents=True, exist_ok=True)
        parsed.report.write_text(report.page(match, rows, results))
    if parsed.json:
        print(json.dumps(report.as_json(match, rows, finished)))
    elif results:
        _print_match(match, results, report.text_table(rows), finished)
        if parsed.report is not None:
            print(f"the report is in {parsed.report}")
    if not finished:
        kept = f"; the same command goes on from {parsed.out}" if parsed.out is not None else ""
        print(f"kdenv: interrupted after {len(results)} of {match.games} games{kept}", file=sys.stderr)
        return _INTERRUPTED
    return 0


def _print_match(match: Match, results: Sequence[Result], table: str, finished: bool) -> None:
    deals = len({result.deal for result in results})
    print(match.describe() + ("" if finished else f": {len(results)} finished"))
    print(f"{deals} deal{'s' * (deals > 1)}, seats rotated, deals shared; ± is a 95 % interval over deals\n")
    print(table)


class Progress:
    """A line on a terminal that tells how far a long job is and how long it will take; silent elsewhere."""

    def __init__(self, total: int, unit: str, done: int = 0) -> None:
        self.total, self.unit, self.done, self._before = total, unit, done, done
        self._start = time.monotonic()
        self._shown = 0.0
        self._visible = sys.stderr.isatty()

    def step(self) -> None:
        """One more is done."""
        self.done += 1
        now = time.monotonic()
        if self._visible and (now - self._shown > 0.1 or self.done == self.total):
            self._shown = now
            left = (now - self._start) / (self.done - self._before) * (self.total - self.done)
            bar = "#" * (30 * self.done // self.total)
            print(f"\r[{bar:30}] {self.done}/{self.total} {self.unit}, {left:.0f} s left ", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Clear the line."""
        if self._visible and self._shown:
            print("\r" + " " * 78 + "\r", end="", file=sys.stderr, flush=True)


# play


def _play(parsed: argparse.Namespace) -> int:
    from kdenv.core.random import derive_seed, make_rng
    from kdenv.core.table import Table
    from kdenv.games import find_game
    from kdenv.policies import policy

    game = find_game(parsed.game)
    players = parsed.players or (len(parsed.policies) + 1 if parsed.policies else None)
    table = Table(game, players, **_options(parsed.option))
    texts = list(parsed.policies) or ["random"] * (table.players - 1)
    if len(texts) != table.players - 1:
        raise BadOption(f"{table.players} players are you and {table.players - 1} policies, not {len(texts)}")
    if not 0 <= parsed.seat < table.players:
        raise BadOption(f"--seat {parsed.seat} is not at this table; seats are 0 to {table.players - 1}")
    seed = time.time_ns() if parsed.seed is None else parsed.seed
    texts.insert(parsed.seat, "you")
    opponents = {place: policy(text) for place, text in enumerate(texts) if place != parsed.seat}
    for place, opponent in opponents.items():
        opponent.reset(derive_seed(seed, place))
    chance = make_rng(seed)
    goes_on = True
    while goes_on:
        table.run_chance(chance)
        if table.over:
            break
        seat = table.seat
        assert seat is not None
        if seat == parsed.seat:
            goes_on = _ask(table, seat)
        else:
            action = opponents[seat].act(table.view(seat))
            print(f"seat {seat} ({texts[seat]}): {table.name(action)}")
            table.play(action)
    if parsed.record is not None:
        parsed.record.write_text(table.record())
    if table.over:
        print(f"\n{table}\n")
        for place, (points, rank) in enumerate(zip(table.scores(), table.ranks(), strict=True)):
            print(f"{rank}. seat {place} ({texts[place]}): {points}")
    return 0


def _ask(table: Table, seat: int) -> bool:
    """Let the person at the terminal decide; False if they leave."""
    legal = table.legal()
    print(f"\n{table.view(seat)}\n")
    for number, action in enumerate(legal, 1):
        print(f"{number:4}  {table.name(action)}", end="\n" if number % 4 == 0 or number == len(legal) else "\t")
    while True:
        try:
            answer = input("your action (number or words, q to leave): ").strip()
        except EOFError:
            return False
        if answer == "q":
            return False
        try:
            action = legal[int(answer) - 1] if answer.isdecimal() and 1 <= int(answer) <= len(legal) else table.action(answer)
        except KdenvError as error:
            print(str(error).split(" is not legal in ")[0] + " is not legal here" if "is not legal in" in str(error) else error)
            continue
        table.play(action)
        return True


# The rest


def _policies(parsed: argparse.Namespace) -> None:
    from kdenv.games import find_game
    from kdenv.policies import listing

    for entry in listing(find_game(parsed.game)):
        print(entry.usage)
        print(f"    {entry.meaning}" + (f"  [{entry.source}]" if entry.source else ""))


def _warm(parsed: argparse.Namespace) -> None:
    from kdenv.bench import warm
    from kdenv.games import find_game, names

    games = [find_game(name) for name in ([parsed.game] if parsed.game else names())]
    tasks = [task for game in games for task in warm.tasks(game)]
    progress = Progress(len(tasks), "parts compiled")
    for task in tasks:
        task()
        progress.step()
    progress.end()
    print(f"{', '.join(game.name for game in games)}: everything is compiled")


def _bench(parsed: argparse.Namespace) -> None:
    from kdenv.bench import bench
    from kdenv.games import find_game, names

    games = [find_game(name) for name in ([parsed.game] if parsed.game else names())]
    rows = []
    for row in bench.rows(games):
        rows.append(row)
        if not parsed.json:
            print(row, flush=True)
    if parsed.json:
        print(json.dumps([row._asdict() for row in rows]))


def _perft(parsed: argparse.Namespace) -> None:
    from kdenv.core.table import Table
    from kdenv.games import find_game
    from kdenv.search.perft import count

    if parsed.depth < 0:
        raise BadOption(f"a depth of {parsed.depth} is not possible; it counts from 0")
    table = Table(find_game(parsed.game), parsed.players, **_options(parsed.option))
    if parsed.position is not None:
        table.at_position(parsed.position)
    start = time.perf_counter()
    counts = count(table.states, parsed.depth, table.game.max_legal, table.game.max_chances)
    seconds = time.perf_counter() - start
    print(f"{'depth':>5} {'chance':>14} {'decisions':>14} {'final':>14}")
    for depth, (chance, decisions, final) in enumerate(counts):
        print(f"{depth:>5} {chance:>14,} {decisions:>14,} {final:>14,}")
    print(f"{int(counts.sum()):,} nodes in {seconds:.2f} s")


def _analyse(parsed: argparse.Namespace) -> None:
    from kdenv.core.table import Table
    from kdenv.games import find_game
    from kdenv.policies import policy

    searcher = policy(parsed.policy)
    if parsed.game is None:
        *_, table = _replayed(Path(parsed.where), parsed.step)
    else:
        table = Table(find_game(parsed.game), parsed.players, **_options(parsed.option)).at_position(parsed.where)
    seat = table.seat
    if seat is None:
        raise BadOption("nobody decides there: " + ("the game is over" if table.over else "chance is next") + "; choose another --step")
    searcher.reset(parsed.seed)
    print(f"{table.view(seat)}\n\nseat {seat} decides\n\n{searcher.analyse(table.view(seat))}")


def _replayed(file: Path, step: int | None) -> Iterator[Table]:
    """The table after each line of a record, up to this many lines or to its end."""
    from kdenv.core.record import replay
    from kdenv.games import find_game

    return itertools.islice(replay(file.read_text(), find_game), None if step is None else max(0, step) + 1)


def _replay(parsed: argparse.Namespace) -> None:
    table: Any = None
    for table in _replayed(parsed.file, parsed.step):
        if parsed.every:
            print(f"{table}\n")
    if not parsed.every:
        print(table)
    scores = " ".join(map(str, table.scores()))
    print(f"points: {scores}" + ("" if table.over else " (unfinished)"))
    if parsed.svg is not None:
        parsed.svg.write_text(table.svg())
        print(f"drawn in {parsed.svg}")


if __name__ == "__main__":
    raise SystemExit(main())
