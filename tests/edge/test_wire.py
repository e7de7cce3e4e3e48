"""JSON bodies, query strings and path parameters: what fits, and where what does not fit is said to be."""

from typing import Annotated, Literal

import msgspec
import pytest

from actors.errors import Invalid, NotFound, Refused
from actors.ids import ObjectId, UserId, Uuid
from routes.edge.declare.query import (
    KEPT_QUERIES,
    KEPT_QUERY_BYTES,
    Clamp,
    ParameterForm,
    PathParam,
    QueryPlan,
)
from routes.edge.errors import BadQuery, MalformedJson
from routes.edge.reply import Encoded
from routes.edge.wire import Shape, Wire, decode, encode


class Option(Wire, frozen=True):
    label: Annotated[str, msgspec.Meta(min_length=1, max_length=3)]


class Poll(Wire, frozen=True):
    options: list[Option]
    expires_at_ms: int = 0
    kind: Literal["one", "many"] = "one"
    votes: dict[str, int] | None = None


class Message(Wire, frozen=True):
    content: str
    poll: Poll | None = None
    loud: bool = False


SHAPE = Shape(Message)


def outcome(data: bytes) -> tuple[str, str] | object:
    try:
        return decode(data, SHAPE)
    except Invalid as refused:
        return refused.errors[0].code, refused.errors[0].pointer
    except Refused as refused:
        return refused.code


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"content":"a","unknown":{"x":[1]}}', Message("a")),
        (
            b'{"content":"a","poll":{"options":[{"label":"x"}],"expiresAtMs":5}}',
            Message("a", Poll([Option("x")], 5)),
        ),
        (b'{"content":1}', ("WRONG_TYPE", "/content")),
        (b'{"content":"a","loud":1}', ("WRONG_TYPE", "/loud")),
        (b'{"content":null}', ("WRONG_TYPE", "/content")),
        (
            b'{"content":"a","poll":{"options":[{"label":"x"},{"label":1}]}}',
            ("WRONG_TYPE", "/poll/options/1/label"),
        ),
        (
            b'{"content":"a","poll":{"options":[{"label":"long"}]}}',
            ("BAD_LENGTH", "/poll/options/0/label"),
        ),
        (b'{"content":"a","poll":{"options":[{}]}}', ("REQUIRED", "/poll/options/0/label")),
        (b'{"content":"a","poll":{"options":[],"kind":"x"}}', ("UNKNOWN_VALUE", "/poll/kind")),
        (b'{"content":"a","poll":{"options":[],"expiresAtMs":true}}', ("WRONG_TYPE", "/poll/expiresAtMs")),
        (b'{"content":"a","poll":{"options":[],"expiresAtMs":1.5}}', ("WRONG_TYPE", "/poll/expiresAtMs")),
        (b'{"content":"a","poll":{"options":[],"votes":{"x":"y"}}}', ("WRONG_TYPE", "/poll/votes")),
        (
            b'{"content":"a","poll":{"options":[],"expiresAtMs":99999999999999999999}}',
            ("OUT_OF_RANGE", "/poll/expiresAtMs"),
        ),
        (b"{}", ("REQUIRED", "/content")),
        (b"[]", ("WRONG_TYPE", "")),
        (b'"text"', ("WRONG_TYPE", "")),
        (b"null", ("WRONG_TYPE", "")),
        (rb'{"content":"a\u0000b"}', ("BAD_TEXT", "/content")),
        (rb'{"content":"a","more/so~":["\u0000"]}', ("BAD_TEXT", "/more~1so~0/0")),
        (rb'{"content":"a\\u0000b"}', Message(r"a\u0000b")),
        (b"", "MALFORMED_JSON"),
        (b"{", "MALFORMED_JSON"),
        (b'{"content":"a"} x', "MALFORMED_JSON"),
        (b'{"content":"a","content":"b"}', "MALFORMED_JSON"),
        (rb'{"content":"a","c\u006fntent":"b"}', "MALFORMED_JSON"),
        (b'{"content":"a","x":[{"y":1,"y":2}]}', "MALFORMED_JSON"),
        (b'{"content":"a","n":NaN}', "MALFORMED_JSON"),
        (b'{"content":"a","n":Infinity}', "MALFORMED_JSON"),
        (b'{"content":"a","n":' + b"9" * 10_000 + b"}", "MALFORMED_JSON"),
        (rb'{"content":"\ud800"}', "MALFORMED_JSON"),
        (b'{"content":"\xed\xa0\x80"}', "MALFORMED_JSON"),
        (b'{"content":"\xff"}', "MALFORMED_JSON"),
        (b'\xef\xbb\xbf{"content":"a"}', "MALFORMED_JSON"),
        (b'{"content":"a\nb"}', "MALFORMED_JSON"),
        (b"[" * 100_000, "MALFORMED_JSON"),
        (b'{"content":"a","x":' + b"[" * 32 + b"]" * 32 + b"}", "MALFORMED_JSON"),
        (b'{"content":"a","x":' + b"[" * 31 + b"]" * 31 + b"}", Message("a")),
        (b'{"content":"' + b"[{" * 500 + b'"}', Message("[{" * 500)),
    ],
)
def test_a_body_is_decoded_or_refused_with_its_code(body: bytes, expected: object) -> None:
    assert outcome(body) == expected


