"""What is a model and what is none, in both formats."""

import base64
import zlib
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.errors import Invalid, TooLarge
from actors.totems.documents import MAX_BYTES, MAX_DEPTH, check_upload
from actors.totems.textures import is_name
from persistence.totems.totems import Format
from tests.support.cost import yardsticks
from tests.totems.models import BLOCKBENCH, ITEM, blockbench, chunk, encoded, item_model, png, url

CUBE: dict[str, Any] = item_model()["elements"][0]
BOX: dict[str, Any] = blockbench()["elements"][0]
MESH: dict[str, Any] = blockbench()["elements"][1]


def flaws(model: object, format: Any = ITEM) -> str:
    """The code and the place of what is wrong, "" for nothing."""
    try:
        check_upload(format, encoded(model))
    except Invalid as refused:
        error = refused.errors[0]
        assert error.pointer == "/data/data"
        place = error.message.removeprefix("the model's ").split(" ")[0]
        return f"{error.code} {place}" if error.message.startswith("the model's") else error.code
    return ""


def with_element(**parts: object) -> dict[str, Any]:
    return item_model(elements=[{**CUBE, **parts}])


def with_face(**parts: object) -> dict[str, Any]:
    return with_element(faces={"north": {"texture": "#skin", **parts}})


def with_texture(value: object) -> dict[str, Any]:
    return item_model(textures={"skin": value, "top": "#skin"})


def animated() -> bytes:
    control = chunk(b"acTL", (2).to_bytes(4) + (0).to_bytes(4))
    frame = (0).to_bytes(4) + (16).to_bytes(4) * 2 + bytes(8) + b"\0\1\0\1\0\0"
    return png(extra=control + chunk(b"fcTL", frame))


