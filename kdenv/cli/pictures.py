"""Draws a game into files: the last position as SVG or PNG; all positions as a GIF, a folder of SVG files, or a page with steps."""

from __future__ import annotations

import argparse
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kdenv import __version__
from kdenv.cli import arguments, files
from kdenv.cli.terminal import Progress
from kdenv.core.errors import BadOption, missing_extra

if TYPE_CHECKING:
    from kdenv.core.table import Table

_ENDINGS = (".svg", ".png")
_WIDEST = 720  # the largest width and height of a GIF, in pixels
_SHOWN, _LAST_SHOWN = 600, 4000  # the time of a position in a GIF, and of the last one, in milliseconds
_CUT = re.compile(r"(?<=>)(?=<)")  # a drawing is cut between two tags, into parts that other drawings share


def add_drawing(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of commands that draw a game."""
    parser.add_argument("--draw", type=Path, metavar="FILE", help="draw the last position into a .svg or .png file")
    parser.add_argument("--gif", type=Path, metavar="FILE", help="write a GIF that shows the game move by move")
    parser.add_argument("--gif-frames", type=arguments.whole(2), metavar="N", help="show at most N positions in the GIF, evenly spaced")
    parser.add_argument("--svg-frames", type=Path, metavar="FOLDER", help="write a drawing of every position into this folder")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page that shows the game move by move, with the arrow keys")


class Position(NamedTuple):
    """A position of a game: the event that led to it, in words, and its drawing."""

    said: str
    drawing: str


class Film:
    """Collects the positions of a game, and writes them to the files that the command line names."""

    def __init__(self, parsed: argparse.Namespace) -> None:
        """Check that these files can be drawn. Nothing is written yet."""
        self._draw, self._gif, self._frames, self._html = parsed.draw, parsed.gif, parsed.svg_frames, parsed.html
        if self._draw is not None and self._draw.suffix.lower() not in _ENDINGS:
            raise BadOption(f"--draw {self._draw} ends in neither .svg nor .png; --gif, --svg-frames and --html show the whole game")
        files.check_folder("--svg-frames", self._frames)
        if self._gif is not None or (self._draw is not None and self._draw.suffix.lower() == ".png"):
            _check_extra()
        self._gif_frames: int | None = parsed.gif_frames
        self._is_wanted = any(path is not None for path in (self._draw, self._gif, self._frames, self._html))
        self._positions: list[Position] = []

    def show(self, table: Table, line: str) -> None:
        """Add the position on this table, to which a line of its record has led."""
        if self._is_wanted:
            self._positions.append(Position(_said(line), table.svg()))

    def write(self, title: str) -> list[Path]:
        """Write all files that the command line names, and return their paths."""
        written: list[Path] = []
        drawings = [position.drawing for position in self._positions]
        if self._draw is not None:
            from kdenv.envs.rendering import png

            written.append(self._draw)
            files.write(self._draw, drawings[-1] if self._draw.suffix.lower() == ".svg" else png(drawings[-1]))
        if self._gif is not None:
            written.append(self._gif)
            files.write(self._gif, _gif(_spaced(drawings, self._gif_frames)))
        if self._frames is not None:
            written.append(self._frames)
            self._frames.mkdir(parents=True, exist_ok=True)
            for number, drawing in enumerate(drawings):
                files.write(self._frames / f"{number:0{max(3, len(str(len(drawings))))}d}.svg", drawing)
        if self._html is not None:
            written.append(self._html)
            files.write(self._html, _page(title, self._positions))
        return written


def _said(line: str) -> str:
    """A line of a record, in words."""
    if line.startswith("*"):
        return f"chance: {line.removeprefix('*').strip()}"
    return f"seat {line}" if line[:1].isdigit() else line.removeprefix("kdenv ")


def _page(title: str, positions: list[Position]) -> str:
    """An HTML page that steps through these positions."""
    from kdenv.drawing.page import render

    numbers: dict[str, int] = {}  # part of drawings -> its number; most parts are in many drawings
    before: list[int] = []
    changes: list[tuple[int, list[int], int]] = []
    for position in positions:
        frame = [numbers.setdefault(part, len(numbers)) for part in _CUT.split(position.drawing)]
        most = min(len(frame), len(before))
        head = next((at for at in range(most) if frame[at] != before[at]), most)
        tail = next((at for at in range(most - head) if frame[-1 - at] != before[-1 - at]), most - head)
        changes.append((head, frame[head : len(frame) - tail], tail))
        before = frame
    said, last = [position.said for position in positions], positions[-1].drawing
    values = {"parts": list(numbers), "changes": changes, "said": said, "drawing": last, "last": len(positions) - 1}
    return render("game.html", title=title, version=__version__, **values)


def _check_extra() -> None:
    """Raise MissingExtra if pictures cannot be drawn here. It is called before a long game."""
    try:
        import PIL  # noqa: F401
        import resvg_py  # noqa: F401
    except ImportError:
        raise missing_extra("drawing .png and .gif files", "render") from None


def _spaced(drawings: list[str], most: int | None) -> list[str]:
    """At most so many of these drawings, evenly spaced, with the first and the last one; all of them for None."""
    if most is None or len(drawings) <= most:
        return drawings
    return [drawings[round(i * (len(drawings) - 1) / (most - 1))] for i in range(most)]


def _gif(drawings: list[str]) -> bytes:
    """The bytes of a GIF that shows the drawings one after the other. Smaller ones lie in the middle of a white area."""
    from PIL import Image

    from kdenv.envs.rendering import png

    progress = Progress(len(drawings), "positions drawn")
    pictures: list[Any] = []
    for drawing in drawings:
        picture = Image.open(io.BytesIO(png(drawing))).convert("RGB")
        picture.thumbnail((_WIDEST, _WIDEST))
        pictures.append(picture)
        progress.step()
    progress.end()
    width, height = (max(picture.size[side] for picture in pictures) for side in (0, 1))
    # All frames have the colours of the first and the last one, without dithering. So a frame is stored as the area that has changed.
    both = Image.new("RGB", (width, 2 * height), "white")
    framed = []
    for picture in pictures:
        frame = Image.new("RGB", (width, height), "white")
        frame.paste(picture, ((width - picture.width) // 2, (height - picture.height) // 2))
        framed.append(frame)
    both.paste(framed[0])
    both.paste(framed[-1], (0, height))
    palette = both.quantize(64)
    frames = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in framed]
    out = io.BytesIO()
    shown = [_SHOWN] * (len(frames) - 1) + [_LAST_SHOWN]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], duration=shown, loop=0)
    return out.getvalue()