def test_number_out_of_range_is_found_in_ignored_members_too() -> None:
    assert outcome(b'{"content":"a","n":12345678901234567890}') == ("OUT_OF_RANGE", "/n")


def test_encode_takes_over_what_is_encoded() -> None:
    class Both(Wire, frozen=True):
        at_ms: int
        raw: msgspec.Raw

    assert encode(Encoded[Message](b'{"content":"a"}')) == b'{"content":"a"}'
    assert encode(Both(1, msgspec.Raw(b"[1]"))) == b'{"atMs":1,"raw":[1]}'
    assert encode([Encoded[Message](b"{}")]) == b"[{}]"


class Paging(Wire, frozen=True):
    limit: Annotated[int, Clamp(1, 120)] = 50
    before_ms: int | None = None
    include: bool = True
    kind: Literal["a", "b"] = "a"
    tags: tuple[str, ...] = ()
    channels: str | None = None


PLAN = QueryPlan.of(Paging)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (b"", Paging()),
        (b"limit=0", Paging(limit=1)),
        (b"limit=-5", Paging(limit=1)),
        (b"limit=1", Paging(limit=1)),
        (b"limit=120", Paging(limit=120)),
        (b"limit=121", Paging(limit=120)),
        (b"limit=" + b"9" * 40, Paging(limit=120)),
        (b"limit=1&limit=7", Paging(limit=7)),
        (b"beforeMs=1700000000000", Paging(before_ms=1_700_000_000_000)),
        (b"include=false", Paging(include=False)),
        (b"include=0", Paging(include=False)),
        (b"include=TRUE", Paging()),
        (b"tags=a&tags=b%20c&unknown=1", Paging(tags=("a", "b c"))),
        (b"channels=", Paging(channels="")),
        (b"before_ms=1", Paging()),
    ],
)
def test_a_query_is_decoded_and_numbers_are_clamped(query: bytes, expected: Paging) -> None:
    assert PLAN.decode(query) == expected


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        (b"limit=abc", "limit"),
        (b"limit=", "limit"),
        (b"limit=1.0", "limit"),
        (b"limit=1e18", "limit"),
        (b"limit=%EF%BC%91", "limit"),
        (b"beforeMs=9223372036854775808", "beforeMs"),
        (b"beforeMs=" + b"9" * 5000, "beforeMs"),
        (b"include=yes", "include"),
        (b"kind=c", "kind"),
        (b"channels=a%00", "channels"),
    ],
)
def test_a_bad_query_names_the_parameter(query: bytes, parameter: str) -> None:
    with pytest.raises(BadQuery) as refused:
        PLAN.decode(query)
    assert refused.value.meta == {"parameter": parameter}


