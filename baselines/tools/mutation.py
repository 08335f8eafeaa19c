"""Puts faults into the package, one at a time (mutation testing). It runs the tests that should fail.

    python -m baselines.tools.mutation --sample 200     # 200 faults of each part
    python -m baselines.tools.mutation --known          # the faults of known_faults.py

A fault changes the syntax tree: another comparison, a sign, a number that is off by one, a statement left out. PLAN lists the tests
for the faults of each file. These tests run once in a copy of the repository, to measure their time and to note the functions that each
calls. After that each fault costs one fork (mutation_trial.py). A fault that no test fails for has survived; it is printed as a difference
of lines.

Kernels run without the compiler. A test that is too slow for that is left out, so a survivor may be noticed by a compiled test.

Each fault of known_faults.py is tried against the test that was written for it.
"""

from __future__ import annotations

import argparse
import ast
import copy
import difflib
import fnmatch
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from baselines.tools.known_faults import COMPILED, KNOWN, Known

ROOT = Path(__file__).parents[2]  # of the repository


class Part(NamedTuple):
    """Files to put faults into, and the tests that should fail."""

    files: tuple[str, ...]  # patterns
    tests: tuple[str, ...]  # patterns of the names of test files, or tests as in known_faults.py
    compiled: bool = False  # the kernels that the tests call are compiled; the files themselves must hold none


_KINGDOMINO, _CARCASSONNE = "kdenv/games/kingdomino/", "kdenv/games/carcassonne/"
_DOMINION, _DOMINOES = "kdenv/games/dominion/", "kdenv/games/dominoes/"
PLAN = {
    "kingdomino": Part(
        (*(_KINGDOMINO + name for name in ("rules.py", "placements.py", "board.py", "heuristics.py", "best_turns.py")),),
        ("kingdomino_contract", "kingdomino_rules", "kingdomino_players", "kingdomino_perft"),
    ),
    "carcassonne": Part(
        (*(_CARCASSONNE + name for name in ("rules.py", "features.py", "landscape.py", "claims.py", "heuristics.py")),),
        ("carcassonne_contract", "carcassonne_rules", "carcassonne_kernels", "carcassonne_players", "carcassonne_encoding"),
    ),
    "dominion": Part(
        (
            *(
                _DOMINION + name
                for name in ("rules.py", "effects.py", "attacks.py", "progress.py", "piles.py", "hidden.py", "heuristics.py")
            ),
        ),
        ("dominion_contract", "dominion_rules", "dominion_cards", "dominion_hidden", "dominion_players"),
    ),
    "dominoes": Part(
        (*(_DOMINOES + name for name in ("rules.py", "heuristics.py")),),
        ("dominoes_contract", "dominoes_text", "dominoes_players"),
    ),
    "dominoes-search": Part(
        (*(_DOMINOES + name for name in ("belief.py", "solver.py", "imagined_play.py")),),
        ("dominoes_belief", "search_hidden"),
    ),
    "search": Part(
        (
            *(f"kdenv/search/{name}.py" for name in ("select", "score", "playout", "budget", "perft")),
            *(f"kdenv/search/kernels/{name}.py" for name in ("flat", "uct", "amaf", "fingerprint")),
        ),
        ("search_flat", "search_trees", "search_amaf", "search_budget", "golden_trees", "kingdomino_perft"),
    ),
    "priors": Part(
        (
            *("kdenv/search/outcome.py", "kdenv/search/softmax.py", "kdenv/networks/priors.py"),
            *("kdenv/search/kernels/priors.py", "kdenv/search/kernels/decisions.py"),
        ),
        ("search_priors", "search_leaves", "search_halving", "search_trees", "golden_trees", "search_hidden"),
    ),
    "look-ahead": Part(
        (
            *(f"kdenv/search/kernels/{name}.py" for name in ("expectimax", "stack")),
            *("kdenv/search/evaluate.py", "kdenv/core/turns.py", "kdenv/core/margins.py"),
        ),
        ("search_expectimax", "policies_lookahead", "search_flat"),
    ),
    "hidden": Part(("kdenv/search/kernels/pimc.py", "kdenv/search/kernels/ims.py"), ("search_hidden_kernels", "search_hidden")),
    "arena": Part(
        (*(f"kdenv/arena/{name}.py" for name in ("statistics", "summary", "results", "report")),),
        ("arena_statistics", "arena_results", "arena_report"),
        compiled=True,
    ),
    "comparison": Part(("kdenv/arena/sequential.py", "kdenv/arena/comparison.py"), ("sequential", "compare", "arena_curve"), compiled=True),
    "match": Part(("kdenv/arena/match.py", "kdenv/arena/workers.py"), ("arena_match", "arena_workers"), compiled=True),
    "random": Part(("kdenv/compiler/random.py",), ("core",), compiled=True),
    "networks": Part(
        (*(f"kdenv/networks/{name}.py" for name in ("network", "players", "learning", "self_play")),),
        ("network_exact", "learning_exact", "network", "learning", "learned"),
    ),
    "stepping": Part(
        ("kdenv/envs/step_kernel.py", "kdenv/core/events.py", "kdenv/envs/rewards.py", "kdenv/envs/vector/kernels.py"),
        ("seat_env", "envs", "vector", "no_peeking", "table", "core"),
    ),
}

COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATIONS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
SWAPPED = {"min": "max", "max": "min", "lowest": "popcount"}


class Fault(NamedTuple):
    """A changed source."""

    path: str
    function: str  # the qualified name of the outermost function that is changed
    line: int
    kind: str
    source: str


def faults(path: str) -> Iterator[Fault]:
    """Every fault that can be put into this file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    for function, named in list(_functions(tree, "")):
        for holder, name, at, kind, changed in _changes(function):
            before = getattr(holder, name) if at is None else getattr(holder, name)[at]
            line = getattr(before, "lineno", getattr(holder, "lineno", function.lineno))
            _put(holder, name, at, changed)
            yield Fault(path, named, line, kind, ast.unparse(tree))
            _put(holder, name, at, before)


def _functions(holder: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[ast.FunctionDef, str]]:
    """The functions and methods of a module, with their qualified names."""
    for node in holder.body:
        if isinstance(node, ast.FunctionDef):
            yield node, prefix + node.name
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")


def _put(holder: ast.AST, name: str, at: int | None, node: ast.AST) -> None:
    if at is None:
        setattr(holder, name, node)
    else:
        getattr(holder, name)[at] = node


def _changes(function: ast.FunctionDef) -> Iterator[tuple[ast.AST, str, int | None, str, ast.AST]]:
    """Yield the changes of a function: holder, field, index in the field, kind, and the new node."""
    for holder in (node for statement in function.body for node in ast.walk(statement)):
        for name, value in ast.iter_fields(holder):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            for at, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(node, ast.AST):
                    for kind, changed in _changed(node):
                        yield holder, name, at, kind, changed
    for at, statement in enumerate(function.body):
        if isinstance(statement, (ast.Assign, ast.AugAssign)) and not isinstance(getattr(statement, "targets", [0])[0], ast.Name):
            yield function, "body", at, "left out", ast.Pass()


def _changed(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the kind of each change of this node, and the new node."""
    if isinstance(node, ast.cmpop) and type(node) in COMPARISONS:
        yield "comparison", COMPARISONS[type(node)]()
    elif isinstance(node, ast.operator) and type(node) in OPERATIONS:
        yield "operation", OPERATIONS[type(node)]()
    elif isinstance(node, ast.boolop):
        yield "and or", ast.Or() if isinstance(node, ast.And) else ast.And()
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        yield "number", ast.copy_location(ast.Constant(node.value + 1), node)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "truth", ast.copy_location(ast.Constant(not node.value), node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub, ast.Invert)):
        yield "sign", node.operand
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SWAPPED:
        other = copy.deepcopy(node)
        other.func = ast.Name(SWAPPED[node.func.id], ast.Load())
        yield "call", other
    elif isinstance(node, ast.If):
        other_if = copy.copy(node)
        other_if.test = ast.UnaryOp(ast.Not(), node.test)
        yield "condition", ast.copy_location(ast.fix_missing_locations(other_if), node)
    elif isinstance(node, ast.AugAssign):
        yield "left out", ast.copy_location(ast.Pass(), node)


def known(part: Sequence[Known]) -> list[Fault]:
    """These faults. ValueError if a text that one replaces is not in its file exactly once."""
    found = []
    for each in part:
        text = (ROOT / each.path).read_text(encoding="utf-8")
        if text.count(each.old) != 1:
            raise ValueError(f"{each.path} has {text.count(each.old)} times, not once: {each.old}")
        line = text[: text.index(each.old)].count("\n") + 1
        names = [name for node, name in _functions(ast.parse(text), "") if node.lineno <= line <= (node.end_lineno or 0)]
        changed = ast.unparse(ast.parse(text.replace(each.old, each.new)))
        found.append(Fault(each.path, names[0] if names else "<module>", line, "known", changed))
    return found


def difference(fault: Fault) -> str:
    """The lines that the fault changes."""
    before = ast.unparse(ast.parse((ROOT / fault.path).read_text(encoding="utf-8"))).splitlines()
    changed = difflib.unified_diff(before, fault.source.splitlines(), lineterm="", n=0)
    return "\n".join(line for line in changed if line[:1] in "+-" and line[:3] not in ("+++", "---"))


