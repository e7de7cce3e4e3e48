"""What may become of an article. Pure.

    draft ──▶ scheduled ──now ≥ publishAt──▶ published ◀──▶ archived
    draft ──▶ published                       draft ──▶ archived
    scheduled ──▶ draft

For readers a scheduled article is published from its moment on, whether its row says so yet or not.
"""

from msgspec.structs import replace

from actors.errors import Conflict, Invalid
from actors.field_errors import FieldError
from persistence.news.rows import ArticleRow, Status

MOVES: dict[Status, frozenset[Status]] = {
    "draft": frozenset({"draft", "scheduled", "published", "archived"}),
    "scheduled": frozenset({"scheduled", "draft"}),
    "published": frozenset({"published", "archived"}),
    "archived": frozenset({"archived", "published"}),
}
"""{status: the statuses to which a writer may move it}."""


def settled(row: ArticleRow, now_ms: int) -> ArticleRow:
    """The article as readers see it at a moment (epoch milliseconds): a scheduled one whose time has come is published
    and has one revision more, even before its row says so."""
    if row.status != "scheduled" or row.publish_at_ms is None or row.publish_at_ms > now_ms:
        return row
    return replace(row, status="published", published_at_ms=row.publish_at_ms, revision=row.revision + 1)


def is_readable(row: ArticleRow, now_ms: int) -> bool:
    """Whether readers may see an article at a moment (epoch milliseconds)."""
    return settled(row, now_ms).status == "published"


def moved(row: ArticleRow, to: Status, now_ms: int) -> ArticleRow:
    """The article after a writer's move; the first publication stays the one that counts.

    Args:
        row: the article, `settled`.
        to: the wished status.
        now_ms: epoch milliseconds.

    Raises:
        Conflict: the table has no such move.
        Invalid: the article is to be scheduled, and its time of publication is missing or past.
    """
    if to not in MOVES[row.status]:
        raise Conflict(f"an article that is {row.status} does not become {to}", status=row.status)
    if to == "scheduled":
        check_moment(row.publish_at_ms, now_ms)
    if to == "published" and row.published_at_ms is None:
        return replace(row, status=to, published_at_ms=now_ms, publish_at_ms=None)
    return replace(row, status=to)


def check_moment(publish_at_ms: int | None, now_ms: int) -> None:
    """Check that an article can be scheduled for a moment.

    Raises:
        Invalid: the moment is None, or not in the future.
    """
    if publish_at_ms is None:
        raise Invalid(FieldError("/publishAt", "REQUIRED", "a scheduled article needs its moment"))
    if publish_at_ms <= now_ms:
        raise Invalid(FieldError("/publishAt", "PAST", "the moment must lie in the future"))