ITEM_MODELS = [
    (item_model(), ""),
    (item_model(parent="minecraft:item/handheld", texture_size=[32, 32], credit="me"), ""),
    (item_model(elements=[{**CUBE, "rotation": {"origin": [0, 0, 0], "x": 10, "z": -200}}]), ""),
    (with_face(texture="#missing"), ""),
    (with_face(texture="skin"), ""),
    (item_model(textures=None), "WRONG_TYPE textures"),
    (item_model(textures={}), "TOO_FEW textures"),
    (item_model(textures={str(n): "item/a" for n in range(33)}), "TOO_MANY textures"),
    (item_model(textures={"skin": 1, "top": "#skin"}), "WRONG_TYPE textures/skin"),
    (with_texture("../secret"), "BAD_FORMAT textures/skin"),
    (with_texture("item/../../secret"), "BAD_FORMAT textures/skin"),
    (with_texture("https://evil.example/x.png"), "BAD_FORMAT textures/skin"),
    (with_texture("javascript:alert(1)"), "BAD_FORMAT textures/skin"),
    (with_texture(""), "BAD_FORMAT textures/skin"),
    (with_texture("#top"), "UNKNOWN textures/skin"),
    (with_texture("#nowhere"), "UNKNOWN textures/skin"),
    (with_texture("data:image/svg+xml;base64,PHN2Zy8+"), "MISMATCH textures/skin"),
    (with_texture("data:text/html,<script>"), "MISMATCH textures/skin"),
    (with_texture("data:image/png;base64,?"), "MALFORMED textures/skin"),
    (with_texture("data:image/png;base64,"), "MISMATCH textures/skin"),
    (with_texture(url(b"GIF89a" + bytes(50))), "MISMATCH textures/skin"),
    (with_texture(url(png(1024, 1024))), ""),
    (with_texture(url(png(1025, 1, rows=1))), "OUT_OF_RANGE textures/skin"),
    (with_texture(url(png(65_500, 65_500, rows=0))), "OUT_OF_RANGE textures/skin"),
    (with_texture(url(png(0, 16))), "OUT_OF_RANGE textures/skin"),
    (with_texture(url(png().replace(b"IDAT", b"IDAU"))), "MALFORMED textures/skin"),
    (with_texture(url(png()[:-30])), "MALFORMED textures/skin"),
    (with_texture(url(animated())), "MALFORMED textures/skin"),
    (
        item_model(textures={"skin": "a", "top": "a"} | {str(n): url(png(1024, 1024)) for n in range(5)}),
        "OUT_OF_RANGE textures/4",
    ),
    (item_model(elements=None), "WRONG_TYPE elements"),
    (item_model(elements=[]), "TOO_FEW elements"),
    (item_model(elements=[{}] * 2049), "TOO_MANY elements"),
    (item_model(elements=[1]), "WRONG_TYPE elements/0"),
    (with_element(**{"from": [0, 0]}), "WRONG_TYPE elements/0/from"),
    (with_element(**{"from": [0, 0, "0"]}), "WRONG_TYPE elements/0/from"),
    (with_element(**{"from": [0, 0, True]}), "WRONG_TYPE elements/0/from"),
    (with_element(**{"from": [0, 0, -16.1]}), "OUT_OF_RANGE elements/0/from"),
    (with_element(**{"from": [0, 0, 10**400]}), "OUT_OF_RANGE elements/0/from"),
    (with_element(**{"from": [0, 0, -(10**4_000)]}), "OUT_OF_RANGE elements/0/from"),
    (with_element(to=[0, 0, 32.1]), "OUT_OF_RANGE elements/0/to"),
    (with_element(to=None), "WRONG_TYPE elements/0/to"),
    (with_element(faces=None), "WRONG_TYPE elements/0/faces"),
    (with_element(faces={"front": {"texture": "#skin"}}), "UNKNOWN_VALUE elements/0/faces"),
    (with_face(texture="#nowhere"), "UNKNOWN elements/0/faces/north/texture"),
    (with_face(texture=0), "WRONG_TYPE elements/0/faces/north/texture"),
    (with_face(uv=[0, 0, 16]), "WRONG_TYPE elements/0/faces/north/uv"),
    (with_face(rotation=45), "UNKNOWN_VALUE elements/0/faces/north/rotation"),
    (with_face(tintindex="1"), "WRONG_TYPE elements/0/faces/north/tintindex"),
    (with_element(rotation={"axis": "y", "angle": 1}), "WRONG_TYPE elements/0/rotation/origin"),
    (with_element(rotation={"origin": [0, 0, 0], "axis": "w", "angle": 1}), "UNKNOWN_VALUE elements/0/rotation/axis"),
    (with_element(rotation={"origin": [0, 0, 0], "axis": "x", "angle": 361}), "OUT_OF_RANGE elements/0/rotation/angle"),
    (with_element(rotation={"origin": [0, 0, 0], "x": "1"}), "WRONG_TYPE elements/0/rotation/x"),
    (item_model(parent="../x"), "BAD_FORMAT parent"),
    (item_model(display=[]), "WRONG_TYPE display"),
    (item_model(display={"gui": {"scale": [1]}}), "WRONG_TYPE display/gui/scale"),
    (item_model(display={str(n): {} for n in range(17)}), "TOO_MANY display"),
    (item_model(texture_size=[16]), "WRONG_TYPE texture_size"),
]  # fmt: skip

