"""Revoke a user's tokens (contract §2): a unit of work, inside the caller's transaction.

A token's `iat` has whole seconds, so that two tokens of the same second cannot be told apart. The first valid `iat`
is therefore the next second, and tokens that we issue meanwhile are dated into it: older ones are refused, and new
ones of ours work at once. Tokens of another issuer work from the next second on.
"""

import msgspec

from actors.change import Change
from actors.errors import Conflict
from actors.sessions.units import end_others
from actors.users.events import TokensRevoked
from actors.users.locking import require_super_admin, require_user
from persistence.connection import Connection
from persistence.users.audit import Stamp, write_audit
from persistence.users.users import refuse_tokens

AHEAD_MAX_SECONDS = 30
"""How far into the future repeated revocations may date tokens; well below what is accepted of an `iat`."""

MISDATED_SECONDS = 120
"""A revocation that is further in the future was written by a clock that was ahead: no node's is by as much."""


async def revoke_tokens(conn: Connection, user_id: str, now_ms: int) -> Change[None]:
    """Revoke all tokens of a user that were issued so far, and end their sessions, which would issue others.

    Where they were revoked by a clock that was ahead, no token works until then, and this revocation takes its place.
    Tokens that were made here by that clock are then refused as long as they are of the future, and not for ever.

    Args:
        user_id: the user's id, a lower-case uuid.
        now_ms: epoch milliseconds.

    Raises:
        NotFound: there is no such user.
        Conflict: the user's tokens were revoked too often within a few seconds.
    """
    user = await require_user(conn, user_id)
    now_s = now_ms // 1000
    known_s = user.tokens_not_before_s
    is_misdated = known_s > now_s + MISDATED_SECONDS
    not_before_s = (now_s if is_misdated else max(now_s, known_s)) + 1
    if not_before_s > now_s + AHEAD_MAX_SECONDS:
        raise Conflict("these tokens were revoked a moment ago, again and again; wait for a few seconds")
    await refuse_tokens(conn, user_id, not_before_s)
    ended = await end_others(conn, user_id, None)
    return Change(None, (TokensRevoked(user_id, not_before_s), *ended.events))


async def revoke_tokens_of(conn: Connection, user_id: str, stamp: Stamp) -> Change[None]:
    """Revoke all tokens of another user that were issued so far, with a line in the audit trail.

    Raises:
        Forbidden: the caller has ceased to be a super-admin meanwhile.
        NotFound: there is no such user.
        Conflict: the user's tokens were revoked too often within a few seconds.
    """
    await require_super_admin(conn, stamp)
    revoked = await revoke_tokens(conn, user_id, stamp.at_ms)
    await write_audit(conn, stamp, "tokens.revoked", target_id=user_id, detail=msgspec.json.encode({}))
    return revoked
