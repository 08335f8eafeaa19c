"""Makes the page of a game from its description in the package, from the README of its room, and from a game that is played for it.

The order of a page is that of Gymnasium's pages: a picture, a table of basic facts, the rules, actions, and observations part by part.
Then come rewards, players, and a game move by move.
"""

import contextlib
import io
import math
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import kdenv
from kdenv.author import Game, Table, make_rng
from kdenv.cli import main
from kdenv.policies import listing

from .pages import ROOT, linked, sections, write

SEED = 1
FRAMES = 16  # of the moving picture
PICTURES = 5  # of the game that is played through, with that of its end
_RULES = "Rules as implemented"
_OBSERVATION = "Observation"


def write_pages(folder: Path) -> None:
    """Write the page and the pictures of every game of kdenv into this folder."""
    folder.mkdir(exist_ok=True)
    for name in kdenv.games():
        write(folder / f"{name}.md", page(kdenv.game(name), folder))


def page(game: Game, folder: Path) -> str:
    """The page of a game. Its pictures are written into the folder."""
    path = f"kdenv/games/{game.name}/README.md"
    text = (ROOT / path).read_text(encoding="utf-8")
    start = linked(text.partition("\n## ")[0].partition("\n")[2].strip(), path)
    parts = {title: linked(section, path) for title, section in sections(text).items()}
    played, pictures, record = _played(game, folder)
    observation = parts.pop(_OBSERVATION)
    before = [parts.pop(title) for title in list(parts) if title == _RULES or title.startswith("Chance, actions")]
    return "\n\n".join(
        [
            f"# {game.title}",
            f"![A game of {game.title}, move by move]({_film(game.name, record, folder)}){{.game}}",
            start,
            "\n".join(_glance(game)),
            *before,
            observation.rstrip(),
            *("\n".join(_layout(game, encoding.name)) for encoding in game.encodings),
            *parts.values(),
            "\n".join(_strength(game)),
            "\n".join(_policies(game)),
            "\n".join(_versions(game)),
            f"## A game, played through\n\n{played}",
            *(f"{said}\n\n![{said}]({file}){{.game}}" for said, file in pictures),
            "",
        ]
    )


def _glance(game: Game) -> Iterator[str]:
    """The facts of the game that a program needs, as a table."""
    players, variant = game.variant()
    sizes = ", ".join(f"`{e.name}` {game.observer(players, variant, e.name).size:,}" for e in game.encodings)
    rows = {
        "import": f'`from kdenv import {game.name}_v0` (PettingZoo), `gymnasium.make("kdenv/{game.title}-v0")`',
        "agents": ", ".join(f"`player_{seat}`" for seat in range(players)) + _other_counts(game),
        "actions": f"`Discrete({game.n_actions(players, variant)})`, with a mask of those that are legal",
        "observation": f"`Dict(observation=Box(float32), action_mask)`; numbers in each encoding: {sizes}",
        "options": ", ".join(f"`{option.name}={'|'.join(option.values()) or '...'}`" for option in game.options) or "none",
        "hidden": "nothing; only future chance is unknown" if game.open_information else "yes: see the section on hidden information",
        "version": "v0 ([what a version promises](/versions.md)); encodings: "
        + ", ".join(f"`{each.name}` {each.version}" for each in game.encodings),
        "rules in words": f"`kdenv rules {game.name}`",
    }
    yield "| | |\n|---|---|"
    yield from (f"| {name} | {_cell(value)} |" for name, value in rows.items())


def _other_counts(game: Game) -> str:
    others = game.players[1:]
    return f" (or {', '.join(map(str, others))} players)" if others else ""


def _layout(game: Game, encoding: str) -> Iterator[str]:
    """The parts of an encoding: where each lies in the vector, its shape and its meaning."""
    players = game.players[0]
    yield f"### `{encoding}`, part by part\n"
    if meaning := game.encoding(encoding).meaning:
        yield f'{meaning[:1].upper()}{meaning[1:]}. With {players} players and the usual options, `layout(encoding="{encoding}")` is:\n'
    else:
        yield f'With {players} players and the usual options, `layout(encoding="{encoding}")` is:\n'
    yield "| part | numbers | shape | meaning |\n|---|---|---|---|"
    at = 0
    for name, part in game.layout(encoding=encoding).items():
        size = math.prod(part.shape)
        shape = " x ".join(map(str, part.shape))
        yield f"| `{name}` | {at} to {at + size - 1} | {shape} | {_cell(part.meaning)} |"
        at += size


