"""`GET /v1/social/live`: one socket for everything (contract §9)."""

import msgspec

from actors.errors import Refused
from actors.kernel.supervisor import Fault
from persistence.errors import PersistenceError
from routes.chat.channels import READ
from routes.edge import frames
from routes.edge.call import Call
from routes.edge.close_codes import CloseCode
from routes.edge.endpoint import stream
from routes.edge.errors import RateLimited
from routes.edge.limits import POLICIES
from routes.edge.socket import LiveSocket
from routes.live.channel import SubscribeParams
from routes.live.channels import DEFAULTS
from routes.live.commands import OPS, AnyCommand, BadFrame, Misread, read_command
from routes.live.pace import Pace, Verdict
from routes.live.session import MAX_SUBSCRIPTIONS, Session, explained


class SocialQuery(msgspec.Struct, frozen=True):
    """What can be said in the address.

    Args:
        channels: names joined by commas, in place of the default ones; empty for none.
    """

    channels: str | None = None

    def names(self) -> tuple[str, ...]:
        """The channels to subscribe on connect, each once."""
        if self.channels is None:
            return DEFAULTS
        return tuple(dict.fromkeys(name.strip() for name in self.channels.split(",") if name.strip()))


@stream(
    "/v1/social/live",
    needs=READ,
    sends=(
        frames.Hello,
        frames.Reply,
        frames.Snapshot,
        frames.Event,
        frames.Pong,
        frames.Unsubscribed,
        frames.Reconnect,
    ),
    receives=AnyCommand.__args__,
)
async def social_live(call: Call, socket: LiveSocket, query: SocialQuery) -> None:
    """Every channel over one socket: subscribe, unsubscribe, send, typing, read, ping.

    `hello` comes first. Then the channels of `?channels=`, by default `inbox`, are subscribed; one that
    cannot be is told with `unsubscribed`. Needs `social:chat.read`. Closes with 4400 on what is no command,
    4401 when the token ends, 4429 when commands keep coming after `RATE_LIMITED`, 4503 when the server stops.
    """
    socket.multiplexed = True
    service = call.service
    session = Session(call, socket)
    with service.rights.followed(call.user_id, session.recheck):
        socket.send_nowait(
            frames.hello(
                socket.session_id,
                service.clock.now_ms(),
                heartbeat_ms=service.sockets.heartbeat_ms,
                limits=frames.SocketLimits(POLICIES["live-command"].quota, MAX_SUBSCRIPTIONS),
            )
        )
        try:
            await _subscribe_at_once(session, query.names())
            await _converse(session, Pace(service.limits, socket.session_id))
        finally:
            session.close()


async def _subscribe_at_once(session: Session, names: tuple[str, ...]) -> None:
    for name in names:
        try:
            await session.subscribe(name, SubscribeParams())
        except (Refused, PersistenceError, Fault) as error:
            session.told_off(name, explained(error))


async def _converse(session: Session, pace: Pace) -> None:
    """Do what the client says, one command after the other, until the socket is closed.

    No checkpoint of its own: the socket holds at most 16 messages, and is waited for when they are done.
    """
    socket, service = session.socket, session.service
    while True:
        await session.wait_room()
        message = await socket.receive()
        now_ms = service.clock.now_ms()
        if socket.expires_at_ms is not None and socket.expires_at_ms <= now_ms:
            # The sweeper would close it within a second; until then nothing more is done for this token.
            socket.close(CloseCode.UNAUTHENTICATED, "TOKEN_EXPIRED")
            continue
        verdict = pace.take(now_ms)
        if verdict is Verdict.CLOSE:
            socket.close(CloseCode.FLOOD, "RATE_LIMITED")
            continue
        try:
            command = read_command(message)
        except BadFrame as bad:
            socket.close(CloseCode.BAD_FRAME, bad.reason)
            continue
        except Misread as misread:
            session.refuse(misread.id, misread.refused)
            continue
        if verdict is Verdict.REFUSE:
            session.refuse(command.id, RateLimited(pace.retry_after_ms))
        else:
            await _do(session, command)


async def _do(session: Session, command: AnyCommand) -> None:
    try:
        access = session.service.users.peek_access(session.user_id)
        if access is None:
            access = await session.service.users.access_of(session.user_id)
        session.access = access
        waiting = OPS[type(command)](session, command)
        if waiting is not None:
            await waiting
    except (Refused, PersistenceError, Fault) as error:
        session.refuse(command.id, explained(error))
