"""A small service for tests of the pipeline: every sort of route once."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import msgspec
import trio

from actors.errors import Conflict, ConversationNotFound, Invalid
from actors.field_errors import FieldError
from actors.ids import ObjectId, UserId, Uuid
from persistence.connection import Connection
from persistence.errors import DatabaseUnavailable, OutcomeUnknown, QueueFull, RowsRejected
from routes.edge.declare.endpoint import endpoint, stream
from routes.edge.declare.mounts import Mount, RouteTable
from routes.edge.declare.query import Clamp
from routes.edge.pipeline.call import Call
from routes.edge.pipeline.dispatch import Edge
from routes.edge.principal import (
    AUTHENTICATED,
    MODERATOR,
    PUBLIC,
    SERVER,
    SUPER_ADMIN,
    USER_OR_SERVER,
    ServerPrincipal,
)
from routes.edge.reply import Blob, Encoded, Page, Reply
from routes.edge.server.quart_app import EdgeApp
from routes.edge.websocket.socket import LiveSocket
from routes.edge.wire import Wire
from routes.rates import CHAT_SEND
from tests.edge.parts import Parts

if TYPE_CHECKING:
    from routes.service import Service


class Thing(Wire, frozen=True):
    """A thing.

    Args:
        name: of it.
        size_bytes: of it.
    """

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=20)]
    size_bytes: int = 0


class Listing(Wire, frozen=True):
    items: list[Thing]
    next_cursor: str | None


class Paging(Wire, frozen=True):
    limit: Annotated[int, Clamp(1, 100)] = 50
    cursor: str | None = None


async def member(call: Call, *, thing_id: str) -> str:
    if not thing_id.startswith("aaaa"):
        raise ConversationNotFound
    return f"member of {thing_id}"


@endpoint("GET", "/v1/open", needs=PUBLIC, cacheable="public, max-age=60")
async def open_thing(call: Call) -> Thing:
    """Shows a thing to everybody."""
    return Thing("open")


@endpoint("GET", "/v1/things", needs="things:read")
async def list_things(call: Call, query: Paging) -> Listing:
    """Lists things."""
    return Listing([Thing("a", query.limit)], query.cursor)


@endpoint("GET", "/v1/admin/things", needs=SUPER_ADMIN)
async def admin_things(call: Call) -> None:
    """Shows nothing, to super-admins."""


@endpoint("GET", "/v1/moderator/things", needs=MODERATOR)
async def moderator_things(call: Call) -> None:
    """Shows nothing, to moderators."""


@endpoint(
    "POST",
    "/v1/things/{thingId}/parts",
    needs="things:write",
    rate=CHAT_SEND,
    rate_key="thing_id",
    status=201,
    guard=member,
    refusals=(ConversationNotFound, Conflict),
    not_found={"thing_id": ConversationNotFound},
    max_bytes=200,
    aliases=("/things/{thingId}/parts",),
)
async def add_part(call: Call, thing_id: ObjectId, body: Thing) -> Thing:
    """Adds a part."""
    if body.name == "taken":
        raise Conflict
    if body.name == "odd":
        raise Invalid(FieldError("/name", "ODD", "this name is odd"))
    assert call.subject == f"member of {thing_id}"
    said = "long" * 1_000 if body.name == "long" else body.name
    return await call.transact(insert, thing_id, body.name, shape=lambda _: Thing(said, 7))


async def insert(conn: Connection, id: str, name: str) -> str:
    if name == "only":
        await conn.execute("LOCK TABLE parts IN SHARE ROW EXCLUSIVE MODE")
        if await conn.fetchval("SELECT EXISTS (SELECT FROM parts WHERE name = $1)", name):
            raise Conflict
    await conn.execute("INSERT INTO parts VALUES ($1, $2)", id, name)
    return name


@endpoint("PUT", "/v1/secrets", needs=AUTHENTICATED, secret_reply=True)
async def new_secret(call: Call) -> Reply[Thing]:
    """Makes a secret."""
    headers = {"x-a": "b", "etag": '"s3"'}
    return await call.transact(
        insert, "secret", "s3cret", shape=lambda name: Reply(Thing(name), status=202, headers=headers)
    )


@endpoint("PUT", "/v1/tags", needs=AUTHENTICATED)
async def tag(call: Call, body: Thing) -> Reply[Thing]:
    """Changes something that has an ETag."""
    headers = {"x-a": "b", "etag": '"r1"'}
    return await call.transact(
        insert, "tag", body.name, shape=lambda name: Reply(Thing(name), headers=headers)
    )


@endpoint("POST", "/v1/anonymous", needs=PUBLIC)
async def anonymous(call: Call) -> None:
    """Does something without a name."""
    await call.transact(insert, call.client_address, "anonymous", shape=lambda _: None)


NOTED: list[str] = []
"""What `note` has been told, by all tests of this process."""


@endpoint("POST", "/v1/notes", needs=AUTHENTICATED, status=201, secret_reply=True)
async def note(call: Call, body: Thing) -> Thing:
    """Notes a name, in memory alone."""
    NOTED.append(body.name)
    return Thing(body.name, NOTED.count(body.name))


@endpoint("POST", "/v1/beats", needs=AUTHENTICATED, keyed=False)
async def beat(call: Call, body: Thing) -> Thing:
    """Notes a name, whether it is told again or not."""
    return await note.handler(call, body=body)


@endpoint("GET", "/v1/rest/{*path}", needs=PUBLIC)
async def rest(call: Call, path: str) -> Thing:
    """Shows the rest of a path."""
    return Thing(path)


@endpoint("POST", "/v1/raw", needs=PUBLIC, media=("image/*", "text/plain"), max_bytes=10)
async def raw(call: Call, body: bytes) -> Encoded[Thing]:
    """Takes bytes."""
    return Encoded(b'{"name":"%d bytes","sizeBytes":0}' % len(body))


@endpoint("POST", "/v1/large", needs=PUBLIC, max_bytes=1024 * 1024)
async def large(call: Call, body: Thing) -> Thing:
    """Takes a body that is decoded beside everybody else's work."""
    return body


