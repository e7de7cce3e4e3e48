"""Blocking users (service-api §3, §4 Friends)."""

from typing import Annotated

import msgspec

from actors.bounds import UuidText
from actors.errors import Invalid, NotFound, QuotaExceeded
from actors.friends.public import BlockEntry
from actors.ids import UserId
from actors.time import iso
from persistence.friends import blocks
from persistence.friends.blocks import Block
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.reply import Reply
from routes.edge.wire import Wire
from routes.friends import actions
from routes.friends.actions import REASON_MAX
from routes.friends.channels import READ
from routes.friends.requests import EDIT

_LIST = "/v1/social/friends/blocks"

_PAGES = Cursor("blocks", tuple[int, str])


class BlockBody(Wire, frozen=True):
    """The user to block.

    Args:
        target_id: uuid.
        reason: only shown to the caller, at most 500 characters.
    """

    target_id: UuidText
    reason: Annotated[str, msgspec.Meta(max_length=REASON_MAX)] | None = None


class BlockPage(Wire, frozen=True):
    """A page of blocks, newest first."""

    items: list[BlockEntry]
    next_cursor: str | None
    has_more: bool


@endpoint("GET", _LIST, needs=READ)
async def list_blocks(call: Call, query: PageQuery) -> BlockPage:
    """The users whom the caller blocks, newest first.

    Needs `social:friends.read`.
    """
    after = _PAGES.place(query.cursor)
    rows = await call.service.database.read(blocks.of_user, call.user_id, after, query.limit + 1)
    page = _PAGES.page(rows, query.limit, lambda row: (row.created_at_ms, row.target_id))
    return BlockPage([_entry(row) for row in page.rows], page.next_cursor, page.has_more)


@endpoint(
    "POST", _LIST, needs=EDIT, status=201, found_status=200, refusals=(NotFound, Invalid, QuotaExceeded)
)
async def block_user(call: Call, body: BlockBody) -> Reply[BlockEntry]:
    """Blocks a user (201), or changes the reason of a block (200).

    Needs `social:friends.edit`. Friendship and requests between the two end; new requests and messages are refused in
    both directions. Blocking oneself is a 422.
    """
    other_id = await actions.resolve_target(call, body.target_id, None)
    return await actions.block(call, call.user_id, other_id, body.reason)


@endpoint("DELETE", _LIST + "/{targetId}", needs=EDIT, refusals=(NotFound,))
async def unblock_user(call: Call, target_id: UserId) -> None:
    """Ends a block; a friendship that it ended does not come back.

    Needs `social:friends.edit`. Answers 204.
    """
    await actions.unblock(call, call.user_id, target_id)


def _entry(row: Block) -> BlockEntry:
    return BlockEntry(row.target_id, row.reason, iso(row.created_at_ms), iso(row.updated_at_ms))
