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
"""Where pictures lie; their addresses name the texture's version, so that they may be kept unasked."""

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
        source: `native`: the service has it.
        creator: the name of who uploaded it.
        preview_texture_url: its front, as PNG.
        texture_url: the texture, as PNG.
        mine: the caller uploaded it.
        selected: the caller wears it; in the answer about a user's selection, that user does.
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
    """What the moderators last did with a cape."""

    reason: str | None
    moderator_id: str | None
    at: str


class OwnCapeEntry(CapeEntry, frozen=True):
    """A cape as its owner sees it.

    Args:
        moderation: null while no moderator has touched it.
    """

    moderation: CapeModeration | None


class ModeratedCapeEntry(OwnCapeEntry, frozen=True):
    """A cape as moderators see it.

    Args:
        owner_id: who uploaded it.
        texture_version: of the texture that `textureUrl` shows, for the verdict.
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
    """A page of everybody's capes, newest first."""

    entries: list[ModeratedCapeEntry]
    total: int
    limit: int
    offset: int


def entry(shown: ShownCape, base_url: str) -> CapeEntry:
    """A cape for everybody.

    Args:
        base_url: how clients reach the service.
    """
    return CapeEntry(*_fields(shown, base_url))


def own_entry(shown: ShownCape, base_url: str) -> OwnCapeEntry:
    """A cape for its owner; the arguments are those of `entry`."""
    return OwnCapeEntry(*_fields(shown, base_url), _moderation(shown.cape))


def moderated_entry(shown: ShownCape, base_url: str) -> ModeratedCapeEntry:
    """A cape for moderators; the arguments are those of `entry`."""
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
