"""Extensions of game servers: the catalog, and those that a server has registered (contract §7)."""

from functools import partial
from typing import Annotated, Literal

import msgspec

from actors.bounds import JsonObjects
from actors.connect import units_extensions as units
from actors.connect.commands import RegisterExtension
from actors.connect.extensions import (
    MAX_ACTIONS,
    Action,
    ExtensionId,
    Name,
    Text,
    described,
    is_extension_id,
    named,
    node_of,
)
from actors.connect.public import Extension, extension_of, registrations_of
from actors.connect.units_extensions import Edit
from actors.errors import Conflict, Forbidden, Invalid, NotFound, QuotaExceeded, TooLarge
from actors.field_errors import FieldError
from actors.ids import Uuid
from actors.users.permissions import capped_to
from persistence.connect import extensions
from persistence.connect.extensions import NODE
from persistence.connect.rows import ExtensionRow, RegistrationRow
from persistence.connection import Connection
from routes.call import Call
from routes.changes import change
from routes.connect.guards import caller_of, may
from routes.connect.parts import GAME_SERVERS
from routes.connect.volume import charge_body
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.principal import AUTHENTICATED, USER_OR_SERVER, Access
from routes.edge.wire import Wire
from routes.rates import SETTINGS_WRITE
from routes.users.parts import USER_DIRECTORY
from routes.users.reactions import RightsOf

READ, WRITE = "server.settings.read", "server.settings.write"
"""Capabilities of users, and scopes of a server's delegated tokens."""

_CATALOG = "/v1/connect/extensions"
_OF_SERVER = "/v1/connect/servers/{serverId}/extensions"
_PAGES = Cursor("extensions", str)
_PAGES_OF_SERVER = Cursor("extensions-of-server", str)

KEPT = "private, no-cache"
"""Cache-Control of the catalog: whom a private extension is shown to changes with each grant."""

Visibility = Literal["public", "private"]


class NewExtension(Wire, frozen=True):
    """An extension to add to the catalog.

    Args:
        extension_id: 1 to 64 of a-z, 0-9, `.`, `_` and `-`, beginning and ending with a letter or digit.
        name: 1 to 100 printable characters.
        description: what it is for.
        visibility: `private` hides it from users who lack its permission.
    """

    extension_id: ExtensionId
    name: Name
    description: Text = ""
    visibility: Visibility = "public"


class ExtensionChange(Wire, frozen=True):
    """Changes to an extension; a field that is left out, or null, stays.

    Args:
        description: what it is for.
        visibility: `public` extensions may be registered by everybody's servers.
    """

    name: Name | None = None
    description: Text | None = None
    visibility: Visibility | None = None


class ExtensionList(Wire, frozen=True):
    """A page of extensions, sorted by extension id."""

    items: tuple[Extension, ...]
    next_cursor: str | None
    has_more: bool


class RegistrationBody(Wire, frozen=True):
    """An extension as the server registers it.

    Args:
        name: left out, the name in the catalog; likewise `description`.
        description: what it is for.
        actions: the actions that commands can ask for, at most 64.
    """

    name: Name | None = None
    description: Text | None = None
    actions: Annotated[tuple[Action, ...], msgspec.Meta(max_length=MAX_ACTIONS)] = ()


class RegisteredExtension(Extension, frozen=True, rename="camel"):
    """An extension of the catalog, with the name, description and actions that the server has registered.

    Args:
        version: counts the changes of the registration.
        actions: an array of `{id, label, description, schema}`.
        last_seen_at: when the server last registered it.
    """

    server_id: str
    version: int
    actions: JsonObjects
    registered_at: str
    last_seen_at: str


class RegisteredExtensions(Wire, frozen=True):
    """A page of the extensions of a server, sorted by extension id."""

    items: tuple[RegisteredExtension, ...]
    next_cursor: str | None
    has_more: bool


@endpoint("GET", _CATALOG, needs=AUTHENTICATED, cacheable=KEPT)
async def list_extensions(call: Call, query: PageQuery) -> ExtensionList:
    """Public extensions, and private ones that the caller may change, sorted by id."""
    after = _PAGES.place(query.cursor)
    rows = await call.service.database.read(
        extensions.visible, call.user_id, _own(call), after, query.limit + 1
    )
    page = _PAGES.page(rows, query.limit, lambda row: row.extension_id)
    return ExtensionList(tuple(extension_of(row) for row in page.rows), page.next_cursor, page.has_more)


@endpoint(
    "POST", _CATALOG, needs=AUTHENTICATED, status=201, refusals=(NotFound, Invalid, QuotaExceeded, Conflict)
)
async def create_extension(call: Call, body: NewExtension) -> Extension:
    """Adds an extension to the catalog; the caller is granted the permission to change it.

    An id that is taken is a 409; a malformed one, and `connect`, whose settings are the service's own, a 422.
    """
    if not is_extension_id(body.extension_id):
        raise Invalid(
            FieldError("/extensionId", "BAD_FORMAT", "1 to 64 of a-z, 0-9, '.', '_' and '-'; not connect")
        )
    row = ExtensionRow(
        extension_id=body.extension_id,
        id=call.new_id(),
        name=named(body.name),
        description=described(body.description),
        owner_id=call.user_id,
        visibility=body.visibility,
        created_at_ms=call.now_ms,
        updated_at_ms=call.now_ms,
    )
    owner_id, node_id = call.user_id, call.new_id()
    return await change(
        call, units.create_extension, owner_id, row, node_id, about=RightsOf(owner_id), shape=extension_of
    )


