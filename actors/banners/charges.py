"""The figures that stand in the middle of a banner: drawn by hand, or by a curve. All of them are our own drawings."""

from collections.abc import Callable
from math import atan2, cos, hypot, tau
from typing import NamedTuple, TypeAlias


class Place(NamedTuple):
    """The middle of a pixel.

    Args:
        x: how many pixels it is right of the cloth's left side, as the cloth is seen.
        y: how many pixels it is below the cloth's top.
    """

    x: float
    y: float

    @property
    def from_middle(self) -> tuple[float, float, float]:
        """How far right of the middle of the cloth, how far below it, and how far away in all."""
        across, down = self.x - _MIDDLE_X, self.y - _MIDDLE_Y
        return across, down, hypot(across, down)


Shape: TypeAlias = Callable[[Place], float]
"""`shape(place)` is how much of its colour a pattern gives to this place, 0 to 1."""

_MIDDLE_X, _MIDDLE_Y = 10, 20

# Left halves: the right ones mirror them.
_HALVES: dict[str, tuple[str, ...]] = {
    "creeper": (
        "........",
        ".#####..",
        ".#####..",
        ".#####..",
        ".#####..",
        "......##",
        "......##",
        "....####",
        "....####",
        "...#####",
        "...#####",
        "...###..",
        "...###..",
    ),
    "skull": (
        "....####",
        "..######",
        ".#######",
        ".#######",
        ".#...###",
        ".#...##.",
        ".#######",
        "..######",
        "...#.#.#",
        "...#.#.#",
        "........",
        "##......",
        "###.....",
        ".####...",
        "...####.",
        ".....###",
        "...####.",
        ".####...",
        "###.....",
        "##......",
    ),
    "piglin": (
        "..######",
        ".#######",
        "########",
        "########",
        "##..####",
        "##..####",
        "##..####",
        "########",
        ".#######",
        "#.######",
        "##......",
        "##......",
        ".#......",
    ),
    "guster": (
        "..######",
        ".#######",
        ".##.....",
        "..######",
        "...#####",
        "........",
        "...#####",
        "...##...",
        "....####",
        ".....###",
        "........",
        ".....###",
        ".....##.",
        "......##",
        ".......#",
    ),
}


def charge(name: str) -> Shape:
    """The shape of a figure that is drawn by hand.

    Args:
        name: `creeper`, `skull`, `piglin` or `guster`.
    """
    half = _HALVES[name]
    top, width = _MIDDLE_Y - len(half) / 2, len(half[0])

    def shape(at: Place) -> bool:
        across = abs(at.x - _MIDDLE_X)
        if across >= width or not top <= at.y < top + len(half):
            return False
        return half[int(at.y - top)][int(width - across)] == "#"

    return shape


def globe(at: Place) -> bool:
    """A ball with lines of longitude and latitude."""
    across, down, radius = at.from_middle
    if radius > 8:
        return False
    return radius > 6.6 or abs(across) < 1 or abs(down) < 1 or abs(hypot(across * 2, down) - 7) < 1


def flower(at: Place) -> bool:
    """Six petals around an open middle."""
    across, down, radius = at.from_middle
    return 2.2 < radius < 5.8 + 2.6 * cos(6 * atan2(across, down))


def ring(at: Place) -> bool:
    """An open ring around a ball."""
    across, down, radius = at.from_middle
    return radius < 2.6 or (4.8 < radius < 8 and not (across > 0 and abs(across + down) < 3))


def flow(at: Place) -> bool:
    """A spiral of two arms."""
    across, down, radius = at.from_middle
    return radius < 8.5 and cos(2 * (atan2(down, across) - tau * radius / 11)) > 0
