"""The rows of the tables of publications, as structs."""

from typing import Literal

import msgspec

from persistence.connection import Row

DiscoverySource = Literal["CONNECT", "USER", "IMPORT"]
"""The origin of a publication: its server or network, a user who saved its address, or an imported list."""

DiscoveryState = Literal["CONNECT", "UNLISTED", "STALE", "SUPPRESSED"]
"""Whether it is in the public list (only `CONNECT` is)."""

OwnershipState = Literal["UNCLAIMED", "PENDING", "OWNED", "LOST"]
"""Whether the address is proven to belong to the published server or network."""

OwnershipProof = Literal["gateway", "caller", "domain"]
"""What proves that the address is the target's: it lies below the gateway domain, the server itself calls from it, or
it lies in a verified domain.
"""

TargetType = Literal["server", "network"]
"""The types of targets that can be published."""


class Target(msgspec.Struct, frozen=True):
    """A server or network, by its uuid."""

    type: TargetType
    id: str


class PublicationRow(msgspec.Struct, frozen=True, kw_only=True):
    """A publication.

    Args:
        server_id, network_id: the id of its target; at most one of them is set.
        within_id: the network that its server is in, or the network that is its target.
        address: `host` or `host:port`.
        host: the host of the address, in its normal form.
        social_links: encoded JSON.
        suppressed: a moderator has taken it from the list.
        seen_at_ms: the time of the last status that was written, or of its publication, epoch milliseconds.
        favorites: how many users have it among their favourites.
        favorite: whether the viewer has it among their favourites; False without a viewer.
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
        """The published server or network; None for an address alone."""
        if self.server_id is not None:
            return Target("server", self.server_id)
        return None if self.network_id is None else Target("network", self.network_id)


class StatusRow(msgspec.Struct, frozen=True):
    """The last status that a server has sent.

    Args:
        network_id: the network that the server is in, or None.
        at_ms: the time that the status describes, epoch milliseconds; never later than its arrival.
    """

    server_id: str
    network_id: str | None
    online: bool
    motd: str
    players: int
    capacity: int
    at_ms: int


class Rank(msgspec.Struct, frozen=True):
    """The sort keys of a published server or network.

    Args:
        players: how many play there now.
        seen_at_ms: the time of its newest status, epoch milliseconds.
    """

    target_id: str
    players: int
    seen_at_ms: int


def publication_of(row: Row, *, favorite: bool = False) -> PublicationRow:
    """Decode a row of the view `published`.

    Args:
        favorite: whether the viewer has it among their favourites.
    """
    fields = {name: row[name] for name in _STORED}
    return PublicationRow(**{**fields, "tags": tuple(row["tags"]), "favorite": favorite})


_STORED = tuple(name for name in PublicationRow.__struct_fields__ if name != "favorite")
