"""Schemas of settings and actions: what each type takes, and what a schema may not be."""

from typing import Any

import msgspec
import pytest

from actors.connect.extensions import (
    NO_SCHEMA,
    Action,
    action_faults,
    find_action,
    fitted_payload,
    is_extension_id,
    registered,
    schema_texts,
)
from actors.connect.schemas import MAX_ITEMS, MAX_OPTIONS, Field, Schema, faults, fitted, misfits
from actors.errors import Invalid
from persistence.connect.rows import RegistrationRow
from tests.support.cost import cpu_seconds

RIGHT, TYPE, RANGE, VALUE, MANY = None, "WRONG_TYPE", "OUT_OF_RANGE", "UNKNOWN_VALUE", "TOO_MANY"


def _field(type: str, key: str = "k", **more: Any) -> Field:
    return msgspec.convert({"key": key, "type": type, **more}, Field)


def _registered(actions: bytes, id: str = "e") -> RegistrationRow:
    return RegistrationRow(
        server_id="s",
        extension_id=id,
        name=id,
        description="",
        version=1,
        actions=actions,
        registered_at_ms=0,
        last_seen_at_ms=0,
    )


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        (_field("bool"), True, RIGHT),
        (_field("bool"), 1, TYPE),
        (_field("int"), 1, RIGHT),
        (_field("int"), True, TYPE),
        (_field("int"), 1.0, TYPE),
        (_field("int", min=2), 1, RANGE),
        (_field("int", max=2), 3, RANGE),
        (_field("int", options=[1, 2]), 2, RIGHT),
        (_field("int", options=[0, 2]), 1, VALUE),
        (_field("number"), 1.5, RIGHT),
        (_field("number"), "1", TYPE),
        (_field("string"), "", RIGHT),
        (_field("string"), 1, TYPE),
        (_field("string", min=1), "", RANGE),
        (_field("string", max=2), "abc", RANGE),
        (_field("string", options=["a"]), "b", VALUE),
        (_field("enum", options=["a", 1]), "a", RIGHT),
        (_field("enum", options=["a", 1]), True, VALUE),
        (_field("enum", options=["a", 1]), ["a"], TYPE),
        (_field("list"), [1, "a", True], RIGHT),
        (_field("list"), "a", TYPE),
        (_field("list"), [[]], TYPE),
        (_field("list"), [1] * 1_000, RIGHT),
        (_field("list"), [1] * 1_001, MANY),
        (_field("list", max=1), [1, 2], RANGE),
        (_field("list", options=["a"]), ["a", "b"], VALUE),
        (_field("list", options=[True, 0]), [True, 0.0, True], RIGHT),
        (_field("list", options=[True, 0]), [True, False], VALUE),
        (_field("list", options=[True, "a"]), [1], VALUE),
        (_field("list", options=[1, "a"]), ["a", 1, True], VALUE),
        (_field("list", options=["a"]), ["a", None], TYPE),
        (_field("secret"), "x", RIGHT),
        (_field("secret"), 1, TYPE),
        (_field("secret", min=2), "x", RANGE),
        (_field("secret"), None, RIGHT),
        (_field("bool", required=True), None, "REQUIRED"),
    ],
)
def test_a_value_must_have_the_type_and_range_of_its_field(field: Field, value: Any, code: str | None):
    found = [error.code for error in misfits({"k": value}, Schema((field,)), "/data")]
    assert found == ([] if code is None else [code])


def test_defaults_take_the_place_of_what_is_absent():
    schema = Schema((_field("int", default=3, required=True),))
    for values in ({}, {"k": None}):
        filled = fitted(values, schema)
        assert filled == {"k": 3}
        assert not list(misfits(filled, schema, "/data"))


def test_pointers_are_escaped():
    schema = Schema((msgspec.convert({"key": "a/b~c", "type": "bool"}, Field),))
    (error,) = misfits({"a/b~c": 1}, schema, "/data")
    assert error.pointer == "/data/a~1b~0c"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ((_field("enum"),), "REQUIRED"),
        ((_field("int"), _field("int")), "DUPLICATE"),
        ((_field("int", min=2, max=1),), RANGE),
        ((_field("int", default="a"),), TYPE),
        ((_field("secret", default="a"),), "NOT_ALLOWED"),
    ],
)
def test_what_a_schema_may_not_be(fields: tuple[Field, ...], code: str):
    assert [error.code for error in faults(Schema(fields), "/schema")] == [code]
    assert not list(faults(Schema((_field("int", default=1),)), "/schema"))


