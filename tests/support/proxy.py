"""A proxy before PostgreSQL that cuts connections, drops bytes and falls silent at chosen moments."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

import trio

_CHUNK_BYTES = 65_536

# Messages of PostgreSQL's protocol: a statement is prepared under a name, once in a connection, and then bound by it.
_PARSE = re.compile(rb"P....(__asyncpg_stmt_\w+__)\0([^\0]*)\0", re.DOTALL)
_BIND = re.compile(rb"B....\0(__asyncpg_stmt_\w+__)\0", re.DOTALL)


class Proxy:
    """Says what happens to bytes that pass; a test may change that at any time.

    Args:
        url: the proxy's address, for `open_database`.
        server_path: the Unix socket of PostgreSQL.
    """

    def __init__(self, url: str, server_path: str) -> None:
        self.url = url
        self._server_path = server_path
        self._cut_at: bytes | None = None
        self._answered = False
        self._after = b""
        self._held = trio.Event()
        self._keeps = False
        self._swallows = False
        self._late_at: bytes | None = None
        self._let_go = trio.Event()
        self._sendings_left: int | None = None

    def delay_at(self, text: bytes) -> None:
        """Once, when a client sends this text, end its connection, but keep the text for PostgreSQL until `let_go`."""
        self._late_at = text

    def let_go(self) -> None:
        """Send the delayed text to PostgreSQL, or the held answer to its client."""
        self._let_go.set()

    def cut_at(self, text: bytes, *, answered: bool, after: bytes = b"") -> None:
        """Once, when a client sends this text, end its connection: before PostgreSQL gets the text, or once that has
        answered.

        In neither case does the client hear an answer.

        Args:
            answered: whether PostgreSQL gets the text and answers.
            after: a text that the same connection must have sent before, from now on, in the same transaction; also
                as a statement that it had prepared already.
        """
        self._cut_at, self._answered, self._after = text, answered, after

    def hold_at(self, text: bytes, *, after: bytes) -> trio.Event:
        """Once, when a client sends this text, keep PostgreSQL's answer from it until `let_go`, and its connection
        open.

        Args:
            after: as for `cut_at`.

        Returns:
            An event that is set once PostgreSQL has answered.
        """
        self._held, self._keeps = trio.Event(), True
        self._cut_at, self._answered, self._after = text, True, after
        return self._held

    def swallow(self) -> None:
        """From now on nothing passes and nothing is closed, as if a cable had been pulled."""
        self._swallows = True

    def swallow_after(self, sendings: int) -> None:
        """Do as `swallow` does, once clients have sent something so many times."""
        self._sendings_left = sendings

    def heal(self) -> None:
        """Let what comes pass again; bytes that were swallowed stay lost."""
        self._swallows = False
        self._sendings_left = None

    async def serve(self, client: trio.SocketStream) -> None:
        """Carry one connection, until either side or a cut ends it."""
        server = await trio.open_unix_socket(self._server_path)
        is_cut = False
        said = b""
        prepared: dict[bytes, bytes] = {}  # {name of a statement: its text}
        async with client, server, trio.open_nursery() as nursery:

            async def to_server() -> None:
                nonlocal is_cut, said
                while data := await _receive(client):
                    if b"BEGIN" in data:  # what was sent before belongs to other transactions
                        said = b""
                    prepared.update(_PARSE.findall(data))
                    meant = data + b"".join(prepared.get(name, b"") for name in _BIND.findall(data))
                    said = said or (self._after if self._after in meant else b"")
                    if self._cut_at is not None and said == self._after and self._cut_at in data:
                        self._cut_at = None
                        if not self._answered:
                            break
                        is_cut = True
                    if self._late_at is not None and self._late_at in data:
                        self._late_at, is_cut = None, True
                        await client.aclose()
                        await self._let_go.wait()
                        await _send(server, data)
                        await trio.sleep_forever()  # the answer to it ends this connection
                    if self._sendings_left is not None:
                        self._sendings_left -= 1
                        self._swallows = self._swallows or self._sendings_left < 0
                    if not self._swallows:
                        await _send(server, data)
                nursery.cancel_scope.cancel()

            async def to_client() -> None:
                nonlocal is_cut
                while data := await _receive(server):
                    if is_cut and self._keeps:
                        self._held.set()
                        await self._let_go.wait()
                        is_cut = False
                    if is_cut:
                        break
                    if not self._swallows:
                        await _send(client, data)
                nursery.cancel_scope.cancel()

            nursery.start_soon(to_server)
            nursery.start_soon(to_client)


@asynccontextmanager
async def open_proxy(server_url: str) -> AsyncIterator[Proxy]:
    """A proxy on a port of 127.0.0.1.

    Args:
        server_url: the address of a PostgreSQL on a Unix socket.
    """
    parts = urlsplit(server_url)
    folder = parse_qs(parts.query)["host"][0]
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    proxy = Proxy(
        f"postgresql://partyline@127.0.0.1:{port}{parts.path}?sslmode=disable", f"{folder}/.s.PGSQL.5432"
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, proxy.serve, [listener])
        yield proxy
        nursery.cancel_scope.cancel()


async def _receive(stream: trio.SocketStream) -> bytes:
    try:
        return bytes(await stream.receive_some(_CHUNK_BYTES))
    except trio.BrokenResourceError:
        return b""


async def _send(stream: trio.SocketStream, data: bytes) -> None:
    try:
        await stream.send_all(data)
    except trio.BrokenResourceError:
        return
