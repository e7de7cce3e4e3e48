"""Locate public addresses in a GeoIP database (service-api §2 GeoIP result, §4 IP).

The database is a file that operators replace now and then; `refresh` checks whether it has changed. While there is
none, or only one that cannot be used, lookups are refused and nothing else fails.
"""

from ipaddress import IPv6Address, ip_address
from pathlib import Path

import structlog

from actors.errors import GeoipUnavailable
from actors.in_thread import InThread
from persistence.ip.geo_file import GeoFile, Location, NotUsable, Stamp, open_geo_file, stamp_of

log = structlog.get_logger()

ADDRESS_MAX = 45
"""The length of the longest IPv6 address, in characters."""


def public_address(text: str) -> str | None:
    """The canonical form of an address that is reachable from the public Internet; None for any other text.

    IPv4 in IPv6 is unwrapped first, so that a private address does not pass in disguise. A zone (`%eth0`) is refused:
    it has a meaning on one machine only.
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
    """The GeoIP database in use.

    Args:
        path: the path of the file; None where none is configured.
        folder: the folder in which copies of the file are kept while it is open.
    """

    def __init__(self, path: Path | None, folder: Path) -> None:
        self._path = path
        self._folder = folder
        self._file: GeoFile | None = None
        self._stamp: Stamp | None = None
        self._has_looked = False

    def find(self, address: str) -> Location | None:
        """Look an address up; None when the database does not have it.

        Args:
            address: an IPv4 or IPv6 address, as `public_address` returns it.

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
        """Open the file if it has changed since the last call; returns whether a new one is in use.

        A file that is missing or unusable is logged once, and the previous one stays in use. To be called at the start,
        and now and then.

        Args:
            in_thread: runs the file system calls.
        """
        path = self._path
        if path is None:
            return False
        stamp = await in_thread(lambda: stamp_of(path))
        if self._has_looked and stamp == self._stamp:
            return False
        self._stamp, self._has_looked = stamp, True
        if stamp is None:
            log.warning("the GeoIP database is not there", path=str(path), in_use=self._file is not None)
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
        """Close the database; lookups are refused from then on."""
        if self._file is not None:
            self._file.close()
            self._file = None
