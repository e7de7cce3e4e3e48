"""The strict parser: what it takes is what the standard library takes with every strictness switched on."""

import json
from collections.abc import Iterator
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.errors import Invalid, Refused
from actors.field_errors import MAX_ERRORS, MAX_POINTER_BYTES, FieldError, bounded
from routes.edge.errors import MalformedJson, PayloadTooLarge
from routes.edge.strict_json import MAX_BYTES, MAX_CONTAINERS, MAX_DEPTH, escaped, parse

texts = st.text(st.sampled_from('a"\\/é😀\x7f[{:,0\0'), max_size=6)
numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def json_texts(draw: st.DrawFn) -> bytes:
    """JSON, some of it broken, nested deeper, or with members that are named twice."""
    text = json.dumps(draw(values), ensure_ascii=draw(st.booleans()), allow_nan=False).encode()
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 3))
        piece = draw(st.sampled_from(PIECES))
        text = text[:at] + piece + text[at + cut :]
    levels = draw(st.integers(0, MAX_DEPTH + 2))
    return b"[" * levels + text + b"]" * levels


PIECES = (
    b"", b'"', b"\\", b'\\"', b"[", b"]", b"{", b"}", b",", b":", b'{"a":1,"a":2}', b'{"":[],"":{}}', b"1e400", b"-",
    b"0", b".", b"NaN", b"Infinity", b"\\u0000", b"\\ud800", b"\\ud83d\\ude00", b"\x00", b"\n", b" ", b"\xff",
    b"\xef\xbb\xbf", b'"\\\\":', b"9" * 30,
)  # fmt: skip


def reference(data: bytes) -> object:
    """The same by the standard library, slowly; None for what is malformed."""

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("a member is named twice")
        return dict(pairs)

    def refuse(_name: str) -> NoReturn:
        raise ValueError("not JSON")

    try:
        plain = json.loads(data.decode(), object_pairs_hook=unique, parse_constant=refuse)
        json.dumps(plain, ensure_ascii=False).encode()  # lone surrogates
    except ValueError:
        return None
    return (plain,) if depth_of(plain) <= MAX_DEPTH else None


def depth_of(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    return 0


@given(json_texts())
def test_nothing_is_read_otherwise_than_by_the_standard_library(data: bytes) -> None:
    try:
        read: object = (parse(data)[0],)
    except MalformedJson:
        read = None
    assert repr(read) == repr(reference(data))


def pointers(data: bytes) -> list[tuple[str, str]]:
    return [(error.code, error.pointer) for error in parse(data)[1]]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"[9223372036854775807,-9223372036854775808,1e308]", []),
        (b"[9223372036854775808]", [("OUT_OF_RANGE", "/0")]),
        (b'{"a":[0,-9223372036854775809]}', [("OUT_OF_RANGE", "/a/1")]),
        (b"1e309", [("OUT_OF_RANGE", "")]),
        (b"[-1e0999]", [("OUT_OF_RANGE", "/0")]),
        (b"[1E+309,1e-309,1E+99,1e+308]", [("OUT_OF_RANGE", "/0")]),
        (b'{"a/b":"\\u0000","c":{"\\u0000":1}}', [("BAD_TEXT", "/a~1b"), ("BAD_TEXT", "/c")]),
        (b'["\\\\u0000",12345678901234567890]', [("OUT_OF_RANGE", "/1")]),
        (b'["12345678901234567890"]', []),
    ],
)
def test_what_cannot_be_stored_is_pointed_at(data: bytes, expected: list[tuple[str, str]]) -> None:
    assert pointers(data) == expected


@pytest.mark.parametrize("pair", [b"[]", b"{}"])
def test_arrays_and_objects_are_counted_and_brackets_in_texts_are_not(pair: bytes) -> None:
    """Each costs far more than its two bytes, and 256 KiB would hold 87,380."""
    inside = b",".join([b'"[{\\"[{"', *[pair] * (MAX_CONTAINERS - 1)])
    assert len(parse(b"[%b]" % inside)[0] or ()) == MAX_CONTAINERS
    for start in (b"[", b'{"a":['):
        with pytest.raises(MalformedJson, match="more than 16384 arrays and objects"):
            parse(b"%b%b,%b]" % (start, inside, pair) + b"}" * (len(start) > 1))


def test_no_answer_tells_of_more_than_a_hundred_values() -> None:
    assert len(pointers(b"[" + b"1e999," * 500 + b"0]")) == MAX_ERRORS


