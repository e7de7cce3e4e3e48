"""The GeoIP database: a file of MaxMind's format that operators replace while the service runs.

The file is never read in place. It is copied first, and the copy, which has no name, is mapped: overwriting a mapped
file would end the process (a mapped page beyond a truncated end is a SIGBUS). Everything here blocks but `find`,
which reads memory alone.
"""

import shutil
import tempfile
from pathlib import Path

import msgspec
from geoip2.database import Reader
from geoip2.errors import AddressNotFoundError
from geoip2.models import City, Country
from maxminddb import InvalidDatabaseError


class NotUsable(Exception):
    """The file is missing, half-written, or no database of cities or countries; the message is one line."""


class Stamp(msgspec.Struct, frozen=True):
    """What tells one version of a file from another: it differs after each change.

    Args:
        inode: changes when the file is replaced.
        changed_ns: changes when it is written.
        size_bytes: the file's size.
    """

    inode: int
    changed_ns: int
    size_bytes: int


class Location(msgspec.Struct, frozen=True):
    """Where an IP address is; a field is None where the database does not say it.

    Args:
        country: the country's English name; `region`, `city` and `continent` are English names too.
        country_iso: two letters, ISO 3166-1.
        region: the largest part of the country.
        zip: postal code.
        timezone: as in the IANA database.
        lat, lon: latitude and longitude in degrees.
    """

    country: str | None = None
    country_iso: str | None = None
    region: str | None = None
    city: str | None = None
    zip: str | None = None
    timezone: str | None = None
    continent: str | None = None
    lat: float | None = None
    lon: float | None = None


class GeoFile:
    """An open GeoIP database.

    Args:
        reader: reads the copy of the file.
        has_cities: whether the database has cities, not only countries.

    Attributes:
        built_at_seconds: when the database was built, epoch seconds.
    """

    def __init__(self, reader: Reader, *, has_cities: bool) -> None:
        self.built_at_seconds = reader.metadata().build_epoch
        self._reader = reader
        self._has_cities = has_cities

    def find(self, address: str) -> Location | None:
        """Look an address up; None when the database does not have it.

        Args:
            address: an IPv4 or IPv6 address as text.

        Raises:
            NotUsable: the database is damaged.
        """
        try:
            if self._has_cities:
                return _place_in_city(self._reader.city(address))
            return _place_in_country(self._reader.country(address))
        except (AddressNotFoundError, ValueError):
            return None  # ValueError: no address at all, or IPv6 in a database of IPv4
        except InvalidDatabaseError as fault:
            raise NotUsable("the GeoIP database is damaged") from fault

    def close(self) -> None:
        """Release the copy; no call of `find` may be running."""
        self._reader.close()


def stamp_of(path: Path) -> Stamp | None:
    """The present stamp of a file, or None when the file does not exist."""
    try:
        state = path.stat()
    except OSError:
        return None
    return Stamp(state.st_ino, state.st_mtime_ns, state.st_size)


def open_geo_file(path: Path, folder: Path) -> GeoFile:
    """Copy a database and open the copy.

    Args:
        path: the database's file.
        folder: where the copy is made; it is unlinked at once and vanishes with the process.

    Raises:
        NotUsable: there is no such file, it changes while it is copied, or it is no database of cities or countries.
    """
    before = stamp_of(path)
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix="geoip-", suffix=".mmdb") as copy:
            with path.open("rb") as file:
                shutil.copyfileobj(file, copy, 1 << 20)
            copy.flush()
            if before is None or stamp_of(path) != before:
                raise NotUsable(f"{path} is being written")
            reader = Reader(copy.name)
    except OSError as fault:
        raise NotUsable(f"{path}: {fault.strerror}") from fault
    except (InvalidDatabaseError, UnicodeDecodeError) as fault:
        raise NotUsable(f"{path} is no database of MaxMind's format") from fault
    kind = reader.metadata().database_type
    if not any(word in kind for word in ("City", "Country")):
        reader.close()
        raise NotUsable(f"{path} is of kind {kind}, neither cities nor countries")
    return GeoFile(reader, has_cities="City" in kind)


def _place_in_city(found: City) -> Location:
    return Location(
        country=found.country.name,
        country_iso=found.country.iso_code,
        region=found.subdivisions[0].name if found.subdivisions else None,
        city=found.city.name,
        zip=found.postal.code,
        timezone=found.location.time_zone,
        continent=found.continent.name,
        lat=found.location.latitude,
        lon=found.location.longitude,
    )


def _place_in_country(found: Country) -> Location:
    return Location(
        country=found.country.name, country_iso=found.country.iso_code, continent=found.continent.name
    )
