"""What clients see of publications (service-api §2, Publication)."""

from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from actors.publications.statuses import Status
from actors.time import iso_or_none
from persistence.publications.rows import DiscoverySource, DiscoveryState, OwnershipState, PublicationRow


class Reporters(msgspec.Struct, frozen=True):
    """How many servers of a network have sent a status.

    Args:
        fresh: servers of the network whose status is recent.
        total: servers of the network that have ever sent one.
    """

    fresh: int
    total: int


SocialLink = dict[
    Annotated[str, msgspec.Meta(max_length=32)], Annotated[str, msgspec.Meta(max_length=300)] | None
]
"""A link with a `url`, and other members that a dashboard adds, such as `type` or `label`."""

_links = msgspec.json.Decoder(tuple[str | SocialLink, ...])


class Publication(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a server or network publishes about itself, and its current status.

    Args:
        id: an object id.
        address: the address that players connect to, `host` or `host:port`.
        category: the category it is listed under.
        motd: the text shown in lists: `motdOverride`, else the server's last MOTD; plain text.
        motd_override: the text that is shown in place of the server's own; null for that one.
        tags: words it is found by.
        social_links: the links as they were put.
        hidden: whether its owner keeps it out of the public list.
        featured: whether moderators have put it in front.
        favorite: whether the caller has it among their favourites; always false in the public list, which knows no
            caller.
        favorite_count: how many users have it among their favourites.
        ping_ms: always null: it is not measured.
        online: whether the last status is fresh and says so; the counts are 0 otherwise.
        discovery_state: `CONNECT` is in the public list; `UNLISTED`, `STALE`, `SUPPRESSED` are not.
        discovery_source: who has put it into the list.
        ownership_state: whether the address is proven to be the target's.
        status_source: where the status is from: `CONNECT` the server, `NETWORK` the network's servers, `NONE` nowhere.
        connect_target_type: `server` or `network`.
        connect_target_id: the server's or network's id.
        connect_network_id: the network, or the one that the server is in.
        ownership_verified_at: since when the address is proven; null while it is not.
        status_updated_at: when the status was last heard; null before.
        reporters: only present for networks.
    """

    id: str
    address: str
    display_name: str
    category: str
    motd: str
    motd_override: str | None
    tags: tuple[str, ...]
    social_links: tuple[str | SocialLink, ...]
    hidden: bool
    featured: bool
    favorite: bool
    favorite_count: int
    online: bool
    ping_ms: int | None
    player_count: int
    player_capacity: int
    discovery_state: DiscoveryState
    discovery_source: DiscoverySource
    ownership_state: OwnershipState
    status_source: str
    connect_target_type: str | None
    connect_target_id: str | None
    connect_network_id: str | None
    ownership_verified_at: str | None
    status_updated_at: str | None
    reporters: Reporters | UnsetType = UNSET


def publication_of(row: PublicationRow, status: Status) -> Publication:
    """The publication as clients see it.

    Args:
        status: the current status of its target.
    """
    target = row.target
    is_network = target is not None and target.type == "network"
    source = "NONE" if status.at_ms is None else ("NETWORK" if is_network else "CONNECT")
    return Publication(
        id=row.id,
        address=row.address,
        display_name=row.display_name,
        category=row.category,
        motd=row.motd_override or status.motd,
        motd_override=row.motd_override,
        tags=row.tags,
        social_links=_links.decode(row.social_links),
        hidden=row.hidden,
        featured=row.featured,
        favorite=row.favorite,
        favorite_count=row.favorites,
        online=status.online,
        ping_ms=None,
        player_count=status.players,
        player_capacity=status.capacity,
        discovery_state=row.discovery_state,
        discovery_source=row.discovery_source,
        ownership_state=row.ownership_state,
        status_source=source,
        connect_target_type=None if target is None else target.type,
        connect_target_id=None if target is None else target.id,
        connect_network_id=row.within_id,
        ownership_verified_at=iso_or_none(row.ownership_verified_at_ms),
        status_updated_at=iso_or_none(status.at_ms),
        reporters=Reporters(status.fresh, status.total) if is_network else UNSET,
    )
