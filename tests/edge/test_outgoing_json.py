"""JSON of other servers: what it may be, and that all else is one fault."""

import msgspec
import pytest

from routes.edge.outgoing_http import OutgoingFault
from routes.edge.outgoing_json import NotUnderstood, decoded


class Thing(msgspec.Struct):
    name: str
    rest: object = None


def test_what_is_expected_is_read() -> None:
    assert decoded(b'{"name":"a","more":[1]}', Thing) == Thing("a")
    assert decoded(msgspec.Raw(b'["b"]'), list[str]) == ["b"]


@pytest.mark.parametrize(
    "text",
    [
        b"", b"<html>", b"null", b"[]", b"{}", b'{"name":1}', b'{"name":"a"', b'{"name":"\xe9"}', b"[" * 200_000,
        b'{"name":"a","rest":' + b"[" * 200_000, b'{"name":"a","rest":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"name":"a","more":' + b'{"a":' * 100_000,
    ],
)  # fmt: skip
def test_all_else_is_one_fault(text: bytes) -> None:
    with pytest.raises(NotUnderstood) as fault:
        decoded(text, Thing)
    assert isinstance(fault.value, OutgoingFault)
    assert str(fault.value) == ""
