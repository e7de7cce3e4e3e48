"""JSON that other servers answer, read into what is expected of them: what is anything else is refused as one thing."""

from typing import TypeVar

import msgspec

from routes.edge.outgoing_http import OutgoingFault

T = TypeVar("T")


class NotUnderstood(OutgoingFault):
    """The server has answered what is no JSON, or no JSON of the form that is expected."""


def decoded(text: bytes | msgspec.Raw, type: type[T]) -> T:
    """Read JSON of another server. It costs what its length bounds.

    Args:
        text: of any length and content; the length is bounded where answers are received.
        type: that the values are to have; members that it does not name are passed over.

    Raises:
        NotUnderstood: it is no JSON, is nested deeper than can be read, is not UTF-8, or has another form.
    """
    try:
        return msgspec.json.decode(text, type=type)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise NotUnderstood from None