PROJECTS = [
    (blockbench(), ""),
    (blockbench(elements=[{**BOX, "faces": {"up": {"texture": None}, "down": {"texture": False}}}]), ""),
    (blockbench(textures=[{"name": "item/totem_of_undying"}], elements=[BOX]), ""),
    (blockbench(meta=None), "WRONG_TYPE meta"),
    (blockbench(meta={}), "WRONG_TYPE meta/format_version"),
    (blockbench(name="x" * 257), "TOO_LONG name"),
    (blockbench(resolution={"width": 16}), "WRONG_TYPE resolution/height"),
    (blockbench(resolution={"width": 16, "height": 0}), "OUT_OF_RANGE resolution/height"),
    (blockbench(textures=[]), "TOO_FEW textures"),
    (blockbench(textures=[{}]), "WRONG_TYPE textures/0/name"),
    (blockbench(textures=[{"name": "Totem!.png"}]), "BAD_FORMAT textures/0/name"),
    (blockbench(textures=[{"source": "file:///etc/passwd"}]), "MISMATCH textures/0/source"),
    (blockbench(textures=[{"source": 1}]), "MISMATCH textures/0/source"),
    (blockbench(elements=[]), "TOO_FEW elements"),
    (blockbench(elements=[{"type": "locator"}]), "TOO_FEW elements"),
    (blockbench(elements=[{**BOX, "faces": {}}]), "TOO_FEW elements"),
    (blockbench(elements=[{**BOX, "to": [1, 2]}]), "WRONG_TYPE elements/0/to"),
    (blockbench(elements=[{**BOX, "rotation": [0]}]), "WRONG_TYPE elements/0/rotation"),
    (blockbench(elements=[{**BOX, "faces": {"front": {}}}]), "UNKNOWN_VALUE elements/0/faces"),
    (blockbench(elements=[{**BOX, "faces": {"up": {"texture": 1}}}]), "UNKNOWN elements/0/faces/up/texture"),
    (blockbench(elements=[{**BOX, "faces": {"up": {"texture": "t2"}}}]), "UNKNOWN elements/0/faces/up/texture"),
    (blockbench(elements=[{**BOX, "faces": {"up": {"texture": True}}}]), "WRONG_TYPE elements/0/faces/up/texture"),
    (blockbench(elements=[{**BOX, "faces": {"up": {"texture": {}}}}]), "WRONG_TYPE elements/0/faces/up/texture"),
    (blockbench(elements=[{**MESH, "vertices": {}}]), "TOO_FEW elements/0/vertices"),
    (blockbench(elements=[{**MESH, "vertices": {"a": [1]}}]), "WRONG_TYPE elements/0/vertices"),
    (blockbench(elements=[{**MESH, "faces": {"f": {"vertices": ["a", "z"]}}}]), "UNKNOWN elements/0/faces"),
    (blockbench(elements=[{**MESH, "faces": {"f": {"vertices": [{}]}}}]), "UNKNOWN elements/0/faces"),
    (blockbench(elements=[{**MESH, "faces": {"f": {"vertices": []}}}]), "TOO_FEW elements/0/faces"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "expected"), ITEM_MODELS)
def test_flaws_of_item_models_are_found(model: object, expected: str):
    assert flaws(model) == expected


@pytest.mark.parametrize(("model", "expected"), PROJECTS)
def test_flaws_of_blockbench_projects_are_found(model: object, expected: str):
    assert flaws(model, BLOCKBENCH) == expected


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "REQUIRED"),
        (b"{", "MALFORMED"),
        (b"[]", "WRONG_TYPE"),
        (b'"x"', "WRONG_TYPE"),
        (b"\xff\xfe{}", "MALFORMED"),
        (b'{"a":NaN}', "MALFORMED"),
        (b'{"a":1e999}', "MALFORMED"),
        (b'{"a":"\\ud800"}', "MALFORMED"),
        (b'{"a":' + b"9" * 10_000 + b"}", "MALFORMED"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "MALFORMED"),
        (b'{"a":' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}", "MALFORMED"),
        (b'{"a":' + b"[" * (MAX_DEPTH - 1) + b"]" * (MAX_DEPTH - 1) + b"}", "WRONG_TYPE textures"),
        (b'{"a":1}{"b":2}', "MALFORMED"),
    ],
)
def test_what_is_no_model_at_all(data: bytes, code: str):
    assert flaws(data) == code


@pytest.mark.parametrize("text", ["????", "QUJ", "ü===", "QUJD\n", "QUJD QUJD"])
def test_what_is_no_base64(text: str):
    with pytest.raises(Invalid, match="base64"):
        check_upload(ITEM, text)


def test_the_limit_is_of_decoded_bytes():
    model = msgspec.json.encode(item_model())
    check_upload(ITEM, base64.b64encode(model.ljust(MAX_BYTES)).decode())
    for size in (MAX_BYTES + 1, MAX_BYTES + 3, 10 * MAX_BYTES):
        with pytest.raises(TooLarge):
            check_upload(ITEM, base64.b64encode(model.ljust(size)).decode())


