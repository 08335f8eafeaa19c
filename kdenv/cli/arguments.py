"""The parser of command lines, and the arguments that several commands take."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from kdenv.core.errors import BadOption, did_you_mean, shown
from kdenv.core.fields import LARGEST_SEED, Field

if TYPE_CHECKING:
    from kdenv.core.table import Table

Run = Callable[[argparse.Namespace], int | None]


class Parser(argparse.ArgumentParser):
    """A parser that prints a mistake as one sentence, without the whole usage."""

    def error(self, message: str) -> NoReturn:
        """Print the mistake, and end the process with exit code 2."""
        from kdenv.cli.terminal import sentence

        print(f"kdenv: {sentence(message)} ('{self.prog} --help' shows how)", file=sys.stderr)
        raise SystemExit(2)


class Commands:
    """The parser of all commands. Each command adds its own arguments."""

    def __init__(self) -> None:
        from kdenv import __version__

        self._parser = Parser(prog="kdenv", description="Tabletop games of chance and hidden information: play, match, measure.")
        self._parser.add_argument("--version", action="version", version=f"kdenv {__version__}")
        self.examples: list[str] = []  # the command lines that --help shows
        self._commands = self._parser.add_subparsers(metavar="command", required=True, parser_class=Parser)

    def add(self, name: str, run: Run, text: str, *examples: str) -> argparse.ArgumentParser:
        """Add a command, which `run` carries out and whose --help shows these examples. Return its parser, for its arguments."""
        epilog = "\n".join(["examples:" if len(examples) > 1 else "example:", *(f"  {example}" for example in examples)])
        added = self._commands.add_parser(
            name, help=text, description=text, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        added.set_defaults(run=run)
        added.add_argument("--traceback", action="store_true", help="print where in the code an error came from")
        self.examples += examples
        return added

    def parse(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """Read a command line. The result has the arguments of its command, and its function as `run`."""
        words = sys.argv[1:] if arguments is None else arguments
        for word in words:
            if "\0" in word:  # no system passes one, and a path with one raises ValueError in many places
                self._parser.error(f"{shown(word)}: embedded null byte")
        if words and not words[0].startswith("-") and words[0] not in self._commands.choices:
            known = list(self._commands.choices)
            self._parser.error(f"there is no command {shown(words[0])}{did_you_mean(words[0], known)}; the commands are {', '.join(known)}")
        parsed, unknown = self._parser.parse_known_args(arguments)
        if unknown:
            command = next(word for word in words if word in self._commands.choices)
            parser = self._commands.choices[command]
            options = [option for action in parser._actions for option in action.option_strings]
            parser.error(f"{command} does not take {shown(' '.join(unknown))}{did_you_mean(unknown[0].partition('=')[0], options)}")
        return parsed


def add_game(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("game", help="the name of a game")
    add_options(parser)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the game; may be repeated")


def add_players(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--players", type=whole(), metavar="N", help=text)


def add_against(parser: argparse.ArgumentParser, default: str) -> None:
    """Add the policies of the other seats. They are named in this way by every command that has opponents."""
    meaning = f"the policies of the other seats, in turn if there are fewer than seats; may be repeated (default: {default})"
    parser.add_argument("--against", nargs="+", action="extend", default=[], metavar="POLICY", help=meaning)


def add_seed(parser: argparse.ArgumentParser, default: int | None, text: str) -> None:
    parser.add_argument("--seed", type=whole(0, LARGEST_SEED), default=default, metavar="N", help=text)


def add_playing(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of every command that plays many games."""
    add_seed(parser, None, "the seed of the deals and of all policies (default: that of the games in --out, or a new one)")
    add_processes(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write every game to this file, and skip the games that it holds already")


def add_luck(parser: argparse.ArgumentParser) -> None:
    """Add the network by which results are adjusted for luck."""
    what = "adjust results for luck, as this policy of values judges it (without MODEL: learned(GAME), the network of the game)"
    parser.add_argument("--luck-adjusted", nargs="?", const="game", default="", metavar="learned(MODEL)", help=what)


def luck_of(parsed: argparse.Namespace) -> str:
    """The policy of --luck-adjusted; empty if it was not given."""
    return f"learned({parsed.game})" if parsed.luck_adjusted == "game" else str(parsed.luck_adjusted)


def add_processes(parser: argparse.ArgumentParser, *, move_limit: bool = True) -> None:
    """Add the number of processes, the cluster, the move limit if wanted, and JSON output."""
    parser.add_argument("--processes", type=whole(1), metavar="N", help="how many games to play at a time (default: one for each core)")
    add_ray(parser)
    if move_limit:
        parser.add_argument("--move-limit", type=float, metavar="SECONDS", help="give up if a decision takes longer (default: no limit)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON, for programs")


def add_ray(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ray", metavar="ADDRESS", help="let a Ray cluster play: its address, or auto for the one of this machine")


def whole(least: int = 0, most: int = 10**9) -> Callable[[str], int]:
    """A function that reads a whole number within these bounds, as argparse wants it for `type`."""
    return reader(Field("", type=int, least=least, most=most))


def reader(field: Field) -> Callable[[str], Any]:
    """A function that reads a value of this field, as argparse wants it for `type`."""
    nameless = replace(field, name="")  # the sentence of argparse begins with the name of the argument

    def read(word: str) -> Any:
        try:
            return nameless.read(word)
        except BadOption as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def options(words: Sequence[str]) -> dict[str, str]:
    """The options that the user gave as NAME=VALUE, by name. They are not checked."""
    given: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise BadOption(f"--option {shown(word)} is not NAME=VALUE; write for example --option size=5")
        if name == "players":
            raise BadOption("players is no option of a game; a match has as many as there are policies, elsewhere --players says how many")
        if name in given:
            raise BadOption(f"--option {shown(name)} is given twice")
        given[name] = value
    return given


def table(game: str, players: int | None, words: Sequence[str]) -> Table:
    """A new table of this game, for this many players, with options that the user gave as NAME=VALUE."""
    from kdenv.core.table import Table
    from kdenv.games import find_game

    found, given = find_game(game), options(words)
    found.check_names(given)
    return Table(found, players, **given)