@pytest.mark.parametrize("depth", [0, 3])
def test_no_pointer_repeats_a_name_that_is_too_long_to_be_told(depth: int) -> None:
    """It leads to the value around it, and says so."""
    names = b",".join(b'"\\u0000%d":0' % n for n in range(500))
    data = b'{"a":' * depth + b'{"' + b"A" * 100_000 + b'":{' + names + b"}}" + b"}" * depth
    errors = parse(data)[1]
    assert len(errors) == MAX_ERRORS
    sentence = "the character U+0000 is not allowed (further inside)"
    assert set(errors) == {FieldError("/a" * depth, "BAD_TEXT", sentence)}


@given(st.lists(st.text(st.sampled_from("a/~\1é"), max_size=9), max_size=5), st.integers(0, 60))
def test_a_pointer_is_cut_by_whole_steps(steps: list[str], room: int) -> None:
    pointer = "".join(f"/{escaped(step)}" for step in steps)
    error = FieldError(pointer, "BAD_TEXT", "no")
    cut = error.within(room)
    parents = [pointer, *_around(pointer)]
    assert cut.pointer == next(
        one for one in parents if len(json.dumps(one, ensure_ascii=False).encode()) - 2 <= room
    )
    assert cut.message == ("no" if cut.pointer == pointer else "no (further inside)")
    assert cut.within(room) == cut


def _around(pointer: str) -> Iterator[str]:
    while pointer:
        pointer = pointer.rpartition("/")[0]
        yield pointer


def test_the_pointers_of_a_refusal_have_a_bound_together() -> None:
    errors = [FieldError(f"/data/{'k' * 200}{n}", "REQUIRED", "no") for n in range(200)]
    refusal = Invalid(*errors)
    assert len(refusal.errors) == MAX_ERRORS
    assert sum(len(error.pointer) for error in refusal.errors) <= MAX_POINTER_BYTES
    whole = [error for error in refusal.errors if error in errors]
    assert whole == errors[: len(whole)] and len(whole) > 30
    assert {error.pointer for error in refusal.errors[len(whole) :]} <= {"/data", ""}
    assert bounded(refusal.errors) == refusal.errors


LONG = b"QUJD" * 100_000


@pytest.mark.parametrize(
    "text",
    [
        LONG,
        LONG + b"\\u003d",
        b"a\\/b" * 100_000,
        b'\\"' + LONG + b'\\\\\\"' + LONG + b"\\\\",
        "é".encode() * 200_000,
    ],
)
def test_a_long_text_does_not_count_against_the_bound_of_bodies(text: bytes) -> None:
    data = b'{"fileName":"a\\"b","data":"' + text + b'","more":[1,{"x":"y"}]}'
    assert len(data) > MAX_BYTES
    plain, errors = parse(data)
    assert (plain, errors) == (json.loads(data), ())


def test_white_space_does_not_count_either() -> None:
    assert parse(b'{"a":1,' + b" \n" * 200_000 + b'"b":[]}') == ({"a": 1, "b": []}, ())


@pytest.mark.parametrize(
    "data",
    [
        b'{"data":"' + LONG + b'","more":[' + b"[]," * 100_000 + b"0]}",
        b'{"data":"' + LONG + b'","more":[' + b'"",' * 100_000 + b"0]}",
        b'{"data":"' + b'\\"' * 200_000 + b'"}',
        b"[" + b"9" * 300_000 + b"]",
        b'"' + b'"' * 300_000,
        b'"\\' + b'"' * 300_000,
    ],
)
def test_nothing_but_long_texts_makes_a_body_larger_than_the_bound(data: bytes) -> None:
    with pytest.raises(PayloadTooLarge):
        parse(data)


@pytest.mark.parametrize(
    "bad", [b"\\u0000", b"12345678901234567890", b"\x00", b"\n", b"\xff", b"\\ud800", b"\\x"]
)
@pytest.mark.parametrize("place", [b'"%s%s"', b'["%s",%s]'])
def test_long_texts_hide_nothing(bad: bytes, place: bytes) -> None:
    """What is refused in a short body is refused behind, and in, a long text."""
    assert outcome(place % (LONG, bad)) == outcome(place % (b"QUJD", bad))


def test_members_named_twice_are_found_beside_a_long_text() -> None:
    with pytest.raises(MalformedJson):
        parse(b'{"data":"' + LONG + b'","data":"' + LONG + b'"}')
    assert parse(b'{"' + LONG + b'":1,"":2}')[1] == ()


def outcome(data: bytes) -> str | tuple[FieldError, ...]:
    try:
        return parse(data)[1]
    except Refused as refused:
        return refused.code
