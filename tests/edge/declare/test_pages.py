"""Cursors come back as they went out; whatever else is sent as one is refused, and nothing else is raised."""

from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routes.edge.declare.pages import MAX_CHARACTERS, Cursor
from routes.edge.errors import BadQuery
from routes.edge.identity.base64url import to_base64url


class Place(msgspec.Struct, frozen=True, array_like=True):
    """A place with names."""

    number: int
    name: str
    id: str


NUMBERS = Cursor("numbers", int)
NAMES = Cursor("names", str)
PAIRS = Cursor("pairs", tuple[int, str])
PLACES = Cursor("places", Place)

number = st.integers(-(2**63), 2**63 - 1)
name = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=100)


def packed(cursor: str, value: object) -> str:
    """A cursor as if this value were its place."""
    return f"{cursor}.{to_base64url(msgspec.msgpack.encode(value))}"


def refusal(cursor: Cursor[Any], text: str) -> BadQuery:
    with pytest.raises(BadQuery) as caught:
        cursor.place(text)
    return caught.value


def test_no_cursor_is_the_first_page():
    assert NUMBERS.place(None) is None


@given(number)
def test_a_number_comes_back(value: int):
    assert NUMBERS.place(NUMBERS.text(value)) == value


@given(number, name)
def test_places_come_back_in_one_spelling_that_an_address_takes_as_it_is(at: int, called: str):
    for cursor, place in ((NAMES, called), (PAIRS, (at, called)), (PLACES, Place(at, called, "f" * 24))):
        text = cursor.text(place)  # type: ignore[arg-type]
        assert cursor.place(text) == place
        assert text == cursor.text(place) == quote(text, safe="")  # type: ignore[arg-type]


def test_the_longest_name_fits():
    place = Place(2**62, "\U0001f600" * 100, "f" * 24)
    assert Cursor("servers-players", Place).place(Cursor("servers-players", Place).text(place)) == place


@pytest.mark.parametrize(
    "text", ["", ".", "x", "numbers", "numbers.", "numbers.x", "numbers.AQ==", "numbers.A Q"]
)
def test_other_texts_are_refused_and_named(text: str):
    refused = refusal(NUMBERS, text)
    assert (refused.code, refused.status_hint, refused.meta) == ("BAD_QUERY", 400, {"parameter": "cursor"})
    assert refused.message.endswith(
        "begin again without it"
    )  # as a client that kept it through an update has to
    assert refused.__suppress_context__


@given(st.text(max_size=50))
def test_nothing_but_the_refusal_is_raised(text: str):
    for one in (text, f"pairs.{text}"):
        refusal(PAIRS, one)


@given(st.binary(max_size=60))
def test_bytes_that_are_no_place_are_refused(raw: bytes):
    text = f"places.{to_base64url(raw)}"
    try:
        place = PLACES.place(text)
    except BadQuery:
        return
    assert place is not None
    assert PLACES.text(place) == text


@pytest.mark.parametrize("digits", ["1", "²", "١", "1" * 5_000, "-1", "1e9"])
def test_digits_are_no_numbers(digits: str):
    refusal(NUMBERS, digits)
    refusal(NUMBERS, f"numbers.{digits}")


@pytest.mark.parametrize("value", [2**63, 1.0, True, None, "1", [1], b"\1"])
def test_a_number_is_one_that_postgresql_holds(value: object):
    refusal(NUMBERS, packed("numbers", value))


@pytest.mark.parametrize("value", [[], [1], ["a", 1], [1, "a", "a"], [1, "a\0"], [2**63, "a"], {"0": 1}, 1])
def test_a_place_has_the_parts_of_its_type(value: object):
    refusal(PAIRS, packed("pairs", value))


@pytest.mark.parametrize(
    "raw", [b"\xcc\x01", b"\xd3" + bytes(7) + b"\x01", b"\x01\x01", b"\xc1", b"\xa1\xff"]
)
def test_another_spelling_of_a_place_is_refused(raw: bytes):
    """Longer forms of a number, more after it, and what MessagePack does not know."""
    refusal(NUMBERS, f"numbers.{to_base64url(raw)}")
    refusal(NAMES, f"names.{to_base64url(raw)}")


def test_a_long_text_is_refused_before_it_is_read():
    longest = "n" * 460
    text = NAMES.text(longest)
    assert len(text) <= MAX_CHARACTERS
    assert NAMES.place(text) == longest
    refusal(NAMES, NAMES.text("n" * 480))


def test_a_cursor_is_good_for_its_own_list():
    refusal(Cursor("number", int), NUMBERS.text(1))
    refusal(Cursor("others", int), NUMBERS.text(1))


@given(st.lists(number, max_size=6), st.integers(1, 6))
def test_pages_are_the_rows_and_the_cursor_behind_the_last(rows: list[int], size: int):
    page = NUMBERS.page(rows[: size + 1], size, lambda row: row)
    assert list(page.rows) == rows[:size]
    assert page.has_more is (len(rows) > size) is (page.next_cursor is not None)
    assert NUMBERS.place(page.next_cursor) == (rows[size - 1] if page.has_more else None)