@endpoint("POST", "/v1/own/large", needs=AUTHENTICATED, max_bytes=1024 * 1024)
async def own_large(call: Call, body: Thing) -> Thing:
    """Takes a large body of somebody who is known."""
    return body


@endpoint("DELETE", "/v1/optional", needs=PUBLIC)
async def optional(call: Call, body: Thing | None) -> None:
    """Takes a body, or none."""
    assert body is None or body.name


@endpoint("GET", "/v1/users/{userId}", needs=PUBLIC)
async def show_user(call: Call, user_id: UserId) -> Thing:
    """Shows a user."""
    return Thing(user_id[:8])


@endpoint("GET", "/v1/page", needs=PUBLIC)
async def page(call: Call) -> Page:
    """Shows a page."""
    return Page(b"<p>hello", "default-src 'self'")


@endpoint("GET", "/v1/files/{name}", needs=AUTHENTICATED, refuse_query_tokens=True)
async def file(call: Call, name: str) -> Blob:
    """Serves a file."""
    content: bytes | Path = b"0123456789" if name == "memory" else Path(bytes.fromhex(name).decode())
    return Blob(content, "text/plain", 'na"me\r\n ü.txt', "e7")


@endpoint("GET", "/v1/servers/own", needs=SERVER)
async def own_server(call: Call) -> Thing:
    """Shows a server itself."""
    return Thing(call.server.server_id)


@endpoint("POST", "/v1/servers/shared", needs=USER_OR_SERVER)
async def shared(call: Call) -> Thing:
    """Shows a server or a user themselves."""
    of_server = isinstance(call.principal, ServerPrincipal)
    return Thing(call.server.server_id if of_server else call.user.name)


@endpoint("GET", "/v1/servers/noded", needs="things:read", servers="things:lend")
async def shared_by_node(call: Call) -> Thing:
    """Shows a server or a user themselves; each needs a node."""
    of_server = isinstance(call.principal, ServerPrincipal)
    return Thing(call.server.server_id if of_server else call.user.name)


@endpoint("GET", "/v1/servers/beside", needs="things:read", servers=SERVER)
async def shared_with_servers(call: Call) -> Thing:
    """Shows a server or a user themselves; users need a node."""
    of_server = isinstance(call.principal, ServerPrincipal)
    return Thing(call.server.server_id if of_server else call.user.name)


@endpoint("GET", "/v1/faults/{name}", needs=PUBLIC)
async def fault(call: Call, name: str) -> None:
    """Goes wrong."""
    faults: dict[str, Callable[[], Exception]] = {
        "bug": lambda: ZeroDivisionError('relation "users" SELECT'),
        "group": lambda: ExceptionGroup("of one", [Conflict("inner")]),
        "full": QueueFull,
        "unknown": OutcomeUnknown,
        "rejected": lambda: RowsRejected("SELECT"),
    }
    if name == "slow":
        await trio.sleep_forever()
    if name == "poll":
        call.wait_longer(10)
        await trio.sleep(12)
        return
    if name == "slow-effect":
        call.effect_in_flight = True
        await trio.sleep_forever()
    raise faults[name]()


@endpoint("POST", "/v1/changed/{name}", needs=PUBLIC, refusals=(Conflict,))
async def changed(call: Call, name: str) -> None:
    """Goes wrong once something was changed."""
    faults: dict[str, Callable[[], Exception]] = {
        "away": DatabaseUnavailable,
        "full": QueueFull,
        "refused": Conflict,
    }
    await call.transact(insert, "changed", name)
    if name == "slow":
        await trio.sleep_forever()
    raise faults[name]()


class Frame(Wire, frozen=True, tag_field="type", tag="snapshot"):
    """All of it."""

    data: Annotated[msgspec.Raw, msgspec.Meta(description="a thing")]


class Said(Wire, frozen=True):
    """What a client says."""

    op: str


@stream("/v1/servers/live", needs=USER_OR_SERVER, sends=(Frame,))
async def watch_server(call: Call, socket: LiveSocket) -> None:
    """Shows a server as it changes, to itself and to users."""
    del call, socket


@stream("/v1/things/{thingId}/live", needs="things:read", sends=(Frame,), receives=(Said,), guard=member)
async def watch_thing(call: Call, socket: LiveSocket, thing_id: Uuid, query: Paging) -> None:
    """Shows a thing as it changes."""
    del call, socket, thing_id, query


def sample_table() -> RouteTable:
    """What this module declares."""
    return RouteTable.of([Mount("sample", (sys.modules[__name__],))])


@asynccontextmanager
async def serving(parts: Parts, table: RouteTable | None = None) -> AsyncIterator[EdgeApp]:
    """The application over these parts, started as a server starts it; without a table, this module's."""
    table = table or sample_table()

    @asynccontextmanager
    async def opened() -> AsyncIterator[Edge]:
        yield Edge(cast("Service", parts), table)

    app = EdgeApp(table, opened)
    async with app.test_app():
        yield app
