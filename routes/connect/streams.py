"""`GET /v1/connect/servers/{serverId}/stream`: events of a game server, for the server itself and for users (contract
§7).
"""

from functools import partial

import msgspec

from actors.connect.public import Command, Registration, Settings, SettingsSnapshot
from actors.connect.public_members import AccessPolicy, Member
from actors.connect.stream import ServerViewer
from actors.errors import Forbidden, NotFound
from actors.ids import Uuid
from actors.kernel.subscription import Subscription, WatchRequest
from routes.call import Call
from routes.connect.channels import READ_COMMANDS, READ_MEMBERS, READ_SETTINGS
from routes.connect.guards import may
from routes.connect.parts import GAME_SERVERS
from routes.connect.waiters import WAITERS
from routes.edge.declare.endpoint import stream
from routes.edge.listener import Listener
from routes.edge.principal import SERVER, ServerPrincipal
from routes.edge.websocket.close_codes import CloseCode
from routes.edge.websocket.frames import BareEnvelope
from routes.edge.websocket.socket import LiveSocket
from routes.live.single import SingleStream, StreamQuery, UserStream, subscribed, unannounced
from routes.service import Service

SCOPE_COMMANDS = "server.commands.read"
SCOPE_MEMBERS = "server.members.read"


class Told(msgspec.Struct, frozen=True, tag_field="type", rename="camel"):
    """One event of the stream."""


class SettingsUpdated(Told, frozen=True, tag="settings_updated"):
    """The settings of a source have a new version."""

    settings: Settings


class CommandTold(Told, frozen=True, tag="command"):
    """A command was created, or its status has changed."""

    command: Command


class ExtensionsTold(Told, frozen=True, tag="extensions"):
    """All extensions that the server has registered, after a change.

    Args:
        extensions: all registrations of the server, as they are now.
    """

    extensions: tuple[Registration, ...]


class PolicyTold(Told, frozen=True, tag="access_policy"):
    """The access policy, after a change.

    Args:
        access_policy: who may play, as it is now.
    """

    access_policy: AccessPolicy


class MembersTold(Told, frozen=True, tag="members"):
    """All members of the server, after a change.

    Args:
        members: all members, as they are now.
    """

    members: tuple[Member, ...]


_DATA_NAMES = {
    "settings_updated": "settings",
    "command": "command",
    "extensions": "extensions",
    "access_policy": "accessPolicy",
    "members": "members",
}  # {event: what its data is called}


def _frame_of(name: str, data: object) -> object:
    return {"type": name, _DATA_NAMES[name]: data}


ENVELOPE = BareEnvelope(_frame_of)


@stream(
    "/v1/connect/servers/{serverId}/stream",
    needs=READ_SETTINGS,
    servers=SERVER,
    sends=(SettingsSnapshot, SettingsUpdated, CommandTold, ExtensionsTold, PolicyTold, MembersTold),
    refusals=(NotFound, Forbidden),
    guard=may("server.settings.read"),
)
async def server_stream(
    call: Call,
    socket: LiveSocket,
    server_id: Uuid,
    query: StreamQuery,  # noqa: ARG001
) -> Listener | None:
    """All settings at once, then changes of settings, commands, extensions, access policy and members.

    The server itself is delivered its commands here, as if it had read them: it acknowledges them over HTTP, and they
    are delivered again if it has not done so within 30 s. Users get commands with `connect:commands:read`. A slow
    reader gets the settings again in place of the events that it missed.
    """
    principal = call.principal
    viewer = _viewer(call)
    service = call.service
    kind = service.of(GAME_SERVERS).server
    request = WatchRequest(
        sink=socket,
        viewer=viewer,
        channel=f"{kind.name}:{server_id}",
        envelope=ENVELOPE,
        mode="delta",
        opened=unannounced,
    )
    nodes = _nodes_of(viewer)
    subscription = await subscribed(call, socket, request, shown=kind, id=server_id, needs_too=nodes)
    if subscription is None:
        return None
    if isinstance(principal, ServerPrincipal):
        return _OfServer(
            service,
            socket,
            principal,
            subscription,
            takes_commands=viewer.commands,
            address=call.client_address,
        )
    return UserStream(call, socket, subscription, needs_too=nodes)


def _viewer(call: Call) -> ServerViewer:
    """The viewer, with what their permission nodes or scopes cover."""
    principal = call.principal
    if isinstance(principal, ServerPrincipal):
        scopes = principal.scopes
        return ServerViewer(
            None, scopes is None or SCOPE_COMMANDS in scopes, scopes is None or SCOPE_MEMBERS in scopes
        )
    access = call.user.access
    return ServerViewer(call.user_id, access.allows(READ_COMMANDS), access.allows(READ_MEMBERS))


def _nodes_of(viewer: ServerViewer) -> tuple[str, ...]:
    """The nodes by which a user sees more than settings; one who loses any of them has to connect again."""
    sees = ((READ_COMMANDS, viewer.commands), (READ_MEMBERS, viewer.members))
    return tuple(node for node, seen in sees if seen)


class _OfServer(SingleStream):
    """The stream of the server itself, which is delivered its commands here; implements `ListeningServer`."""

    __slots__ = ("_number", "address", "takes_commands")

    def __init__(
        self,
        service: Service,
        socket: LiveSocket,
        principal: ServerPrincipal,
        subscription: Subscription,
        *,
        takes_commands: bool,
        address: str,
    ) -> None:
        super().__init__(service, socket, subscription)
        self.takes_commands = takes_commands
        self.address = address
        server_id = principal.server_id
        self._number = principal.secret_number
        service.of(WAITERS).listens(server_id, self)
        socket.on_close(partial(self._close, server_id))
        row = service.of(GAME_SERVERS).credentials.peek(server_id)
        if row is not None:  # its secret may have been replaced since the server was let in
            self.secret_changed(row.secret_number, row.former_until_ms)
        if takes_commands:
            service.of(WAITERS).deliveries.deliver(server_id)

    def secret_changed(self, number: int, former_until_ms: int | None) -> None:
        """The server has a new secret: expire with the secret that opened the stream, or close if that is over."""
        if number == self._number or former_until_ms is None:
            return
        ends_at_ms = self._socket.expires_at_ms
        if number > self._number + 1:
            self._socket.close(CloseCode.UNAUTHENTICATED, "TOKEN_EXPIRED")
        elif ends_at_ms is None or ends_at_ms > former_until_ms:
            self._socket.expires_at_ms = former_until_ms

    def _close(self, server_id: str) -> None:
        self._service.of(WAITERS).left(server_id, self)
        self._subscription.close()
