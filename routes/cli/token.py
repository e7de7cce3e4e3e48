"""`partyline token`: creates a user if needed, and mints an access token for them (contract §11).

The token is signed with the key in the data folder, so the server of that folder accepts it at once, whether it is
running or starts later.
"""

import secrets
from dataclasses import dataclass

from actors.ids import new_object_id, new_uuid, parse_uuid
from actors.kernel.clock import Clock
from actors.users.permissions import Role
from actors.users.units_rights import enrol
from persistence.bridge.database import Database
from persistence.users.audit import Stamp
from routes.cli.faults import CommandFault
from routes.edge.identity.keys import Keys
from routes.edge.identity.names import NAME_MAX, is_name

TTL_MAX_SECONDS = 10 * 365 * 86_400
"""Longest lifetime of a token: ten years; a longer one is taken for a typing error."""


@dataclass(frozen=True, slots=True)
class TokenWish:
    """The parameters of the token.

    Args:
        name: the user's name; an existing user is renamed.
        user_id: uuid of the user; None creates a new user.
        role: a role to grant, or None.
        ttl_seconds: lifetime of the token, 1 to `TTL_MAX_SECONDS`.
    """

    name: str
    user_id: str | None
    role: Role | None
    ttl_seconds: int

    @classmethod
    def of(cls, name: str, user_id: str | None, role: str | None, ttl_seconds: int) -> "TokenWish":
        """Check the command's arguments.

        Args:
            name: 1 to 64 printable characters.
            user_id: a uuid, or None for a new user.
            role: the value of a `Role`, or None.
            ttl_seconds: 1 to `TTL_MAX_SECONDS`.

        Raises:
            CommandFault: name, id or lifetime is not valid.
        """
        if not is_name(name):
            raise CommandFault(f"--name wants 1 to {NAME_MAX} printable characters")
        parsed = None if user_id is None else parse_uuid(user_id)
        if user_id is not None and parsed is None:
            raise CommandFault("--id wants a uuid")
        if not 1 <= ttl_seconds <= TTL_MAX_SECONDS:
            raise CommandFault(f"--ttl wants 1 to {TTL_MAX_SECONDS} seconds")
        return cls(name, parsed, None if role is None else Role(role), ttl_seconds)


async def make_token(wish: TokenWish, database: Database, keys: Keys, clock: Clock) -> str:
    """Create or rename the user, grant the role, and return the token.

    Args:
        wish: the parameters of the token.
        database: the open, migrated database.
        keys: the keys of the data folder.
        clock: gives the token's times.

    Raises:
        DatabaseUnavailable: the user could not be written.
    """
    now_ms = clock.now_ms()
    user_id = wish.user_id or new_uuid(secrets.token_bytes)
    stamp = Stamp(new_object_id(now_ms, secrets.token_bytes), now_ms, None, None)
    user = await database.transact(enrol, user_id, wish.name, wish.role, stamp)
    minted = keys.mint_user_token(
        user_id,
        wish.name,
        now_ms=now_ms,
        ttl_seconds=wish.ttl_seconds,
        random_bytes=secrets.token_bytes,
        not_before_s=user.tokens_not_before_s,
    )
    return minted.token
