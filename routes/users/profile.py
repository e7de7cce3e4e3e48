"""The caller's own profile and settings (service-api §4 Profile, contract §8)."""

from functools import partial
from typing import Annotated

import msgspec

from actors.errors import NotFound, RevisionConflict
from actors.time import iso, iso_or_none
from actors.users.permissions import Access, capped_to
from actors.users.presence import Presence
from actors.users.units_profile import (
    ABSENT,
    UI_STYLE_SOURCE_MAX,
    SettingsChange,
    UiStyleChange,
    change_settings,
    ui_style_of,
)
from persistence.users.settings import Settings, read_settings
from persistence.users.users import GroupInvites, User, Visibility
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.pipeline.conditions import condition_of, etag_of
from routes.edge.principal import AUTHENTICATED
from routes.edge.reply import MaybeAwaitable, Tagged, then
from routes.edge.wire import Wire
from routes.users.parts import PRESENCE, USER_DIRECTORY
from routes.users.reactions import RightsOf

SETTINGS_BODY_MAX_BYTES = 96 * 1024
"""Largest request body: a style of 64 KiB, written with some white space."""

StyleSource = Annotated[str, msgspec.Meta(max_length=UI_STYLE_SOURCE_MAX)]


class OwnStatus(Wire, frozen=True):
    """Whether the user is online, and since when.

    Args:
        state: `ONLINE` or `OFFLINE`.
        timestamp: time of the last change.
    """

    state: str
    timestamp: str


class ProfileSelf(Wire, frozen=True):
    """The caller.

    Args:
        user_id: uuid.
        name: as in their newest token.
        highest_role_label: `Super Admin`, `Admin`, `Moderator` or `User`.
        permissions: every permission node that they hold, sorted.
        online: whether a live socket of theirs is open, or closed less than 10 s ago.
        status: the same with its time.
        last_seen_at: time of their last request.
    """

    user_id: str
    name: str
    highest_role_label: str
    permissions: tuple[str, ...]
    online: bool
    status: OwnStatus
    last_seen_at: str | None


class Privacy(Wire, frozen=True):
    """The user's privacy settings.

    Args:
        server_list_visibility: who may read their saved servers; by default `FRIENDS`.
        group_invites: who may add them to a group; by default `EVERYONE`.
    """

    server_list_visibility: Visibility
    group_invites: GroupInvites


class UiStyleOut(Wire, frozen=True):
    """The style of the user's launcher; the server stores it without interpreting it.

    Args:
        sync_enabled: whether clients should synchronise it.
        source: where it comes from, named by the client.
        payload: any JSON.
    """

    sync_enabled: bool
    source: str | None
    payload: msgspec.Raw


class Patreon(Wire, frozen=True):
    """The linked Patreon account.

    Args:
        linked: whether there is one.
    """

    linked: bool
    tier: str | None


class LinkedDiscord(Wire, frozen=True):
    """The linked Discord account.

    Args:
        linked: whether there is one.
        username: the name there; null while none is linked.
    """

    linked: bool
    username: str | None


class Supporter(Wire, frozen=True):
    """Whether the user supports the service.

    Args:
        active: whether they do now.
        since: since when; null if it is not recorded.
    """

    active: bool
    tier: str | None
    since: str | None


class ProfileSettings(Wire, frozen=True):
    """The caller's settings; `patreon`, `discord` and `supporter` are read-only.

    Args:
        patreon: the user's support on Patreon.
        discord: the linked Discord account.
        supporter: the user's rank as a supporter.
    """

    allow_friend_requests: bool
    privacy: Privacy
    ui_style: UiStyleOut
    patreon: Patreon
    discord: LinkedDiscord
    supporter: Supporter


class PrivacyPatch(Wire, frozen=True):
    """Changes to `privacy`; a field that is left out stays.

    Args:
        server_list_visibility: who sees the user's servers.
        group_invites: who may take the user into groups.
    """

    server_list_visibility: Visibility | None = None
    group_invites: GroupInvites | None = None