@pytest.mark.parametrize(
    ("id", "valid"),
    [
        ("a", True),
        ("my-shop.v2_x", True),
        ("a" * 64, True),
        ("a" * 65, False),
        ("..", False),
        ("a..b", False),
        ("connect", False),
    ]
    + [
        (id, False) for id in ("", "A", "-a", "a-", "a/b", "a b", "ä", "a\n", "а")
    ],  # the last one is Cyrillic
)
def test_extension_ids_are_dotted_names_of_ascii(id: str, valid: bool):
    assert is_extension_id(id) is valid


def test_an_action_is_found_where_it_is_the_only_one():
    def registration(id: str, *actions: str) -> RegistrationRow:
        return _registered(msgspec.json.encode([{"id": action} for action in actions]), id)

    known = registered((registration("a", "x", "y"), registration("b", "y")))
    assert find_action(known, "x", None) == ("a", NO_SCHEMA)
    assert find_action(known, "y", "b") == ("b", NO_SCHEMA)
    assert find_action(known, "z", None) is None
    for action, extension in (("y", None), ("x", "b"), ("x", "c")):
        with pytest.raises(Invalid):
            find_action(known, action, extension)
    (error,) = action_faults((Action("x"), Action("x")))
    assert error.code == "DUPLICATE"


@pytest.mark.parametrize(
    ("value", "fits"), [(1, True), (1.0, True), (True, False), ("1", False), (2, True), (False, False)]
)
def test_options_tell_truth_values_from_numbers_and_numbers_from_texts(value: Any, fits: bool):
    for field, given in (
        (_field("enum", options=[1, 2.0]), value),
        (_field("list", options=[1, 2.0]), [value]),
    ):
        assert list(misfits({"k": given}, Schema((field,)), "/data")) is not fits


def _lists(count: int, options: int, **more: Any) -> Schema:
    """Lists of which every item is the last option of so many."""
    chosen = list(range(MAX_OPTIONS - options, MAX_OPTIONS))
    return Schema(tuple(_field("list", str(key), options=chosen, **more) for key in range(count)))


def test_no_options_make_values_cost_more_than_their_number():
    """Each item was held against each option: 200 x 1,000 x 200 of them were seconds in which nobody was answered."""
    narrow, wide = _lists(20, 1), _lists(20, MAX_OPTIONS)
    values = {field.key: [MAX_OPTIONS - 1] * MAX_ITEMS for field in wide.fields}
    assert not list(misfits(values, wide, ""))
    assert cpu_seconds(lambda: list(misfits(values, wide, ""))) < 8 * cpu_seconds(
        lambda: list(misfits(values, narrow, ""))
    )


def test_no_options_make_defaults_cost_more_than_their_number():
    default = [MAX_OPTIONS - 1] * MAX_ITEMS
    narrow, wide = _lists(20, 1, default=default), _lists(20, MAX_OPTIONS, default=default)
    assert not list(faults(wide, ""))
    assert cpu_seconds(lambda: list(faults(wide, ""))) < 8 * cpu_seconds(lambda: list(faults(narrow, "")))


def test_floats_that_are_slow_to_read_are_kept_and_read_as_quickly_as_others():
    """msgspec takes 8 µs for each of these; a schema of 64 KiB of them was read in 80 ms, at every look at it."""
    slow, quick = (
        msgspec.json.encode([Action(id="a", schema=Schema((_field("number", options=[n] * 200),) * 40))])
        for n in (1e-320, 2.5e-20)
    )
    slowly, quickly = schema_texts(_registered(slow))["a"], schema_texts(_registered(quick))["a"]
    assert cpu_seconds(lambda: fitted_payload({}, slowly)) < 8 * cpu_seconds(
        lambda: fitted_payload({}, quickly)
    )
    assert cpu_seconds(lambda: schema_texts(_registered(slow))) < 8 * cpu_seconds(
        lambda: schema_texts(_registered(quick))
    )
