"""Designs of banners as they cross the wire."""

from typing import Annotated

import msgspec

from persistence.banners.banners import Design
from routes.edge.wire import Wire

PICTURE = "/v1/public/banners/{id}/image.png"
"""Path of the picture of a banner."""

DesignName = Annotated[str, msgspec.Meta(max_length=64)]
"""The name of a pattern or a dye; none is longer than 32 characters."""


class BannerLayer(Wire, frozen=True):
    """One pattern of a banner.

    Args:
        pattern: an id of `minecraft:banner_pattern`, with or without the namespace, or its letter code of before
            1.20.5, such as `bs`; answered as the id without the namespace.
        color: one of the sixteen dyes, such as `light_blue`.
    """

    pattern: DesignName
    color: DesignName


def layers_of(design: Design) -> list[BannerLayer]:
    """The wire form of the layers of a design."""
    return [BannerLayer(layer.pattern, layer.color) for layer in design.layers]


def picture_url(base_url: str, id: str) -> str:
    """The address of a banner's picture, below `base_url`."""
    return base_url + PICTURE.replace("{id}", id)
