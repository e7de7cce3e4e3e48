"""The list of users, for admins (service-api §4 Admin)."""

from typing import Annotated, Literal

import msgspec

from actors.ids import parse_uuid
from actors.time import iso, iso_or_none
from actors.users.permissions import Role, highest_label
from persistence.connection import Connection
from persistence.users.listing import ListedUser, WantedUsers, list_users, read_listed
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.wire import Wire
from routes.users.admin import USER_VIEW
from routes.users.parts import USER_DIRECTORY

GivenRole = Literal["moderator", "admin", "super-admin"]
"""The roles that can be given to a user; the role User is everybody's."""

_PAGES = Cursor("users", tuple[str, str])


class UsersQuery(PageQuery, frozen=True):
    """Which users.

    Args:
        query: the beginning of a name, case ignored, or a whole uuid; left out = all.
        role: only users with this role.
    """

    query: Annotated[str, msgspec.Meta(max_length=64)] = ""
    role: GivenRole | None = None


class UserItem(Wire, frozen=True):
    """A user of the list.

    Args:
        roles: those that were given to them, sorted.
        highest_role_label: the label of the highest, `User` at least.
        last_seen_at: null = never.
    """

    user_id: str
    name: str
    roles: list[GivenRole]
    highest_role_label: str
    home_region: str | None
    created_at: str
    last_seen_at: str | None


class UserPage(Wire, frozen=True):
    """A page of users, by name."""

    items: list[UserItem]
    next_cursor: str | None
    has_more: bool


@endpoint("GET", "/v1/admin/users", needs=USER_VIEW)
async def list_all_users(call: Call, query: UsersQuery) -> UserPage:
    """Lists users by name, all or those whose name begins with a text; a uuid finds its one user. With `role`, only
    those who were given this role."""
    wanted = WantedUsers(
        prefix=query.query, role=query.role, after=_PAGES.place(query.cursor), limit=query.limit + 1
    )
    rows = await call.service.database.read(_find, wanted)
    page = _PAGES.page(rows, query.limit, lambda row: (row.name_lower, row.id))
    return UserPage([_item(call, row) for row in page.rows], page.next_cursor, page.has_more)


async def _find(conn: Connection, wanted: WantedUsers) -> list[ListedUser]:
    user_id = parse_uuid(wanted.prefix)
    if user_id is None:
        return await list_users(conn, wanted)
    found = await read_listed(conn, user_id)
    return [] if found is None or wanted.role not in (None, *found.roles) else [found]


def _item(call: Call, row: ListedUser) -> UserItem:
    seen_at_ms = call.service.of(USER_DIRECTORY).last_seen_ms(row.id, row.last_seen_at_ms)
    return UserItem(
        row.id,
        row.name,
        [msgspec.convert(role, GivenRole) for role in row.roles],
        highest_label(map(Role, row.roles)),
        row.home_region,
        iso(row.created_at_ms),
        iso_or_none(seen_at_ms),
    )
