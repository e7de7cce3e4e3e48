"""GeoIP databases for tests, made here."""

from pathlib import Path
from typing import Any

from mmdb_writer import MMDBWriter
from netaddr import IPSet

LONDON = {
    "city": {"names": {"en": "London"}},
    "continent": {"code": "EU", "names": {"en": "Europe"}},
    "country": {"iso_code": "GB", "names": {"en": "United Kingdom"}},
    "location": {"latitude": 51.5, "longitude": -0.125, "time_zone": "Europe/London"},
    "postal": {"code": "OX1"},
    "subdivisions": [{"names": {"en": "England"}}],
}
SPARSE = {"country": {"iso_code": "SE"}}


def write(path: Path, *, city: str = "London", kind: str = "Test-City-Lite") -> None:
    """Write a database that knows 81.2.69.0/24 and 2a02:cf40::/29 as a city, 89.160.20.0/24 as a country."""
    writer = MMDBWriter(ip_version=6, ipv4_compatible=True, database_type=kind, languages=["en"])
    there: dict[str, Any] = LONDON | {"city": {"names": {"en": city}}}
    writer.insert_network(IPSet(["81.2.69.0/24", "2a02:cf40::/29"]), there)
    writer.insert_network(IPSet(["89.160.20.0/24"]), SPARSE)
    beside = path.with_suffix(".new")
    writer.to_db_file(str(beside))
    beside.rename(path)
