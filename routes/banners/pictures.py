"""The pictures of banners (contract §10)."""

from actors.errors import NotFound
from actors.ids import ObjectId
from persistence.banners.banners import read_picture
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.downloads import etag_of_content
from routes.edge.principal import PUBLIC
from routes.edge.reply import Blob

PATH = "/v1/public/banners/{id}/image.png"

KEPT = "public, max-age=86400, immutable"
"""Cache-Control of a picture, which never changes. For a day only, since owners delete banners, and cached copies
cannot be recalled."""


def picture_url(base_url: str, id: str) -> str:
    """The address of a banner's picture, below `base_url`."""
    return base_url + PATH.replace("{id}", id)


@endpoint("GET", PATH, needs=PUBLIC, refusals=(NotFound,), produces="image/png")
async def read_banner_picture(call: Call, id: ObjectId) -> Blob:
    """GET /v1/public/banners/{id}/image.png: the picture of a banner, 200x400 pixels.

    It never changes, and may be cached for a day without revalidation.
    """
    picture = await call.service.database.read(read_picture, id)
    if picture is None:
        raise NotFound("no such banner")
    return Blob(picture, "image/png", None, etag_of_content(picture).decode("ascii").strip('"'), KEPT)
