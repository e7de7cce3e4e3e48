"""Lists in pages: `nextCursor` of one page is the `cursor` of the next (contract §3).

A cursor holds the position of the last item of a page. It is opaque to clients: the name of the list, a dot, and the
position in MessagePack and base64url. The name makes sure that a cursor of another list, or of the same list in another
order, is refused. A cursor is not signed: a client can make one of any position, which shows a page of the same list.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

import msgspec

from routes.edge.declare.query import Clamp
from routes.edge.errors import bad_parameter
from routes.edge.identity.base64url import from_base64url, to_base64url
from routes.edge.wire import Wire

MAX_CHARACTERS = 640
"""Longer cursors are refused unread. The longest that is made has 600: it holds a name of 100 four-byte characters."""

BEGIN_AGAIN = "is not one of this list, or of an earlier version of it; begin again without it"
"""What is wrong with a cursor, and what a client does then: it may have one from before an update of the service."""

Place = TypeVar("Place")
Row = TypeVar("Row")


class PageQuery(Wire, frozen=True):
    """Which page of a list, and how many items it has at most."""

    cursor: Annotated[str | None, msgspec.Meta(description="As `nextCursor` of the page before.")] = None
    limit: Annotated[int, Clamp(1, 200)] = 50


@dataclass(frozen=True, slots=True)
class CursorPage(Generic[Row]):
    """One page of a list.

    Args:
        rows: the items of the page.
        next_cursor: the cursor of the next page; None on the last page.
        has_more: whether there is a next page.
    """

    rows: Sequence[Row]
    next_cursor: str | None
    has_more: bool


class Cursor(Generic[Place]):
    """The cursors of one list: encodes and decodes them, and cuts pages.

    Args:
        name: the name of the list, unique; letters, digits and dashes.
        place: the type of an item's position in the list: int, str, or a tuple or array-like struct of them.
    """

    def __init__(self, name: str, place: type[Place]) -> None:
        self._prefix = f"{name}."
        self._decoder = msgspec.msgpack.Decoder(place)

    def text(self, place: Place) -> str:
        """The cursor that holds a position."""
        return self._prefix + to_base64url(_encode(place))

    def place(self, text: str | None) -> Place | None:
        """The position after which a page begins; None for the first page.

        Args:
            text: the query parameter `cursor`.

        Raises:
            BadQuery: the text is not a cursor of this list.
        """
        if text is None:
            return None
        try:
            return self._parsed(text)
        except (ValueError, msgspec.DecodeError):
            raise bad_parameter("cursor", BEGIN_AGAIN) from None

    def page(self, rows: Sequence[Row], size: int, place_of: Callable[[Row], Place]) -> CursorPage[Row]:
        """The page that begins with the first of these rows.

        Args:
            rows: at least one more than `size`, if there are as many: the extra row says that there is a next page.
            size: rows of the page, at least 1 unless there are no rows.
            place_of: returns the position of a row.
        """
        if len(rows) <= size:
            return CursorPage(rows, None, has_more=False)
        return CursorPage(rows[:size], self.text(place_of(rows[size - 1])), has_more=True)

    def page_of_few(
        self, rows: Sequence[Row], query: PageQuery, place_of: Callable[[Row], Place]
    ) -> CursorPage[Row]:
        """The page of a list whose rows are so few that all of them are read.

        Args:
            rows: all of them, in the order of their positions.
            query: which page.
            place_of: returns the position of a row.

        Raises:
            BadQuery: the query's cursor is not one of this list.
        """
        after = self.place(query.cursor)
        order: Callable[[Row], Any] = place_of
        left = rows if after is None else [row for row in rows if order(row) > after]
        return self.page(left, query.limit, place_of)

    def _parsed(self, text: str) -> Place:
        if len(text) > MAX_CHARACTERS or not text.startswith(self._prefix):
            raise ValueError("not of this list")
        raw = from_base64url(text.removeprefix(self._prefix))
        place = self._decoder.decode(raw)
        if _encode(place) != raw or not _is_storable(msgspec.to_builtins(place)):
            raise ValueError("not made here")
        return place


_encode = msgspec.msgpack.Encoder().encode


def _is_storable(value: object) -> bool:
    """Whether a query can take it as parameters: PostgreSQL has no larger integer than bigint, and no text with NUL."""
    if isinstance(value, list | tuple):
        return all(_is_storable(part) for part in value)
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return isinstance(value, str) and "\0" not in value
