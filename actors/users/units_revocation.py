"""Revoking a user's tokens (contract §2): a unit of work, inside the caller's transaction.

A token says when it was issued in whole seconds, so that within one second it cannot tell before from after. The first
second that is believed is therefore the next one, and tokens that we issue meanwhile are dated into it: what is from
before opens nothing, what we issue afterwards works at once. An issuer of somebody else's has to wait for the second.
"""

import msgspec

from actors.change import Change
from actors.errors import Conflict
from actors.users.events import TokensRevoked
from actors.users.locking import require_user
from persistence.connection import Connection
from persistence.users.audit import Stamp, write_audit
from persistence.users.users import refuse_tokens

AHEAD_MAX_SECONDS = 30
"""So far ahead tokens may come to be dated by one revocation after the other; well below what is believed of `iat`."""


async def revoke_tokens(conn: Connection, user_id: str, now_ms: int) -> Change[None]:
    """Revoke all tokens of a user that were issued so far.

    Args:
        user_id: lower-case uuid.
        now_ms: epoch milliseconds.

    Raises:
        NotFound: there is no such user.
        Conflict: this was done too often within a few seconds.
    """
    user = await require_user(conn, user_id)
    now_s = now_ms // 1000
    not_before_s = max(now_s, user.tokens_not_before_s) + 1
    if not_before_s > now_s + AHEAD_MAX_SECONDS:
        raise Conflict("these tokens were revoked a moment ago, again and again; wait for a few seconds")
    await refuse_tokens(conn, user_id, not_before_s)
    return Change(None, (TokensRevoked(user_id, not_before_s),))


async def revoke_tokens_of(conn: Connection, user_id: str, stamp: Stamp) -> Change[None]:
    """Revoke the tokens of another user, with a line in the audit trail.

    Raises:
        NotFound, Conflict: as `revoke_tokens`.
    """
    revoked = await revoke_tokens(conn, user_id, stamp.at_ms)
    await write_audit(conn, stamp, "tokens.revoked", target_id=user_id, detail=msgspec.json.encode({}))
    return revoked
