"""Reads the JSON of other servers into the structs that are expected; anything else is one error, `NotUnderstood`."""

from typing import TypeVar

import msgspec

from routes.edge.outgoing_http import OutgoingFault

T = TypeVar("T")


class NotUnderstood(OutgoingFault):
    """The server's answer is no JSON, or no JSON of the expected form."""


def decoded(text: bytes | msgspec.Raw, type: type[T]) -> T:
    """Read the JSON of another server, at a cost bounded by its length.

    Args:
        text: the JSON text, of any length and content; the length is bounded where answers are received.
        type: the type to read it into; members that the type does not name are ignored.

    Raises:
        NotUnderstood: the text is no JSON, is nested deeper than can be read, is not UTF-8, or has another form.
    """
    try:
        return msgspec.json.decode(text, type=type)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise NotUnderstood from None
