"""Settings of game servers: one versioned document for each source, its schema, and its history (contract §7)."""

import re
from functools import partial
from typing import Annotated, Any

import msgspec

from actors.connect.commands import PutSettings
from actors.connect.extensions import CONNECT, is_extension_id
from actors.connect.public import (
    Settings,
    SettingsVersion,
    no_settings,
    settings_of,
    version_of,
)
from actors.connect.schemas import Schema
from actors.connect.secret_values import open_values
from actors.errors import Forbidden, Invalid, NotFound, QuotaExceeded, RevisionConflict, TooLarge
from actors.field_errors import FieldError
from actors.ids import Uuid
from actors.pages import MAX_PAGE_BYTES, fitting
from actors.vault import NONCE_BYTES
from persistence.connect import settings
from persistence.connect.rows import SettingsRow
from persistence.connect.settings import Place, Wanted, place_of
from persistence.connection import Connection
from routes.call import Call
from routes.connect.guards import caller_of, may
from routes.connect.parts import GAME_SERVERS
from routes.connect.volume import charge_body
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.errors import BadQuery
from routes.edge.principal import SERVER
from routes.edge.reply import Tagged
from routes.edge.wire import Wire
from routes.rates import SETTINGS_WRITE

READ, WRITE = "server.settings.read", "server.settings.write"
"""Capabilities of users, and scopes of a server's delegated tokens."""

_SETTINGS = "/v1/connect/servers/{serverId}/settings"
_PAGES = Cursor("settings", Place)
_VERSION = rb'(?:W/)?"?[0-9]{1,9}"?'
_IF_MATCH = re.compile(_VERSION + rb"(?:[ \t]*,[ \t]*" + _VERSION + rb")*")
_NUMBER = re.compile(rb"[0-9]+")

Source = Annotated[str, msgspec.Meta(max_length=64)]


class SettingsQuery(Wire, frozen=True):
    """Which settings of a server.

    Args:
        source: an extension's id, or `connect`.
    """

    source: Source = CONNECT


class HistoryQuery(PageQuery, frozen=True):
    """Which versions.

    Args:
        source: only versions of this source; left out = all.
    """

    source: Source | None = None


class SettingsBody(Wire, frozen=True):
    """The complete settings of one source.

    Args:
        data: values by key; `********` in place of a secret keeps the stored one.
        schema: left out, the stored one applies.
        source: an extension's id, or `connect`.
        schema_version: left out, that of the schema.
    """

    data: dict[str, Any]
    schema: Schema | None = None
    source: Source = CONNECT
    schema_version: Annotated[str, msgspec.Meta(min_length=1, max_length=50)] | None = None


class SettingsHistory(Wire, frozen=True):
    """Stored versions, newest first; the newest 100 versions of a source are kept, 4 MiB for a server in all.

    Args:
        next_cursor: for the next page, or null. A page may be shorter than `limit`: it has about 1 MB at most.
    """

    items: tuple[SettingsVersion, ...]
    next_cursor: str | None
    has_more: bool


@endpoint(
    "GET",
    _SETTINGS,
    needs="connect:settings:read",
    servers=SERVER,
    refusals=(NotFound, Forbidden),
    guard=may(READ),
)
async def read_server_settings(call: Call, server_id: Uuid, query: SettingsQuery) -> Tagged[Settings]:
    """The settings of one source, with their version as `ETag`.

    Before anything is stored, version 0 without data is answered. Secret values are masked, except for the server.
    """
    service = call.service
    state = service.system.read(service.of(GAME_SERVERS).server, server_id, call.now_ms)
    if state is not None:
        row = state.settings.get(query.source)
    else:
        row = await service.database.read(settings.read, server_id, query.source)
    return _reply(no_settings(server_id, query.source)) if row is None else _tagged(call, row)


@endpoint(
    "PUT",
    _SETTINGS,
    needs="connect:settings:write",
    servers=SERVER,
    rate=SETTINGS_WRITE,
    rate_key="server_id",
    secret_reply=True,
    refusals=(NotFound, Forbidden, Invalid, QuotaExceeded, RevisionConflict, TooLarge),
    guard=may(WRITE),
)
async def put_server_settings(call: Call, server_id: Uuid, body: SettingsBody) -> Tagged[Settings]:
    """Replaces the settings of one source.

    With `If-Match`, only if that, or one of several, is the current version (409 otherwise). Values are checked against
    the schema; keys that it does not name are stored unchecked. Unchanged settings keep their version. At most 60 a
    minute for each caller and server, 120 for all servers of a caller, and 600 for all servers of an owner with
    credentials of their own. For the source `connect`, `data.temp` sets whether the server is a temporary instance;
    `true` holds as long as the settings say it. A malformed `source` is a 422, a malformed `If-Match` a 400.
    """
    if body.source != CONNECT and not is_extension_id(body.source):
        raise Invalid(FieldError("/source", "BAD_FORMAT", "an extension's id, or connect"))
    charge_body(call)
    command = PutSettings(
        user_id=caller_of(call),
        source=body.source,
        data=body.data,
        schema=body.schema,
        schema_version=body.schema_version,
        expected=_expected(call.header(b"if-match")),
        nonce=call.service.random_bytes(NONCE_BYTES),
    )
    return await call.ask(call.service.of(GAME_SERVERS).server, server_id, command, partial(_tagged, call))


@endpoint(
    "GET",
    _SETTINGS + "/history",
    needs="connect:settings:read",
    servers=SERVER,
    refusals=(NotFound, Forbidden),
    guard=may(READ),
)
async def list_settings_history(call: Call, server_id: Uuid, query: HistoryQuery) -> SettingsHistory:
    """Stored versions, newest first. Secret values are masked."""
    before = _PAGES.place(query.cursor)
    wanted = Wanted(source=query.source, before=before, limit=query.limit + 1, max_bytes=MAX_PAGE_BYTES)
    return await call.service.database.read(_history, server_id, wanted, query.limit)


async def _history(conn: Connection, server_id: str, wanted: Wanted, limit: int) -> SettingsHistory:
    """A page of the history, masked on the bridge's thread that reads it, so that no other request waits for that."""
    rows = await settings.history(conn, server_id, wanted)
    page = _PAGES.page(rows, len(fitting(rows[:limit], lambda row: len(row.data))), place_of)
    return SettingsHistory(tuple(version_of(row) for row in page.rows), page.next_cursor, page.has_more)


def _tagged(call: Call, row: SettingsRow) -> Tagged[Settings]:
    vault = call.service.of(GAME_SERVERS).vault
    return _reply(settings_of(row, open_values(vault, row.sealed) if caller_of(call) is None else None))


def _reply(shown: Settings) -> Tagged[Settings]:
    return Tagged(shown, f'"{shown.version}"')


def _expected(header: bytes | None) -> int | tuple[int, ...] | None:
    """The versions that If-Match names (RFC 9110 §13.1.1); one alone as a number, which older nodes know as well."""
    if header is None or header.strip() == b"*":
        return None
    if _IF_MATCH.fullmatch(header.strip()) is None:
        raise BadQuery("If-Match is not a version, nor a list of versions")
    versions = tuple(int(number) for number in _NUMBER.findall(header))
    return versions if len(versions) > 1 else versions[0]
