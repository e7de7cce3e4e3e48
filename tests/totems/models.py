"""Models for tests, small and whole, in both formats."""

import base64
import struct
import zlib
from functools import cache
from typing import Any

import msgspec

ITEM, BLOCKBENCH = "minecraft-item-model", "blockbench"


@cache
def png(width: int = 16, height: int = 16, *, extra: bytes = b"", rows: int | None = None) -> bytes:
    """A PNG image of one colour.

    Args:
        extra: chunks between header and data.
        rows: how many are really there; None for all.
    """
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    data = zlib.compress((b"\0" + b"\x40\x80\xc0\xff" * width) * (height if rows is None else rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def url(image: bytes | None = None) -> str:
    """An image as data URL."""
    return "data:image/png;base64," + base64.b64encode(png() if image is None else image).decode()


def item_model(**more: Any) -> dict[str, Any]:
    """A model of one element with two faces."""
    faces = {"north": {"texture": "#skin", "uv": [0, 0, 16, 16]}, "up": {"texture": "#top", "rotation": 90}}
    element = {
        "from": [0, 0, 0],
        "to": [16, 16, 0.5],
        "rotation": {"origin": [8, 8, 8], "axis": "y", "angle": 22.5},
        "faces": faces,
    }
    return {
        "textures": {"skin": "item/totem_of_undying", "top": "#skin", "own": url()},
        "elements": [element],
        "display": {"gui": {"rotation": [0, 45, 0], "scale": [1, 1, 1]}},
        **more,
    }


def blockbench(**more: Any) -> dict[str, Any]:
    """A project with a cube and a mesh."""
    cube = {"from": [0, 0, 0], "to": [16, 16, 16], "faces": {"north": {"uv": [0, 0, 16, 16], "texture": 0}}}
    corners = {"a": [0, 0, 0], "b": [16, 0, 0], "c": [0, 16, 0]}
    mesh = {
        "type": "mesh",
        "origin": [0, 0, 0],
        "vertices": corners,
        "faces": {"f": {"vertices": ["a", "b", "c"], "texture": "t1"}},
    }
    texture = {"name": "totem.png", "id": "t1", "source": url(), "path": "C:\\Users\\Ann\\totem.png"}
    return {
        "meta": {"format_version": "4.10", "model_format": "free", "box_uv": False},
        "name": "totem",
        "resolution": {"width": 16, "height": 16},
        "elements": [cube, mesh, {"type": "locator"}],
        "textures": [texture],
        **more,
    }


def encoded(model: object) -> str:
    """A model as it is uploaded; bytes as they are."""
    data = model if isinstance(model, bytes) else msgspec.json.encode(model)
    return base64.b64encode(data).decode()


def body(model: object = None, format: str = ITEM, **more: Any) -> dict[str, Any]:
    """The body of an upload."""
    return {"data": {"format": format, "data": encoded(item_model() if model is None else model)}, **more}
