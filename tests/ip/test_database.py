"""The GeoIP database: opened, replaced, damaged, gone."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from structlog.testing import capture_logs

from actors.errors import GeoipUnavailable
from actors.ip.addresses import Places
from persistence.ip.geo_file import NotUsable, open_geo_file
from tests.ip import databases

Result = TypeVar("Result")


async def at_once(blocking: Callable[[], Result]) -> Result:
    return blocking()


def city_of(places: Places) -> str | None:
    place = places.find("81.2.69.142")
    return None if place is None else place.city


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


async def test_a_file_that_is_replaced_is_taken(tmp_path: Path):
    path = tmp_path / "geo.mmdb"
    places = Places(path, tmp_path)
    assert not await places.refresh(at_once)
    with pytest.raises(GeoipUnavailable):
        places.find("81.2.69.142")
    databases.write(path)
    assert await places.refresh(at_once)
    assert not await places.refresh(at_once)
    assert city_of(places) == "London"
    databases.write(path, city="Paris")
    assert city_of(places) == "London"
    assert await places.refresh(at_once)
    assert city_of(places) == "Paris"
    assert names_in(tmp_path) == ["geo.mmdb"]
    places.close()
    with pytest.raises(GeoipUnavailable):
        city_of(places)


async def test_one_that_was_never_there_is_said_once(tmp_path: Path):
    """A mistake in the setting is seen at the start, not by the first user who is refused."""
    places = Places(tmp_path / "gep.mmdb", tmp_path)
    with capture_logs() as logs:
        for _ in range(2):
            assert not await places.refresh(at_once)
    [said] = logs
    assert (said["event"], said["path"]) == ("the GeoIP database is not there", str(tmp_path / "gep.mmdb"))
    with capture_logs() as logs:
        assert not await Places(None, tmp_path).refresh(at_once)
    assert logs == []


@pytest.mark.parametrize("content", [b"", b"nonsense" * 1000, None])
async def test_one_that_cannot_be_used_changes_nothing(tmp_path: Path, content: bytes | None):
    path = tmp_path / "geo.mmdb"
    databases.write(path)
    places = Places(path, tmp_path)
    await places.refresh(at_once)
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)  # in place, as a careless copy would
    assert city_of(places) == "London"
    assert not await places.refresh(at_once)
    assert city_of(places) == "London"
    databases.write(path, city="Rome")
    assert await places.refresh(at_once)
    assert city_of(places) == "Rome"
    places.close()


async def test_a_half_of_a_database_ends_nobody(tmp_path: Path):
    path = tmp_path / "geo.mmdb"
    databases.write(path)
    whole = path.read_bytes()
    for size in range(0, len(whole), 97):
        path.write_bytes(whole[:size])
        with pytest.raises(NotUsable):
            open_geo_file(path, tmp_path)
    for at in range(0, len(whole), 61):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            file = open_geo_file(path, tmp_path)
        except NotUsable:
            continue
        try:
            file.find("81.2.69.142")
            file.find("2a02:cf40::1")
        except NotUsable:
            pass
        finally:
            file.close()


def test_countries_alone_will_do(tmp_path: Path):
    path = tmp_path / "geo.mmdb"
    databases.write(path, kind="Test-Country")
    file = open_geo_file(path, tmp_path)
    place = file.find("81.2.69.142")
    assert place is not None
    assert (place.country_iso, place.continent, place.city) == ("GB", "Europe", None)
    assert file.find("8.8.8.8") is None
    assert file.find("unknown") is None
    file.close()


def test_other_kinds_are_refused(tmp_path: Path):
    path = tmp_path / "geo.mmdb"
    databases.write(path, kind="Test-ASN")
    with pytest.raises(NotUsable, match="neither cities nor countries"):
        open_geo_file(path, tmp_path)
