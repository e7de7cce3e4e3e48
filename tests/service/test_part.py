"""Parts are opened once each, behind those that they ask for."""

from contextlib import AsyncExitStack
from typing import Any

import pytest

from routes.part import Opening, Part


def an_opening() -> Opening:
    """One whose parts need nothing of the service."""
    nothing: Any = None
    return Opening(
        config=nothing,
        clock=nothing,
        random_bytes=nothing,
        database=nothing,
        keys=nothing,
        stack=AsyncExitStack(),
        begun_at_ms=0,
    )


async def test_a_part_is_opened_once_and_behind_what_it_asks_for():
    order: list[str] = []

    async def open_rows(_opening: Opening) -> str:
        order.append("rows")
        return "rows"

    async def open_view(opening: Opening) -> str:
        rows = await opening.of(rows_part)
        order.append("view")
        return f"view of {rows}"

    rows_part, view_part = Part(name="rows", open=open_rows), Part(name="view", open=open_view)
    opening = an_opening()
    for part in (view_part, rows_part, view_part):
        await opening.of(part)
    assert order == ["rows", "view"]
    assert opening.opened == {rows_part: "rows", view_part: "view of rows"}


async def test_parts_that_need_each_other_are_named():
    async def open_one(opening: Opening) -> str:
        return await opening.of(other)

    async def open_other(opening: Opening) -> str:
        return await opening.of(one)

    one: Part[str] = Part(name="one", open=open_one)
    other: Part[str] = Part(name="other", open=open_other)
    with pytest.raises(RuntimeError, match="one → other → one"):
        await an_opening().of(one)


async def test_kinds_come_with_the_parts_that_are_open():
    async def open_names(_opening: Opening) -> str:
        return "ab"

    kind: Any = object()
    part = Part(name="names", open=open_names, kinds=lambda opened: tuple(kind for _ in opened))
    opening = an_opening()
    assert opening.kinds() == ()
    await opening.of(part)
    assert opening.kinds() == (kind, kind)
