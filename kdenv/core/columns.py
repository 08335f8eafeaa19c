"""Tables as text, for terminals."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def align(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """Make a line of every row. The cells of the columns in `left` are aligned to the left, all others to the right.

    >>> from kdenv.core.columns import align
    >>> align([("policy", "wins"), ("random", "3"), ("uct", "12")])
    ['policy  wins', 'random     3', 'uct       12']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    fills = [str.ljust if i in left else str.rjust for i in range(len(widths))]
    return ["  ".join(fill(cell, width) for fill, cell, width in zip(fills, row, widths, strict=True)).rstrip() for row in rows]
