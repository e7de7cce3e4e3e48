"""The caller's saved public servers (service-api §4 Profile, contract §8)."""

from typing import Annotated

import msgspec

from actors.bounds import ObjectIdText
from actors.errors import Invalid, NotFound, QuotaExceeded
from actors.field_errors import FieldError
from actors.id_fields import object_id_in
from actors.ids import ObjectId, parse_object_id
from actors.saved_servers import units
from actors.saved_servers.units import SAVED_MAX, Placed, Wanted
from actors.server_address import parse_address
from persistence.saved_servers import rows
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED
from routes.edge.reply import Reply
from routes.edge.wire import Wire
from routes.saved_servers.entries import SavedServer, SavedServers, entry_of, list_of

ADDRESS_MAX = 260
"""Most characters of an address."""

_SAVED = "/v1/profile/public-servers/saved"
_ONE = _SAVED + "/{serverId}"


class SaveBody(Wire, frozen=True):
    """The server to save: exactly one of the two.

    Args:
        server_id: id of a public server.
        address: `host` or `host:port`; if no public server is proven to have it, an unlisted one is created.
    """

    server_id: ObjectIdText | None = None
    address: Annotated[str, msgspec.Meta(max_length=ADDRESS_MAX)] | None = None


class SavedPatch(Wire, frozen=True):
    """Changes to a saved server; a field that is left out stays."""

    favorite: bool | None = None


class SavedOrder(Wire, frozen=True):
    """The complete list in its new order, each server exactly once.

    Args:
        server_ids: all saved servers, in the new order.
    """

    server_ids: Annotated[tuple[ObjectIdText, ...], msgspec.Meta(max_length=SAVED_MAX)]


class NotSaved(Wire, frozen=True):
    """A server that is not in the list.

    Args:
        saved: always false.
        favorite: always false.
        favorite_count: how many users have it among their favourites.
    """

    saved: bool
    favorite: bool
    favorite_count: int


async def listed(call: Call, server_id: ObjectId) -> None:
    """Guard: requires that the server is in the caller's list; checked again in the transaction.

    Raises:
        NotFound: it is not.
    """
    if not await call.service.database.read(rows.is_saved, call.user_id, server_id):
        raise NotFound


@endpoint("GET", _SAVED, needs=AUTHENTICATED)
async def list_saved_servers(call: Call) -> SavedServers:
    """The caller's saved servers, in their order.

    Nobody but the caller removes an entry, or has it name another address. When what was saved is removed, or is no
    longer at the address, the entry stays in its place, with the address as its name. It then has another `id` if the
    publication itself goes on.
    """
    return list_of(await call.service.database.read(rows.of_user, call.user_id))


@endpoint(
    "POST",
    _SAVED,
    needs=AUTHENTICATED,
    status=201,
    found_status=200,
    refusals=(NotFound, Invalid, QuotaExceeded),
)
async def save_server(call: Call, body: SaveBody) -> Reply[SavedServer]:
    """Saves a public server, at the end of the list.

    Answers 201 with its entry, 200 if it was saved already. For an address that no public server is proven to have, an
    unlisted one is created. At most 500 are saved.
    """
    wanted = _wanted(body, call.new_id())
    return await change(call, units.save, call.user_id, wanted, call.now_ms, about=None, shape=_reply)


@endpoint("PATCH", _ONE, needs=AUTHENTICATED, refusals=(NotFound,), guard=listed)
async def change_saved_server(call: Call, server_id: ObjectId, body: SavedPatch) -> SavedServer:
    """Makes a saved server a favourite, or no longer."""
    return await change(
        call, units.set_favorite, call.user_id, server_id, body.favorite, about=None, shape=entry_of
    )


@endpoint("DELETE", _ONE, needs=AUTHENTICATED, refusals=(NotFound,))
async def unsave_server(call: Call, server_id: ObjectId) -> NotSaved:
    """Removes a server from the list, if it is in it."""
    return await change(call, units.remove, call.user_id, server_id, about=None, shape=_not_saved)


@endpoint("PUT", _SAVED + "/order", needs=AUTHENTICATED, refusals=(Invalid, NotFound))
async def arrange_saved_servers(call: Call, body: SavedOrder) -> SavedServers:
    """Changes the order of the list.

    `serverIds` must be the complete list, each server exactly once; anything else is a 422.
    """
    wanted = tuple(parse_object_id(one) or one for one in body.server_ids)
    return await change(call, units.arrange, call.user_id, wanted, about=None, shape=list_of)


def _wanted(body: SaveBody, fresh_id: str) -> Wanted:
    if (body.server_id is None) == (body.address is None):
        raise Invalid(FieldError("", "REQUIRED", "name exactly one of serverId and address"))
    if body.address is not None:
        address = parse_address(body.address.strip())
        if address is None:
            raise Invalid(FieldError("/address", "BAD_FORMAT", "host or host:port, without a scheme"))
        return Wanted(None, address.key, fresh_id)
    return Wanted(object_id_in(body.server_id or "", "/serverId"), None, fresh_id)


def _reply(placed: Placed) -> Reply[SavedServer]:
    return Reply(entry_of(placed), status=201 if placed.fresh else 200)


def _not_saved(favorites: int) -> NotSaved:
    return NotSaved(False, False, favorites)
