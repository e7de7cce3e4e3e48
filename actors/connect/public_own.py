"""A game server as its owner and its members see it: with their access, its status, and whether it listens."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import msgspec

from actors.connect.capabilities import OWNER, Role, held_by
from actors.connect.listening import Listening
from actors.connect.public import Server, server_of
from actors.publications.statuses import Statuses
from actors.time import iso_or_none
from persistence.connect.own import OwnRow
from persistence.connect.rows import ServerRow, StandingRow
from persistence.publications.rows import Target


class ServerAccess(msgspec.Struct, frozen=True, rename="camel"):
    """What the user may do on the server.

    Args:
        role: `owner`, `admin`, `operator` or `viewer`.
        capabilities: those of the role and further ones, sorted.
    """

    role: Role
    capabilities: tuple[str, ...]


class ServerStatus(msgspec.Struct, frozen=True, rename="camel"):
    """What the server last reported.

    Args:
        online: whether its last report is fresh and says that players can join.
        player_count, player_capacity: 0 while it is not online.
        updated_at: when the server last reported, or null.
    """

    online: bool
    motd: str
    player_count: int
    player_capacity: int
    updated_at: str | None


class OwnServer(Server, frozen=True, kw_only=True, rename="camel"):
    """A game server of the user.

    Args:
        access: what the user may do there.
        status: what the server last reported.
        listening: whether the server has a stream open that takes commands, or has asked for commands within 60 s.
    """

    access: ServerAccess
    status: ServerStatus
    listening: bool


@dataclass(frozen=True, slots=True, eq=False)
class ServersNow:
    """What memory says of game servers; to be asked in the trio thread.

    Args:
        statuses: what servers have reported.
        listening: which servers listen.
        now_ms: returns epoch milliseconds.
    """

    statuses: Statuses
    listening: Listening
    now_ms: Callable[[], int]

    def status_of(self, server_id: str) -> ServerStatus:
        """What a server last reported."""
        status = self.statuses.of(Target("server", server_id), self.now_ms())
        return ServerStatus(
            status.online, status.motd, status.players, status.capacity, iso_or_none(status.at_ms)
        )

    def shown(self, row: OwnRow) -> OwnServer:
        """A server of a user, from its row and from what memory says of it now."""
        return self.joined(server_of(row.server), access_of(row.server, row.role, row.capabilities))

    def joined(self, server: Server, access: ServerAccess) -> OwnServer:
        """A server with what memory says of it now."""
        id = server.server_id
        return OwnServer(
            **{name: getattr(server, name) for name in Server.__struct_fields__},
            access=access,
            status=self.status_of(id),
            listening=self.listening.listens(id),
        )


def access_of(server: ServerRow, role: str | None, capabilities: tuple[str, ...]) -> ServerAccess:
    """What a user may do on a server that is theirs.

    Args:
        role: the role of a member; None for the owner.
        capabilities: further capabilities, beside those of the role.
    """
    if role is None:
        held = held_by(server.owner_id or "", StandingRow(server.owner_id, None, ()))
    else:
        held = held_by("", StandingRow(server.owner_id, role, capabilities))
    return ServerAccess(cast(Role, role or OWNER), tuple(sorted(held)))
