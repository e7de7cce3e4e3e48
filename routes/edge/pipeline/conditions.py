"""If-Match with contents: an object's ETag is a hash of the fields that clients may change, so that changes of the
other fields by the service itself cause no conflict (RFC 9110 §13.1.1).
"""

from collections.abc import Callable
from typing import TypeVar

from routes.edge.downloads import etag_of_content, is_named
from routes.edge.pipeline.call import Call
from routes.edge.pipeline.parts import Parts
from routes.edge.wire import encode

T = TypeVar("T")


def etag_of(changeable: object) -> str:
    """The ETag of the part of an object that clients may change.

    Args:
        changeable: that part, as anything that JSON can say; None for an object that does not exist yet.
    """
    return etag_of_content(encode(changeable)).decode("ascii")


def condition_of(call: Call[Parts], changeable_of: Callable[[T], object]) -> Callable[[T], bool]:
    """A function that says whether an object is in the state that the request's If-Match names; always true without the
    header. Call it with the object as read under a lock.

    Args:
        changeable_of: returns the part of an object that clients may change.
    """
    carried = call.header(b"if-match")

    def is_current(kept: T) -> bool:
        return carried is None or is_named(carried, etag_of(changeable_of(kept)).encode("ascii"))

    return is_current