@pytest.mark.parametrize("query", [b"channels=%ff", b"\xff=1", b"&".join(b"a=1" for _ in range(101))])
def test_query_that_cannot_be_read(query: bytes) -> None:
    with pytest.raises(BadQuery):
        PLAN.decode(query)


def test_required_parameter_is_named() -> None:
    class Search(Wire, frozen=True):
        name_prefix: str

    with pytest.raises(BadQuery) as refused:
        QueryPlan.of(Search).decode(b"name=x")
    assert refused.value.meta == {"parameter": "namePrefix"}


class Ids(msgspec.Struct, frozen=True):
    """A query whose parameters are ids."""

    user: UserId | None = None
    messages: tuple[ObjectId, ...] = ()


IDS = QueryPlan.of(Ids)


def test_ids_of_a_query_are_put_into_lower_case() -> None:
    decoded = IDS.decode(
        b"user=0B4F9A3E-1C2D-4E5F-8A9B-0C1D2E3F4A5B"
        b"&messages=65F0A1B2C3D4E5F601020304&messages=65f0a1b2c3d4e5f601020305"
    )
    assert decoded == Ids(
        UserId(Uuid("0b4f9a3e-1c2d-4e5f-8a9b-0c1d2e3f4a5b")),
        (ObjectId("65f0a1b2c3d4e5f601020304"), ObjectId("65f0a1b2c3d4e5f601020305")),
    )


@pytest.mark.parametrize(
    ("query", "parameter"),
    [(b"user=", "user"), (b"user=0b4f9a3e", "user"), (b"messages=65f0a1b2c3d4e5f60102030g", "messages")],
)
def test_malformed_id_of_a_query(query: bytes, parameter: str) -> None:
    with pytest.raises(BadQuery) as caught:
        IDS.decode(query)
    assert caught.value.meta == {"parameter": parameter}


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        (ParameterForm.OBJECT_ID, "65F0A1B2C3D4E5F601020304", "65f0a1b2c3d4e5f601020304"),
        (ParameterForm.OBJECT_ID, "65f0a1b2c3d4e5f60102030", None),
        (ParameterForm.OBJECT_ID, "65f0a1b2c3d4e5f60102030g", None),
        (ParameterForm.UUID, "0B4F9A3E-1C2D-4E5F-8A9B-0C1D2E3F4A5B", "0b4f9a3e-1c2d-4e5f-8a9b-0c1d2e3f4a5b"),
        (ParameterForm.UUID, "0b4f9a3e1c2d4e5f8a9b0c1d2e3f4a5b", None),
        (ParameterForm.TEXT, "any text", "any text"),
        (ParameterForm.TEXT, "x" * 201, None),
        (ParameterForm.TEXT, "a\0b", None),
    ],
)
def test_an_id_in_a_path_is_normalised_or_not_found(
    form: ParameterForm, text: str, expected: str | None
) -> None:
    assert PathParam("id", "id", form, NotFound).parse(text) == expected


def test_refusals_keep_their_statuses() -> None:
    assert (MalformedJson.status_hint, BadQuery.status_hint, Invalid.status_hint) == (400, 400, 422)


def test_queries_are_remembered_within_bounds() -> None:
    plan = QueryPlan.of(Paging)
    assert plan.decode(b"limit=7") is plan.decode(b"limit=7")
    long = b"limit=7&cursor=" + b"x" * KEPT_QUERY_BYTES
    assert plan.decode(long) == plan.decode(long)
    for number in range(2 * KEPT_QUERIES):
        plan.decode(b"cursor=%d" % number)
    assert len(plan._kept) <= KEPT_QUERIES
    with pytest.raises(BadQuery):
        plan.decode(b"limit=x")
    with pytest.raises(BadQuery):
        plan.decode(b"limit=x")