class UiStylePatch(Wire, frozen=True):
    """Changes to `uiStyle`; a field that is left out stays. The whole style has at most 64 KiB.

    Args:
        sync_enabled: whether the style follows the user to other machines.
        source: where it was made.
        payload: the style itself, as the launcher writes it.
    """

    sync_enabled: bool | None = None
    source: StyleSource | msgspec.UnsetType | None = msgspec.UNSET
    payload: msgspec.Raw = msgspec.field(default_factory=lambda: ABSENT)


class SettingsPatch(Wire, frozen=True):
    """Changes to the settings; a field that is left out stays."""

    allow_friend_requests: bool | None = None
    privacy: PrivacyPatch | None = None
    ui_style: UiStylePatch | None = None


def status_of(user: User, presence: Presence) -> OwnStatus:
    """The status of a user, as they see it themselves."""
    since_ms = presence.online_since_ms(user.id)
    if since_ms is not None:
        return OwnStatus("ONLINE", iso(since_ms))
    gone_ms = presence.offline_since_ms(user.id)
    return OwnStatus("OFFLINE", iso(gone_ms or max(user.created_at_ms, presence.begun_at_ms)))


def settings_of(settings: Settings) -> ProfileSettings:
    """The wire form of a user's settings."""
    user, style = settings.user, ui_style_of(settings)
    return ProfileSettings(
        user.allow_friend_requests,
        Privacy(user.server_list_visibility, user.group_invites),
        UiStyleOut(style.sync_enabled, style.source, style.payload),
        Patreon(user.patreon_tier is not None, user.patreon_tier),
        LinkedDiscord(user.discord_username is not None, user.discord_username),
        Supporter(user.supporter_tier is not None, user.supporter_tier, iso_or_none(user.supporter_since_ms)),
    )


@endpoint("GET", "/v1/profile/self", needs=AUTHENTICATED, refusals=(NotFound,))
def read_own_profile(call: Call) -> MaybeAwaitable[ProfileSelf]:
    """Answers the caller's profile, with their permissions."""
    return then(call.service.of(USER_DIRECTORY).get(call.user_id), partial(_profile, call))


def _profile(call: Call, known: tuple[User, Access]) -> ProfileSelf:
    user, access = known
    access = capped_to(access, capped=call.user.capped)
    status = status_of(user, call.service.of(PRESENCE))
    return ProfileSelf(
        user.id,
        user.name,
        access.highest_role_label,
        access.held,
        status.state == "ONLINE",
        status,
        iso_or_none(call.service.of(USER_DIRECTORY).last_seen_of(user)),
    )


@endpoint("GET", "/v1/profile/settings", needs=AUTHENTICATED, refusals=(NotFound,))
async def read_own_settings(call: Call) -> Tagged[ProfileSettings]:
    """Answers the caller's settings, with an `ETag` for changing them; 404 if the user was erased meanwhile."""
    settings = await call.service.database.read(read_settings, call.user_id)
    if settings is None:
        raise NotFound("no such user")
    return _tagged(settings)


@endpoint(
    "PATCH",
    "/v1/profile/settings",
    needs=AUTHENTICATED,
    refusals=(NotFound, RevisionConflict),
    max_bytes=SETTINGS_BODY_MAX_BYTES,
)
async def change_own_settings(call: Call, body: SettingsPatch) -> Tagged[ProfileSettings]:
    """Changes the settings that the body names, and answers all of them.

    `If-Match` names the `ETag` of the settings that the caller has changed; if that is not the current one, the answer
    is a 409 `REVISION_CONFLICT`.
    """
    style, privacy = body.ui_style, body.privacy or PrivacyPatch()
    wish = SettingsChange(
        body.allow_friend_requests,
        privacy.server_list_visibility,
        privacy.group_invites,
        None if style is None else UiStyleChange(style.sync_enabled, style.source, style.payload),
    )
    about, is_current = RightsOf(call.user_id), condition_of(call, _changeable)
    return await change(
        call, change_settings, call.user_id, wish, is_current, call.now_ms, about=about, shape=_tagged
    )


def _tagged(settings: Settings) -> Tagged[ProfileSettings]:
    return Tagged(settings_of(settings), etag_of(_changeable(settings)))


def _changeable(settings: Settings) -> object:
    """The settings that a `SettingsPatch` can change, for the ETag."""
    shown = settings_of(settings)
    return [shown.allow_friend_requests, shown.privacy, shown.ui_style]