def _policies(game: Game) -> Iterator[str]:
    """Everybody who can play the game, as `kdenv policies` lists them."""
    yield f"## Policies\n\nAll that can play, as `kdenv policies {game.name}` lists them; `kdenv policies {game.name} NAME` explains one.\n"
    yield "| name | plays | from |\n|---|---|---|"
    for entry in listing(game):
        if entry.group != "elsewhere":
            yield f"| `{entry.name}` | {_cell(entry.meaning)} | {_cell(entry.source)} |"


def _versions(game: Game) -> Iterator[str]:
    """The version history, with that of each encoding."""
    encodings = ", ".join(f"`{each.name}` {each.version}" for each in game.encodings)
    yield "## Version history\n"
    yield f"- v0: the first version, in kdenv 0.1.0; encodings {encodings}. [Versions](/versions.md) says what a version promises."


def _strength(game: Game) -> Iterator[str]:
    """The rows about this game in the tables of the trained policies."""
    text = (ROOT / "baselines/README.md").read_text(encoding="utf-8")
    yield "## Learned players\n\n[Baselines](/strength.md) has the commands. Intervals are 95 % intervals.\n"
    tables = [block for block in re.split(r"\n\s*\n", text) if block.startswith("|")]
    for table in tables:
        head, rule, *rows = table.splitlines()
        chosen = [row for row in rows if re.match(rf"\| `\w+\({game.name}[\w-]*\)`", row)]
        if chosen:
            yield from (head, rule, *chosen, "")


def _played(game: Game, folder: Path) -> tuple[str, list[tuple[str, str]], str]:
    """A game that the greedy player plays against itself: an introduction, its pictures with the words below them, and its record."""
    players = min(n for n in game.players if n > 1)
    total = sum(1 for _ in _decisions(game, kdenv.table(game.name, players=players)))
    wanted = {round(total * i / (PICTURES - 1)) for i in range(1, PICTURES - 1)}
    table, shown = kdenv.table(game.name, players=players), []
    for at, (seat, words) in enumerate(_decisions(game, table), 1):
        if at in wanted:
            said = f"After decision {at} of {total}: seat {seat} has played *{words}*. Points: {_listed(table.scores())}."
            shown.append((said, _draw(table, folder, str(at))))
    said = f"The end, after {total} decisions. Points: {_listed(table.scores())}; places: {_listed(table.ranks())}."
    shown.append((said, _draw(table, folder, "end")))
    start = (
        f"`{game.knowledge.greedy}` plays itself with {players} players; seed {SEED}. The pictures show everything, also what is hidden "
        "from the seats.\n"
    )
    return start, shown, table.record()


def _film(name: str, record: str, folder: Path) -> str:
    """Draw the game of this record as a GIF, as `kdenv replay` does."""
    with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        file = Path(place, "game.txt")
        file.write_text(record, encoding="utf-8")
        wrong = main(["replay", str(file), "--gif", str(folder / f"{name}.gif"), "--gif-frames", str(FRAMES)])
    if wrong:
        raise RuntimeError(f"the game of {name} cannot be drawn; kdenv replay --gif says why")
    return f"{name}.gif"


def _decisions(game: Game, table: Table) -> Iterator[tuple[int, str]]:
    """Play the game on this table; give each seat that has decided, and its decision in words."""
    players = [kdenv.policy(game.knowledge.greedy) for _ in range(table.players)]
    for seat, player in enumerate(players):
        player.reset(SEED + seat)
    rng = make_rng(SEED)
    table.run_chance(rng)
    while not table.over:
        seat = table.seat
        action = players[seat].act(table.view(seat))
        words = table.name(action)
        table.decide(action, rng)
        yield seat, words


def _draw(table: Table, folder: Path, at: str) -> str:
    name = f"{table.game.name}-{at}.svg"
    write(folder / name, table.svg())
    return name


def _listed(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
