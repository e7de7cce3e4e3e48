"""Creating the first super-admin: the link printed at the start, and the route that its page uses (contract §11).

While there is no super-admin, each start makes a new code, which replaces the one before; the database stores only its
SHA-256. The page is one of the console's; the code is in the fragment, which no server sees.
"""

from hashlib import sha256
from typing import Annotated

import msgspec

from actors.errors import Conflict, Invalid, NotFound
from actors.field_errors import FieldError
from actors.ids import RandomBytes, UserId, new_uuid
from actors.sessions.lifetimes import OF_OPERATORS
from actors.sessions.units import begin
from actors.users.units_rights import open_setup, set_up
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.sessions.sessions import Lineage
from persistence.users.audit import Stamp
from persistence.users.users import User
from routes.announcing import announce
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.identity.base64url import to_base64url
from routes.edge.identity.lifetimes import TOKEN_TTL_SECONDS
from routes.edge.identity.names import NAME_MAX, is_name
from routes.edge.principal import PUBLIC
from routes.edge.reply import Reply
from routes.edge.wire import Wire
from routes.service import Service
from routes.sessions.browser import is_same_origin, new_secret, new_session, session_cookie

CODE_BYTES = 20
"""160 random bits: too many to guess, so attempts need not be counted."""


class SetupBody(Wire, frozen=True):
    """The code of the printed link, and the name of the super-admin.

    Args:
        code: the code of the setup link.
    """

    code: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=NAME_MAX)]


class SetUp(Wire, frozen=True):
    """The new super-admin and their access token, which is valid for 30 days.

    Args:
        token: the access token of the new super-admin.
    """

    user_id: str
    token: str


async def setup_link(
    database: Database, base_url: str, *, now_ms: int, random_bytes: RandomBytes
) -> str | None:
    """Make a link that creates the first super-admin, and invalidate earlier ones; None if there is one already.

    Args:
        database: open and migrated.
        base_url: the address of the service, without a trailing slash.
        now_ms: epoch milliseconds.
        random_bytes: the random source of the code.

    Raises:
        DatabaseUnavailable: the code cannot be stored.
    """
    code = to_base64url(random_bytes(CODE_BYTES))
    opened = await database.transact(open_setup, _hash(code), now_ms)
    return f"{base_url}/setup#code={code}" if opened else None


async def announce_setup(service: Service) -> None:
    """Print the link that creates the first super-admin, if there is no super-admin.

    Of several nodes, only the oldest prints one, because each link replaces the one before.

    It goes to standard output and not to the log, because it is a secret.

    Args:
        service: the service, which has just been opened.

    Raises:
        DatabaseUnavailable: the code cannot be stored.
    """
    if service.node is not None and not service.node.membership.is_oldest:
        return
    link = await setup_link(
        service.database,
        service.config.base_url,
        now_ms=service.clock.now_ms(),
        random_bytes=service.random_bytes,
    )
    if link is not None:
        announce(f"No super-admin yet. Open this once to become it: {link}")


def _hash(code: str) -> bytes:
    return sha256(code.encode()).digest()


@endpoint(
    "POST",
    "/v1/setup",
    needs=PUBLIC,
    status=201,
    refusals=(NotFound, Conflict, Invalid),
    secret_reply=True,
)
async def set_up_server(call: Call, body: SetupBody) -> Reply[SetUp]:
    """Creates the first super-admin and answers their token; works once, with the code of the newest link. Signs the
    browser in where the page of the link asks. An invalid name is a 422.
    """
    if not is_name(body.name):
        raise Invalid(FieldError("/name", "BAD_FORMAT", f"a name is 1 to {NAME_MAX} printable characters"))
    service = call.service
    user_id = UserId(new_uuid(service.random_bytes))
    minted = service.keys.mint_user_token(
        user_id,
        body.name,
        now_ms=call.now_ms,
        ttl_seconds=TOKEN_TTL_SECONDS,
        random_bytes=service.random_bytes,
    )
    stamp = Stamp(call.new_id(), call.now_ms, user_id, call.request_id)
    # A browser is signed in as well; a script that asks by itself gets only the token.
    secret = new_secret(call) if is_same_origin(call) else None
    new = None if secret is None else new_session(call, secret)

    async def unit(conn: Connection) -> User:
        user = await set_up(conn, _hash(body.code), user_id, body.name, stamp)
        if new is not None:
            await begin(conn, new.of(user_id, "setup", Lineage()), new.secret_hash, None)
        return user

    def shape(user: User) -> Reply[SetUp]:
        made = SetUp(user.id, minted.token)
        if secret is None:
            return Reply(made)
        seconds = OF_OPERATORS.whole_ms // 1000
        return Reply(made, cookies=(session_cookie(service.config).setting(secret, seconds=seconds),))

    return await change(call, unit, about=None, shape=shape)
