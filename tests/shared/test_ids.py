"""Ids and timestamps, as every layer has them."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.ids import is_object_id, is_uuid, new_object_id, new_uuid, parse_object_id, parse_uuid
from actors.time import LAST_MS, iso, iso_or_none, parse_iso


def test_object_id_leads_with_its_second() -> None:
    made = new_object_id(0x65F0A1B2 * 1000 + 999, Random(1).randbytes)
    assert made[:8] == "65f0a1b2"
    assert is_object_id(made)


def test_uuid_is_of_version_4() -> None:
    made = new_uuid(Random(1).randbytes)
    assert is_uuid(made)
    assert (made[14], made[19] in "89ab") == ("4", True)


@pytest.mark.parametrize("text", ["", "65f0", "65F0A1B2C3D4E5F601020304", "６5f0a1b2c3d4e5f601020304"])
def test_not_an_object_id(text: str) -> None:
    assert not is_object_id(text)


def test_ids_are_taken_in_lower_case() -> None:
    assert parse_object_id("65F0A1B2C3D4E5F601020304") == "65f0a1b2c3d4e5f601020304"
    assert parse_uuid("0B4F9A3E-1C2D-4E5F-8A9B-0C1D2E3F4A5B") == "0b4f9a3e-1c2d-4e5f-8a9b-0c1d2e3f4a5b"
    assert parse_object_id("x" * 24) is None
    assert parse_uuid("0b4f9a3e") is None


def test_times_are_written_with_milliseconds_and_read_with_any_zone() -> None:
    assert iso(1_795_231_234_123) == "2026-11-21T03:20:34.123Z"
    assert (iso(0), iso(-1)) == ("1970-01-01T00:00:00.000Z",) * 2
    assert iso(LAST_MS) == iso(LAST_MS + 1) == "9999-12-31T23:59:59.999Z"
    assert iso_or_none(None) is None
    assert parse_iso("2026-11-21T04:20:34.1239+01:00") == 1_795_231_234_123


@pytest.mark.parametrize("digits", range(3, 10))
def test_finer_fractions_are_cut_off(digits: int) -> None:
    """Java's and Go's clocks are written with up to nine digits."""
    fraction = "123999999"[:digits]
    assert parse_iso(f"2026-11-21T03:20:34.{fraction}Z") == 1_795_231_234_123


@given(st.integers(0, LAST_MS))
def test_timestamps_come_back(ms: int) -> None:
    assert parse_iso(iso(ms)) == ms


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-21",
        "2026-11-21T03:20:34",
        "2026-W47-6T03:20:34Z",
        "1969-12-31T23:59:59Z",
        "2026-13-01T00:00:00Z",
        "2026-11-21T03:20:34.1234567890Z",
    ],
)
def test_not_a_timestamp(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_iso(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-30T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:60Z",
        "2026-01-01T00:00:00+25:00",
    ],
)
def test_timestamps_that_there_are_not_are_refused_in_words(text: str) -> None:
    with pytest.raises(ValueError, match=r"^of a day, a time or a zone that does not exist$"):
        parse_iso(text)
