"""Over the wire: a client that has finished sending and still reads, as our server alone can tell."""

from urllib.parse import urlsplit

import trio

from routes.connect.waiters import WAITERS
from tests.connect.play import claimed
from tests.support.waiting import patience, wait_until
from tests.support.world import World


async def test_a_poll_that_has_finished_sending_is_answered_without_commands(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    parts = urlsplit(world.url)
    assert parts.hostname is not None and parts.port is not None

    async def waits() -> bool:
        return any(one.of(WAITERS).waiting(server.id) for one in world.services)

    async with await trio.open_tcp_stream(parts.hostname, parts.port) as stream:
        await stream.send_all(
            f"GET {server.path}/commands?wait=20 HTTP/1.1\r\nhost: {parts.netloc}\r\n"
            f"authorization: Bearer {server.secret}\r\nx-server-id: {server.id}\r\n\r\n".encode()
        )
        await wait_until(waits)
        await stream.send_eof()
        answer = b""
        with patience():
            async for piece in stream:
                answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert body == b'{"items":[],"nextCursor":null,"hasMore":false}'
