"""`/v1/auth`: verifying a token, and revoking the caller's tokens (contract §2)."""

from functools import partial

from actors.errors import Conflict, NotFound
from actors.time import iso
from actors.users.permissions import Access, capped_to
from actors.users.units_revocation import revoke_tokens
from persistence.users.users import User
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED, UserPrincipal
from routes.edge.reply import MaybeAwaitable, then
from routes.edge.wire import Wire
from routes.users.parts import USER_DIRECTORY
from routes.users.reactions import TokensOf


class Verified(Wire, frozen=True):
    """A valid token, and the permissions of its user.

    Args:
        valid: always true; an invalid token is a 401.
        user_id: uuid.
        name: as in the token.
        permissions: every permission node that the user holds, sorted, with the patterns with `*` granted to them.
        expires_at: when the token expires.
    """

    valid: bool
    user_id: str
    name: str
    permissions: tuple[str, ...]
    expires_at: str


@endpoint("GET", "/v1/auth/verify", needs=AUTHENTICATED, aliases=("/auth/verify",))
def verify_token(call: Call) -> MaybeAwaitable[Verified]:
    """Answers the user and expiry of the request's token, and the user's current permissions."""
    return then(call.service.of(USER_DIRECTORY).get(call.user_id), partial(_verified, call.user))


def _verified(user: UserPrincipal, known: tuple[User, Access]) -> Verified:
    held = capped_to(known[1], capped=user.capped).held
    return Verified(True, user.user_id, user.name, held, iso(user.expires_at_ms))


@endpoint("POST", "/v1/auth/revoke", needs=AUTHENTICATED, refusals=(NotFound, Conflict))
async def revoke_own_tokens(call: Call) -> None:
    """Revokes every token of the caller issued so far, including the one of this request; live sockets opened with one
    close with 4401. Tokens issued from now on are accepted; those of other issuers from the next second on.
    """
    await change(call, revoke_tokens, call.user_id, call.now_ms, about=TokensOf(call.user_id))
