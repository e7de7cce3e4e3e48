"""Which game servers listen for commands: they have a stream open, or have asked for commands a moment ago."""

from collections.abc import Callable

ASKED_MS = 60_000
"""How long a server counts as listening after it has asked: twice the longest wait of a poll."""


class Listening:
    """The servers that listen. Followers hear at once of each change, but by `sweep` of servers that stop asking."""

    def __init__(self) -> None:
        self._streams: dict[str, int] = {}  # {server id: its open streams that take commands}
        self._asked: dict[
            str, int
        ] = {}  # {server id: when it last asked, epoch milliseconds}, longest ago first
        self._followers: list[Callable[[str], None]] = []

    def follow(self, follower: Callable[[str], None]) -> None:
        """From now on call this with the id of each server that begins or ceases to listen. It must neither wait nor
        raise."""
        self._followers.append(follower)

    def listens(self, server_id: str) -> bool:
        """Whether the server listens."""
        return server_id in self._asked or server_id in self._streams

    def opened(self, server_id: str) -> None:
        """Note that a stream of the server is open; call `closed` once for each."""
        before = self.listens(server_id)
        self._streams[server_id] = self._streams.get(server_id, 0) + 1
        self._tell(server_id, before)

    def closed(self, server_id: str) -> None:
        """Note that a stream of the server was closed."""
        before = self.listens(server_id)
        left = self._streams.pop(server_id) - 1
        if left:
            self._streams[server_id] = left
        self._tell(server_id, before)

    def asked(self, server_id: str, now_ms: int) -> None:
        """Note that the server asks for commands."""
        before = self._asked.pop(server_id, None)
        self._asked[server_id] = now_ms
        if before is None:
            self._tell(server_id, server_id in self._streams)

    def sweep(self, now_ms: int) -> None:
        """Forget the servers that have not asked for a while; to be called every few seconds."""
        while self._asked:
            server_id, at_ms = next(iter(self._asked.items()))
            if at_ms + ASKED_MS > now_ms:
                return
            del self._asked[server_id]
            self._tell(server_id, before=True)

    def _tell(self, server_id: str, before: bool) -> None:
        if self.listens(server_id) is not before:
            for follower in self._followers:
                follower(server_id)
