"""The textures of a model: names of textures that the game has, and images that are embedded in the model."""

import base64
import binascii
import re
from io import BytesIO

from PIL import Image

from actors.png import BadPng, picture_of, size_of
from actors.totems.flaws import flaw

MAX_TEXTURES = 32
MAX_NAME_CHARACTERS = 256
MAX_SIDE_PIXELS = 1024
MAX_PIXELS = 4 * 1024 * 1024
"""The most pixels of all images of a model together: 16 MB, decoded."""

PREFIX = "data:image/png;base64,"

_NAME = re.compile(r"(?:[a-z0-9_.-]+:)?[a-z0-9_.-]+(?:/[a-z0-9_.-]+)*", re.ASCII)


def is_name(name: str) -> bool:
    """Whether a name is a resource location such as `minecraft:item/totem_of_undying`, without `.` or `..` as a
    folder."""
    folders = name.partition(":")[2] if ":" in name else name
    return (
        len(name) <= MAX_NAME_CHARACTERS
        and _NAME.fullmatch(name) is not None
        and not {".", ".."} & set(folders.split("/"))
    )


class Images:
    """Checks the images of one model, and counts their pixels."""

    def __init__(self) -> None:
        self._pixels = 0

    def clean(self, url: str, place: str) -> str:
        """Check an embedded PNG, and return it as a data URL with the chunks of the picture alone: players'
        clients fetch it.

        Args:
            url: the data URL of the image.
            place: the path within the model.

        Raises:
            Invalid: the image is no PNG, too large, animated, damaged or deceptive.
        """
        if not url.startswith(PREFIX):
            raise flaw("MISMATCH", place, "is not a PNG data URL")
        try:
            data = base64.b64decode(url[len(PREFIX) :].encode("ascii"), validate=True)
        except (binascii.Error, UnicodeEncodeError):
            raise flaw("MALFORMED", place, "is not base64") from None
        try:
            # Before anything is decoded: a decoder allocates memory for the size that the header claims.
            width, height = size_of(data)
        except BadPng:
            raise flaw("MISMATCH", place, "is not a PNG image") from None
        self._pixels += width * height
        if not (0 < width <= MAX_SIDE_PIXELS and 0 < height <= MAX_SIDE_PIXELS):
            raise flaw("OUT_OF_RANGE", place, f"is larger than {MAX_SIDE_PIXELS} pixels")
        if self._pixels > MAX_PIXELS:
            raise flaw("OUT_OF_RANGE", place, "makes the images too large together")
        try:
            picture = picture_of(data)
        except BadPng as bad:
            raise flaw("MALFORMED", place, f"is no good: {bad.sentence}") from None
        if not _decodes(picture):
            raise flaw("MALFORMED", place, "cannot be decoded")
        return PREFIX + base64.b64encode(picture).decode("ascii")


def _decodes(data: bytes) -> bool:
    try:
        with Image.open(BytesIO(data), formats=["PNG"]) as image:
            image.load()
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError):
        return False
    return True
