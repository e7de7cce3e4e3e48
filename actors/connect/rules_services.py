"""An extension leaves a game server, or another one takes its place (contract §10): pure.

| of the former extension | there is none of the new one | there is one                             |
|-------------------------|------------------------------|------------------------------------------|
| settings                | moved, a version more        | the new one's stay; the former ones stay in the history |
| registration            | moved                        | the new one's stays                      |
| open commands           | cancelled                    | cancelled                                |
"""

from collections.abc import Sequence

from msgspec.structs import replace

from actors.connect import events, rules_commands
from actors.connect.commands import DropExtension, MigrateExtension
from actors.connect.events import AnyEvent
from actors.connect.extensions import CONNECT
from actors.connect.rules_settings import data_of
from actors.connect.secret_values import open_values, seal_values
from actors.connect.state import State
from actors.vault import Vault
from persistence.connect.rows import SettingsRow


def migrate(vault: Vault, state: State, command: MigrateExtension, now_ms: int) -> Sequence[AnyEvent]:
    """Move everything of an extension to another one; nothing happens on a server that is no longer the user's."""
    if state.row.owner_id != command.user_id:
        return ()
    happened: list[AnyEvent] = []
    settings = state.settings.get(command.former_id)
    if settings is not None and moves_settings(command.former_id, command.extension_id):
        if command.extension_id not in state.settings:
            moved = _moved(vault, settings, command, now_ms)
            keys = tuple(sorted((*data_of(moved), *moved.secret_keys)))
            happened.append(events.SettingsChanged(moved, keys))
        happened.append(events.SettingsRemoved(command.former_id))
    registration = state.registrations.get(command.former_id)
    if registration is not None:
        if command.extension_id not in state.registrations:
            there = replace(registration, extension_id=command.extension_id, version=registration.version + 1)
            happened.append(events.ExtensionRegistered(there))
        happened.append(events.ExtensionRemoved(command.former_id))
    return [*happened, *rules_commands.cancelled_of(state, command.former_id, now_ms)]


def moves_settings(former_id: str, extension_id: str) -> bool:
    """Whether settings are moved from one extension to another. The settings `connect`, which the service itself reads,
    are no extension's, even if an extension once had that id."""
    return CONNECT not in (former_id, extension_id)


def drop(state: State, command: DropExtension, now_ms: int) -> Sequence[AnyEvent]:
    """Remove the registration of an extension, and cancel its open commands; its settings stay. Nothing happens on a
    server that is no longer the user's.
    """
    if state.row.owner_id != command.user_id or command.extension_id not in state.registrations:
        return ()
    return [
        events.ExtensionRemoved(command.extension_id),
        *rules_commands.cancelled_of(state, command.extension_id, now_ms),
    ]


def _moved(vault: Vault, former: SettingsRow, command: MigrateExtension, now_ms: int) -> SettingsRow:
    values = open_values(vault, former.sealed)
    return replace(
        former,
        source=command.extension_id,
        version=former.version + 1,
        # Values under a key that is lost cannot be sealed anew.
        sealed=seal_values(vault, values, command.nonce) if values else former.sealed,
        updated_at_ms=now_ms,
        updated_by=command.user_id,
    )
