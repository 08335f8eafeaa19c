"""Put faults into the package, one at a time, and see whether the tests notice: `python tests/support/mutation.py --sample 200`.

A fault is a small change of the syntax tree: another comparison, a sign, a number that is off by one, a statement left out. Each is
tried in a copy of the repository, with the tests that PLAN names for the file, without the compiler where PLAN says so (the rules of a
game run fast enough in plain Python). A fault that no test fails for has survived; it is printed as a difference of lines.
"""

from __future__ import annotations

import argparse
import ast
import copy
import difflib
import fnmatch
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
LEAST_SECONDS = 60  # a run of tests may take this long, or five times as long as without a fault


class Part(NamedTuple):
    """Files to put faults into, and the tests that should notice."""

    files: str  # a pattern
    tests: tuple[str, ...]  # patterns of test files
    compiled: bool = False


PLAN = (
    Part("kdenv/games/kingdomino/rules.py", ("*kingdomino_contract*", "*kingdomino_players*", "*kingdomino_perft*")),
    Part("kdenv/games/kingdomino/board.py", ("*kingdomino_contract*", "*kingdomino_players*")),
    Part("kdenv/games/kingdomino/heuristics.py", ("*kingdomino_players*", "*naive_kingdomino*")),
    Part("kdenv/games/kingdomino/look_ahead.py", ("*kingdomino_players*", "*naive_kingdomino*")),
    Part("kdenv/games/carcassonne/rules.py", ("*carcassonne_contract*", "*carcassonne_rules*", "*carcassonne_notation*")),
    Part("kdenv/games/carcassonne/features.py", ("*carcassonne_contract*", "*carcassonne_rules*")),
    Part("kdenv/games/carcassonne/landscape.py", ("*carcassonne_contract*", "*carcassonne_rules*")),
    Part("kdenv/games/carcassonne/claims.py", ("*carcassonne_contract*", "*carcassonne_rules*")),
    Part("kdenv/games/carcassonne/heuristics.py", ("*carcassonne_players*",)),
    Part("kdenv/games/dominion/rules.py", ("*dominion_contract*", "*dominion_rules*", "*dominion_cards*")),
    Part("kdenv/games/dominion/effects.py", ("*dominion_contract*", "*dominion_cards*")),
    Part("kdenv/games/dominion/piles.py", ("*dominion_contract*", "*dominion_cards*", "*dominion_hidden*")),
    Part("kdenv/games/dominion/hidden.py", ("*dominion_hidden*",)),
    Part("kdenv/games/dominion/heuristics.py", ("*dominion_players*",)),
    Part("kdenv/games/dominoes/rules.py", ("*dominoes_contract*", "*dominoes_text*")),
    Part("kdenv/games/dominoes/belief.py", ("*dominoes_belief*",)),
    Part("kdenv/games/dominoes/solver.py", ("*search_hidden*",), compiled=True),
    Part("kdenv/arena/*.py", ("*arena*",), compiled=True),
    Part("kdenv/search/*.py", ("*search_*", "*golden_trees*", "*policies_lookahead*"), compiled=True),
)

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
    kind: str
    line: int
    source: str


