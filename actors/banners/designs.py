"""Check the designs of banners: which dyes and patterns there are, and by which names they may be called."""

from collections.abc import Sequence

from actors.errors import Invalid
from actors.field_errors import FieldError
from persistence.banners.banners import Design, Layer

LAYERS_MAX = 6
"""Most patterns of one banner: as many as a loom of the game can put on it."""

# Red, green, blue, as the game colours what is dyed.
DYES: dict[str, tuple[int, int, int]] = {
    "white": (0xF9, 0xFF, 0xFE),
    "orange": (0xF9, 0x80, 0x1D),
    "magenta": (0xC7, 0x4E, 0xBD),
    "light_blue": (0x3A, 0xB3, 0xDA),
    "yellow": (0xFE, 0xD8, 0x3D),
    "lime": (0x80, 0xC7, 0x1F),
    "pink": (0xF3, 0x8B, 0xAA),
    "gray": (0x47, 0x4F, 0x52),
    "light_gray": (0x9D, 0x9D, 0x97),
    "cyan": (0x16, 0x9C, 0x9C),
    "purple": (0x89, 0x32, 0xB8),
    "blue": (0x3C, 0x44, 0xAA),
    "brown": (0x83, 0x54, 0x32),
    "green": (0x5E, 0x7C, 0x16),
    "red": (0xB0, 0x2E, 0x26),
    "black": (0x1D, 0x1D, 0x21),
}
"""{name of a dye: its colour}"""

# The registry `minecraft:banner_pattern` of Java Edition 1.21, and the codes of the block's data before 1.20.5.
CODES: dict[str, str] = {
    "b": "base",
    "bl": "square_bottom_left",
    "br": "square_bottom_right",
    "tl": "square_top_left",
    "tr": "square_top_right",
    "bs": "stripe_bottom",
    "ts": "stripe_top",
    "ls": "stripe_left",
    "rs": "stripe_right",
    "cs": "stripe_center",
    "ms": "stripe_middle",
    "drs": "stripe_downright",
    "dls": "stripe_downleft",
    "ss": "small_stripes",
    "cr": "cross",
    "sc": "straight_cross",
    "bt": "triangle_bottom",
    "tt": "triangle_top",
    "bts": "triangles_bottom",
    "tts": "triangles_top",
    "ld": "diagonal_left",
    "rd": "diagonal_up_right",
    "lud": "diagonal_up_left",
    "rud": "diagonal_right",
    "mc": "circle",
    "mr": "rhombus",
    "vh": "half_vertical",
    "hh": "half_horizontal",
    "vhr": "half_vertical_right",
    "hhb": "half_horizontal_bottom",
    "bo": "border",
    "cbo": "curly_border",
    "gra": "gradient",
    "gru": "gradient_up",
    "bri": "bricks",
    "glb": "globe",
    "cre": "creeper",
    "sku": "skull",
    "flo": "flower",
    "moj": "mojang",
    "pig": "piglin",
    "flw": "flow",
    "gus": "guster",
}
"""{letter code of a pattern: its id}"""

PATTERNS = frozenset(CODES.values())
"""The ids of all patterns."""

_NAMESPACE = "minecraft:"


def checked(base_color: str, layers: Sequence[tuple[str, str]]) -> Design:
    """The design that these names describe, each in its normal form.

    Args:
        base_color: the name of a dye.
        layers: (pattern, color), the lowest first; a pattern by its id, with or without `minecraft:`, or its code.

    Raises:
        Invalid: there are too many layers, or a name is not known. It has an error for each such name, whose pointer is
            `/baseColor`, `/patterns/<index>/pattern` or `/patterns/<index>/color`.
    """
    if len(layers) > LAYERS_MAX:
        raise Invalid(FieldError("/patterns", "TOO_MANY", f"at most {LAYERS_MAX} patterns"))
    flaws = [] if base_color in DYES else [_unknown("/baseColor", "dye")]
    found = []
    for index, (name, color) in enumerate(layers):
        pattern = CODES.get(name, name.removeprefix(_NAMESPACE))
        if pattern not in PATTERNS:
            flaws.append(_unknown(f"/patterns/{index}/pattern", "pattern"))
        if color not in DYES:
            flaws.append(_unknown(f"/patterns/{index}/color", "dye"))
        found.append(Layer(pattern, color))
    if flaws:
        raise Invalid(*flaws)
    return Design(base_color, tuple(found))


def _unknown(pointer: str, kind: str) -> FieldError:
    return FieldError(pointer, "UNKNOWN_VALUE", f"there is no such {kind}")
