"""The command line. Each command is one file of this package. A user's mistake is printed as one sentence on stderr; the exit code is 2.

A command has a function `add`, which declares its arguments, and a function that carries it out and returns the exit code (None
means 0). With `--traceback` the traceback is printed, too. An error that is ours and not the user's keeps its traceback.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from kdenv.cli import (
    analyse,
    bench,
    check_game,
    compare,
    curve,
    export,
    games,
    interrupts,
    join,
    ladder,
    league,
    match,
    perft,
    play,
    policies,
    replay,
    reproduce,
    rules,
    serve,
    terminal,
    train,
    trainings,
    warm,
)
from kdenv.cli.arguments import Commands
from kdenv.compiler.errors import KernelError, wants_all
from kdenv.core.errors import KdenvError
from kdenv.core.threads import use_one_thread

# In the order in which --help lists them.
COMMANDS = (
    *(games, rules, policies, play, match, compare, league, ladder, curve, analyse, replay),
    *(train, trainings, export, reproduce, serve, join, warm, bench, perft, check_game),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit code. Without arguments it is the command line of this process."""
    terminal.prepare()
    parsed: argparse.Namespace | None = None
    if arguments is None and (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)  # a policy written as module:Name may lie in the working directory
    if arguments is None:
        use_one_thread()  # what this process loads from now on, such as torch
    try:
        with terminal.warnings_as_sentences(), interrupts.all_signals() if arguments is None else contextlib.nullcontext():
            try:
                parsed = _parsed(arguments)
                code = int(parsed.run(parsed) or 0)
            finally:
                sys.stdout.flush()  # flush here, so that a closed pipe is noticed below
    except BrokenPipeError:
        if not terminal.nobody_reads():
            raise
        code = 0
    except (KdenvError, KernelError, OSError) as error:
        if wants_all():
            raise
        _complain(error, parsed is not None and parsed.traceback)
        code = 2
    except KeyboardInterrupt as end:
        print(f"\nkdenv: {interrupts.name_of(end)}", file=sys.stderr)
        code = interrupts.exit_code(end)
    if arguments is None and interrupts.is_still_working():
        sys.stdout.flush()
        os._exit(code)  # a thread in compiled code would keep the process alive
    return code


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    commands = Commands()
    for command in COMMANDS:
        command.add(commands)
    return commands.parse(arguments)


def _complain(error: Exception, is_traced: bool) -> None:
    """Print a mistake as a sentence, after its traceback if that is wanted."""
    if is_traced:
        traceback.print_exception(error)
    rest = " (--traceback shows where)" if isinstance(error, KdenvError) and error.__cause__ is not None and not is_traced else ""
    print(f"kdenv: {terminal.sentence(error)}{rest}", file=sys.stderr)


__all__ = ["COMMANDS", "main"]
