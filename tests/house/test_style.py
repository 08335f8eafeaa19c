"""Is everything annotated that is not a kernel? mypy is told to let the rooms of kernels be; this sees to the rest of them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What makes a function one that numba types: kernels, verbs, questions, and the overloads and intrinsics behind them.
COMPILED = {"kernel", "allocating_kernel", "verb", "question", "overload", "intrinsic"}


def decorators(function: ast.FunctionDef) -> set[str]:
    names = [node.func if isinstance(node, ast.Call) else node for node in function.decorator_list]
    return {node.id for node in names if isinstance(node, ast.Name)}


def bare_functions(body: list[ast.stmt], inside_compiled: bool = False) -> Iterator[str]:
    """The functions that are neither compiled (nor inside such) nor annotated throughout."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from bare_functions(node.body)
        elif isinstance(node, ast.FunctionDef):
            compiled = inside_compiled or bool(decorators(node) & COMPILED)
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            missing = [a.arg for a in arguments if a.annotation is None and a.arg not in ("self", "cls")]
            needs_return = node.returns is None and node.name != "__init__"
            if not compiled and (missing or needs_return):
                yield f"line {node.lineno}: {node.name}"
            yield from bare_functions(node.body, compiled)


@pytest.mark.parametrize("room", ["compiler", "core", "games", "search", "envs"])
def test_all_but_kernels_is_annotated(room: str) -> None:
    bare = [
        f"{path.relative_to(ROOT)} {where}"
        for path in sorted((ROOT / "kdenv" / room).rglob("*.py"))
        for where in bare_functions(ast.parse(path.read_text()).body)
        if (path.name, where.split(": ")[1]) not in {("verbs.py", "ask"), ("question.py", "ask"), ("numba_compile.py", "resolve")}
        and path.name != "selfcheck.py"  # its kernels are not decorated, because they are compiled in two ways
    ]
    assert not bare, "\n".join(bare)


def test_a_function_without_annotations_is_found() -> None:
    source = "@kernel\ndef fine(s): pass\nclass C:\n    def bad(self, x): pass\n"
    assert list(bare_functions(ast.parse(source).body)) == ["line 4: bad"]


TEXT_CALLS = {"read_text", "write_text"}


def without_encoding(tree: ast.AST) -> Iterator[int]:
    """The lines of calls that read or write text in whatever encoding the machine happens to have."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
        given = {keyword.arg for keyword in node.keywords}
        modes = [arg.value for arg in [*node.args, *(k.value for k in node.keywords)] if isinstance(arg, ast.Constant)]
        if name in TEXT_CALLS and isinstance(node.func, ast.Attribute) and "encoding" not in given:
            yield node.lineno
        if name == "open" and "encoding" not in given and not any(isinstance(mode, str) and "b" in mode for mode in modes):
            receiver = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
            if receiver not in ("Image", "os", "archive", "self._archive"):
                yield node.lineno
        if "text" in given and "encoding" not in given and name in ("run", "Popen"):
            yield node.lineno


def test_text_files_have_an_encoding() -> None:
    files = [path for room in ("kdenv", "baselines", "examples") for path in sorted((ROOT / room).rglob("*.py"))]
    bare = [f"{path.relative_to(ROOT)}:{line}" for path in files for line in without_encoding(ast.parse(path.read_text(encoding="utf-8")))]
    assert bare == []


def test_a_text_file_without_an_encoding_is_found() -> None:
    source = "p.read_text()\nopen(p)\np.open('rb')\np.write_text(t, encoding='utf-8')\nrun(c, text=True)\np.open('a')\nos.open(p, 0)\n"
    assert sorted(without_encoding(ast.parse(source))) == [1, 2, 5, 6]
