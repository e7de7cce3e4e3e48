"""`partyline signin`: prints a link that signs a user in with a browser, once, within ten minutes.

A person who may run commands on this machine could act as any user anyway, so the link serves super-admins too; the
audit trail records it.
"""

import secrets

from actors.ids import new_object_id, new_uuid
from actors.kernel.clock import Clock
from actors.sessions.lifetimes import LINK_TTL_MS
from actors.sessions.units_links import make_link
from actors.users.units_rights import enrol
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.sessions.links import SignInLink
from persistence.sessions.sessions import Lineage
from persistence.users.audit import Stamp
from persistence.users.names import ids_named
from routes.cli.faults import CommandFault
from routes.cli.token import TokenWish
from routes.edge.identity.base64url import to_base64url
from routes.sessions.browser import SECRET_BYTES, hash_of
from routes.sessions.links import url_of


async def make_sign_in_link(wish: TokenWish, database: Database, dashboard_url: str, clock: Clock) -> str:
    """Create the user if there is none of this name, grant the role, and return the link.

    Args:
        wish: the user: by id, or else the one user with this name, or a new one. Its lifetime is not used.
        database: the open, migrated database.
        dashboard_url: the address of the console, without a trailing slash.
        clock: gives the link's times.

    Raises:
        CommandFault: several users have this name.
        DatabaseUnavailable: the link could not be written.
    """
    now_ms, code = clock.now_ms(), to_base64url(secrets.token_bytes(SECRET_BYTES))

    async def unit(conn: Connection) -> None:
        meant = wish.user_id or await _id_of_name(conn, wish.name)
        await enrol(conn, meant, wish.name, wish.role, _stamp(now_ms))
        link = SignInLink(hash_of(code), meant, None, Lineage(), now_ms, now_ms + LINK_TTL_MS)
        await make_link(conn, link, None, _stamp(now_ms), new_object_id(now_ms, secrets.token_bytes))

    await database.transact(unit)
    return url_of(dashboard_url, code)


async def _id_of_name(conn: Connection, name: str) -> str:
    found = await ids_named(conn, name)
    if len(found) > 1:
        raise CommandFault(f"several users are called {name}; say which with --id")
    return found[0] if found else new_uuid(secrets.token_bytes)


def _stamp(now_ms: int) -> Stamp:
    return Stamp(new_object_id(now_ms, secrets.token_bytes), now_ms, None, None)
