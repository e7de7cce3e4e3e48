"""Draw banners, with masks of our own: the game's textures are not ours to give away.

Drawing takes some milliseconds: call it from a worker thread.
"""

from functools import cache
from io import BytesIO

from PIL import Image

from actors.banners.charges import Place
from actors.banners.designs import DYES
from actors.banners.shapes import HEIGHT, SHAPES, WIDTH
from persistence.banners.banners import Design

SCALE = 10
"""How many pixels of the picture, in each direction, show one pixel of the cloth."""


def picture_of(design: Design) -> bytes:
    """The picture of a design: PNG, 200x400, at most 16 KiB. Equal designs have equal bytes.

    Args:
        design: a design whose names are all known (`designs.checked`).
    """
    image = Image.new("RGB", (WIDTH, HEIGHT), DYES[design.base_color])
    for layer in design.layers:
        image.paste(DYES[layer.color], mask=_mask(layer.pattern))
    buffer = BytesIO()
    size = (WIDTH * SCALE, HEIGHT * SCALE)
    image.resize(size, Image.Resampling.NEAREST).save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


@cache
def _mask(pattern: str) -> Image.Image:
    shape = SHAPES[pattern]
    pixels = bytes(
        round(255 * shape(Place(column + 0.5, row + 0.5))) for row in range(HEIGHT) for column in range(WIDTH)
    )
    return Image.frombytes("L", (WIDTH, HEIGHT), pixels)
