"""Cape entries as they cross the wire (service-api §2 Cape entry, contract §8)."""

from typing import Annotated, Literal

import msgspec

from actors.capes.public import ShownCape
from actors.capes.units_moderation import texture_version
from actors.capes.units_own import DESCRIPTION_MAX, NAME_MAX
from actors.time import iso
from persistence.capes.rows import Cape, CapeStatus
from routes.edge.declare.query import Clamp
from routes.edge.wire import Wire

PICTURES = "/v1/public/capes"
"""Path of pictures. Entries add the texture's version to it, so that pictures can be cached without revalidation."""

OFFSET_MAX = 1_000_000_000

CapeName = Annotated[str, msgspec.Meta(max_length=NAME_MAX)]
CapeDescription = Annotated[str, msgspec.Meta(max_length=DESCRIPTION_MAX)]


class Paging(Wire, frozen=True):
    """`limit` and `offset` of a page."""

    limit: Annotated[int, Clamp(1, 200)] = 50
    offset: Annotated[int, Clamp(0, OFFSET_MAX)] = 0


class CapeEntry(Wire, frozen=True):
    """A cape.

    Args:
        id: uuid.
        source: `native`: stored by this service.
        description: what its uploader says of it.
        creator: the name of the user who uploaded it.
        status: only `approved` capes are public.
        preview_texture_url: its front, as PNG.
        texture_url: the texture, as PNG.
        mine: whether the caller uploaded it.
        selected: whether the caller wears it; in the answer about a user's selection, whether that user does.
        downloads: how often the texture was fetched.
    """

    id: str
    source: Literal["native"]
    name: str
    description: str
    creator: str
    status: CapeStatus
    preview_texture_url: str
    texture_url: str
    mine: bool
    selected: bool
    downloads: int


class CapeModeration(Wire, frozen=True):
    """The latest verdict of a moderator on a cape.

    Args:
        reason: why, as the moderator wrote it; null without a reason.
        moderator_id: the moderator; null once that user was erased.
        at: when.
    """

    reason: str | None
    moderator_id: str | None
    at: str


class OwnCapeEntry(CapeEntry, frozen=True):
    """A cape as its owner sees it.

    Args:
        moderation: null until a moderator has given a verdict.
    """

    moderation: CapeModeration | None


class ModeratedCapeEntry(OwnCapeEntry, frozen=True):
    """A cape as moderators see it.

    Args:
        owner_id: the user who uploaded it.
        texture_version: version of the texture that `textureUrl` shows; to be sent with the verdict.
    """

    owner_id: str
    texture_version: str


class CapePage(Wire, frozen=True):
    """A page of the catalog."""

    entries: list[CapeEntry]
    total: int
    limit: int
    offset: int


class OwnCapePage(Wire, frozen=True):
    """A page of the caller's capes, newest first."""

    entries: list[OwnCapeEntry]
    total: int
    limit: int
    offset: int


class ModeratedCapePage(Wire, frozen=True):
    """A page of the capes of all users, newest first."""

    entries: list[ModeratedCapeEntry]
    total: int
    limit: int
    offset: int


def entry(shown: ShownCape, base_url: str) -> CapeEntry:
    """The entry of a cape as any user sees it.

    Args:
        base_url: the address under which clients reach the service, without a trailing slash.
    """
    return CapeEntry(*_fields(shown, base_url))


def own_entry(shown: ShownCape, base_url: str) -> OwnCapeEntry:
    """The entry of a cape as its owner sees it; `base_url` is that of `entry`."""
    return OwnCapeEntry(*_fields(shown, base_url), _moderation(shown.cape))


def moderated_entry(shown: ShownCape, base_url: str) -> ModeratedCapeEntry:
    """The entry of a cape as moderators see it; `base_url` is that of `entry`."""
    cape = shown.cape
    fields = _fields(shown, base_url)
    return ModeratedCapeEntry(*fields, _moderation(cape), cape.owner_id, texture_version(cape))


_Fields = tuple[
    str, Literal["native"], str, str, str, CapeStatus, str, str, bool, bool, int
]  # fmt: skip


def _fields(shown: ShownCape, base_url: str) -> _Fields:
    cape = shown.cape
    place, version = f"{base_url}{PICTURES}/{cape.id}", texture_version(cape)
    return (
        cape.id,
        "native",
        cape.name,
        cape.description,
        cape.creator,
        cape.status,
        f"{place}/preview.png?v={version}",
        f"{place}/texture.png?v={version}",
        shown.mine,
        shown.selected,
        cape.downloads,
    )


def _moderation(cape: Cape) -> CapeModeration | None:
    if cape.moderated_at_ms is None:
        return None
    return CapeModeration(cape.reason, cape.moderator_id, iso(cape.moderated_at_ms))
