"""If-Match with contents: an object's ETag is a hash of what clients may change of it, so that what the service itself
notes beside that is nobody's conflict (RFC 9110 §13.1.1).
"""

from collections.abc import Callable
from typing import TypeVar

from routes.edge.downloads import etag_of_content, is_named
from routes.edge.pipeline.call import Call
from routes.edge.pipeline.parts import Parts
from routes.edge.wire import encode

T = TypeVar("T")


def etag_of(changeable: object) -> str:
    """The ETag of what clients may change of an object.

    Args:
        changeable: anything that JSON can say; None for an object that is not there yet.
    """
    return etag_of_content(encode(changeable)).decode("ascii")


def condition_of(call: Call[Parts], changeable_of: Callable[[T], object]) -> Callable[[T], bool]:
    """What says of an object, read again where nobody else can change it, whether it is the one that If-Match names.
    Without the header, any is.

    Args:
        changeable_of: what clients may change of it.
    """
    carried = call.header(b"if-match")

    def is_current(kept: T) -> bool:
        return carried is None or is_named(carried, etag_of(changeable_of(kept)).encode("ascii"))

    return is_current
