"""What users set for themselves: who may do what to them, and the look of their client."""

import msgspec

from persistence.connection import Connection, Row
from persistence.users.users import COLUMNS, GroupInvites, User, Visibility, user_of

_SETTINGS = f"SELECT {COLUMNS}, ui_style FROM users WHERE id = $1"  # noqa: S608
_SAVE_SETTINGS = f"""
UPDATE users SET allow_friend_requests = coalesce($2, allow_friend_requests),
    server_list_visibility = coalesce($3, server_list_visibility), group_invites = coalesce($4, group_invites),
    ui_style = coalesce($5, ui_style), updated_at_ms = $6
WHERE id = $1 RETURNING {COLUMNS}, ui_style
"""  # noqa: S608


class Settings(msgspec.Struct, frozen=True):
    """A user with their private settings.

    Args:
        ui_style: the user's own JSON, encoded, at most 64 KiB.
    """

    user: User
    ui_style: bytes | None


async def read_settings(conn: Connection, user_id: str) -> Settings | None:
    """One user with their private settings, or None."""
    row = await conn.fetchrow(_SETTINGS, user_id)
    return None if row is None else _settings(row)


async def save_settings(
    conn: Connection,
    user_id: str,
    *,
    allow_friend_requests: bool | None,
    server_list_visibility: Visibility | None,
    group_invites: GroupInvites | None,
    ui_style: bytes | None,
    now_ms: int,
) -> Settings | None:
    """Change those settings that are not None.

    Args:
        allow_friend_requests: whether other users may send them friend requests.
        ui_style: the user's own JSON, encoded.
        now_ms: epoch milliseconds.

    Returns:
        All settings after the change, or None when there is no such user.
    """
    row = await conn.fetchrow(
        _SAVE_SETTINGS,
        user_id,
        allow_friend_requests,
        server_list_visibility,
        group_invites,
        ui_style,
        now_ms,
    )
    return None if row is None else _settings(row)


def _settings(row: Row) -> Settings:
    *fields, ui_style = row
    return Settings(user_of(fields), ui_style)
