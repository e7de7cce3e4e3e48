"""The lines of a catalog file, checked: `{"catalog":…}`, and after it one `{"item":…}` for each of its items; and
`{"kind":"game",…}` for each game.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from typing import Annotated

import msgspec

from actors.banners import designs
from actors.errors import Invalid
from actors.games.catalog import GameLine
from actors.texts import line_flaws
from persistence.banners.banners import Design
from persistence.catalogs.items import Catalog, Item, Kind
from persistence.games.games import GameRow

LINE_MAX_BYTES = 16 * 1024
"""Bytes of the longest line."""

NAME_MAX = 100
"""Most characters of the name of a catalog or an item."""

TAGS_MAX, TAG_MAX = 16, 32
"""Most tags of an item, and most characters of each."""

TEXTURES = "https://textures.minecraft.net/texture/"
"""Where the textures of heads lie; hashes are all that is kept of them."""

_SLUG = re.compile(r"[a-z0-9-]{3,64}", re.ASCII)
# SHA-256; the texture server leaves leading zeros out.
_HASH = re.compile(r"[0-9a-f]{48,64}", re.ASCII)
_TEXTURE_URL = re.compile(r"https?://textures\.minecraft\.net/texture/([0-9a-f]{48,64})", re.ASCII)


class BadLine(Exception):
    """A line is refused; the message says why."""


class _Layer(msgspec.Struct, frozen=True):
    pattern: Annotated[str, msgspec.Meta(max_length=64)]
    color: Annotated[str, msgspec.Meta(max_length=64)]


class _Head(msgspec.Struct, frozen=True, rename="camel"):
    slug: str
    name: str
    kind: Kind


class ItemLine(msgspec.Struct, frozen=True, rename="camel"):
    """An item as a file has it.

    Args:
        texture: for a head, the hash of its texture, or the value of its texture property in base64.
        base_color: for a banner, the name of the cloth's dye.
        patterns: for a banner, its layers, the lowest first.
    """

    catalog_slug: str
    name: str
    tags: tuple[str, ...] = ()
    texture: str | None = None
    base_color: str = "white"
    patterns: tuple[_Layer, ...] | None = None


class _Line(msgspec.Struct, frozen=True):
    catalog: _Head | None = None
    item: ItemLine | None = None
    kind: str | None = None


class _Url(msgspec.Struct, frozen=True):
    url: str


class _Skin(msgspec.Struct, frozen=True):
    skin: _Url = msgspec.field(name="SKIN")


class _TextureProperty(msgspec.Struct, frozen=True):
    textures: _Skin


_decode_line = msgspec.json.Decoder(_Line).decode
_decode_game = msgspec.json.Decoder(GameLine).decode


def read_line(text: bytes) -> Catalog | ItemLine | GameRow:
    """Read a line: a catalog, which has no items yet, an item, or a game.

    Args:
        text: the line, JSON, at most `LINE_MAX_BYTES` long.

    Raises:
        BadLine: the line is none of these, or too long.
    """
    if len(text) > LINE_MAX_BYTES:
        raise BadLine(f"a line has at most {LINE_MAX_BYTES // 1024} KiB")
    try:
        line = _decode_line(text)
        if line.kind is not None:
            game = _decode_game(text)
            return msgspec.structs.replace(game, name=_text(game.name, "name", NAME_MAX)).row()
    except (msgspec.MsgspecError, UnicodeDecodeError) as wrong:
        raise BadLine(str(wrong)) from None
    if line.item is not None and line.catalog is None:
        return line.item
    if line.catalog is None or line.item is not None:
        raise BadLine("either a catalog, an item or a game")
    if _SLUG.fullmatch(line.catalog.slug) is None:
        raise BadLine("slug: 3 to 64 of a-z, 0-9 and -")
    return Catalog(line.catalog.slug, _text(line.catalog.name, "name", NAME_MAX), line.catalog.kind, 0)


def item_of(line: ItemLine, catalog: Catalog) -> Item:
    """Check an item; equal names in the same catalog have equal ids.

    Raises:
        BadLine: the item breaks a rule, or belongs to another catalog.
    """
    if line.catalog_slug != catalog.slug:
        raise BadLine("catalogSlug: items stand behind the line of their catalog")
    name = _text(line.name, "name", NAME_MAX)
    if len(line.tags) > TAGS_MAX:
        raise BadLine(f"tags: at most {TAGS_MAX}")
    tags = tuple(dict.fromkeys(_text(tag, "tags", TAG_MAX) for tag in line.tags))
    id = hashlib.sha256(f"{catalog.slug}\n{name}".encode()).hexdigest()[:24]
    if catalog.kind == "head":
        if line.texture is None or line.patterns is not None:
            raise BadLine("an item of a catalog of heads has a texture")
        return Item(id, catalog.slug, name, tags, texture_hash(line.texture), None)
    if line.patterns is None or line.texture is not None:
        raise BadLine("an item of a catalog of banners has patterns")
    return Item(id, catalog.slug, name, tags, None, _design(line.base_color, line.patterns))


def texture_hash(texture: str) -> str:
    """The hash of a texture.

    Args:
        texture: the hash itself, or the base64 value of a head's texture property, whose skin lies on Minecraft's
            texture server.

    Raises:
        BadLine: the text is neither.
    """
    if _HASH.fullmatch(texture) is not None:
        return texture
    try:
        value = base64.b64decode(texture.encode("ascii"), validate=True)
        url = msgspec.json.decode(value, type=_TextureProperty).textures.skin.url
    except (binascii.Error, UnicodeError, msgspec.MsgspecError):
        raise BadLine("texture: a hash, or the base64 value of a texture property") from None
    found = _TEXTURE_URL.fullmatch(url)
    if found is None:
        raise BadLine("texture: its skin does not lie on textures.minecraft.net")
    return found[1]


def _design(base_color: str, layers: Sequence[_Layer]) -> Design:
    try:
        return designs.checked(base_color, [(layer.pattern, layer.color) for layer in layers])
    except Invalid as invalid:
        flaw = invalid.errors[0]
        raise BadLine(f"{flaw.pointer}: {flaw.message}") from None


def _text(text: str, field: str, max_characters: int) -> str:
    stripped = text.strip()
    for flaw in line_flaws(stripped, field, max_characters):
        raise BadLine(f"{field}: {flaw.message}")
    return stripped