def faults(path: str) -> Iterator[Fault]:
    """Every fault that can be put into this file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        for holder, name, at, kind, changed in _changes(function):
            before = getattr(holder, name) if at is None else getattr(holder, name)[at]
            line = getattr(before, "lineno", getattr(holder, "lineno", function.lineno))
            _put(holder, name, at, changed)
            yield Fault(path, kind, line, ast.unparse(tree))
            _put(holder, name, at, before)


def _put(holder: ast.AST, name: str, at: int | None, node: ast.AST) -> None:
    if at is None:
        setattr(holder, name, node)
    else:
        getattr(holder, name)[at] = node


def _changes(function: ast.FunctionDef) -> Iterator[tuple[ast.AST, str, int | None, str, ast.AST]]:
    """Where in a function something can be changed, and into what."""
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
    """What may stand in place of this part of the tree."""
    if isinstance(node, ast.cmpop) and type(node) in COMPARISONS:
        yield "comparison", COMPARISONS[type(node)]()
    elif isinstance(node, ast.operator) and type(node) in OPERATIONS:
        yield "operation", OPERATIONS[type(node)]()
    elif isinstance(node, ast.boolop):
        yield "and or", ast.Or() if isinstance(node, ast.And) else ast.And()
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
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


class Copy:
    """A copy of the repository in which faults are tried."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis")
        shutil.copytree(ROOT, folder, ignore=ignored, symlinks=True)

    def test(self, part: Part, seconds: float) -> bool:
        """Whether the tests pass, within this time."""
        tests = sorted(str(path) for pattern in part.tests for path in (self.folder / "tests").rglob(f"test_{pattern}.py"))
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        environment |= {"PYTHONPATH": str(self.folder), "KDENV_CACHE_DIR": str(self.folder / ".cache")}
        if not part.compiled:
            environment["NUMBA_DISABLE_JIT"] = "1"
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *dict.fromkeys(tests)]
        with subprocess.Popen(
            command, cwd=self.folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        ) as run:
            try:
                return run.wait(seconds) == 0
            except subprocess.TimeoutExpired:
                os.killpg(run.pid, 9)
                return False

    def try_fault(self, part: Part, fault: Fault, seconds: float) -> bool:
        """Whether the fault survives."""
        path = self.folder / fault.path
        original = path.read_text(encoding="utf-8")
        path.write_text(fault.source, encoding="utf-8")
        try:
            return self.test(part, seconds)
        finally:
            path.write_text(original, encoding="utf-8")


def difference(fault: Fault) -> str:
    """The lines that the fault changes."""
    before = ast.unparse(ast.parse((ROOT / fault.path).read_text(encoding="utf-8"))).splitlines()
    changed = difflib.unified_diff(before, fault.source.splitlines(), lineterm="", n=0)
    return "\n".join(line for line in changed if line[:1] in "+-" and line[:3] not in ("+++", "---"))


def main() -> int:
    """Try a sample of all faults and tell which survive."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=100, help="faults to try, evenly over the files")
    parser.add_argument("--files", default="*", help="only files that fit this pattern")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    wanted = parser.parse_args()
    dice = random.Random(wanted.seed)
    files = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "kdenv").rglob("*.py"))]
    chosen: list[tuple[Part, Fault]] = []
    files = [path for path in files if fnmatch.fnmatch(path, wanted.files)]
    by_file = {path: (part, list(faults(path))) for path in files for part in PLAN if fnmatch.fnmatch(path, part.files)}
    share = max(1, wanted.sample // max(1, len(by_file)))
    for part, all_of_file in by_file.values():
        chosen += [(part, fault) for fault in dice.sample(all_of_file, min(share, len(all_of_file)))]
    tried, survived = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(wanted.processes) as pool:
        copies: Queue[Copy] = Queue()
        for number in range(wanted.processes):
            copies.put(Copy(Path(folder) / str(number)))
        limits: dict[Part, float] = {}
        first = copies.get()
        for part in dict.fromkeys(part for part, _ in chosen):
            start = time.monotonic()
            if not first.test(part, 1e4):
                print(f"the tests of {part.files} fail without a fault; mend them first")
                return 2
            limits[part] = LEAST_SECONDS + 5 * (time.monotonic() - start)
        copies.put(first)

        def run(job: tuple[Part, Fault]) -> tuple[Fault, bool]:
            mine = copies.get()
            try:
                return job[1], mine.try_fault(*job, limits[job[0]])
            finally:
                copies.put(mine)

        for fault, survives in pool.map(run, chosen):
            tried[fault.path] += 1
            if survives:
                survived[fault.path] += 1
                print(f"SURVIVED {fault.path}:{fault.line} ({fault.kind})\n{difference(fault)}", flush=True)
    for path in tried:
        print(f"{path:45} {tried[path]:4} tried {survived[path]:4} survived")
    print(f"{'all':45} {tried.total():4} tried {survived.total():4} survived")
    return 0


if __name__ == "__main__":
    sys.exit(main())
