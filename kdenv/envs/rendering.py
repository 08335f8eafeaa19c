"""Draws positions for `render()` in each mode. A game draws a position as SVG, and pictures are made from that drawing."""

from __future__ import annotations

import base64
import io
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from kdenv.core.errors import NotSupported, missing_extra
from kdenv.core.table import Table

MODES = ("human", "ansi", "svg", "rgb_array")


def png(svg: str) -> bytes:
    """Return the drawing as the bytes of a PNG picture."""
    try:
        import resvg_py
    except ImportError:
        raise missing_extra("drawing pictures", "render") from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, background="white", skip_system_fonts=True))


def rgb_array(svg: str) -> NDArray[np.uint8]:
    """Return the drawing as an array of height x width x 3 numbers from 0 to 255."""
    picture = png(svg)
    try:
        from PIL import Image
    except ImportError:
        raise missing_extra("drawing pictures", "render") from None
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"))


def frame(table: Table, mode: str, seat: int | None) -> str | NDArray[np.uint8]:
    """Draw the position as text, SVG or picture, as a seat sees it, or with everything face up if seat is None."""
    if mode == "ansi":
        return table.ansi(seat)
    svg = table.svg(seat)
    return svg if mode == "svg" else rgb_array(svg)


class Window:
    """A window that shows pictures. It uses tkinter of the standard library."""

    def __init__(self, title: str) -> None:
        try:
            import tkinter
        except ImportError:
            raise NotSupported("render_mode='human' needs tkinter, which this Python lacks; use rgb_array, svg or ansi") from None
        try:
            self._root: Any = tkinter.Tk()
        except tkinter.TclError as error:
            raise NotSupported(f"render_mode='human' needs a display ({error}); use rgb_array, svg or ansi") from None
        self._root.title(title)
        self._root.protocol("WM_DELETE_WINDOW", self.close)
        self._new_picture = tkinter.PhotoImage
        self._label = tkinter.Label(self._root)
        self._label.pack()
        self._image: Any = None  # tkinter shows an image only as long as somebody holds it

    def show(self, picture: bytes) -> None:
        """Show this PNG picture. Nothing happens if the window has been closed."""
        if self._root is None:
            return
        self._image = self._new_picture(master=self._root, data=base64.b64encode(picture))
        self._label.configure(image=self._image)
        self._root.update()

    def close(self) -> None:
        """Close the window. A second call does nothing."""
        if self._root is not None:
            self._root.destroy()
            self._root = None


class Screen:
    """Renders for one environment in its mode, and owns its window. A copy starts without a window."""

    def __init__(self, mode: str | None, title: str) -> None:
        self._mode, self._title = mode, title
        self._window: Window | None = None
        self._has_display = True  # until a window could not be opened

    def render(self, table: Table, seat: int | None = None) -> str | NDArray[np.uint8] | None:
        """Draw the position in this mode. Returns None if a window shows it, and None with a warning without a mode or a display."""
        if self._mode is None:
            gymnasium.logger.warn(f"nothing is rendered: make the environment with render_mode= one of {', '.join(MODES)}")
            return None
        if self._mode != "human":
            return frame(table, self._mode, seat)
        if self._has_display:
            self._show(table.svg(seat))
        return None

    def _show(self, svg: str) -> None:
        """Show a drawing in the window. If no window can be opened, warn once, so that a long run does not end here."""
        try:
            self._window = self._window or Window(self._title)
        except NotSupported as error:
            self._has_display = False
            gymnasium.logger.warn(f"nothing is shown: {error}")
        else:
            self._window.show(png(svg))

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_window": None}
