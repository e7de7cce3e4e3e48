"""Names of dyes and patterns, and what is drawn for each pattern."""

from io import BytesIO

import pytest
from PIL import Image, ImageOps

from actors.banners.designs import CODES, DYES, PATTERNS, checked
from actors.banners.drawing import picture_of
from actors.banners.shapes import SHAPES
from actors.errors import Invalid
from persistence.banners.banners import Design, Layer

RED, WHITE = DYES["red"], DYES["white"]

MIRRORED = [
    ("square_bottom_left", "square_bottom_right"),
    ("square_top_left", "square_top_right"),
    ("stripe_left", "stripe_right"),
    ("stripe_downright", "stripe_downleft"),
    ("diagonal_left", "diagonal_right"),
    ("diagonal_up_left", "diagonal_up_right"),
    ("half_vertical", "half_vertical_right"),
    *(
        (name, name)
        for name in ("circle", "creeper", "skull", "piglin", "guster", "border", "triangles_top", "flower")
    ),
]

FLIPPED = [
    ("square_bottom_left", "square_top_left"),
    ("stripe_bottom", "stripe_top"),
    ("triangle_bottom", "triangle_top"),
    ("triangles_bottom", "triangles_top"),
    ("diagonal_left", "diagonal_up_left"),
    ("half_horizontal", "half_horizontal_bottom"),
    *(
        (name, name)
        for name in ("circle", "rhombus", "cross", "straight_cross", "border", "curly_border", "globe")
    ),
]

# {pattern: (x, y) that it dyes, in pixels of the cloth}
DYED = {
    "square_bottom_left": (0, 39), "stripe_bottom": (10, 39), "stripe_left": (0, 20), "stripe_middle": (0, 20),
    "stripe_center": (10, 0), "stripe_downright": (0, 0), "triangle_bottom": (10, 39), "diagonal_left": (0, 0),
    "diagonal_right": (19, 0), "diagonal_up_left": (0, 39), "diagonal_up_right": (19, 39), "half_vertical": (0, 0),
    "half_horizontal": (0, 0), "circle": (10, 20), "border": (0, 0),
}  # fmt: skip


def drawn(pattern: str) -> Image.Image:
    """Red on white, one pixel for each of the cloth."""
    picture = Image.open(BytesIO(picture_of(Design("white", (Layer(pattern, "red"),))))).convert("RGB")
    assert picture.size == (200, 400)
    return picture.resize((20, 40), Image.Resampling.NEAREST)


def test_all_43_patterns_are_drawn_and_differ() -> None:
    assert SHAPES.keys() == PATTERNS
    assert len(PATTERNS) == len(CODES) == 43
    pictures = {drawn(pattern).tobytes() for pattern in PATTERNS}
    assert len(pictures) == 43
    assert drawn("base").getcolors() == [(800, RED)]


@pytest.mark.parametrize(("left", "right"), MIRRORED)
def test_what_mirrors_another(left: str, right: str) -> None:
    assert ImageOps.mirror(drawn(left)).tobytes() == drawn(right).tobytes()


@pytest.mark.parametrize(("lower", "upper"), FLIPPED)
def test_what_stands_on_its_head(lower: str, upper: str) -> None:
    assert ImageOps.flip(drawn(lower)).tobytes() == drawn(upper).tobytes()


def test_where_they_lie() -> None:
    assert {pattern: drawn(pattern).getpixel(place) for pattern, place in DYED.items()} == dict.fromkeys(
        DYED, RED
    )
    ends = [drawn("gradient").getpixel((10, y)) for y in (0, 39)]
    assert ends[0][1] < 50 < 200 < ends[1][1]
    assert [drawn("gradient_up").getpixel((10, y)) for y in (0, 39)] == ends[::-1]


def test_layers_lie_on_each_other_and_equal_designs_have_equal_pictures() -> None:
    design = checked("black", [("hh", "red"), ("minecraft:circle", "white")])
    picture = Image.open(BytesIO(picture_of(design))).convert("RGB")
    places = [(0, 0), (100, 180), (100, 220), (0, 399)]
    assert [picture.getpixel(place) for place in places] == [RED, WHITE, WHITE, DYES["black"]]
    assert picture_of(design) == picture_of(checked("black", [("half_horizontal", "red"), ("mc", "white")]))


def test_the_largest_picture_is_within_its_bound() -> None:
    names = ["gradient", "gradient_up", "curly_border", "bricks", "flow", "gradient"]
    layers = list(zip(names, list(DYES)[1:], strict=False))
    assert len(picture_of(checked("black", layers))) <= 16 * 1024


@pytest.mark.parametrize(("code", "pattern"), CODES.items())
def test_a_pattern_goes_by_three_names(code: str, pattern: str) -> None:
    for name in (code, pattern, f"minecraft:{pattern}"):
        assert checked("red", [(name, "blue")]) == Design("red", (Layer(pattern, "blue"),))


@pytest.mark.parametrize(
    ("base_color", "layers", "flaws"),
    [
        ("Red", [], [("/baseColor", "UNKNOWN_VALUE")]),
        ("", [], [("/baseColor", "UNKNOWN_VALUE")]),
        ("red", [("minecraft:bs", "red")], [("/patterns/0/pattern", "UNKNOWN_VALUE")]),
        ("red", [("minecraft:minecraft:base", "red")], [("/patterns/0/pattern", "UNKNOWN_VALUE")]),
        ("red", [("base", "red"), ("bases", "reds")], [
            ("/patterns/1/pattern", "UNKNOWN_VALUE"), ("/patterns/1/color", "UNKNOWN_VALUE"),
        ]),
        ("red", [("base", "red")] * 7, [("/patterns", "TOO_MANY")]),
    ],
)  # fmt: skip
def test_what_is_no_design(
    base_color: str, layers: list[tuple[str, str]], flaws: list[tuple[str, str]]
) -> None:
    with pytest.raises(Invalid) as refused:
        checked(base_color, layers)
    assert [(error.pointer, error.code) for error in refused.value.errors] == flaws
