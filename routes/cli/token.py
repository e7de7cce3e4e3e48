"""`partyline token`: a user, made if need be, and an access token for them (contract §11).

The token is signed with the key in the data folder, so it holds for the server of that folder at once,
running or not.
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
"""Ten years; longer is a typing error."""


@dataclass(frozen=True, slots=True)
class TokenWish:
    """What was asked for.

    Args:
        name: what the user is called; an existing one is renamed.
        user_id: whose token; None makes a new user.
        role: what they are to be beside a user, or None.
        ttl_seconds: how long the token lives.
    """

    name: str
    user_id: str | None
    role: Role | None
    ttl_seconds: int

    @classmethod
    def of(cls, name: str, user_id: str | None, role: str | None, ttl_seconds: int) -> "TokenWish":
        """The wish that arguments express.

        Raises:
            CommandFault: one of them is not valid.
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
    """Make the user, give the role, mint the token.

    Args:
        wish: what was asked for.
        database: migrated.
        keys: those of the data folder.
        clock: for the token's times.

    Raises:
        DatabaseUnavailable: the user cannot be made.
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
