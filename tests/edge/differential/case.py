"""How a row of the differential test is written."""

from collections.abc import Mapping
from dataclasses import dataclass

HOST = b"Host: t\r\n"


@dataclass(frozen=True)
class Case:
    """One exchange.

    Args:
        name: unique.
        outcome: say `200 stays`.
        pieces: what is sent.
        unfinished: the request is not whole; the client says its end behind it.
    """

    name: str
    outcome: str
    pieces: tuple[bytes, ...]
    unfinished: bool = False


def case(name: str, outcome: str, *pieces: bytes, unfinished: bool = False) -> Case:
    return Case(name, outcome, pieces, unfinished)


def get(fields: bytes = b"", *, line: bytes = b"GET /x HTTP/1.1", host: bytes = HOST) -> bytes:
    """A request without a body."""
    return line + b"\r\n" + host + fields + b"\r\n"


def post(fields: bytes, body: bytes = b"hello") -> bytes:
    """A request with a body, framed by `fields`."""
    return b"POST /x HTTP/1.1\r\n" + HOST + fields + b"\r\n" + body


def chunked(body: bytes) -> bytes:
    """A request whose body is this, chunk sizes and all."""
    return post(b"Transfer-Encoding: chunked\r\n", body)


def each(name: str, outcome: str, requests: Mapping[str, bytes]) -> list[Case]:
    """Requests that have the same outcome."""
    return [case(f"{name}: {variant}", outcome, request) for variant, request in requests.items()]
