"""A socket of one user that only listens: each message goes to a ledger."""

import socket
from typing import Protocol, Self

from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.websocket import WebSocket, upgrade


class Ledger(Protocol):
    """Counts what stream clients are shown."""

    def heard(self, user: int, payload: bytes) -> None:
        """A message has arrived at a user's socket."""

    def lost(self, why: str) -> None:
        """A user's socket has ended without our closing it."""


class StreamClient(WebSocket):
    """An open socket that only listens.

    Args:
        user: the number of the user.
        ledger: told of every message.
    """

    def __init__(
        self, loop: EventLoop, sock: socket.socket, rest: bytes, *, user: int, ledger: Ledger
    ) -> None:
        self.user, self.ledger = user, ledger
        super().__init__(loop, sock, rest)

    @classmethod
    async def open(
        cls,
        loop: EventLoop,
        address: tuple[str, int],
        host: str,
        target: str,
        token: str,
        *,
        user: int,
        ledger: Ledger,
        server_id: str = "",
    ) -> Self:
        """Connect and upgrade; a game server names itself by `server_id`.

        Raises:
            UpgradeRefused, OSError: the server does not let the client in.
        """
        sock, rest = await upgrade(address, host, target, token, server_id=server_id)
        return cls(loop, sock, rest, user=user, ledger=ledger)

    def message(self, payload: bytes) -> None:
        """Pass a message on to the ledger."""
        self.ledger.heard(self.user, payload)

    def lost(self, why: str) -> None:
        """Tell the ledger of the end, unless we have closed the socket."""
        if why != "done":
            self.ledger.lost(why)
