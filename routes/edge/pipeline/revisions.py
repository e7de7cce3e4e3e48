"""If-Match with revisions: an object's ETag is the number of its current revision (RFC 9110 §13.1.1)."""

import re

from routes.edge.errors import BadQuery
from routes.edge.pipeline.call import Call
from routes.edge.pipeline.parts import Parts

_REVISIONS = re.compile(r'"[0-9]{1,18}"(?:\s*,\s*"[0-9]{1,18}")*', re.ASCII)
_REVISION = re.compile(r"[0-9]+", re.ASCII)


def etag_of(revision: int) -> str:
    """The ETag of a revision."""
    return f'"{revision}"'


def revisions_known(call: Call[Parts]) -> frozenset[int] | None:
    """The revisions that If-Match names, any of which may be the current one; None where there is no such header, or
    `*`.

    Raises:
        BadQuery: the header does not have the form of ETags of revisions.
    """
    carried = call.header(b"if-match")
    if carried is None:
        return None
    text = carried.decode("latin-1").strip()
    if text == "*":
        return None
    if _REVISIONS.fullmatch(text) is None:
        raise BadQuery("If-Match is not valid", header="If-Match")
    return frozenset(int(number) for number in _REVISION.findall(text))
