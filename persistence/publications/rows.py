"""What the tables of publications hold, one struct a row."""

from typing import Literal

import msgspec

from persistence.connection import Row

DiscoverySource = Literal["CONNECT", "USER", "IMPORT"]
"""Where a publication comes from: its target, somebody who has saved its address, or a list."""

DiscoveryState = Literal["CONNECT", "UNLISTED", "STALE", "SUPPRESSED"]
"""Whether it is in the public list (only `CONNECT` is)."""

OwnershipState = Literal["UNCLAIMED", "PENDING", "OWNED", "LOST"]
"""Whether the address is known to be the target's."""

OwnershipProof = Literal["gateway", "caller", "domain"]
"""Why it is: below the gateway domain, where the server itself calls from, or in a verified domain."""

TargetType = Literal["server", "network"]
"""What is published."""


class Target(msgspec.Struct, frozen=True):
    """A server or network, by its uuid."""

    type: TargetType
    id: str


class PublicationRow(msgspec.Struct, frozen=True, kw_only=True):
    """A publication.

    Args:
        server_id, network_id: its target; at most one of them is there.
        within_id: the network that its server is in, or its target.
        address: `host` or `host:port`.
        host: of the address, in its one form.
        social_links: encoded JSON.
        suppressed: a moderator has taken it from the list.
        seen_at_ms: the last status that was written, or when it was published.
        favorites: how many users have it among theirs.
        favorite: the viewer has; where there is no viewer, nobody does.
    """

    id: str
    server_id: str | None = None
    network_id: str | None = None
    within_id: str | None = None
    address: str
    host: str
    display_name: str
    category: str
    tags: tuple[str, ...]
    social_links: str
    motd_override: str | None
    hidden: bool
    featured: bool
    suppressed: bool
    discovery_source: DiscoverySource
    discovery_state: DiscoveryState
    ownership_state: OwnershipState
    ownership_proof: OwnershipProof | None
    ownership_verified_at_ms: int | None
    created_at_ms: int
    updated_at_ms: int
    seen_at_ms: int
    favorites: int = 0
    favorite: bool = False

    @property
    def target(self) -> Target | None:
        """What is published; None for an address alone."""
        if self.server_id is not None:
            return Target("server", self.server_id)
        return None if self.network_id is None else Target("network", self.network_id)


class StatusRow(msgspec.Struct, frozen=True):
    """What a server last said of itself.

    Args:
        network_id: the network it is in, or None.
        at_ms: when that was so: never later than it was told.
    """

    server_id: str
    network_id: str | None
    online: bool
    motd: str
    players: int
    capacity: int
    at_ms: int


class Rank(msgspec.Struct, frozen=True):
    """What a published target is sorted by.

    Args:
        players: now.
        seen_at_ms: of the newest status.
    """

    target_id: str
    players: int
    seen_at_ms: int


def publication_of(row: Row, *, favorite: bool = False) -> PublicationRow:
    """The publication of a row of `published`.

    Args:
        favorite: whether the reader has it among their favourites.
    """
    fields = {name: row[name] for name in _STORED}
    return PublicationRow(**{**fields, "tags": tuple(row["tags"]), "favorite": favorite})


_STORED = tuple(name for name in PublicationRow.__struct_fields__ if name != "favorite")
