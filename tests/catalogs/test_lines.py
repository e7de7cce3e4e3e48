"""Lines of catalog files: what passes, and why others are refused."""

import json
from base64 import b64encode
from typing import Any

import pytest

from actors.catalogs.lines import LINE_MAX_BYTES, BadLine, ItemLine, item_of, read_line, texture_hash
from persistence.banners.banners import Design, Layer
from persistence.catalogs.items import Catalog, Item
from tests.catalogs.play import ANIMALS, COW, FLAGS, HASH, PIRATES

HEADS = Catalog("animals", "Animals", "head", 0)
BANNERS = Catalog("flags", "Flags", "banner", 0)


def encoded(url: str) -> str:
    return b64encode(json.dumps({"textures": {"SKIN": {"url": url}}}).encode()).decode()


def item(catalog: Catalog, **members: Any) -> Item:
    line = read_line(json.dumps({"item": {"catalogSlug": catalog.slug, **members}}).encode())
    assert isinstance(line, ItemLine)
    return item_of(line, catalog)


def test_what_lines_say() -> None:
    assert read_line(json.dumps({"catalog": {**ANIMALS, "by": "Ann"}}).encode()) == HEADS
    cow = item(HEADS, **{**COW, "name": " Cow ", "tags": ["Farm", " Farm"]})
    assert (cow.name, cow.tags, cow.texture, cow.design) == ("Cow", ("Farm",), HASH, None)
    assert cow.id == item(HEADS, **COW).id != item(Catalog("others", "", "head", 0), **COW).id
    assert len(cow.id) == 24
    pirates = item(BANNERS, **PIRATES)
    assert (pirates.texture, pirates.design) == (None, Design("black", (Layer("skull", "white"),)))
    assert item(BANNERS, name="Plain", patterns=[]).design == Design("white", ())


@pytest.mark.parametrize(
    ("texture", "hash"),
    [
        (HASH, HASH),
        (HASH[:60], HASH[:60]),
        (encoded(f"http://textures.minecraft.net/texture/{HASH}"), HASH),
        (encoded(f"https://textures.minecraft.net/texture/{HASH}"), HASH),
        (HASH.upper(), None),
        (HASH + "0", None),
        ("", None),
        (f"https://textures.minecraft.net/texture/{HASH}", None),
        (encoded(f"https://example.org/texture/{HASH}"), None),
        (encoded(f"https://textures.minecraft.net.example.org/texture/{HASH}"), None),
        (encoded(f"https://textures.minecraft.net/texture/{HASH}?x"), None),
        (encoded(f"https://textures.minecraft.net/texture/../{HASH}"), None),
        (encoded(f"https://a@textures.minecraft.net/texture/{HASH}"), None),
        (encoded(f"javascript://textures.minecraft.net/texture/{HASH}"), None),
        (b64encode(b"[" * 2_000).decode(), None),
        (b64encode(b"{}").decode(), None),
        ("\u00e9", None),
    ],
)
def test_only_hashes_on_the_texture_server_are_textures(texture: str, hash: str | None) -> None:
    if hash is None:
        with pytest.raises(BadLine, match="texture"):
            texture_hash(texture)
    else:
        assert texture_hash(texture) == hash


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"nonsense", "malformed"),
        (b"[]", "object"),
        (b"{}", "either a catalog, an item or a game"),
        (b'"' + b"\xff" * 3 + b'"', "object|utf-8"),
        (b" " * LINE_MAX_BYTES + b"{}", "at most 16 KiB"),
        (
            {"catalog": ANIMALS, "item": {"catalogSlug": "animals", **COW}},
            "either a catalog, an item or a game",
        ),
        ({"catalog": {**ANIMALS, "slug": "A"}}, "slug"),
        ({"catalog": {**ANIMALS, "slug": "../../x"}}, "slug"),
        ({"catalog": {**ANIMALS, "kind": "cape"}}, "kind"),
        ({"catalog": {**ANIMALS, "name": ""}}, "name"),
        ({"catalog": {**FLAGS, "name": "a" * 101}}, "name"),
    ],
)
def test_what_is_no_line(line: Any, reason: str) -> None:
    with pytest.raises(BadLine, match=reason):
        read_line(line if isinstance(line, bytes) else json.dumps(line).encode())


@pytest.mark.parametrize(
    ("catalog", "members", "reason"),
    [
        (HEADS, {**COW, "catalogSlug": "plants"}, "catalogSlug"),
        (HEADS, {**COW, "name": "a\nb"}, "name"),
        (HEADS, {**COW, "name": "\u202ecow"}, "name"),
        (HEADS, {**COW, "name": "a\x1fb"}, "name"),
        (HEADS, {**COW, "name": "\x00"}, "name"),
        (HEADS, {**COW, "tags": [str(n) for n in range(17)]}, "tags"),
        (HEADS, {**COW, "tags": ["a" * 33]}, "tags"),
        (HEADS, {**COW, "tags": ["a\x1fb"]}, "tags"),
        (HEADS, {**COW, "texture": None}, "texture"),
        (HEADS, {**COW, "patterns": []}, "texture"),
        (BANNERS, {**PIRATES, "texture": HASH}, "patterns"),
        (BANNERS, {**PIRATES, "patterns": None}, "patterns"),
        (BANNERS, {**PIRATES, "baseColor": "crimson"}, "/baseColor"),
        (BANNERS, {**PIRATES, "patterns": PIRATES["patterns"] * 7}, "/patterns"),
        (BANNERS, {**PIRATES, "patterns": [{"pattern": "wave", "color": "red"}]}, "/patterns/0/pattern"),
        (BANNERS, {**PIRATES, "patterns": [{"pattern": "a" * 65, "color": "red"}]}, "64"),
    ],
)
def test_what_is_no_item(catalog: Catalog, members: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadLine, match=reason):
        item(catalog, **members)
