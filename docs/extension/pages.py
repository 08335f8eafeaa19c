"""Takes parts of the repository's own pages into the site, so that nothing is written twice.

A page of the site says what it takes:

    ```{from} README.md
    A learning run
    ```

That is the section of this title, without its heading. `(start)` is what comes before the first section, `(all)` is the whole page
without its title; and of several lines, each is a section with its heading. Links between files of the repository become links between
pages of the site. Where the site has no page for a file, the words of the link and the path of the file take its place.

Of a Python file, a page takes parts in their order. A part begins with a line that begins with these words, and with the decorators and
comments directly above it. It ends where the next part of the page begins, so what a reader copies from a page is a whole program:

    ```{from} examples/own_player.py
    def main
    ```
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from posixpath import normpath

ROOT = Path(__file__).parents[2]

# Files of the repository -> pages of the site that have their text.
PAGES = {
    "README.md": "/index.md",
    "CONTRIBUTING.md": "/contributing.md",
    "ARCHITECTURE.md": "/architecture.md",
    "CHANGELOG.md": "/changes.md",
    "REFERENCES.md": "/references.md",
    "baselines/papers/README.md": "/papers.md",
    "baselines/papers/CLAIMS.md": "/claims.md",
    "baselines/papers/RESULTS.md": "/results.md",
    "baselines/README.md": "/strength.md",
    "baselines/ladder/README.md": "/ladder.md",
    "kdenv/arena/README.md": "/comparing.md",
    "kdenv/compiler/README.md": "/concepts/kernels.md",
    "kdenv/networks/README.md": "/learning.md",
    "kdenv/server/README.md": "/serving.md",
}
_FENCE = re.compile(r"^```\{from\} (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://)([^)\s]*)\)")
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#+) (.*)$")


class PageError(ValueError):
    """A page asks for something that the repository does not have."""


def filled(text: str) -> str:
    """A page of the site with the parts that it takes from the repository."""
    programs = {path: code(path, wanted) for path, wanted in _parts_of_programs(text).items()}
    return _FENCE.sub(lambda found: programs[found[1]].pop(0) if found[1] in programs else part(found[1], found[2].splitlines()), text)


def _parts_of_programs(page: str) -> dict[str, list[str]]:
    """For each Python file from which a page takes parts: how they begin, in their order."""
    wanted: dict[str, list[str]] = {}
    for path, begin in _FENCE.findall(page):
        if path.endswith(".py"):
            wanted.setdefault(path, []).append(begin.strip())
    return wanted


def code(path: str, begins: list[str]) -> list[str]:
    """The parts of a Python file that begin so, each as a block of code; a part ends where the next one begins."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    cuts: list[int] = []
    for begin in begins:
        after = cuts[-1] + 1 if cuts else 0
        found = next((i for i, line in enumerate(lines[after:], after) if line.lstrip().startswith(begin)), None)
        if found is None:
            raise PageError(f"{path} has no line that begins with {begin!r} after line {after}")
        while found > after and lines[found - 1].lstrip().startswith(("@", "#")):
            found -= 1
        cuts.append(found)
    ends = [*cuts[1:], len(lines)]
    parts = ["\n".join(lines[cut:end]).rstrip().lstrip("\n") for cut, end in zip(cuts, ends, strict=True)]
    return [f"```python\n{part}\n```" for part in parts]


def part(path: str, wanted: list[str]) -> str:
    """These sections of a page of the repository, as the site shows them."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".ipynb"):
        return _cells(text)
    if wanted == ["(all)"]:
        taken = _below_one_title(text.partition("\n")[2])
    elif wanted == ["(start)"]:
        taken = text.partition("\n")[2].partition("\n## ")[0]
    elif len(wanted) == 1:
        taken = section(text, wanted[0], path).partition("\n")[2]
    else:
        taken = "\n".join(section(text, title, path) for title in wanted)
    return linked(taken, path).strip()


def _cells(notebook: str) -> str:
    """The cells of a notebook without its title: words, and blocks of code."""
    cells = [("".join(cell["source"]), cell["cell_type"] == "code") for cell in json.loads(notebook)["cells"]]
    return "\n\n".join(f"```python\n{text}\n```" if is_code else re.sub(r"\A# .*", "", text) for text, is_code in cells)


def section(text: str, title: str, path: str) -> str:
    """A section with its heading and all that is below it."""
    found: list[str] = []
    depth = 0
    for line, is_code in _lines(text):
        heading = None if is_code else _HEADING.match(line)
        if heading and depth and len(heading[1]) <= depth:
            break
        if heading and not depth and heading[2] == title:
            depth = len(heading[1])
        if depth:
            found.append(line)
    if not found:
        raise PageError(f"{path} has no section {title!r}")
    return "\n".join(found) + "\n"


def sections(text: str) -> Mapping[str, str]:
    """The sections of the second level, by their titles, in their order."""
    titles = [found[2] for line, is_code in _lines(text) if not is_code and (found := _HEADING.match(line)) and len(found[1]) == 2]
    return {title: section(text, title, "this page") for title in titles}


def write_sections(path: str, folder: Path) -> None:
    """Write a page for each section of a page of the repository that has further sections, named after its title."""
    folder.mkdir(exist_ok=True)
    for title, text in sections((ROOT / path).read_text(encoding="utf-8")).items():
        if "\n### " in text:
            name = re.sub(r"\W+", "-", title.lower()).strip("-")
            raised = "\n".join(line[1:] if not is_code and _HEADING.match(line) else line for line, is_code in _lines(text))
            write(folder / f"{name}.md", linked(raised, path) + "\n")


def write(file: Path, text: str) -> None:
    """Write a file if its text is new, so that Sphinx reads only what has changed."""
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


def linked(text: str, path: str) -> str:
    """The text of a page of the repository, with links that work in the site."""

    def instead(link: re.Match[str]) -> str:
        is_picture, words, target = link.groups()
        name, _, anchor = target.partition("#")
        found = normpath(PurePosixPath(path).parent / name) if name else path  # a section of the same file may be on another page
        if not (ROOT / found).exists():
            raise PageError(f"{path} links to {target}, which is not there")
        if is_picture:
            return f"![{words}](/../{found})"
        page = PAGES.get(found) or _page_of_site(found)
        if page:
            return f"[{words}]({page}{'#' + anchor if anchor else ''})"
        return words if words.strip("`") == target else f"{words} (`{found}`)"

    return "".join(piece if is_code else _LINK.sub(instead, piece) for piece, is_code in _pieces(text))


def _below_one_title(text: str) -> str:
    """The text with its headings a level lower, if it has further titles: a page of the site has one title."""
    lines = list(_lines(text))
    is_lower = any(line.startswith("# ") and not is_code for line, is_code in lines)
    return "\n".join(f"#{line}" if is_lower and not is_code and _HEADING.match(line) else line for line, is_code in lines)


def _page_of_site(path: str) -> str:
    """The page of a README of a game, or of a page of the site itself."""
    game = re.fullmatch(r"kdenv/games/(\w+)/README\.md", path)
    if game:
        return f"/games/{game[1]}.md"
    is_page = path.startswith("docs/") and path.endswith(".md") and not path.endswith("README.md")
    return path.removeprefix("docs") if is_page else ""


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The text cut into pieces; the second of a pair says whether it is code."""
    for i, piece in enumerate(_CODE.split(text)):
        yield piece, i % 2 == 1


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """The lines of a page; the second of a pair says whether it lies in a block of code."""
    inside = False
    for line in text.splitlines():
        fence = line.startswith("```")
        yield line, inside or fence
        inside ^= fence
