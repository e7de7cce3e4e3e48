"""A client of HTTP/2 that says each frame itself."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import h2.config
import h2.connection
import h2.events
import h2.settings
import trio

from tests.edge.certificate import Certificate
from tests.support.server import address_of
from tests.support.waiting import patience

ROOM_BYTES = 1 << 30
"""Window of a client that takes whatever comes."""


class Http2Client:
    """A client that says each frame itself."""

    def __init__(self, stream: trio.SSLStream[trio.SocketStream]) -> None:
        self._stream = stream
        lax = h2.config.H2Configuration(client_side=True, validate_outbound_headers=False)
        self.h2 = h2.connection.H2Connection(lax)
        self.h2.initiate_connection()
        self.h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: ROOM_BYTES})
        self.h2.increment_flow_control_window(ROOM_BYTES)

    async def flush(self) -> None:
        await self._stream.send_all(self.h2.data_to_send())

    async def ask(
        self, number: int, path: bytes, method: bytes = b"GET", more: Sequence[tuple[bytes, bytes]] = ()
    ) -> None:
        head = [(b":method", method), (b":scheme", b"https"), (b":authority", b"t"), (b":path", path)]
        self.h2.send_headers(number, [*head, *more], end_stream=True)
        await self.flush()

    async def say(self, frames: bytes) -> None:
        """Send frames as they are."""
        await self._stream.send_all(frames)

    async def hear_data(self) -> int:
        """How many bytes of responses come next."""
        with patience():
            heard = self.h2.receive_data(bytes(await self._stream.receive_some(1 << 20)))
        ended = [event for event in heard if isinstance(event, h2.events.ConnectionTerminated)]
        assert not ended, ended[0]
        return sum(len(event.data) for event in heard if isinstance(event, h2.events.DataReceived))

    async def narrow(self, window_bytes: int) -> None:
        """Take no more than so many bytes of each response."""
        self.h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window_bytes})
        await self.flush()

    async def hear(self, last: type[h2.events.Event] | None = None) -> list[h2.events.Event]:
        """All events up to the first of a sort, or to the end of the connection."""
        heard: list[h2.events.Event] = []
        with patience():
            while last is None or not any(isinstance(event, last) for event in heard):
                try:
                    data = await self._stream.receive_some(1 << 20)
                except trio.BrokenResourceError:
                    data = b""
                if not data:
                    assert last is None
                    return heard
                heard += self.h2.receive_data(bytes(data))
        return heard


@asynccontextmanager
async def connected(url: str, certificate: Certificate) -> AsyncIterator[Http2Client]:
    context = certificate.trusting()
    context.set_alpn_protocols(["h2"])
    stream = await trio.open_ssl_over_tcp_stream(*address_of(url), ssl_context=context, https_compatible=True)
    try:
        client = Http2Client(stream)
        await client.flush()
        yield client
    finally:
        await trio.aclose_forcefully(stream)
