"""A user's own settings (service-api §2 Profile, contract §8): their rules, and the unit of work that changes them."""

from collections.abc import Callable

import msgspec

from actors.change import Change
from actors.errors import Invalid, NotFound, RevisionConflict
from actors.field_errors import FieldError
from actors.users.events import UserChanged
from persistence.connection import Connection
from persistence.users.settings import Settings, read_settings, save_settings
from persistence.users.users import GroupInvites, Visibility, lock_user

UI_STYLE_MAX_BYTES = 64 * 1024
"""The most bytes of the UI style, encoded as it is stored (contract §8)."""

UI_STYLE_SOURCE_MAX = 200
"""The longest `source` (a name or an address), in characters."""

NULL = msgspec.Raw(b"null")
ABSENT = msgspec.Raw(b"")


class UiStyle(msgspec.Struct, frozen=True, rename="camel"):
    """How the user's launcher looks; opaque to the service.

    Args:
        sync_enabled: whether clients should synchronise it.
        source: the client's name for where the style comes from; None without one.
        payload: the style itself, any JSON.
    """

    sync_enabled: bool = False
    source: str | None = None
    payload: msgspec.Raw = msgspec.field(default_factory=lambda: NULL)


class UiStyleChange(msgspec.Struct, frozen=True):
    """The parts of `UiStyle` to change; None, `ABSENT` and, for `source`, UNSET leave a part as it is."""

    sync_enabled: bool | None = None
    source: str | msgspec.UnsetType | None = msgspec.UNSET
    payload: msgspec.Raw = msgspec.field(default_factory=lambda: ABSENT)


class SettingsChange(msgspec.Struct, frozen=True):
    """The settings to change; None leaves a setting as it is."""

    allow_friend_requests: bool | None = None
    server_list_visibility: Visibility | None = None
    group_invites: GroupInvites | None = None
    ui_style: UiStyleChange | None = None


def ui_style_of(settings: Settings) -> UiStyle:
    """The user's style; the default when they have never set one."""
    return UiStyle() if settings.ui_style is None else msgspec.json.decode(settings.ui_style, type=UiStyle)


def with_change(style: UiStyle, change: UiStyleChange) -> bytes:
    """Apply a change to a style, and encode it for storage.

    Raises:
        Invalid: the source or the whole style is too long.
    """
    source = style.source if isinstance(change.source, msgspec.UnsetType) else change.source
    if source is not None and len(source) > UI_STYLE_SOURCE_MAX:
        raise Invalid(
            FieldError("/uiStyle/source", "BAD_LENGTH", f"at most {UI_STYLE_SOURCE_MAX} characters")
        )
    encoded = msgspec.json.encode(
        UiStyle(
            style.sync_enabled if change.sync_enabled is None else change.sync_enabled,
            source,
            style.payload if not bytes(change.payload) else change.payload,
        )
    )
    if len(encoded) > UI_STYLE_MAX_BYTES:
        raise Invalid(FieldError("/uiStyle/payload", "BAD_LENGTH", "uiStyle may have at most 64 KiB"))
    return encoded


async def change_settings(
    conn: Connection,
    user_id: str,
    change: SettingsChange,
    is_current: Callable[[Settings], bool],
    now_ms: int,
) -> Change[Settings]:
    """Change a user's settings; a unit of work for one transaction.

    Args:
        user_id: the user's id, a lower-case uuid.
        change: the settings to change.
        is_current: whether the stored settings are those that the client has seen and changed.
        now_ms: epoch milliseconds.

    Raises:
        Invalid: `ui_style` would become too large.
        NotFound: there is no such user.
        RevisionConflict: the settings have changed since the client saw them.
    """
    await lock_user(conn, user_id)
    settings = await read_settings(conn, user_id)
    if settings is not None:
        if not is_current(settings):
            raise RevisionConflict
        style = None if change.ui_style is None else with_change(ui_style_of(settings), change.ui_style)
        settings = await save_settings(
            conn,
            user_id,
            allow_friend_requests=change.allow_friend_requests,
            server_list_visibility=change.server_list_visibility,
            group_invites=change.group_invites,
            ui_style=style,
            now_ms=now_ms,
        )
    if settings is None:
        raise NotFound("no such user")
    return Change(settings, (UserChanged(user_id),))
