"""`GET /v1/social/live`: one socket for everything (contract §9)."""

from routes.call import Call
from routes.chat.channels import READ
from routes.edge.declare.endpoint import stream
from routes.edge.declare.route import Stream
from routes.edge.listener import Listener
from routes.edge.websocket import frames
from routes.edge.websocket.socket import LiveSocket
from routes.live.channels import Channels
from routes.live.commands import Commands
from routes.live.connecting import subscribe_all
from routes.live.session import MAX_SUBSCRIPTIONS
from routes.live.single import StreamQuery
from routes.live.social import SocialSession
from routes.rates import LIVE_COMMAND


class SocialQuery(StreamQuery, frozen=True):
    """The query parameters of the stream.

    Args:
        channels: names joined by commas, in place of the default channels; empty for none.

    And `interval`, as every stream takes it.
    """

    channels: str | None = None

    def names(self, defaults: tuple[str, ...]) -> tuple[str, ...]:
        """The channels to subscribe on connect, each once.

        Args:
            defaults: the names to use if the parameter is left out.
        """
        if self.channels is None:
            return defaults
        return tuple(dict.fromkeys(name.strip() for name in self.channels.split(",") if name.strip()))


def social_stream(commands: Commands, channels: Channels) -> Stream:
    """Declare `GET /v1/social/live`.

    Args:
        commands: the commands that it understands.
        channels: what can be watched on it.
    """

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
        receives=commands.structs,
        shows=channels.described(),
        greets=True,
    )
    async def social_live(call: Call, socket: LiveSocket, query: SocialQuery) -> Listener:
        """Every channel over one socket: subscribe, unsubscribe, send, typing, read, ping.

        `hello` is sent first. Then the channels of `?channels=`, by default `friends`, `party` and `inbox`, are
        subscribed; one that is refused is answered with `unsubscribed`, and so are all that follow 20 which are not
        there or not for the user. Needs `social:chat.read`. Closes with 4400 on a message that is not of this protocol,
        4401 when the token ends, 4429 when commands keep coming after `RATE_LIMITED`, 4503 when the server stops.
        """
        socket.multiplexed = True
        service = call.service
        session = SocialSession(service, socket, call.user, commands)
        socket.send_nowait(
            frames.hello(
                socket.session_id,
                service.clock.now_ms(),
                heartbeat_ms=service.sockets.heartbeat_ms,
                limits=frames.SocketLimits(LIVE_COMMAND.quota, MAX_SUBSCRIPTIONS),
            )
        )
        await subscribe_all(session, query.names(service.channels.defaults))
        return session

    return social_live
