"""The snapshots and events of a game server's channel (contract §7, `/stream`).

| event              | data              | the server is told                  | users are told |
|--------------------|-------------------|-------------------------------------|----------------|
| `settings_updated` | Settings          | always, secret values in the clear  | always, masked |
| `command`          | Command           | delivered, cancelled, expired       | with `server.commands.read` |
| `extensions`       | list of Registration | always                           | always         |
| `access_policy`    | AccessPolicy      | with `server.members.read`          | with `server.members.read` |
| `members`          | list of Member    | with `server.members.read`          | with `server.members.read` |
"""

from typing import NamedTuple

import msgspec

from actors.connect import events
from actors.connect.capabilities import READ_MEMBERS, capabilities_of
from actors.connect.events import AnyEvent
from actors.connect.public import (
    Settings,
    SettingsSnapshot,
    command_of,
    no_settings,
    registrations_of,
    settings_of,
)
from actors.connect.public_members import members_in, policy_of
from actors.connect.secret_values import open_values
from actors.connect.state import State
from actors.errors import Forbidden, NotFound
from actors.kernel.facets import Delta
from actors.vault import Vault
from persistence.connect.rows import CommandRow, SettingsRow

TOLD_TO_SERVER = frozenset({"delivered", "cancelled", "expired"})
"""The command statuses that a server is told of; it has reported the others itself, or is told on delivery."""


class ServerViewer(msgspec.Struct, frozen=True):
    """A viewer of a server's channel.

    Args:
        user_id: the user who views; None for the server itself.
        commands, members: whether the viewer's permission nodes, or the scopes of the server's token, cover commands
            and members.
    """

    user_id: str | None
    commands: bool = True
    members: bool = True


class Audience(NamedTuple):
    """Viewers who receive the same bytes."""

    is_server: bool
    commands: bool
    members: bool


class Frames:
    """Renders snapshots and events of a server's channel.

    Args:
        vault: opens secret values for the server.
    """

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def audience(self, state: State, viewer: ServerViewer) -> Audience:
        """The audience that a viewer belongs to.

        Raises:
            NotFound: the server is gone, or the viewer a stranger to it.
            Forbidden: the viewer belongs to the server, and may not read settings.
        """
        if state.removed:
            raise NotFound
        if viewer.user_id is None:
            return Audience(is_server=True, commands=viewer.commands, members=viewer.members)
        held = capabilities_of(state, viewer.user_id)
        if not held:
            raise NotFound
        if "server.settings.read" not in held:
            raise Forbidden(permission="server.settings.read")
        return Audience(
            is_server=False,
            commands=viewer.commands and "server.commands.read" in held,
            members=viewer.members and READ_MEMBERS in held,
        )

    def render(self, state: State, audience: Audience) -> SettingsSnapshot:
        """The snapshot as that audience sees it."""
        rows = sorted(state.settings.values(), key=lambda row: row.source)
        return SettingsSnapshot(tuple(self.settings(row, is_server=audience.is_server) for row in rows))

    def render_event(  # noqa: PLR0911 - a table
        self, state: State, event: AnyEvent, audience: Audience
    ) -> Delta | None:
        """The event as that audience sees it; None when it is not shown to it."""
        match event:
            case events.CommandChanged() | events.CommandTouched():
                shown = _shown(event.command, audience)
                return (
                    Delta("command", command_of(event.command, is_server=audience.is_server))
                    if shown
                    else None
                )
            case events.SettingsChanged():
                settings = self.settings(event.settings, is_server=audience.is_server)
                return Delta("settings_updated", settings)
            case events.SettingsRemoved():
                return Delta("settings_updated", no_settings(state.id, event.source))
            case events.ExtensionRegistered() | events.ExtensionRemoved() | events.ExtensionNoted():
                return Delta("extensions", registrations_of(state.registrations.values()))
            case events.PolicyChanged():
                return Delta("access_policy", policy_of(state.row)) if audience.members else None
            case events.MembersChanged() | events.MemberRenamed():
                return Delta("members", members_in(state)) if audience.members else None
            case _:
                return None

    def settings(self, row: SettingsRow, *, is_server: bool) -> Settings:
        """The settings as clients see them.

        Args:
            is_server: whether they are for the server itself, which sees secret values in plain text; others see a
                mask.
        """
        return settings_of(row, open_values(self._vault, row.sealed) if is_server else None)


def _shown(command: CommandRow, audience: Audience) -> bool:
    return audience.commands and (not audience.is_server or command.status in TOLD_TO_SERVER)
