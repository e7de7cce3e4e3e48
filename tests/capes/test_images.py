"""Textures: what is taken, what is refused, and what that costs."""

import base64
import resource
from io import BytesIO

import pytest
from PIL import Image

from actors.capes.images import MAX_BYTES, pictures_of
from actors.errors import Invalid, TooLarge
from tests.capes.images import cape, data_url, good, hostile, saved
from tests.support.cost import yardsticks


@pytest.mark.parametrize("name", good())
def test_textures_are_encoded_afresh(name: str):
    made = pictures_of(data_url(good()[name]))
    with Image.open(BytesIO(made.texture)) as texture, Image.open(BytesIO(good()[name])) as given:
        assert (texture.format, texture.size, texture.mode) == ("PNG", given.size, "RGBA")
        assert not texture.info
        if "16" not in name:
            assert texture.tobytes() == given.convert("RGBA").tobytes()
    with Image.open(BytesIO(made.preview)) as preview:
        assert (preview.format, preview.size) == ("PNG", (80, 128))
    assert len(made.texture) <= 17_000
    assert len(made.preview) <= 17_000


def test_sixteen_bit_grey_keeps_its_shades():
    levels = Image.new("I;16", (64, 32))
    levels.putpixel((3, 4), 0xFFFF)
    levels.putpixel((5, 6), 0x8000)
    with Image.open(BytesIO(pictures_of(data_url(saved(levels))).texture)) as texture:
        assert [texture.getpixel(at)[0] for at in ((0, 0), (3, 4), (5, 6))] == [0, 255, 128]


def test_the_preview_is_the_face_that_others_see():
    image = Image.new("RGBA", (64, 32), (0, 0, 0, 255))
    image.paste((255, 0, 0, 255), (1, 1, 11, 17))
    image.putpixel((1, 1), (0, 255, 0, 255))
    with Image.open(BytesIO(pictures_of(data_url(saved(image))).preview)) as preview:
        colours = {colour for _, colour in preview.convert("RGBA").getcolors() or []}
        assert colours == {(255, 0, 0, 255), (0, 255, 0, 255)}
        assert [preview.getpixel(at) for at in ((0, 0), (7, 7), (8, 0), (0, 8), (79, 127))] == [
            (0, 255, 0, 255), (0, 255, 0, 255), (255, 0, 0, 255), (255, 0, 0, 255), (255, 0, 0, 255),
        ]  # fmt: skip


def test_equal_pixels_are_one_version():
    assert pictures_of(data_url(cape())) == pictures_of(data_url(cape(compress_level=1)))


@pytest.mark.parametrize("name", hostile())
def test_hostile_files_are_refused_at_once(name: str):
    given = data_url(hostile()[name])
    assert yardsticks(lambda: _refuse_all([given])) < 5


def test_hostile_files_take_no_memory():
    files = [data_url(data) for data in hostile().values()]
    for _ in range(2):
        _refuse_all(files)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(3):
        _refuse_all(files)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # KiB


def _refuse_all(files: list[str]) -> None:
    for given in files:
        with pytest.raises((Invalid, TooLarge)):
            pictures_of(given)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("", "BAD_FORMAT"),
        ("https://example.org/cape.png", "BAD_FORMAT"),
        ("file:///etc/passwd", "BAD_FORMAT"),
        (data_url(cape(), "image/gif"), "BAD_FORMAT"),
        (data_url(cape(), "text/html"), "BAD_FORMAT"),
        ("data:image/png," + cape().hex(), "BAD_FORMAT"),
        ("data:image/png;base64,é", "MALFORMED"),
        ("data:image/png;base64,a", "MALFORMED"),
        ("data:image/png;base64," + base64.b64encode(cape()).decode() + "\n", "MALFORMED"),
        ("data:image/png;base64,", "NOT_A_PNG"),
        (data_url(cape(63, 32)), "BAD_SIZE"),
    ],
)
def test_what_is_no_texture(given: str, code: str):
    with pytest.raises(Invalid) as caught:
        pictures_of(given)
    assert [(error.pointer, error.code) for error in caught.value.errors] == [("/texture/dataUrl", code)]


def test_the_size_has_a_bound():
    with pytest.raises(TooLarge):
        pictures_of(data_url(cape() + bytes(MAX_BYTES)))
    with pytest.raises(Invalid):
        pictures_of(data_url(bytes(MAX_BYTES)))
