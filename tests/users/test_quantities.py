"""Rules: units and their aliases (service-api §2, contract §8 Units)."""

import pytest

from actors.errors import Invalid
from actors.users.quantities import ALIASES, QUANTITY_MAX, UNITS, Quantity, listed_unit
from actors.users.units_rights import quantity_of


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        *(("kb", "kib"), ("MB", "mib"), ("Gb", "gib"), ("tb", "tib"), ("GiB", "gib"), ("byte", "bytes")),
        *(("s", "seconds"), ("sec", "seconds"), ("min", "minutes"), ("h", "hours"), ("d", "days")),
        *(("y", "years"), ("hour", "hours"), ("YEARS", "years"), ("msgs", "messages"), (" count ", "count")),
        *(("parsec", None), ("", None), ("m", None)),
    ],
)
def test_spellings_of_a_unit_are_one_unit(text, unit):
    assert listed_unit(text) == unit


def test_every_listed_unit_means_itself():
    assert {unit: ALIASES[unit] for unit in UNITS} == {unit: unit for unit in UNITS}
    assert set(ALIASES.values()) == set(UNITS)


@pytest.mark.parametrize(
    ("quantity", "base", "number"),
    [
        (Quantity(2.0, "gib"), 2 << 30, 2),
        (Quantity(1.5, "kib"), 1536, 1.5),
        (Quantity(1.5, "minutes"), 90, 1.5),
        (Quantity(30.0, "messages"), 30, 30),
        (Quantity(7.0), 7, 7),
    ],
)
def test_a_quantity_is_converted_to_its_base_unit(quantity, base, number):
    assert (quantity.in_base_unit, quantity.number) == (base, number)
    assert isinstance(quantity.number, int) is (number == int(number))


@pytest.mark.parametrize(
    ("node", "value", "unit", "pointer"),
    [
        ("a:b", -1, None, "/value"),
        ("a:b", QUANTITY_MAX + 1, None, "/value"),
        ("a:b", 1e300, "gb", "/value/value"),
        ("a:b", float("nan"), None, "/value"),
        ("a:b", 1, "parsec", "/value/unit"),
        ("social:friends.max", 1, "gb", "/value/unit"),
        ("profile-share.max", 1, "messages", "/value/unit"),
        ("social:chat.send", 1, "hours", "/value/unit"),
    ],
)
def test_a_quantity_that_does_not_fit_its_node_is_refused(node, value, unit, pointer):
    with pytest.raises(Invalid) as refused:
        quantity_of(node, value, unit)
    assert [error.pointer for error in refused.value.errors] == [pointer]


@pytest.mark.parametrize(
    ("node", "value", "unit", "kept"),
    [
        ("a:b", 0, None, Quantity(0.0)),
        ("a:b", 10, "gb", Quantity(10.0, "gib")),
        ("social:friends.max", 500, "Counts", Quantity(500.0, "count")),
        ("social:friends.max", 500, None, Quantity(500.0)),
        ("social:chat.send", 30, "msgs", Quantity(30.0, "messages")),
        ("a:b", QUANTITY_MAX, "bytes", Quantity(float(QUANTITY_MAX), "bytes")),
    ],
)
def test_a_quantity_is_kept_in_the_unit_that_was_given(node, value, unit, kept):
    assert quantity_of(node, value, unit) == kept
