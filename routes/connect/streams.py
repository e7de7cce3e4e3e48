"""`GET /v1/connect/servers/{serverId}/stream`: events of a game server, for the server itself and for users (contract
§7).
"""

from functools import partial

import msgspec

from actors.connect.public import Command, Registration, Settings, SettingsSnapshot
from actors.connect.public_members import AccessPolicy, Member
from actors.connect.stream import ServerViewer
from actors.errors import Forbidden, NotFound, Overloaded, Refused
from actors.ids import Uuid
from actors.kernel.subscription import Subscription, WatchRequest
from persistence.errors import PersistenceError
from routes.call import Call
from routes.connect.channels import READ_COMMANDS, READ_MEMBERS, READ_SETTINGS
from routes.connect.guards import may
from routes.connect.parts import GAME_SERVERS
from routes.connect.waiters import WAITERS, take_at_once
from routes.edge.declare.endpoint import stream
from routes.edge.listener import Listener
from routes.edge.principal import SERVER, Access, ServerPrincipal
from routes.edge.websocket.close_codes import CloseCode
from routes.edge.websocket.frames import BareEnvelope
from routes.edge.websocket.socket import LiveSocket
from routes.live.pace import Pace, Verdict
from routes.live.rights import FORBIDDEN
from routes.live.single import StreamQuery, unannounced
from routes.service import Service
from routes.users.parts import RIGHTS

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
    """All extensions that the server has registered, after a change."""

    extensions: tuple[Registration, ...]


class PolicyTold(Told, frozen=True, tag="access_policy"):
    """The access policy, after a change."""

    access_policy: AccessPolicy


class MembersTold(Told, frozen=True, tag="members"):
    """All members of the server, after a change."""

    members: tuple[Member, ...]


_DATA_NAMES = {
    "settings_updated": "settings",
    "command": "command",
    "extensions": "extensions",
    "access_policy": "accessPolicy",
    "members": "members",
}  # {event: what its data is called}


def _told(name: str, data: object) -> object:
    return {"type": name, _DATA_NAMES[name]: data}


ENVELOPE = BareEnvelope(_told)


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
    """GET …/servers/{serverId}/stream: all settings at once, then changes of settings, commands, extensions, access
    policy and members.

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
    try:
        subscription = await service.system.watch(kind, server_id, request)
    except Overloaded as overloaded:
        socket.close(CloseCode.INTERNAL_ERROR, overloaded.code)
    except Refused as refused:
        socket.end(request.channel, refused.code)
    except PersistenceError:
        socket.close(CloseCode.INTERNAL_ERROR, "DATABASE_UNAVAILABLE")
    else:
        if isinstance(principal, ServerPrincipal):
            return _OfServer(service, socket, principal, subscription, takes_commands=viewer.commands)
        return _OfUser(call, socket, subscription, viewer)
    return None


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


class _Stream:
    """A socket whose client sends nothing that matters; implements `Listener`."""

    __slots__ = ("_pace", "_service", "_socket", "_subscription")

    def __init__(self, service: Service, socket: LiveSocket, subscription: Subscription) -> None:
        self._service = service
        self._socket = socket
        self._subscription = subscription
        self._pace = Pace(service.limits, socket.user_id or socket.session_id)

    def heard(self, message: bytes) -> None:  # noqa: ARG002
        """Count a message; a flood closes the socket."""
        if self._pace.take(self._service.clock.now_ms()) is Verdict.CLOSE:
            self._socket.close(CloseCode.FLOOD, "RATE_LIMITED")


class _OfUser(_Stream):
    """The stream of a user; implements `RightsObserver`."""

    __slots__ = ("_nodes",)

    def __init__(
        self, call: Call, socket: LiveSocket, subscription: Subscription, viewer: ServerViewer
    ) -> None:
        super().__init__(call.service, socket, subscription)
        sees = ((READ_COMMANDS, viewer.commands), (READ_MEMBERS, viewer.members))
        self._nodes = (READ_SETTINGS, *(node for node, seen in sees if seen))
        call.service.of(RIGHTS).follow(call.user_id, self, call.user.access, capped=call.user.capped)
        socket.on_close(partial(self._close, call.user_id))

    def recheck(self, access: Access) -> None:
        """The user's rights may have changed: end the stream if they may see less, so that they connect again."""
        if all(access.allows(node) for node in self._nodes):
            self._subscription.recheck()
        else:
            self._subscription.end(FORBIDDEN)

    def _close(self, user_id: str) -> None:
        self._service.of(RIGHTS).unfollow(user_id, self)
        self._subscription.close()


class _OfServer(_Stream):
    """The stream of the server itself, which is delivered its commands here; implements `ListeningServer`."""

    __slots__ = ("_number", "takes_commands")

    def __init__(
        self,
        service: Service,
        socket: LiveSocket,
        principal: ServerPrincipal,
        subscription: Subscription,
        *,
        takes_commands: bool,
    ) -> None:
        super().__init__(service, socket, subscription)
        self.takes_commands = takes_commands
        server_id = principal.server_id
        row = service.of(GAME_SERVERS).credentials.peek(server_id)
        # The socket expires with a former secret or a delegated token already.
        self._number = row.secret_number if row is not None else 0
        service.of(WAITERS).listens(server_id, self)
        socket.on_close(partial(self._close, server_id))
        if takes_commands:
            take_at_once(service, server_id)

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
