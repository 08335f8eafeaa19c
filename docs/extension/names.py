"""The public names of kdenv, what each is, and the pages of the API reference made of them.

What is public is what the `__all__` of the modules in MODULES name, and the modules `kdenv.<game>_v0`. Every name has a sentence
that says what it is: the first of its docstring, or for a constant the comment beside it or above it.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import kdenv
from kdenv.author import Game

from .pages import write

MODULES = {  # a module -> what one does with it
    "kdenv": "tables, policies and records by name, and what makes something of yours known",
    "kdenv.policies": "agents at the table, and what a search returns",
    "kdenv.arena": "matches, comparisons, leagues, and what can be concluded from them",
    "kdenv.envs": "PettingZoo, Gymnasium, and many games at once",
    "kdenv.rl": "training with torch (extra `rl`)",
    "kdenv.client": "programs that play on a game server",
    "kdenv.author": "what to write a game, a card, a policy, a player, an evaluation, an encoding or a search with",
    **{f"kdenv.games.{game}": f"what else {game.capitalize()} offers" for game in kdenv.games()},
}
GAME_MODULES = tuple(f"kdenv.{game}_v0" for game in kdenv.games())


_NO_HTML = re.compile(r"^~~~.*?^~~~$|^ {4}.*?$|`[^`]+`|<", re.MULTILINE | re.DOTALL)  # code, or the beginning of what HTML would take


class Public(NamedTuple):
    """A public name: where it is imported from, the object, and what it is in a sentence (empty if nothing says it)."""

    module: str
    name: str
    value: Any
    said: str


def public_names(module: str) -> list[Public]:
    """The names that a module makes public, in the order of its `__all__`."""
    room = import_module(module)
    names = getattr(room, "__all__", None) or ["env", "raw_env", "parallel_env"]
    return [Public(module, name, getattr(room, name), _said(room, name)) for name in names]


def duplicates() -> Mapping[int, str]:
    """For each object that two modules name, the first of the two, where it is documented."""
    found: dict[int, str] = {}
    for module in MODULES:
        for each in public_names(module):
            if _is_documented(each.value):
                found.setdefault(id(each.value), f"{module}.{each.name}")
    return found


def write_pages(folder: Path) -> None:
    """Write the list of public names and a page of each module into this folder."""
    folder.mkdir(exist_ok=True)
    homes = duplicates()
    pages = {module: "\n".join(_page(module, homes)) for module in (*MODULES, *GAME_MODULES)}
    pages["index"] = "\n".join(_index(homes))
    for name, text in pages.items():
        write(folder / f"{name}.md", text)


def _index(homes: Mapping[int, str]) -> Iterator[str]:
    yield "# API reference\n"
    yield "What is listed here is public. Everything else, that is all other modules and every name with an underscore, may be moved or"
    yield "renamed at any time. [Versions](/versions.md) says what is promised of public names.\n"
    for module, about in MODULES.items():
        names = public_names(module)
        yield f"## [{module}](/api/{module}.md)\n\n{about[:1].upper()}{about[1:]}.\n"
        yield "| name | what it is |\n|---|---|"
        for each in names:
            said = each.said.replace("|", "\\|")
            yield f"| [`{each.name}`](#{homes.get(id(each.value), f'{module}.{each.name}')}) | {said} |"
        yield ""
    yield "## The environments of the games\n"
    yield from (f"- [{module}](/api/{module}.md): `env`, `raw_env`, `parallel_env`" for module in GAME_MODULES)
    yield "\n```{toctree}\n:hidden:\n"
    yield from (*MODULES, *GAME_MODULES)
    yield "```\n"


def _page(module: str, homes: Mapping[int, str]) -> Iterator[str]:
    room = import_module(module)
    yield f"# {module}\n\n{_as_markdown(inspect.getdoc(room) or '')}\n"
    yield f"```{{py:module}} {module}\n```\n"
    for each in public_names(module):
        yield f"## {each.name}\n"
        home = homes.get(id(each.value), f"{module}.{each.name}")
        if home != f"{module}.{each.name}":
            yield f"{each.said} It is {{py:obj}}`{home}`, which is documented there.\n"
        else:
            yield from _entry(each, homes)


def _entry(each: Public, homes: Mapping[int, str]) -> Iterator[str]:
    value = each.value
    if inspect.isclass(value):
        yield f"````{{py:class}} {each.name}{_signature(value)}\n\n{_as_markdown(_docstring(value))}\n"
        if fields := list(_fields(value)):
            yield "Parameters:\n"
            yield from (f"- `{name}`: {said}" for name, said in fields)
            yield ""
        bases = list(_documented_bases(value, homes))
        if bases:
            yield f"It also has what {' and '.join(f'{{py:obj}}`{homes[id(base)]}`' for base in bases)} has.\n"
        for name, method in _methods(value, homes):
            kind = "property" if isinstance(method, property) else "method"
            signature = "" if kind == "property" else _signature(getattr(value, name))
            yield f"```{{py:{kind}}} {name}{signature}\n\n{_as_markdown(_docstring(method))}\n```\n"
        yield "````\n"
    elif callable(value):
        yield f"````{{py:function}} {each.name}{_signature(value)}\n\n{_as_markdown(_docstring(value)) or each.said}\n````\n"
    else:
        shown = f" = {value!r}" if isinstance(value, (int, float, str)) else ""
        yield f"````{{py:data}} {each.name}\n\n{each.said}{f' `{each.name}{shown}`' if shown else ''}\n````\n"


def _fields(cls: type) -> Iterator[tuple[str, str]]:
    """The fields of a dataclass or NamedTuple of kdenv that have a comment beside or above them, with what it says.

    There are none if the docstring lists them itself.
    """
    own = is_dataclass(cls) or hasattr(cls, "_fields")
    if not own or re.search(r"^(Args|Attributes):$", _docstring(cls), re.MULTILINE):
        return
    source = inspect.getsource(cls).splitlines()
    (node,) = ast.parse(textwrap.dedent("\n".join(source))).body
    assert isinstance(node, ast.ClassDef)
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and not each.target.id.startswith("_"):
            said = _comment_of(source, each.lineno - 1, (each.end_lineno or each.lineno) - 1)
            if said:
                yield each.target.id, said


def _documented_bases(cls: type, homes: Mapping[int, str]) -> Iterator[type]:
    """The bases of a class that are public, too, without those that a base among them has itself."""
    found = [base for base in cls.__mro__[1:] if id(base) in homes]
    return (base for base in found if not any(base in other.__mro__[1:] for other in found))


def _methods(cls: type, homes: Mapping[int, str]) -> Iterator[tuple[str, Any]]:
    """The public methods and properties of a class that kdenv wrote and that say what they do, without those of public bases."""
    seen: set[str] = set()
    elsewhere = {base for public in _documented_bases(cls, homes) for base in public.__mro__}
    for base in cls.__mro__:
        if not base.__module__.startswith("kdenv") or base in elsewhere:
            continue
        for name, member in vars(base).items():
            written = isinstance(member, (property, staticmethod, classmethod)) or inspect.isfunction(member)
            if name not in seen and not name.startswith("_") and written and _docstring(member):
                seen.add(name)
                yield name, member


class _Shown(str):
    """Words that a signature shows as they are, without quotes."""

    def __repr__(self) -> str:
        return str(self)


def _signature(value: Any) -> str:
    """The arguments as a reader types them: without the modules of the types."""
    if getattr(value, "_is_protocol", False):
        return ""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # what is written in C has none
        return "()"
    taken = [each for each in signature.parameters.values() if each.name != "self"]
    parameters = [each.replace(annotation=_type(each.annotation), default=_default(each.default)) for each in taken]
    result = inspect.Signature.empty if inspect.isclass(value) else _type(signature.return_annotation)
    return str(signature.replace(parameters=parameters, return_annotation=result))


def _type(annotation: Any) -> Any:
    """A type as a signature shows it."""
    if annotation is inspect.Signature.empty:
        return annotation
    text = getattr(annotation, "__forward_arg__", annotation)
    text = text if isinstance(text, str) else inspect.formatannotation(text)
    return _Shown(re.sub(r"\b(?:\w+\.)+(?=[A-Za-z_])|['\"]", "", text))


def _default(value: Any) -> Any:
    """The default of an argument as a signature shows it: what cannot be typed is left out."""
    return _Shown("...") if value is not inspect.Signature.empty and repr(value).startswith("<") else value


def _docstring(value: Any) -> str:
    doc = value.__doc__ or ""
    own = doc if isinstance(value, (property, type)) or doc else inspect.getdoc(value) or ""
    generated = isinstance(value, type) and doc.startswith(f"{value.__name__}(")  # dataclasses and named tuples without a docstring
    return "" if generated else inspect.cleandoc(own)


def _is_documented(value: Any) -> bool:
    return inspect.isclass(value) or (callable(value) and bool(getattr(value, "__doc__", "")))


def _said(room: ModuleType, name: str) -> str:
    """A sentence about a public name."""
    value = getattr(room, name)
    if isinstance(value, Game):
        return f'The game {value.title}, which `kdenv.game("{value.name}")` gives, too.'
    if _is_documented(value):
        paragraph = " ".join(_docstring(value).partition("\n\n")[0].split())
        return re.split(r"(?<=[.?:]) (?=[A-Z`\"'])", paragraph)[0]
    return _comment(room, name)


def _comment(room: ModuleType, name: str) -> str:
    """The comment beside or above the assignment of a constant, in the module that assigns it."""
    for path in _sources_of(room, name):
        if name not in _assigned(path):
            continue
        return _comment_of(path.read_text(encoding="utf-8").splitlines(), *_assigned(path)[name])
    return ""


def _comment_of(lines: list[str], line: int, own_line: int) -> str:
    """The comment beside an assignment, on the last of these two lines, or else that above the first of them."""
    beside = re.search(r"  # (?!noqa|type:)(.*)$", lines[own_line])
    if beside:
        return _sentence(beside[1])
    above: list[str] = []
    while line > 0 and lines[line - 1].strip().startswith("# "):
        line -= 1
        above.insert(0, lines[line].strip()[2:])
    return _sentence(" ".join(above))


def _sources_of(room: ModuleType, name: str) -> Iterator[Path]:
    """The file of a module, and of the module that it imports this name from."""
    assert room.__file__ is not None
    yield Path(room.__file__)
    for node in ast.walk(ast.parse(Path(room.__file__).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and name in {alias.asname or alias.name for alias in node.names}:
            yield from _sources_of(import_module(node.module), name)


@cache
def _assigned(path: Path) -> Mapping[str, tuple[int, int]]:
    """Of each name that is assigned at the top of a file: the lines, from 0, on which its assignment begins, and on which it stands."""
    found: dict[str, tuple[int, int]] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        for target in targets:
            for leaf in ast.walk(target):
                if isinstance(leaf, ast.Name):
                    found[leaf.id] = (node.lineno - 1, leaf.lineno - 1)
    return found


def _sentence(text: str) -> str:
    first = text.partition(" ")[0]  # a name of the code keeps its letters
    return f"{first.capitalize() if first.isalpha() and first.islower() else first}{text[len(first) :].rstrip('.')}." if text else ""


def _as_markdown(docstring: str) -> str:
    """A docstring for a page. Examples and indented blocks are code; what looks like a heading or like HTML of the page is none."""
    listed = re.sub(r"^(Args|Attributes):\n((?: {4}.*\n?)+)", _arguments, textwrap.dedent(docstring), flags=re.MULTILINE)
    paragraphs = listed.replace("\n#", "\n\\#").split("\n\n")
    text = "\n\n".join(f"~~~pycon\n{each.rstrip()}\n~~~" if each.startswith(">>> ") else each for each in paragraphs)
    return _NO_HTML.sub(lambda found: "&lt;" if found[0] == "<" else found[0], text)


def _arguments(section: re.Match[str]) -> str:
    """The section `Args:` or `Attributes:` of a docstring as a list."""
    on_one_line = re.sub(r"\n {8,}", " ", section[2])
    title = "Parameters" if section[1] == "Args" else section[1]
    return f"{title}:\n\n" + re.sub(r"^ {4}([\w, ]+):", r"- `\1`:", on_one_line, flags=re.MULTILINE)
