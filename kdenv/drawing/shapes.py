"""Outlines as the data of an SVG path. Drawings name with them what may be clicked for an action (Drawing in core/interfaces.py)."""


def box(x: float, y: float, width: float, height: float) -> str:
    """A rectangle with its left upper corner at (x, y)."""
    return f"M{x:.5g} {y:.5g}h{width:.5g}v{height:.5g}h{-width:.5g}z"


def disc(x: float, y: float, radius: float) -> str:
    """A circle around (x, y)."""
    return f"M{x - radius:.5g} {y:.5g}a{radius:g} {radius:g} 0 1 0 {2 * radius:g} 0a{radius:g} {radius:g} 0 1 0 {-2 * radius:g} 0z"


def polygon(*corners: tuple[float, float]) -> str:
    """A polygon with these corners."""
    return "M" + "L".join(f"{x:.5g} {y:.5g}" for x, y in corners) + "z"
