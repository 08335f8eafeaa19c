"""Draws a table into a file: as SVG, as PNG, or the whole game as a GIF. The ending of the file's name says which."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kdenv.cli import files
from kdenv.cli.terminal import Progress
from kdenv.core.errors import BadOption, missing_extra

if TYPE_CHECKING:
    from kdenv.core.table import Table

_ENDINGS = (".svg", ".png", ".gif")
_WIDEST = 720  # a GIF has at most this many pixels in width and height
_SHOWN, _LAST_SHOWN = 600, 4000  # a GIF shows a position, and the last position, for this many milliseconds


class Film:
    """Collects the positions of a game and writes them to a file. Only a GIF needs more than the last position."""

    def __init__(self, path: Path) -> None:
        """Check that a picture of this kind can be drawn. Nothing is written yet."""
        self.path = path
        self._kind = path.suffix.lower()
        if self._kind not in _ENDINGS:
            raise BadOption(f"--draw {path} ends in none of {', '.join(_ENDINGS)}; choose one of them, which says what is drawn")
        if self._kind != ".svg":
            _check_extra()
        self._drawings: list[str] = []

    def show(self, table: Table) -> None:
        """Add the position on this table."""
        if self._kind != ".gif":
            self._drawings.clear()
        self._drawings.append(table.svg())

    def write(self) -> None:
        from kdenv.envs.rendering import png

        last = self._drawings[-1]
        files.write(self.path, last if self._kind == ".svg" else png(last) if self._kind == ".png" else _gif(self._drawings))


def _check_extra() -> None:
    """Raise MissingExtra if pictures cannot be drawn here. This is checked before a long game, not after it."""
    try:
        import PIL  # noqa: F401
        import resvg_py  # noqa: F401
    except ImportError:
        raise missing_extra("drawing .png and .gif files", "render") from None


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
    frames = []
    for picture in pictures:
        frame = Image.new("RGB", (width, height), "white")
        frame.paste(picture, ((width - picture.width) // 2, (height - picture.height) // 2))
        frames.append(frame.quantize(64))
    out = io.BytesIO()
    shown = [_SHOWN] * (len(frames) - 1) + [_LAST_SHOWN]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], duration=shown, loop=0)
    return out.getvalue()
