"""What a model is painted with: names of textures that the game has, and images that come with the model."""

import base64
import binascii
import re
from io import BytesIO

from PIL import Image

from actors.totems.flaws import flaw

MAX_TEXTURES = 32
MAX_NAME_CHARACTERS = 256
MAX_SIDE_PIXELS = 1024
MAX_PIXELS = 4 * 1024 * 1024
"""Of all images of a model together: 16 MB, decoded."""

PREFIX = "data:image/png;base64,"

_NAME = re.compile(r"(?:[a-z0-9_.-]+:)?[a-z0-9_.-]+(?:/[a-z0-9_.-]+)*", re.ASCII)
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER_BYTES = 24


def is_name(name: str) -> bool:
    """Whether it is a resource location such as `minecraft:item/totem_of_undying`, and leads out of no folder."""
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

    def check(self, url: str, place: str) -> None:
        """Pass a PNG as data URL that can be decoded, of one frame and few pixels.

        Args:
            url: with its prefix.
            place: within the model.

        Raises:
            Invalid: it is something else, or too large.
        """
        if not url.startswith(PREFIX):
            raise flaw("MISMATCH", place, "is not a PNG data URL")
        try:
            data = base64.b64decode(url[len(PREFIX) :].encode("ascii"), validate=True)
        except (binascii.Error, UnicodeEncodeError):
            raise flaw("MALFORMED", place, "is not base64") from None
        # The size is read before anything is decoded: the header says it, and a decoder makes room for it.
        if len(data) < _HEADER_BYTES or not data.startswith(_SIGNATURE) or data[12:16] != b"IHDR":
            raise flaw("MISMATCH", place, "is not a PNG image")
        width, height = int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
        self._pixels += width * height
        if not (0 < width <= MAX_SIDE_PIXELS and 0 < height <= MAX_SIDE_PIXELS):
            raise flaw("OUT_OF_RANGE", place, f"is larger than {MAX_SIDE_PIXELS} pixels")
        if self._pixels > MAX_PIXELS:
            raise flaw("OUT_OF_RANGE", place, "makes the images too large together")
        if not _decodes(data):
            raise flaw("MALFORMED", place, "is a damaged or animated PNG image")


def _decodes(data: bytes) -> bool:
    try:
        with Image.open(BytesIO(data), formats=["PNG"]) as image:
            if getattr(image, "n_frames", 1) != 1:
                return False
            image.load()
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError):
        return False
    return True