async def may_change(call: Call, extension_id: str) -> None:
    """Guard: requires the extension's permission.

    Raises:
        NotFound: there is no such extension, or it is private and the caller lacks its permission.
        Forbidden: with `meta.permission`: it is public, and the caller lacks its permission.
    """
    known = is_extension_id(extension_id)
    row = await call.service.database.read(extensions.read, extension_id) if known else None
    node = node_of(extension_id)
    if row is not None and call.user.access.allows(node):
        return
    if row is None or row.visibility == "private":
        raise NotFound
    raise Forbidden(f"missing permission {node}", permission=node)


@endpoint(
    "PUT",
    _CATALOG + "/{extensionId}",
    needs=AUTHENTICATED,
    refusals=(NotFound, Forbidden, Invalid),
    guard=may_change,
)
async def change_extension(call: Call, extension_id: str, body: ExtensionChange) -> Extension:
    """Changes name, description or visibility.

    Needs `svc.connect.extensions.<extensionId>`.
    """
    edit = Edit(
        name=None if body.name is None else named(body.name),
        description=None if body.description is None else described(body.description),
        visibility=body.visibility,
    )
    return await change(
        call, units.change_extension, extension_id, edit, call.now_ms, about=None, shape=extension_of
    )


@endpoint("GET", _OF_SERVER, needs=USER_OR_SERVER, refusals=(NotFound, Forbidden), guard=may(READ))
async def list_server_extensions(call: Call, server_id: Uuid, query: PageQuery) -> RegisteredExtensions:
    """The extensions that the server has registered, sorted by id."""
    registered = await call.service.database.read(_registered, server_id)
    page = _PAGES_OF_SERVER.page_of_few(registered, query, lambda one: one.extension_id)
    return RegisteredExtensions(tuple(page.rows), page.next_cursor, page.has_more)


@endpoint(
    "PUT",
    _OF_SERVER + "/{extensionId}",
    needs=USER_OR_SERVER,
    rate=SETTINGS_WRITE,
    rate_key="server_id",
    refusals=(NotFound, Forbidden, Invalid, QuotaExceeded, TooLarge),
    guard=may(WRITE),
)
async def register_extension(
    call: Call, server_id: Uuid, extension_id: str, body: RegistrationBody
) -> RegisteredExtension:
    """Registers an extension of the catalog on the server.

    A private one needs `svc.connect.extensions.<extensionId>`, held by the calling user or the server's owner; without
    it, and for an unknown one, the answer is a 404.
    """
    charge_body(call)
    service = call.service
    known = is_extension_id(extension_id)
    row = await service.database.read(extensions.read, extension_id) if known else None
    if row is None or (row.visibility == "private" and not await _may_use(call, extension_id)):
        raise NotFound("no such extension")
    command = RegisterExtension(
        user_id=caller_of(call),
        extension_id=extension_id,
        name=row.name if body.name is None else named(body.name),
        description=row.description if body.description is None else described(body.description),
        actions=body.actions,
    )
    return await call.ask(service.of(GAME_SERVERS).server, server_id, command, partial(_joined, row))


async def _registered(conn: Connection, server_id: str) -> tuple[RegisteredExtension, ...]:
    rows = await extensions.of_server(conn, server_id)
    catalog = await extensions.named(conn, [row.extension_id for row in rows])
    return tuple(_joined(catalog[row.extension_id], row) for row in rows if row.extension_id in catalog)


def _joined(extension: ExtensionRow, registration: RegistrationRow) -> RegisteredExtension:
    (shown,) = registrations_of((registration,))
    return RegisteredExtension(
        id=extension.id,
        extension_id=extension.extension_id,
        name=shown.name,
        description=shown.description,
        owner_id=extension.owner_id,
        visibility=extension.visibility,
        created_at=extension_of(extension).created_at,
        updated_at=extension_of(extension).updated_at,
        server_id=shown.server_id,
        version=shown.version,
        actions=shown.actions,
        registered_at=shown.registered_at,
        last_seen_at=shown.last_seen_at,
    )


async def _may_use(call: Call, extension_id: str) -> bool:
    access: Access
    if caller_of(call) is not None:
        access = call.user.access
    elif call.server.owner_id is None:
        return False
    else:
        access = await call.service.of(USER_DIRECTORY).access_of(call.server.owner_id)
    return access.allows(node_of(extension_id))


def _own(call: Call) -> list[str]:
    """Ids of the extensions whose permission the caller was granted."""
    held = call.service.of(USER_DIRECTORY).peek_access(call.user_id)
    nodes = () if held is None else capped_to(held, capped=call.user.capped).held
    return [node.removeprefix(NODE) for node in nodes if node.startswith(NODE)]
