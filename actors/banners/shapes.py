"""The shapes of all patterns, on a cloth of 20x40: which of its pixels a pattern dyes.

A shape says how much of its colour a pixel takes, 0 to 1, by where its middle lies.
"""

from math import cos, tau

from actors.banners.charges import Place, Shape, charge, flow, flower, globe, ring

WIDTH, HEIGHT = 20, 40
"""The size of the cloth, in pixels."""

_TEETH = (2, 4, 6, 8, 6, 4, 2, 2, 5, 8, 8, 5, 2, 2, 4, 6, 8, 6, 4, 2)
"""How many pixels three teeth reach from an end of the cloth, in each of its columns."""


def _falling(at: Place) -> bool:
    return abs(at.y - 2 * at.x) < 5


def _rising(at: Place) -> bool:
    return abs(HEIGHT - at.y - 2 * at.x) < 5


def _curly(at: Place) -> bool:
    from_side, from_end = min(at.x, WIDTH - at.x), min(at.y, HEIGHT - at.y)
    return from_side < _wave(at.y) or from_end < _wave(at.x)


def _wave(along: float) -> float:
    return 2.2 + 1.6 * cos(tau * along / 5)


def _brick(at: Place) -> bool:
    course = int(at.y) // 5
    return int(at.y) % 5 != 4 and (int(at.x) + 4 * (course % 2)) % 8 != 7


SHAPES: dict[str, Shape] = {
    "base": lambda _: True,
    "square_bottom_left": lambda at: at.x < 10 and at.y > 26,
    "square_bottom_right": lambda at: at.x > 10 and at.y > 26,
    "square_top_left": lambda at: at.x < 10 and at.y < 14,
    "square_top_right": lambda at: at.x > 10 and at.y < 14,
    "stripe_bottom": lambda at: at.y > 27,
    "stripe_top": lambda at: at.y < 13,
    "stripe_left": lambda at: at.x < 7,
    "stripe_right": lambda at: at.x > 13,
    "stripe_center": lambda at: abs(at.x - 10) < 3,
    "stripe_middle": lambda at: abs(at.y - 20) < 5,
    "stripe_downright": _falling,
    "stripe_downleft": _rising,
    "small_stripes": lambda at: abs(at.x % 5 - 2.5) < 1.5,
    "cross": lambda at: _falling(at) or _rising(at),
    "straight_cross": lambda at: abs(at.x - 10) < 3 or abs(at.y - 20) < 3,
    "triangle_bottom": lambda at: at.y > 20 + 2 * abs(at.x - 10),
    "triangle_top": lambda at: at.y < 20 - 2 * abs(at.x - 10),
    "triangles_bottom": lambda at: HEIGHT - at.y < _TEETH[int(at.x)],
    "triangles_top": lambda at: at.y < _TEETH[int(at.x)],
    "diagonal_left": lambda at: at.y < HEIGHT - 2 * at.x,
    "diagonal_right": lambda at: at.y < 2 * at.x,
    "diagonal_up_left": lambda at: at.y > 2 * at.x,
    "diagonal_up_right": lambda at: at.y > HEIGHT - 2 * at.x,
    "circle": lambda at: (at.x - 10) ** 2 + (at.y - 20) ** 2 < 49,
    "rhombus": lambda at: abs(at.x - 10) / 8 + abs(at.y - 20) / 13 < 1,
    "half_vertical": lambda at: at.x < 10,
    "half_vertical_right": lambda at: at.x > 10,
    "half_horizontal": lambda at: at.y < 20,
    "half_horizontal_bottom": lambda at: at.y > 20,
    "border": lambda at: min(at.x, WIDTH - at.x, at.y, HEIGHT - at.y) < 2,
    "curly_border": _curly,
    "gradient": lambda at: 1 - at.y / HEIGHT,
    "gradient_up": lambda at: at.y / HEIGHT,
    "bricks": _brick,
    "globe": globe,
    "creeper": charge("creeper"),
    "skull": charge("skull"),
    "flower": flower,
    "mojang": ring,
    "piglin": charge("piglin"),
    "flow": flow,
    "guster": charge("guster"),
}
"""{id of a pattern: its shape}"""
