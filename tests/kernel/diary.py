"""A durable view for the kernel's tests: lines of a diary, whose rows say at which offset each was written."""

from dataclasses import replace
from typing import Any

import msgspec

from actors.kernel.facets import Delta, Rendering
from actors.kernel.kind import Durable, View


class Diary(msgspec.Struct, frozen=True):
    """What a diary shows.

    Args:
        epoch, offset: where it stands.
        cover: changes without an event.
    """

    epoch: str
    offset: int
    cover: str
    lines: tuple[str, ...]


class Book(msgspec.Struct):
    """The rows of a diary: its lines, of which the oldest may be gone."""

    epoch: str = "e1"
    cover: str = "red"
    gone: int = 0
    lines: list[str] = []

    def write(self, *lines: str) -> None:
        self.lines = [*self.lines, *lines]


async def _load(conn: Any, id: str) -> Diary | None:
    book: Book | None = conn.rows.get(("diary", id))
    if book is None:
        return None
    return Diary(book.epoch, len(book.lines), book.cover, tuple(book.lines[book.gone :]))


async def _reread(conn: Any, id: str, _sources: object) -> Diary | None:
    return await _load(conn, id)


async def _replay(conn: Any, id: str, after: int, upto: int) -> list[tuple[int, Any]] | None:
    book: Book = conn.rows["diary", id]
    if after < book.gone:
        return None
    return [(offset, book.lines[offset - 1]) for offset in range(after + 1, upto + 1)]


def _position(state: Diary) -> tuple[str, int]:
    return state.epoch, state.offset


def _recall(state: Diary, after: int) -> list[tuple[int, Any]] | None:
    """The newest two lines are remembered."""
    kept = range(max(state.offset - 2, 0), state.offset + 1)
    if after not in kept:
        return None
    return [(offset, state.lines[offset - state.offset - 1]) for offset in range(after + 1, state.offset + 1)]


DIARY: View[Diary] = View(
    name="diary",
    load=_load,
    reread=_reread,
    take=lambda state, sources, _peek: (state, sources),
    absorb=lambda _state, found: found,
    rendering=Rendering(
        audience=lambda _state, _viewer: "owner",
        render=lambda state, _audience: {"cover": state.cover, "lines": state.lines},
        render_event=lambda _state, line, _audience: None if line == "turned" else Delta("written", line),
    ),
    durable=Durable(position=_position, replay=_replay),
)

REMEMBERED: View[Diary] = replace(DIARY, durable=Durable(position=_position, replay=_replay, recall=_recall))
"""The same, with a state that remembers its last two lines."""
