"""Check PNG files from strangers chunk by chunk before anything is decoded, and reduce them to the picture.

Checked are the signature, lengths, checksums, how much each compressed chunk unpacks to, that there is no second
picture, and that nothing follows the end (PNG §5, reliability B4). Pure; the work is bounded by the size that the
file claims, so check `size_of` first. Everything here blocks: call it from a worker thread.
"""

import struct
import zlib
from collections.abc import Iterator

SIGNATURE = b"\x89PNG\r\n\x1a\n"

_PICTURE = frozenset({b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"})
"""The chunks that are kept; all others are checked and dropped."""

_ANIMATED = frozenset({b"acTL", b"fcTL", b"fdAT"})
_COMPRESSED_TEXT = frozenset({b"zTXt", b"iTXt", b"iCCP"})
_MAX_CHUNKS = 1024
_PALETTE_COLOURS = 3
_HEADER_BYTES = 13

_MAX_PIXEL_BYTES = 8
"""Four channels of 16 bits."""

_MAX_UNPACKED_BYTES = 256 * 1024
"""The most that all colour profiles and compressed texts of one file unpack to."""


class BadPng(Exception):
    """The file is refused.

    Args:
        code: `NOT_A_PNG` or `ANIMATED`; becomes the code of a field error.
        sentence: what is wrong with it, for people.
    """

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


def size_of(data: bytes) -> tuple[int, int]:
    """Read the width and height that the file claims, in pixels.

    Raises:
        BadPng: the file does not begin as a PNG does.
    """
    if not data.startswith(SIGNATURE):
        raise _refused("the file is not a PNG")
    if data[8:16] != struct.pack(">I", _HEADER_BYTES) + b"IHDR" or len(data) < 24:
        raise _refused("the file has no header")
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def picture_of(data: bytes) -> bytes:
    """Check every chunk of a PNG and return the file with the chunks of the picture alone.

    Raises:
        BadPng: the file is animated, damaged or deceptive.
    """
    width, height = size_of(data)
    unpacked, seen = 0, False
    parts, packed = [SIGNATURE], []
    for name, body, whole in _chunks(data):
        if name == b"IHDR" and seen:
            raise _refused("the file has two headers")
        seen = True
        if name in _ANIMATED:
            raise BadPng("ANIMATED", "the picture is animated")
        if name in _COMPRESSED_TEXT:
            unpacked += _unpacked_bytes(name, body, _MAX_UNPACKED_BYTES - unpacked)
        elif name == b"IDAT":
            packed.append(body)
        if name in _PICTURE:
            parts.append(whole)
        elif not name[0] & 0x20:
            raise _refused("the file has a part that no PNG of ours has")
    if data[25] == _PALETTE_COLOURS and not any(part[4:8] == b"PLTE" for part in parts):
        raise _refused("the file has no palette")
    # One filter byte per row; an interlaced picture has nearly twice as many rows, a small one a few more.
    _check_pixels(b"".join(packed), width * height * _MAX_PIXEL_BYTES + 2 * height + 64)
    return b"".join(parts)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield (name, body, the whole chunk) for each chunk to the end of the file (PNG §5.3)."""
    at = len(SIGNATURE)
    for _ in range(_MAX_CHUNKS):
        if at + 12 > len(data):
            raise _refused("the file ends too early")
        (length,) = struct.unpack_from(">I", data, at)
        end = at + 12 + length
        if end > len(data):
            raise _refused("the file ends too early")
        name, body = data[at + 4 : at + 8], data[at + 8 : end - 4]
        if zlib.crc32(body, zlib.crc32(name)) != struct.unpack_from(">I", data, end - 4)[0]:
            raise _refused("a checksum is wrong")
        yield name, body, data[at:end]
        at = end
        if name == b"IEND":
            if body or at != len(data):
                raise _refused("something follows the end of the picture")
            return
    raise _refused(f"the file has more than {_MAX_CHUNKS} parts")


def _unpacked_bytes(name: bytes, body: bytes, room: int) -> int:
    """How many bytes a compressed text or profile unpacks to; refused beyond `room`."""
    rest = body.partition(b"\0")[2]
    if name == b"iTXt":
        if rest[:1] != b"\x01":
            return len(rest)
        rest = rest[1:].partition(b"\0")[2].partition(b"\0")[2]
    return len(_inflated(rest[1:], room))


def _check_pixels(packed: bytes, most: int) -> None:
    inflater = zlib.decompressobj()
    try:
        pixels = inflater.decompress(packed, most + 1)
    except zlib.error:
        raise _refused("the picture is damaged") from None
    if len(pixels) > most or not inflater.eof or inflater.unused_data:
        raise _refused("the picture holds more, or less, than its size says")


def _inflated(packed: bytes, room: int) -> bytes:
    try:
        text = zlib.decompressobj().decompress(packed, max(room, 0) + 1)
    except zlib.error:
        raise _refused("a compressed part is damaged") from None
    if len(text) > room:
        raise _refused("a compressed part unpacks to more than a picture needs")
    return text


def _refused(sentence: str) -> BadPng:
    return BadPng("NOT_A_PNG", sentence)
