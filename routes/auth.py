"""Whose token is this: `GET /v1/auth/verify` (contract §2)."""

from actors.permissions import Access
from actors.time import iso
from routes.edge.call import Call
from routes.edge.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED, UserPrincipal
from routes.edge.reply import Soon
from routes.edge.wire import Wire


class Verified(Wire, frozen=True):
    """A token that holds, and what its user may do.

    Args:
        valid: always true; a token that does not hold is a 401.
        user_id: uuid.
        name: as in the token.
        permissions: every permission node that the user holds, sorted; patterns with `*` that were granted to
            them stand among them.
        expires_at: when the token ends.
    """

    valid: bool
    user_id: str
    name: str
    permissions: tuple[str, ...]
    expires_at: str


@endpoint("GET", "/v1/auth/verify", needs=AUTHENTICATED, aliases=("/auth/verify",))
def verify_token(call: Call) -> Soon[Verified]:
    """Tells whose token the request carries, until when it holds, and which permissions its user has now."""
    access = call.service.users.peek_access(call.user_id)
    return _read(call) if access is None else _verified(call.user, access)


async def _read(call: Call) -> Verified:
    return _verified(call.user, await call.service.users.access_of(call.user_id))


def _verified(user: UserPrincipal, access: Access) -> Verified:
    return Verified(True, user.user_id, user.name, access.held, iso(user.expires_at_ms))
