"""Which game servers listen for commands: they have a stream open, or have asked for commands a moment ago."""

from collections.abc import Callable

ASKED_MS = 60_000
"""How long a server counts as listening after it has asked: twice the longest wait of a poll."""


class Listening:
    """The servers that listen. Followers are told at once of each change; that a server has stopped asking is found by
    `sweep`.

    Attributes:
        streams: counts for each server its open streams here that take commands.
        elsewhere: counts for each server the other nodes on which it listens.
        streams_elsewhere: counts for each server the other nodes on which it has such streams open.
    """

    def __init__(self) -> None:
        self.streams = Counted(self._changing)
        self.elsewhere = Counted(self._changing)
        self.streams_elsewhere = Counted(lambda _server_id, change: change())
        # {server id: when it last asked, epoch milliseconds}, longest ago first
        self._asked: dict[str, int] = {}
        self._followers: list[Callable[[str], None]] = []
        self._own_followers: list[Callable[[str], None]] = []

    def follow(self, follower: Callable[[str], None]) -> None:
        """Have `follower` called from now on with the id of each server that begins or ceases to listen, on any node.
        It must neither wait nor raise."""
        self._followers.append(follower)

    def follow_own(self, follower: Callable[[str], None]) -> None:
        """As `follow`, for servers that begin or cease to listen on this node."""
        self._own_followers.append(follower)

    def listens(self, server_id: str) -> bool:
        """Whether the server listens, on whatever node."""
        return self.listens_here(server_id) or server_id in self.elsewhere

    def listens_here(self, server_id: str) -> bool:
        """Whether the server listens on this node."""
        return server_id in self._asked or server_id in self.streams

    def asked(self, server_id: str, now_ms: int) -> None:
        """Note that the server asks for commands at `now_ms`, epoch milliseconds."""

        def ask() -> None:
            self._asked.pop(server_id, None)
            self._asked[server_id] = now_ms

        self._changing(server_id, ask)

    def sweep(self, now_ms: int) -> None:
        """Forget the servers that have not asked for a while; to be called every few seconds."""
        while self._asked:
            server_id, at_ms = next(iter(self._asked.items()))
            if at_ms + ASKED_MS > now_ms:
                return
            self._changing(server_id, self._forget_oldest)

    def _forget_oldest(self) -> None:
        del self._asked[next(iter(self._asked))]

    def _changing(self, server_id: str, change: Callable[[], None]) -> None:
        """Make a change of a server, and tell followers if it begins or ceases to listen by it."""
        here, anywhere = self.listens_here(server_id), self.listens(server_id)
        change()
        if self.listens_here(server_id) is not here:
            for follower in self._own_followers:
                follower(server_id)
        if self.listens(server_id) is not anywhere:
            for follower in self._followers:
                follower(server_id)


class Counted:
    """Counts for each server how many things, such as streams, were opened and not closed.

    Args:
        changing: called with a server's id and a function that makes the change; it has to call that function.
    """

    def __init__(self, changing: Callable[[str, Callable[[], None]], None]) -> None:
        self._counts: dict[str, int] = {}
        self._changing = changing

    def __contains__(self, server_id: str) -> bool:
        return server_id in self._counts

    def opened(self, server_id: str, _since_ms: int = 0) -> None:
        """Count one more; call `closed` once for each."""

        def open_one() -> None:
            self._counts[server_id] = self._counts.get(server_id, 0) + 1

        self._changing(server_id, open_one)

    def closed(self, server_id: str, _at_ms: int = 0) -> None:
        """Count one less."""

        def close_one() -> None:
            left = self._counts.pop(server_id) - 1
            if left:
                self._counts[server_id] = left

        self._changing(server_id, close_one)
