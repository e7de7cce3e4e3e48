"""The images of a model: players' clients decode them, so that nothing is served that was not looked at."""

import base64
import zlib
from io import BytesIO

import pytest
from PIL import Image

from actors.errors import Invalid
from actors.totems.textures import PREFIX, Images
from tests.capes.images import chunk, data_url, good, hostile
from tests.support.cost import yardsticks
from tests.totems.models import png, url

OF_ANOTHER_SIZE = {"63x32", "64x33", "32x64", "128x64"}
"""What is wrong with these is wrong for capes alone."""


@pytest.mark.parametrize("name", sorted(hostile().keys() - OF_ANOTHER_SIZE))
def test_hostile_images_are_refused_at_once(name: str):
    given = data_url(hostile()[name])

    def refused() -> None:
        with pytest.raises(Invalid) as refused:
            Images().clean(given, "textures/skin")
        assert [error.pointer for error in refused.value.errors] == ["/data/data"]

    assert yardsticks(refused) < 5


@pytest.mark.parametrize("name", good())
def test_good_images_keep_their_pixels_and_nothing_else(name: str):
    cleaned = Images().clean(data_url(good()[name]), "textures/skin")
    data = base64.b64decode(cleaned.removeprefix(PREFIX))
    with Image.open(BytesIO(data)) as image, Image.open(BytesIO(good()[name])) as given:
        assert image.convert("RGBA").tobytes() == given.convert("RGBA").tobytes()
        assert not image.info.keys() - {"transparency", "interlace"}


def test_words_in_an_image_are_left_out():
    extra = chunk(b"tEXt", b"Author\0somebody") + chunk(b"zTXt", b"a\0\0" + zlib.compress(b"somewhere"))
    assert Images().clean(url(png(extra=extra)), "textures/skin") == url(png())
