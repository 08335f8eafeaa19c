"""A PNG picture as an array of pixels: as much of the format as a rasteriser of SVG writes (8 bits, RGB or RGBA)."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from kdenv.core.kernel import kernel

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {2: 3, 6: 4}  # by the format's colour type
_SUB, _UP, _AVERAGE, _PAETH = 1, 2, 3, 4  # filters: which neighbour a byte was written as the difference to


def pixels(png: bytes) -> NDArray[np.uint8]:
    """The picture as height x width x 3 numbers from 0 to 255; what is transparent is not blended."""
    width, height, depth, colours, _, _, interlaced = struct.unpack(">IIBBBBB", png[16:29])
    if png[:8] != _SIGNATURE or depth != 8 or colours not in _CHANNELS or interlaced:
        raise ValueError("only PNG pictures with 8 bits, RGB or RGBA, not interlaced, can be read")
    channels = _CHANNELS[colours]
    packed = zlib.decompress(b"".join(_data(png)))
    lines = np.frombuffer(packed, np.uint8).reshape(height, 1 + width * channels)
    out = np.zeros((height, width * channels), np.uint8)
    _undo_filters(lines, channels, out)
    return np.ascontiguousarray(out.reshape(height, width, channels)[:, :, :3])


def _data(png: bytes) -> list[bytes]:
    """The contents of the IDAT chunks."""
    chunks, at = [], 8
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            chunks.append(png[at + 8 : at + 8 + size])
        at += size + 12
    return chunks


@kernel
def _undo_filters(lines, channels, out):
    """Write the bytes of each line, which begins with its filter, as they were before filtering."""
    for y in range(out.shape[0]):
        how = lines[y, 0]
        for i in range(out.shape[1]):
            left = int(out[y, i - channels]) if i >= channels else 0
            up = int(out[y - 1, i]) if y > 0 else 0
            corner = int(out[y - 1, i - channels]) if i >= channels and y > 0 else 0
            before = 0
            if how == _SUB:
                before = left
            elif how == _UP:
                before = up
            elif how == _AVERAGE:
                before = (left + up) // 2
            elif how == _PAETH:
                before = _nearest(left, up, corner)
            out[y, i] = (int(lines[y, i + 1]) + before) & 255


@kernel
def _nearest(left, up, corner):
    """The neighbour nearest to left + up - corner; of equals the first in this order."""
    to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
    if to_left <= to_up and to_left <= to_corner:
        return left
    return up if to_up <= to_corner else corner
