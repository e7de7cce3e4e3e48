"""Cape textures: what came in is looked at with suspicion, and only what we encoded ourselves is ever served.

Before anything is decoded, the file's parts are walked: signature, lengths, checksums, the declared size, how much
each compressed part holds when unpacked, no second picture, nothing behind the end. What then reaches Pillow is the
picture alone (reliability B4). Everything here blocks: call it from a worker thread.
"""

import base64
import binascii
import hashlib
import struct
import zlib
from collections.abc import Iterator
from io import BytesIO

from PIL import Image, UnidentifiedImageError

from actors.errors import FieldError, Invalid, TooLarge
from persistence.capes.rows import Pictures

MAX_BYTES = 512 * 1024
"""Of the file as uploaded (contract §8)."""

SIZES = frozenset({(64, 32), (64, 64)})
"""Width and height that the game takes (service-api §8)."""

POINTER = "/texture/dataUrl"

_PREFIX = "data:image/png;base64,"
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PICTURE = frozenset({b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"})
"""What is decoded; all else is left out, once it was found harmless."""

_ANIMATED = frozenset({b"acTL", b"fcTL", b"fdAT"})
_COMPRESSED_TEXT = frozenset({b"zTXt", b"iTXt", b"iCCP"})
_MAX_CHUNKS = 1024
_PALETTE_COLOURS = 3
_MAX_PIXEL_BYTES = 64 * 64 * 8 + 1024
"""64x64 pixels of four 16-bit channels, and a filter byte for each row, interlaced too."""

_MAX_UNPACKED_BYTES = 256 * 1024
"""Of all colour profiles and compressed texts of one file."""

_FRONT = (1, 1, 11, 17)
"""The face of a worn cape that others see, in texture pixels, whichever the size."""

_PREVIEW_SCALE = 8


def pictures_of(data_url: str) -> Pictures:
    """The texture of an upload, encoded afresh, and its preview.

    Args:
        data_url: `data:image/png;base64,…`.

    Raises:
        TooLarge: more than 512 KiB, decoded.
        Invalid: no data URL, no PNG, animated, damaged, deceptive, or not 64x32 or 64x64.
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
    # Before it is decoded: what is too large shall not cost three quarters of its size once more.
    if len(encoded) // 4 * 3 - 2 > MAX_BYTES:
        raise TooLarge(f"a texture has at most {MAX_BYTES} bytes", maxBytes=MAX_BYTES)
    try:
        return base64.b64decode(encoded.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise _refused("MALFORMED", "not base64 (RFC 4648 §4, with padding)") from None


def _picture_alone(data: bytes) -> bytes:
    """A PNG with the parts that are the picture, every one of them checked."""
    header, unpacked = b"", 0
    parts, packed = [_SIGNATURE], []
    for name, body, whole in _chunks(data):
        if not header:
            header = _checked_header(name, body)
        elif name == b"IHDR":
            raise _refused("NOT_A_PNG", "the file has two headers")
        if name in _ANIMATED:
            raise _refused("ANIMATED", "a cape is not animated")
        if name in _COMPRESSED_TEXT:
            unpacked += _unpacked_bytes(name, body, _MAX_UNPACKED_BYTES - unpacked)
        elif name == b"IDAT":
            packed.append(body)
        if name in _PICTURE:
            parts.append(whole)
        elif not name[0] & 0x20:
            raise _refused("NOT_A_PNG", "the file has a part that no PNG of ours has")
    if header[9] == _PALETTE_COLOURS and not any(part[4:8] == b"PLTE" for part in parts):
        raise _refused("NOT_A_PNG", "the file has no palette")
    _check_pixels(b"".join(packed))
    return b"".join(parts)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """(name, body, the whole of it) for each part, to the end of the file (PNG §5.3)."""
    if not data.startswith(_SIGNATURE):
        raise _refused("NOT_A_PNG", "the file is not a PNG")
    at = len(_SIGNATURE)
    for _ in range(_MAX_CHUNKS):
        if at + 12 > len(data):
            raise _refused("NOT_A_PNG", "the file ends too early")
        (length,) = struct.unpack_from(">I", data, at)
        end = at + 12 + length
        if end > len(data):
            raise _refused("NOT_A_PNG", "the file ends too early")
        name, body = data[at + 4 : at + 8], data[at + 8 : end - 4]
        if zlib.crc32(body, zlib.crc32(name)) != struct.unpack_from(">I", data, end - 4)[0]:
            raise _refused("NOT_A_PNG", "a checksum is wrong")
        yield name, body, data[at:end]
        at = end
        if name == b"IEND":
            if body or at != len(data):
                raise _refused("NOT_A_PNG", "something follows the end of the picture")
            return
    raise _refused("NOT_A_PNG", f"the file has more than {_MAX_CHUNKS} parts")


def _checked_header(name: bytes, body: bytes) -> bytes:
    if name != b"IHDR" or len(body) != 13:
        raise _refused("NOT_A_PNG", "the file has no header")
    width, height = struct.unpack_from(">II", body)
    if (width, height) not in SIZES:
        raise _refused("BAD_SIZE", "a cape texture has 64x32 or 64x64 pixels")
    return body


def _unpacked_bytes(name: bytes, body: bytes, room: int) -> int:
    """How much a compressed text or profile holds; only as far as there is room."""
    rest = body.partition(b"\0")[2]
    if name == b"iTXt":
        if rest[:1] != b"\x01":
            return len(rest)
        rest = rest[1:].partition(b"\0")[2].partition(b"\0")[2]
    return len(_inflated(rest[1:], room))


def _check_pixels(packed: bytes) -> None:
    inflater = zlib.decompressobj()
    try:
        pixels = inflater.decompress(packed, _MAX_PIXEL_BYTES + 1)
    except zlib.error:
        raise _refused("NOT_A_PNG", "the picture is damaged") from None
    if len(pixels) > _MAX_PIXEL_BYTES or not inflater.eof or inflater.unused_data:
        raise _refused("NOT_A_PNG", "the picture holds more, or less, than its size says")


def _inflated(packed: bytes, room: int) -> bytes:
    try:
        text = zlib.decompressobj().decompress(packed, max(room, 0) + 1)
    except zlib.error:
        raise _refused("NOT_A_PNG", "a compressed part is damaged") from None
    if len(text) > room:
        raise _refused("NOT_A_PNG", "a compressed part unpacks to more than a cape needs")
    return text


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