def sample(part: Part, files: str, most: int, dice: random.Random) -> list[Fault]:
    """A sample of the faults of a part, evenly over those of its files that fit the pattern."""
    inside = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "kdenv").rglob("*.py"))]
    paths = [path for path in inside if fnmatch.fnmatch(path, files) and any(fnmatch.fnmatch(path, pattern) for pattern in part.files)]
    by_file = [list(faults(path)) for path in paths]
    chosen: list[Fault] = []
    for left, all_of_file in zip(range(len(by_file), 0, -1), sorted(by_file, key=len), strict=True):
        chosen += dice.sample(all_of_file, min(len(all_of_file), (most - len(chosen)) // left))
    return chosen


def trials(part: Part, chosen: list[Fault], only: str, seconds: float, slowest: float) -> Iterator[dict[str, object]]:
    """Try these faults in a copy of the repository; yield the messages of mutation_trial.py: of each fault the test that failed."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder) / "copy"
        ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis")
        shutil.copytree(ROOT, here, ignore=ignored, symlinks=True)
        (here / "faults.json").write_text(json.dumps([fault._asdict() for fault in chosen]), encoding="utf-8")
        of_files = {str(path) for pattern in part.tests for path in (here / "tests").rglob(f"test_{pattern}.py")}
        tests = sorted(of_files) or [str(here / "tests" / test) for test in part.tests]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": f"{here}{os.pathsep}{here / 'tests/support'}"}
        if not part.compiled:
            environment["NUMBA_DISABLE_JIT"] = "1"
        read, write = os.pipe()
        environment |= {"TRIAL_PIPE": str(write), "TRIAL_SECONDS": str(seconds), "TRIAL_SLOWEST": str(slowest)}
        environment["TRIAL_WARM"] = str(int(part.compiled))
        plugin = "baselines.tools.mutation_trial"
        tier = [] if of_files else ["--cold"]  # a known fault is tried against its test, of whatever tier
        command = [sys.executable, "-m", "pytest", "-q", *tier, "-p", "no:cacheprovider", "-p", plugin, "-k", only, *tests]
        with (
            (Path(folder) / "printed").open("w+", encoding="utf-8") as printed,
            subprocess.Popen(command, cwd=here, env=environment, pass_fds=[write], stdout=printed, stderr=printed) as run,
        ):
            os.close(write)
            with os.fdopen(read, encoding="utf-8") as told:
                yield from map(json.loads, told)
            if run.wait() != 0:
                printed.seek(0)
                raise RuntimeError(f"the tests {part.tests} could not be collected and run:\n{printed.read()[-3000:]}")


def main() -> int:
    """Try a sample of all faults and print which survive."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"parts to try; all, if none is given: {', '.join(PLAN)}")
    parser.add_argument("--sample", type=int, default=30, help="faults to try in each part, evenly over its files")
    parser.add_argument("--files", default="*", help="only files that fit this pattern")
    parser.add_argument("--only", default="", help="only tests that fit this expression, as for pytest -k")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20.0, help="the most CPU seconds that the tests for one fault may cost")
    parser.add_argument("--slowest", type=float, default=0.7, help="a test that takes longer, in seconds of the processor, is left out")
    parser.add_argument("--processes", type=int, default=1, help="parts that are tried at the same time")
    parser.add_argument("--known", action="store_true", help="try the faults of known_faults.py; exits with 1 if one survives")
    wanted = parser.parse_args()
    tried, survived = Counter[str](), Counter[str]()

    def try_part(name: str) -> None:
        if wanted.known:
            listed = [each for each in KNOWN[name] if fnmatch.fnmatch(each.path, wanted.files)]
            part, chosen = Part((), tuple(dict.fromkeys(each.test for each in listed)), name == COMPILED), known(listed)
        else:
            part, chosen = PLAN[name], sample(PLAN[name], wanted.files, wanted.sample, random.Random(wanted.seed))
        limits = (600.0, 60.0) if wanted.known else (wanted.seconds, wanted.slowest)  # what was written for a fault is not left out
        for told in trials(part, chosen, wanted.only, *limits) if chosen else ():
            if "fault" not in told:
                print(f"{name}: {told['said']}", flush=True)
                continue
            fault = chosen[int(str(told["fault"]))]
            tried[fault.path] += 1
            where = f"{fault.path}:{fault.line} {fault.function} ({fault.kind})"
            if told["by"] is not None:
                print(f"killed {where} by {told['by']}", flush=True)
            else:
                survived[fault.path] += 1
                print(f"SURVIVED {where}, {told['said']}\n{difference(fault)}", flush=True)

    with ThreadPoolExecutor(wanted.processes) as pool:
        list(pool.map(try_part, wanted.parts or (KNOWN if wanted.known else PLAN)))
    for path in sorted(tried):
        print(f"{path:45} {tried[path]:4} tried {survived[path]:4} survived")
    print(f"{'all':45} {tried.total():4} tried {survived.total():4} survived")
    return int(wanted.known and survived.total() > 0)


if __name__ == "__main__":
    sys.exit(main())
