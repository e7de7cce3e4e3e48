"""What may become of an article, as a table; and slugs, whatever the title."""

import re
from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.errors import Conflict, Invalid
from actors.news.fields import MAX_SLUG_CHARACTERS, slug_of
from actors.news.states import MOVES, is_readable, moved, settled
from persistence.news.rows import ArticleRow, Status

NOW = 1_700_000_000_000

ROW = ArticleRow(
    id="0" * 24, scope_type="global", scope_id="", slug="s", title="t", summary="", body="", body_html="",
    cover_url=None, category=None, tags=(), author_id=None, author_name=None, locale="en", pinned=False,
    status="draft", visibility="public", publish_at_ms=None, published_at_ms=None, created_at_ms=0, updated_at_ms=0,
    listed_at_ms=0, revision=1, notify=False, poll=None,
)  # fmt: skip

STATUSES: tuple[Status, ...] = get_args(Status)


@pytest.mark.parametrize(("at", "to"), [*product(STATUSES, STATUSES)])
def test_the_table_of_moves(at: Status, to: Status) -> None:
    row = replace(ROW, status=at, publish_at_ms=NOW + 1)
    if to in MOVES[at]:
        assert moved(row, to, NOW).status == to
        return
    with pytest.raises(Conflict) as refused:
        moved(row, to, NOW)
    assert refused.value.meta == {"status": at}


def test_the_first_publication_is_the_one_that_counts() -> None:
    first = moved(ROW, "published", NOW)
    assert first.published_at_ms == NOW
    again = moved(moved(first, "archived", NOW + 5), "published", NOW + 9)
    assert again.published_at_ms == NOW


@pytest.mark.parametrize(("ahead_ms", "readable"), [(1, False), (0, True), (-1, True)])
def test_a_schedule_is_met_at_its_millisecond(ahead_ms: int, readable: bool) -> None:
    row = replace(ROW, status="scheduled", publish_at_ms=NOW + ahead_ms)
    assert is_readable(row, NOW) is readable
    assert settled(row, NOW).published_at_ms == (NOW + ahead_ms if readable else None)


@pytest.mark.parametrize("publish_at_ms", [None, NOW - 1, NOW])
def test_a_schedule_needs_a_moment_in_the_future(publish_at_ms: int | None) -> None:
    with pytest.raises(Invalid):
        moved(replace(ROW, publish_at_ms=publish_at_ms), "scheduled", NOW)


@given(st.text(max_size=200))
def test_every_title_makes_a_slug(title: str) -> None:
    assert re.fullmatch(rf"[a-z0-9](?:[a-z0-9-]{{1,{MAX_SLUG_CHARACTERS - 2}}}[a-z0-9])", slug_of(title))
