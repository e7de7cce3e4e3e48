"""What clients see of game servers (service-api §2, contract §7). It holds neither a server's secret nor its hash;
secret values of settings are shown to their server alone.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from actors.bounds import JsonObject, JsonObjects
from actors.connect.rules_settings import MASK, data_of
from actors.stored_json import values_in
from actors.time import iso, iso_or_none
from persistence.connect.rows import (
    CommandRow,
    ExtensionRow,
    RegistrationRow,
    ServerRow,
    SettingsRow,
    SettingsVersionRow,
)


class Server(msgspec.Struct, frozen=True, rename="camel"):
    """A game server.

    Args:
        id: an object id.
        server_id: a uuid, as in X-Server-Id.
        network_id: the network that the server is in, or null.
        is_template: whether the settings of new servers can be copied from this one.
        temp_instance: whether the server is removed when it is silent for a day.
        owner_id: the user who has claimed it; null before.
    """

    id: str
    server_id: str
    network_id: str | None
    server_type: str
    name: str
    is_template: bool
    temp_instance: bool
    owner_id: str | None
    created_at: str
    updated_at: str


def server_of(row: ServerRow) -> Server:
    """The server as clients see it."""
    return Server(
        id=row.id,
        server_id=row.server_id,
        network_id=row.network_id,
        server_type=row.server_type,
        name=row.name,
        is_template=row.is_template,
        temp_instance=row.temporary,
        owner_id=row.owner_id,
        created_at=iso(row.created_at_ms),
        updated_at=iso(row.updated_at_ms),
    )


class Command(msgspec.Struct, frozen=True, rename="camel"):
    """A command for a game server.

    Args:
        action: the name of the action that the server is to take.
        payload: the action's input, an object; secret values are `********` to all callers but the server, and to that
            once the command has ended.
        status: pending, delivered, running, success, failed, rejected, expired or cancelled.
        result: the server's answer, or null.
        error: why it failed or was rejected, as the server said; null otherwise.
        progress: 0 to 100, as reported by the server.
        version: increases with each change.
        attempts: how often the command was delivered.
        extension_id: the extension that brings the action, or null.
        created_by: who sent it: a user's id, or the name of an automation.
        delivered_at: when the server was first given it; null before.
        started_at: when the server began with it; null before.
        finished_at: when it ended, in whatever way; null before.
    """

    id: str
    server_id: str
    action: str
    payload: JsonObject
    status: str
    result: JsonObject | None
    error: str | None
    progress: float | None
    version: int
    attempts: int
    extension_id: str | None
    created_by: str
    created_at: str
    updated_at: str
    delivered_at: str | None
    started_at: str | None
    finished_at: str | None
    expires_at: str


class Settings(msgspec.Struct, frozen=True, rename="camel"):
    """The settings of one source on a game server.

    Args:
        source: an extension's id, or `connect`.
        version: increases with each write; 0 before the first.
        data: an object; secret values are `********` to all callers but the server.
        schema: `{version, fields}`, or null.
        updated_by: a user's id, or the server's own.
    """

    server_id: str
    source: str
    schema_version: str
    version: int
    data: JsonObject
    schema: JsonObject | None
    updated_at: str | None
    updated_by: str | None


class SettingsVersion(msgspec.Struct, frozen=True, rename="camel"):
    """One version of the settings of a source.

    Args:
        version: rises by one with each change.
        source: whose settings: an extension's id, or `connect`.
        data: an object; secret values are masked for all callers.
        changed_keys: the keys of `data` that this version changed.
        updated_by: who made this version.
    """

    version: int
    source: str
    data: JsonObject
    schema_version: str
    changed_keys: tuple[str, ...]
    updated_at: str
    updated_by: str


class Extension(msgspec.Struct, frozen=True, rename="camel"):
    """An extension of the catalog.

    Args:
        description: what it is for.
        visibility: `public`, or `private` to holders of its permission.
    """

    id: str
    extension_id: str
    name: str
    description: str
    owner_id: str | None
    visibility: str
    created_at: str
    updated_at: str


class Registration(msgspec.Struct, frozen=True, rename="camel"):
    """An extension as a server has registered it.

    Args:
        description: what it is for.
        version: increases with each change.
        actions: an array of `{id, label, description, schema}`.
        last_seen_at: when the server last registered it.
    """

    extension_id: str
    server_id: str
    name: str
    description: str
    version: int
    actions: JsonObjects
    registered_at: str
    last_seen_at: str


class SettingsSnapshot(
    msgspec.Struct, frozen=True, rename="camel", tag_field="type", tag="settings_snapshot"
):
    """The first frame of a server's stream: all its settings, ordered by source.

    Args:
        settings: one entry for each source.
    """

    settings: tuple[Settings, ...]


def command_of(row: CommandRow, *, is_server: bool = False) -> Command:
    """The command as clients see it.

    Args:
        is_server: whether it is for the server itself, which sees secret values of the payload until the command ends;
            others see a mask.
    """
    return Command(
        id=row.id,
        server_id=row.server_id,
        action=row.action,
        payload=msgspec.Raw(row.payload if is_server or row.masked is None else row.masked),
        status=row.status,
        result=None if row.result is None else msgspec.Raw(row.result),
        error=row.error,
        progress=row.progress,
        version=row.version,
        attempts=row.attempts,
        extension_id=row.extension_id,
        created_by=row.created_by,
        created_at=iso(row.created_at_ms),
        updated_at=iso(row.updated_at_ms),
        delivered_at=iso_or_none(row.delivered_at_ms),
        started_at=iso_or_none(row.started_at_ms),
        finished_at=iso_or_none(row.finished_at_ms),
        expires_at=iso(row.expires_at_ms),
    )


def settings_of(row: SettingsRow, opened: Mapping[str, str] | None = None) -> Settings:
    """The settings as clients see them.

    Args:
        opened: {key: secret value}, for the server itself; None masks secret values.
    """
    data = row.data
    if row.secret_keys:
        shown = dict.fromkeys(row.secret_keys, MASK) if opened is None else opened
        data = msgspec.json.encode({**data_of(row), **shown})
    return Settings(
        server_id=row.server_id,
        source=row.source,
        schema_version=row.schema_version,
        version=row.version,
        data=msgspec.Raw(data),
        schema=None if row.schema is None else msgspec.Raw(row.schema),
        updated_at=iso(row.updated_at_ms),
        updated_by=row.updated_by,
    )


def no_settings(server_id: str, source: str) -> Settings:
    """The settings of a source before anything was stored (contract §7).

    Args:
        source: an extension's id, or `connect`.
    """
    return Settings(server_id, source, "1", 0, msgspec.Raw(b"{}"), None, None, None)


def version_of(row: SettingsVersionRow) -> SettingsVersion:
    """A version of settings as clients see it, with secret values masked, also those that became secret since.

    Where there are any, its data are decoded and encoded anew: a page of 1 MB takes some milliseconds, and belongs into
    another thread than that of the requests.
    """
    data = row.data
    if row.secret_keys or row.secret_now:
        plain: dict[str, Any] = values_in(data)
        hidden = [*row.secret_keys, *(key for key in row.secret_now if key in plain)]
        data = msgspec.json.encode({**plain, **dict.fromkeys(hidden, MASK)})
    return SettingsVersion(
        version=row.version,
        source=row.source,
        data=msgspec.Raw(data),
        schema_version=row.schema_version,
        changed_keys=row.changed_keys,
        updated_at=iso(row.updated_at_ms),
        updated_by=row.updated_by,
    )


def extension_of(row: ExtensionRow) -> Extension:
    """The extension as clients see it."""
    return Extension(
        id=row.id,
        extension_id=row.extension_id,
        name=row.name,
        description=row.description,
        owner_id=row.owner_id,
        visibility=row.visibility,
        created_at=iso(row.created_at_ms),
        updated_at=iso(row.updated_at_ms),
    )


def registrations_of(rows: Iterable[RegistrationRow]) -> tuple[Registration, ...]:
    """A server's registrations as clients see them, ordered by extension id."""
    return tuple(
        Registration(
            extension_id=row.extension_id,
            server_id=row.server_id,
            name=row.name,
            description=row.description,
            version=row.version,
            actions=msgspec.Raw(row.actions),
            registered_at=iso(row.registered_at_ms),
            last_seen_at=iso(row.last_seen_at_ms),
        )
        for row in sorted(rows, key=lambda row: row.extension_id)
    )
