"""The accounts at other issuers that a user signs in with."""

from typing import Annotated

import msgspec

from actors.errors import Conflict, Forbidden, NotFound
from actors.ids import ObjectId
from actors.sessions.units_identities import Linking, unlink
from actors.time import iso
from persistence.sessions import identities as rows
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.errors import UpstreamUnavailable
from routes.edge.principal import AUTHENTICATED
from routes.edge.reply import Reply
from routes.edge.wire import Wire
from routes.rates import SIGN_IN
from routes.sessions.flow import keeping, new_flow
from routes.sessions.issuers import asked_of, provider_of
from routes.sessions.parts import PROVIDERS
from routes.sessions.tokens import proven_session


class OwnIdentity(Wire, frozen=True):
    """An account that the caller signs in with.

    Args:
        issuer: its name; null where it is not configured any more.
        name: what the caller was called there when they last signed in, or null.
        linked_at: since when it is linked.
        last_used_at: when it was last signed in with.
    """

    id: str
    issuer: str | None
    name: str | None
    linked_at: str
    last_used_at: str


class OwnIdentities(Wire, frozen=True):
    """All of them, the first one first."""

    items: list[OwnIdentity]


class NewIdentity(Wire, frozen=True):
    """Which issuer to sign in with, as `GET /v1/public/issuers` lists it.

    Args:
        issuer: one of `/v1/public/issuers`.
    """

    issuer: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class IdentityAsked(Wire, frozen=True):
    """Where the browser has to go to.

    Args:
        url: the issuer's page, to which the browser is to go.
    """

    url: str


@endpoint("GET", "/v1/profile/identities", needs=AUTHENTICATED)
async def list_identities(call: Call) -> OwnIdentities:
    """The accounts at other issuers that the caller signs in with."""
    names = {one.settings.iss: one.settings.name for one in call.service.of(PROVIDERS)}
    found = await call.service.database.read(rows.of_user, call.user_id)
    return OwnIdentities(
        [
            OwnIdentity(one.id, names.get(one.issuer), one.name, iso(one.linked_at_ms), iso(one.used_at_ms))
            for one in found
        ]
    )


@endpoint(
    "POST",
    "/v1/profile/identities",
    needs=AUTHENTICATED,
    rate=SIGN_IN,
    cookies=True,
    refusals=(Forbidden, NotFound, UpstreamUnavailable),
)
async def begin_identity(call: Call, body: NewIdentity) -> Reply[IdentityAsked]:
    """Begins to link the caller with an account at an issuer: answers where the browser signs in there; when it comes
    back, the account is linked. Only the console may ask, in a session that does not end with a token: else a stolen
    token would become a way in for good.
    """
    session = await proven_session(call)
    if session is None or session.bound_at_ms is not None:
        raise Forbidden("sign in with a link or an account first, and ask from the console")
    provider = provider_of(call, body.issuer)
    flow = new_flow(call, body.issuer, Linking(call.user_id, session.id, session.capped))
    return Reply(IdentityAsked(await asked_of(call, provider, flow)), cookies=(keeping(call, flow),))


@endpoint(
    "DELETE",
    "/v1/profile/identities/{identityId}",
    needs=AUTHENTICATED,
    refusals=(NotFound, Conflict),
)
async def remove_identity(call: Call, identity_id: ObjectId) -> None:
    """Removes an account that the caller signs in with; sessions that began with it end. The last one is a 409, as they
    could not sign in any more.
    """
    await change(call, unlink, call.user_id, identity_id, about=None)
