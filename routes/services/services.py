"""A user's services: one extension each, on all of their game servers (contract §10)."""

from functools import partial

import msgspec
import trio

from actors.connect.extensions import ExtensionId, Name, is_extension_id, named, node_of
from actors.errors import Conflict, Forbidden, Invalid, NotFound, Overloaded, QuotaExceeded
from actors.ids import ObjectId
from actors.services import units_services
from persistence.services import services
from persistence.services.services import Place, ServiceRow, place_of
from routes.call import Call
from routes.changes import change, change_by_itself
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.principal import AUTHENTICATED
from routes.edge.wire import Wire
from routes.services.moving import MOVING_SECONDS, Totals, drop, move

_SERVICES = "/v1/services"
_PAGES = Cursor("services", Place)


class ServiceBody(Wire, frozen=True):
    """A service to make.

    Args:
        name: 1 to 100 printable characters.
        extension_id: of an extension of the catalog.
    """

    name: Name
    extension_id: ExtensionId


class MigrationBody(Wire, frozen=True):
    """Where to move a service.

    Args:
        extension_id: of the extension that takes the place of the present one.
    """

    extension_id: ExtensionId


class ServiceOut(Wire, frozen=True):
    """An extension that the caller runs on all of their game servers."""

    service_id: str
    name: str
    extension_id: str


class ServicePage(Wire, frozen=True):
    """Services, oldest first."""

    items: list[ServiceOut]
    next_cursor: str | None
    has_more: bool


class ServiceRemoved(Wire, frozen=True):
    """A service was removed.

    Args:
        removed: registrations that were taken from the caller's game servers.
    """

    removed: int


class MovedOut(Wire, frozen=True):
    """What this request has moved.

    Args:
        servers: game servers where something was moved.
        settings, registrations: how many of each.
    """

    servers: int
    settings: int
    registrations: int


class Migration(Wire, frozen=True):
    """A service has been migrated, or is being migrated.

    Args:
        service: the service as it is now.
        moved: what has been moved so far.
        pending: game servers that are left; the service goes on with them by itself.
    """

    service: ServiceOut
    moved: MovedOut
    pending: int


async def own(call: Call, service_id: ObjectId) -> None:
    """Guard: requires that the service is the caller's; checked again in the transaction.

    Raises:
        NotFound: there is no such service, or it is another's.
    """
    if not await call.service.database.read(services.is_of, call.user_id, service_id):
        raise NotFound("no such service")


@endpoint("GET", _SERVICES, needs=AUTHENTICATED)
async def list_services(call: Call, query: PageQuery) -> ServicePage:
    """The caller's services, oldest first."""
    after = _PAGES.place(query.cursor)
    rows = await call.service.database.read(services.of_owner, call.user_id, after, query.limit + 1)
    page = _PAGES.page(rows, query.limit, place_of)
    return ServicePage([_shown(row) for row in page.rows], page.next_cursor, page.has_more)


@endpoint(
    "POST", _SERVICES, needs=AUTHENTICATED, status=201, refusals=(NotFound, Invalid, QuotaExceeded, Conflict)
)
async def create_service(call: Call, body: ServiceBody) -> ServiceOut:
    """Makes a service of an extension that is public, or that the caller may change.

    Another private extension, and an unknown one, is a 404; a second service of the same extension a 409. A user has at
    most 100.
    """
    if not is_extension_id(body.extension_id):
        raise NotFound("no such extension")
    row = ServiceRow(
        service_id=call.new_id(),
        owner_id=call.user_id,
        extension_id=body.extension_id,
        name=named(body.name),
        created_at_ms=call.now_ms,
    )
    create = partial(units_services.create, may_change=_may_change(call, body.extension_id))
    return await change(call, create, row, about=None, shape=_shown)


@endpoint(
    "DELETE", _SERVICES + "/{serviceId}", needs=AUTHENTICATED, refusals=(NotFound, Conflict, Overloaded)
)
async def remove_service(call: Call, service_id: ObjectId) -> ServiceRemoved:
    """Takes its extension from all of the caller's game servers, and removes it.

    Settings stay on the game servers; open commands for the extension are cancelled. While it is being migrated the
    answer is a 409. If some game servers cannot be asked now, the answer is a 503, and the request may be repeated; as
    long as it was not answered with success, some registrations may be gone while the service is still there.
    """
    row = await change_by_itself(call.service, units_services.own, service_id, call.user_id, about=None)
    removed = 0
    with trio.move_on_after(MOVING_SECONDS):
        removed = await drop(call.service, row)
    if await call.service.database.read(services.servers_registered, row.owner_id, row.extension_id):
        raise Overloaded

    def shape(_: None) -> ServiceRemoved:
        return ServiceRemoved(removed)

    return await change(call, units_services.remove, service_id, call.user_id, about=None, shape=shape)


@endpoint(
    "POST",
    _SERVICES + "/{serviceId}/migrate-extension",
    needs=AUTHENTICATED,
    refusals=(NotFound, Forbidden, Conflict),
    guard=own,
)
async def migrate_service(call: Call, service_id: ObjectId, body: MigrationBody) -> Migration:
    """Has another extension take the place of the present one.

    On each of the caller's game servers the settings of the present extension become the new one's, and so does its
    registration; where the new one has them already, those stay, and the former settings stay in the history. Open
    commands for the former extension are cancelled. Each game server is moved at once or not at all; those that are
    `pending` follow by themselves, also after a restart. The same request again answers with what is left; one to
    another extension meanwhile is a 409. Needs `svc.connect.extensions.<extensionId>`.
    """
    if not is_extension_id(body.extension_id):
        raise NotFound("no such extension")
    begin = partial(units_services.begin, may_change=_may_change(call, body.extension_id))
    begun = await change_by_itself(
        call.service, begin, service_id, call.user_id, body.extension_id, about=None
    )
    totals = Totals()
    with trio.move_on_after(MOVING_SECONDS):
        await move(call.service, begun, totals)
    shape = partial(_migrated, totals)
    return await change(call, units_services.finish, service_id, call.user_id, about=None, shape=shape)


def _may_change(call: Call, extension_id: str) -> bool:
    return call.user.access.allows(node_of(extension_id))


def _shown(row: ServiceRow) -> ServiceOut:
    return ServiceOut(row.service_id, row.name, row.extension_id)


def _migrated(totals: Totals, finished: tuple[ServiceRow, int]) -> Migration:
    row, pending = finished
    return Migration(_shown(row), MovedOut(**msgspec.structs.asdict(totals)), pending)
