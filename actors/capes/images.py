"""Check and re-encode cape textures: uploads are not trusted, and only what we encoded ourselves is ever served.

Before anything is decoded, the declared size is read and the file's chunks are walked (`actors/png.py`). Pillow then
decodes the picture alone (reliability B4). Everything here blocks: call it from a worker thread.
"""

import base64
import binascii
import hashlib
import struct
from io import BytesIO

from PIL import Image, UnidentifiedImageError

from actors.errors import Invalid, TooLarge
from actors.field_errors import FieldError
from actors.png import BadPng, picture_of, size_of
from persistence.capes.rows import Pictures

MAX_BYTES = 512 * 1024
"""The largest file, as uploaded (contract §8)."""

SIZES = frozenset({(64, 32), (64, 64)})
"""The widths and heights that the game accepts (service-api §8)."""

POINTER = "/texture/dataUrl"

_PREFIX = "data:image/png;base64,"
_FRONT = (1, 1, 11, 17)
"""The outer face of a worn cape, in texture pixels, the same for both sizes."""

_PREVIEW_SCALE = 8


def pictures_of(data_url: str) -> Pictures:
    """Decode an uploaded texture, encode it afresh, and render its preview.

    Args:
        data_url: `data:image/png;base64,…`.

    Raises:
        TooLarge: more than 512 KiB, decoded.
        Invalid: the text is no data URL, or the picture is no PNG, animated, damaged, deceptive, or not 64x32 or 64x64.
    """
    data = _decoded(data_url)
    try:
        with Image.open(BytesIO(_picture_alone(data)), formats=["PNG"]) as image:
            pixels = _eight_bits(image).convert("RGBA")
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, struct.error):
        raise _refused("NOT_A_PNG", "the picture cannot be decoded") from None
    # A fresh image: nothing of the upload but its pixels.
    clean = Image.frombytes("RGBA", pixels.size, pixels.tobytes())
    front = clean.crop(_FRONT)
    size = (front.width * _PREVIEW_SCALE, front.height * _PREVIEW_SCALE)
    texture = _encoded(clean)
    preview = _encoded(front.resize(size, Image.Resampling.NEAREST))
    return Pictures(texture, preview, hashlib.sha256(texture).digest())


def _decoded(data_url: str) -> bytes:
    if not data_url[: len(_PREFIX)].lower() == _PREFIX:
        raise _refused("BAD_FORMAT", f"a data URL that begins with {_PREFIX}")
    encoded = data_url[len(_PREFIX) :]
    # Before it is decoded, so that an upload that is too large does not cost three quarters of its size again.
    if len(encoded) // 4 * 3 - 2 > MAX_BYTES:
        raise _too_large()
    try:
        data = base64.b64decode(encoded.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise _refused("MALFORMED", "not base64 (RFC 4648 §4, with padding)") from None
    if len(data) > MAX_BYTES:
        raise _too_large()
    return data


def _picture_alone(data: bytes) -> bytes:
    """Check every chunk of a PNG and return it with the chunks of the picture alone."""
    try:
        if size_of(data) not in SIZES:
            raise _refused("BAD_SIZE", "a cape texture has 64x32 or 64x64 pixels")
        return picture_of(data)
    except BadPng as bad:
        raise _refused(bad.code, bad.sentence) from None


def _eight_bits(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I"):
        grey = image.convert("I").point(lambda level: level / 256)
        return grey.convert("L")
    return image


def _encoded(image: Image.Image) -> bytes:
    buffer = BytesIO()
    image.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


def _refused(code: str, sentence: str) -> Invalid:
    return Invalid(FieldError(POINTER, code, sentence))


def _too_large() -> TooLarge:
    return TooLarge(f"a texture has at most {MAX_BYTES} bytes", maxBytes=MAX_BYTES)
