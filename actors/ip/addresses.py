"""Where addresses are: which may be asked for, and the database that knows (service-api §2 GeoIP result, §4 IP).

The database is a file that somebody replaces now and then; `refresh` looks whether it has changed. While there is
none, or only one that cannot be used, nothing is known and nothing else fails.
"""

from collections.abc import Awaitable, Callable
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import Protocol, TypeVar

import structlog

from actors.errors import GeoipUnavailable
from persistence.ip.geo_file import GeoFile, Location, NotUsable, Stamp, open_geo_file, stamp_of

log = structlog.get_logger()

ADDRESS_MAX = 45
"""Characters of the longest IPv6 address."""

Result = TypeVar("Result")


class InThread(Protocol):
    """Runs something that blocks in a worker thread (`trio.to_thread.run_sync`)."""

    def __call__(self, blocking: Callable[[], Result], /) -> Awaitable[Result]:
        """What `blocking()` returns."""
        ...


def public_address(text: str) -> str | None:
    """An address that the whole Internet knows, in its canonical form; None for everything else.

    IPv4 in IPv6 is unwrapped first, so that a private address does not pass in disguise; a zone (`%eth0`) is a
    matter of one machine.
    """
    if len(text) > ADDRESS_MAX or "%" in text:
        return None
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return str(address) if address.is_global and not address.is_multicast else None


class Places:
    """The database in use.

    Args:
        path: of the file; None where none is configured.
        folder: for its copies.
    """

    def __init__(self, path: Path | None, folder: Path) -> None:
        self._path = path
        self._folder = folder
        self._file: GeoFile | None = None
        self._stamp: Stamp | None = None

    def find(self, address: str) -> Location | None:
        """Where the address is, or None when nothing is known of it.

        Args:
            address: IPv4 or IPv6.

        Raises:
            GeoipUnavailable: there is no database, or it is damaged.
        """
        if self._file is None:
            raise GeoipUnavailable
        try:
            return self._file.find(address)
        except NotUsable as fault:
            raise GeoipUnavailable from fault

    async def refresh(self, in_thread: InThread) -> bool:
        """Take the file if it is another one than last time; returns whether it was taken.

        One that cannot be used is said so once, and what was there before stays in use. To be called at the start,
        and now and then.
        """
        path = self._path
        if path is None:
            return False
        stamp = await in_thread(lambda: stamp_of(path))
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        if stamp is None:
            log.warning("the GeoIP database is gone", path=str(path), in_use=self._file is not None)
            return False
        try:
            fresh = await in_thread(lambda: open_geo_file(path, self._folder))
        except NotUsable as fault:
            log.warning("the GeoIP database cannot be used", reason=str(fault), in_use=self._file is not None)
            return False
        former, self._file = self._file, fresh
        if former is not None:
            former.close()
        return True

    def close(self) -> None:
        """Let go of the database."""
        if self._file is not None:
            self._file.close()
            self._file = None
