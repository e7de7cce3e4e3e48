"""Textures for tests: good ones, and files that want to be decoded to somebody's harm."""

import base64
import struct
import zlib
from functools import cache
from io import BytesIO

from PIL import Image

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def data_url(data: bytes, media: str = "image/png") -> str:
    return f"data:{media};base64,{base64.b64encode(data).decode()}"


def chunk(name: bytes, body: bytes = b"", *, crc: int | None = None) -> bytes:
    if crc is None:
        crc = zlib.crc32(body, zlib.crc32(name))
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", crc)


def header(width: int, height: int, depth: int = 8, colour: int = 6, interlaced: int = 0) -> bytes:
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced))


def rows(width: int, height: int, bytes_a_pixel: int = 4) -> bytes:
    return zlib.compress((b"\0" + b"\x7f" * (width * bytes_a_pixel)) * height)


def png(*parts: bytes) -> bytes:
    return SIGNATURE + b"".join(parts) + chunk(b"IEND")


def of_bytes(size: int) -> bytes:
    """A texture that is taken, in a file of exactly so many bytes."""
    parts = header(64, 32), chunk(b"IDAT", rows(64, 32))
    return png(*parts, chunk(b"teXt", bytes(size - len(png(*parts, chunk(b"teXt"))))))


def cape(
    width: int = 64, height: int = 32, colour: tuple[int, ...] = (200, 30, 60, 255), **save: object
) -> bytes:
    return saved(Image.new("RGBA", (width, height), colour), **save)


def saved(image: Image.Image, form: str = "PNG", **save: object) -> bytes:
    buffer = BytesIO()
    image.save(buffer, form, **save)
    return buffer.getvalue()


@cache
def good() -> dict[str, bytes]:
    """Textures that are taken, by what is special about them."""
    rgba = Image.radial_gradient("L").resize((64, 64)).convert("RGBA")
    grey = rgba.convert("L")
    return {
        "64x32": cape(),
        "64x64": cape(64, 64),
        "gradient": saved(rgba),
        "rgb": saved(rgba.convert("RGB")),
        "palette": saved(rgba.convert("P")),
        "palette with a hole": saved(rgba.convert("P"), transparency=3),
        "grey": saved(grey),
        "grey with alpha": saved(grey.convert("LA")),
        "black and white": saved(grey.convert("1")),
        "16-bit grey": saved(grey.convert("I;16")),
        "16-bit rgba": png(header(64, 32, depth=16), chunk(b"IDAT", rows(64, 32, 8))),
        "small text": saved(rgba, pnginfo=_text("painted by hand")),
        "a profile": saved(rgba, icc_profile=bytes(3000)),
        "interlaced": png(header(64, 32, interlaced=1), chunk(b"IDAT", _adam7(64, 32))),
    }


@cache
def hostile() -> dict[str, bytes]:
    """Files that are refused, by what is wrong with them."""
    fine = cape()
    idat = chunk(b"IDAT", rows(64, 32))
    flat = _zeros(64)
    head = header(64, 32)
    frames = [Image.new("RGBA", (64, 32), (shade, 0, 0, 255)) for shade in (0, 90, 180)]
    return {
        "empty": b"",
        "signature alone": SIGNATURE,
        "65,500 pixels square": png(header(65_500, 65_500), idat),
        "2**31 pixels wide": png(header(2**31 - 1, 1), idat),
        "no pixels": png(header(0, 0), idat),
        "63x32": cape(63, 32),
        "64x33": cape(64, 33),
        "32x64": cape(32, 64),
        "128x64": cape(128, 64),
        "64 MB of pixels": png(head, chunk(b"IDAT", flat)),
        "too few pixels": png(head, chunk(b"IDAT", zlib.compress(b"\0" * 200))),
        "no pixel data": png(head),
        "pixels that are no zlib": png(head, chunk(b"IDAT", b"\x00garbage")),
        "bytes behind the pixels": png(head, chunk(b"IDAT", rows(64, 32) + b"more")),
        "zTXt bomb": png(head, chunk(b"zTXt", b"a\0\0" + flat), idat),
        "many zTXt bombs": png(head, *[chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(250_000)))] * 40, idat),
        "iTXt bomb": png(head, chunk(b"iTXt", b"a\0\1\0\0\0" + flat), idat),
        "iCCP bomb": png(head, chunk(b"iCCP", b"a\0\0" + flat), idat),
        "100,000 empty parts": png(head, chunk(b"IDAT") * 40_000, idat),
        "animated": saved(frames[0], save_all=True, append_images=frames[1:]),
        "animated, one frame": png(head, chunk(b"acTL", struct.pack(">II", 1, 0)), idat),
        "cut off": fine[: len(fine) // 2],
        "cut off before the end": fine[:-12],
        "a wrong checksum": SIGNATURE + head + chunk(b"IDAT", rows(64, 32), crc=1) + chunk(b"IEND"),
        "a wrong checksum of the header": SIGNATURE + chunk(b"IHDR", head[8:21], crc=7) + idat + chunk(b"IEND"),
        "two headers": png(head, head, idat),
        "no header": png(idat),
        "an unknown critical part": png(head, chunk(b"ABCD", b"x"), idat),
        "a length beyond the file": SIGNATURE + struct.pack(">I", 0xFFFFFFFF) + b"IHDR" + bytes(20),
        "PNG and ZIP": fine + b"PK\x03\x04" + bytes(40),
        "PNG and HTML": fine + b"<script>alert(1)</script>",
        "GIF and PNG": b"GIF89a" + fine,
        "HTML": b"<html><body>cape</body></html>",
        "GIF": saved(frames[0].convert("P"), "GIF"),
        "JPEG": saved(frames[0].convert("RGB"), "JPEG"),
        "BMP": saved(frames[0].convert("RGB"), "BMP"),
        "palette colours without a palette": png(header(64, 32, colour=3), chunk(b"IDAT", rows(64, 32, 1))),
        "a colour type that is none": png(header(64, 32, colour=5), idat),
        "a depth that is none": png(header(64, 32, depth=7), idat),
    }  # fmt: skip


def _zeros(mebibytes: int) -> bytes:
    """So many MiB of zeros, compressed: the first of them again and again, as every run of the tests makes it."""
    packer = zlib.compressobj(9)
    first = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    start, each, end = first[:2], first[2:], b"\x03\x00"
    checksum = (mebibytes << 20) % 65_521 << 16 | 1
    return start + each * mebibytes + end + struct.pack(">I", checksum)


def _text(text: str) -> object:
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add_text("Comment", text)
    info.add_text("Author", text, zip=True)
    return info


def _adam7(width: int, height: int) -> bytes:
    passes = (
        (0, 0, 8, 8),
        (4, 0, 8, 8),
        (0, 4, 4, 8),
        (2, 0, 4, 4),
        (0, 2, 2, 4),
        (1, 0, 2, 2),
        (0, 1, 1, 2),
    )
    raw = b""
    for left, top, right, down in passes:
        across, lines = -(-(width - left) // right), -(-(height - top) // down)
        raw += (b"\0" + b"\x40" * (across * 4)) * lines
    return zlib.compress(raw)