def test_the_limit_is_of_what_is_kept_too():
    """These numbers are written out with 18 characters, and 2 MB were kept of an upload of 512 KiB."""
    room = MAX_BYTES - len(msgspec.json.encode(item_model())) - len(b',"pad":[]')
    for count, fits in ((room // 19, True), (room // 19 + 2, False), (room // 5, False)):
        text = msgspec.json.encode(item_model())[:-1] + b',"pad":[' + b",".join([b"9e15"] * count) + b"]}"
        assert len(text) <= MAX_BYTES
        if fits:
            assert MAX_BYTES - 40 < len(check_upload(ITEM, encoded(text))) <= MAX_BYTES
        else:
            with pytest.raises(TooLarge):
                check_upload(ITEM, encoded(text))


def test_what_is_kept_is_what_was_checked():
    text = msgspec.json.encode(item_model())[:-1] + b' , "elements" : [] , "elements": [%s]}'
    kept = check_upload(ITEM, encoded(b"\xef\xbb\xbf" + text.replace(b"%s", msgspec.json.encode(CUBE))))
    assert kept.count(b'"elements"') == 1
    assert msgspec.json.decode(kept) == item_model()
    assert flaws(text.replace(b"[%s]", b"[]")) == "TOO_FEW elements"


def test_nothing_tells_of_the_authors_disk():
    project = blockbench(export_path="/home/ann/x", save_path="/home/ann/y")
    project["meta"]["backup_path"] = "/home/ann"
    kept = check_upload(BLOCKBENCH, encoded(project))
    assert b"ann" not in kept.lower()
    assert b"path" not in kept


@pytest.mark.parametrize("format", [ITEM, BLOCKBENCH])
def test_the_other_format_is_refused(format: Format):
    other = blockbench() if format == ITEM else item_model()
    assert flaws(other, format)


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("item/totem", True),
        ("minecraft:item/totem_of_undying", True),
        ("my.pack-1:a/b/c.png", True),
        ("a" * 256, True),
        ("a" * 257, False),
        ("Item/Totem", False),
        ("a//b", False),
        ("/a", False),
        ("a/", False),
        ("a:b:c", False),
        (":a", False),
        ("a/./b", False),
        ("a:../b", False),
        ("..", False),
        ("a\\b", False),
        ("a\n", False),
    ],
)
def test_names_of_textures(name: str, good: bool):
    assert is_name(name) is good


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-100, 100) | st.floats(-1e9, 1e9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(
    st.sampled_from([(ITEM, item_model()), (BLOCKBENCH, blockbench())]),
    st.randoms(use_true_random=False),
    JSON,
)
def test_no_model_breaks_the_check(chosen: tuple[Format, dict[str, Any]], random: Any, value: Any):
    """Whatever stands in the place of any part: it passes, or is refused in so many words."""
    format, whole = chosen
    model = msgspec.json.decode(msgspec.json.encode(whole))
    owner: Any = model
    while True:
        key = random.choice(list(owner) if isinstance(owner, dict) else range(len(owner)))
        if not isinstance(owner[key], dict | list) or not owner[key] or random.random() < 0.3:
            owner[key] = value
            break
        owner = owner[key]
    try:
        kept = check_upload(format, encoded(model))
    except Invalid:
        return
    assert check_upload(format, encoded(kept)) == kept


def hostile() -> list[bytes]:
    """Files that cost much more than they look."""
    many = {"elements": [CUBE] * 2_000, "textures": {"skin": "a", "top": "a"}}
    text = chunk(b"zTXt", b"x\0\0" + zlib.compress(bytes(64 << 20)))
    return [
        b"[" * (MAX_BYTES - 1),
        b'{"a":' * 80_000,
        b'{"textures":{' + b",".join(b'"%d":"#%d"' % (n, n + 1) for n in range(30_000)) + b"}}",
        b"[" + b"1," * 200_000 + b"1]",
        b'{"' + b"\\u0041" * 80_000 + b'":1}',
        b'{"a":[' + b"1e-320," * 70_000 + b"1]}",
        msgspec.json.encode(many)[:MAX_BYTES],
        msgspec.json.encode(with_texture(url(png(extra=text)))),
        msgspec.json.encode(with_texture(url(png(1024, 1024, rows=20_000)))),
    ]


def test_hostile_files_cost_little():
    for number, data in enumerate(hostile()):
        assert len(data) <= MAX_BYTES, number
        for format in (ITEM, BLOCKBENCH):
            assert yardsticks(partial(flaws, data, format)) < 12, (number, format)
