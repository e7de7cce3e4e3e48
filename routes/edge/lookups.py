"""Looks up the names of other servers in threads of their own, apart from the pool that everything else shares.

A lookup whose DNS server is silent keeps its thread for up to half a minute, long after whoever asked has given up. In
trio's own threads, of which there are 40, a few dozen requests to one such name would hold up lookups of all other
names, and the files that users download. So each name has threads of its own, and few.
"""

import socket
from functools import partial
from typing import Any

import trio

AT_ONCE = 4
"""Most lookups of one name at the same time; further ones wait."""


class Lookups(trio.abc.HostnameResolver):
    """The system's lookups, as trio asks for them once `use` was called.

    Names with lookups under way are remembered, so they must not be chosen by strangers.
    """

    def __init__(self) -> None:
        self._names: dict[bytes | None, trio.CapacityLimiter] = {}

    def __len__(self) -> int:
        """How many names are remembered."""
        return len(self._names)

    def use(self) -> None:
        """Make all lookups of this run of trio so from now on."""
        trio.socket.set_custom_hostname_resolver(self)

    async def getaddrinfo(self, host: bytes | None, port: bytes | str | int | None, *options: int) -> Any:
        """As `socket.getaddrinfo`. Cancellation leaves the lookup to its thread.

        Args:
            host: the name in A-labels; addresses come here only where the system cannot read them.
            port, options: as for `socket.getaddrinfo`.

        Raises:
            OSError: the name has no addresses, or DNS does not answer.
        """
        self._forget_idle()
        limiter = self._names.setdefault(host, trio.CapacityLimiter(AT_ONCE))
        ask = partial(socket.getaddrinfo, host, port, *options)
        return await trio.to_thread.run_sync(ask, abandon_on_cancel=True, limiter=limiter)

    async def getnameinfo(
        self, sockaddr: tuple[str, int] | tuple[str, int, int, int], flags: int
    ) -> tuple[str, str]:
        """As `socket.getnameinfo`, which the service never asks for. Cancellation leaves it to its thread.

        Args:
            sockaddr, flags: as for `socket.getnameinfo`.

        Raises:
            OSError: DNS does not answer.
        """
        return await trio.to_thread.run_sync(socket.getnameinfo, sockaddr, flags, abandon_on_cancel=True)

    def _forget_idle(self) -> None:
        for name, limiter in tuple(self._names.items()):
            if not limiter.borrowed_tokens and not limiter.statistics().tasks_waiting:
                del self._names[name]
