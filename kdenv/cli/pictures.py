"""Drawings of a table in files: SVG, PNG, or the whole game as a GIF. The ending of the name says which."""

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
_WIDEST = 720  # pixels of a GIF
_SHOWN, _LAST_SHOWN = 600, 4000  # milliseconds for a position, and for the last one


class Film:
    """Collects the positions of a game, as far as the picture that is wanted needs them."""

    def __init__(self, path: Path) -> None:
        """A picture that is to be written here."""
        self.path = path
        self._kind = path.suffix.lower()
        if self._kind not in _ENDINGS:
            raise BadOption(f"--draw {path} ends in none of {', '.join(_ENDINGS)}; the ending says what is drawn")
        if self._kind != ".svg":
            _check_extra()
        self._drawings: list[str] = []

    def show(self, table: Table) -> None:
        """Take the position on this table as the next one."""
        if self._kind != ".gif":
            self._drawings.clear()
        self._drawings.append(table.svg())

    def write(self) -> None:
        """Write the file."""
        from kdenv.envs.rendering import png

        last = self._drawings[-1]
        files.write(self.path, last if self._kind == ".svg" else png(last) if self._kind == ".png" else _gif(self._drawings))


def _check_extra() -> None:
    """Say at once, and not after a long game, that pictures cannot be drawn here."""
    try:
        import PIL  # noqa: F401
        import resvg_py  # noqa: F401
    except ImportError:
        raise missing_extra("drawing .png and .gif files", "render") from None


def _gif(drawings: list[str]) -> bytes:
    """The drawings one after the other; smaller ones lie in the middle of white."""
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
