"""Links that sign somebody in once, on another device or for the first time.

The code is in the fragment of the address, which no browser sends and no server logs. It is used when the user confirms
on the page, not when the link is opened, so that no preview uses it up and nobody is signed in unawares.
"""

from typing import Annotated

import msgspec

from actors.bounds import ruled
from actors.errors import Forbidden, Invalid, NotFound
from actors.id_fields import uuid_in
from actors.sessions.lifetimes import LINK_TTL_MS
from actors.sessions.units_links import make_link
from actors.time import iso
from persistence.sessions import links as rows
from persistence.sessions.links import SignInLink
from persistence.sessions.sessions import Lineage, Session
from persistence.users.users import User
from routes.auditing import stamp_of
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.pipeline.guessing import count_guess, refuse_guessing
from routes.edge.principal import AUTHENTICATED, PUBLIC, UserPrincipal
from routes.edge.wire import Wire
from routes.rates import SIGN_IN_LINK
from routes.sessions.browser import hash_of, new_secret
from routes.sessions.tokens import lineage_of, proof_of, proven_session
from routes.users.parts import USER_DIRECTORY


class SignInLinkBody(Wire, frozen=True):
    """Who is to be signed in.

    Args:
        user_id: uuid; left out: the caller.
    """

    user_id: Annotated[str, msgspec.Meta(max_length=36), ruled(format="uuid")] | None = None


class NewSignInLink(Wire, frozen=True):
    """A link that signs somebody in once; it is shown here only.

    Args:
        url: the link, good for one use.
    """

    url: str
    expires_at: str


class SignInCode(Wire, frozen=True):
    """The code of a sign-in link, which is what follows `#code=` in its address.

    Args:
        code: the secret part of a link.
    """

    code: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class SignInLinkShown(Wire, frozen=True):
    """Who is signed in by a link."""

    name: str
    expires_at: str


@endpoint(
    "POST",
    "/v1/sign-in-links",
    needs=AUTHENTICATED,
    status=201,
    rate=SIGN_IN_LINK,
    cookies=True,
    refusals=(NotFound, Forbidden, Invalid),
)
async def make_sign_in_link(call: Call, body: SignInLinkBody | None) -> NewSignInLink:
    """Makes a link that signs a browser in within ten minutes, once. For oneself, the session that it makes ends with
    the token that asks; where the console asks, with the session of this browser. For somebody else only a super-admin
    may ask, and not for another super-admin; the user is notified.
    """
    asked = body.user_id if body is not None else None
    user_id = call.user_id if asked is None else uuid_in(asked, "/userId")
    if user_id != call.user_id and not call.user.access.is_super_admin:
        raise Forbidden("only super-admins make links for others", role="super-admin")
    code, expires_at_ms = new_secret(call), call.now_ms + LINK_TTL_MS
    session = await proven_session(call)
    lineage = lineage_of(call.user, session) if user_id == call.user_id else _for_another(call.user, session)
    link = SignInLink(hash_of(code), user_id, call.user_id, lineage, call.now_ms, expires_at_ms)

    def shape(_user: User) -> NewSignInLink:
        return NewSignInLink(url_of(call.service.config.dashboard_url, code), iso(expires_at_ms))

    return await change(
        call, make_link, link, proof_of(call.user), stamp_of(call), call.new_id(), about=None, shape=shape
    )


@endpoint("POST", "/v1/sign-in-links/inspect", needs=PUBLIC, refusals=(NotFound,))
async def inspect_sign_in_link(call: Call, body: SignInCode) -> SignInLinkShown:
    """Says who is signed in by a link, and does not use it, so that a page can ask before it does. A code that was used
    or is over is a 404.
    """
    refuse_guessing(call)
    link = await call.service.database.read(rows.find, hash_of(body.code), call.now_ms)
    name = None if link is None else await call.service.of(USER_DIRECTORY).name_of(link.user_id)
    if link is None or name is None:
        count_guess(call)
        raise NotFound("this link was used, or is over; ask for a new one")
    return SignInLinkShown(name, iso(link.expires_at_ms))


def url_of(dashboard_url: str, code: str) -> str:
    """The address of a link.

    Args:
        dashboard_url: the address of the console, without a trailing slash.
        code: the link's code, which becomes the fragment.
    """
    return f"{dashboard_url}/app/sign-in#code={code}"


def _for_another(maker: UserPrincipal, session: Session | None) -> Lineage:
    """What the session of a link for another user must not outlive.

    It does not end with the session of the super-admin who made the link. But a session's token may be stolen: if the
    link is made with a token alone, or in a session that a token bounds, its session ends with that token.
    """
    if session is not None:
        return Lineage(bound_at_ms=session.bound_at_ms)
    return Lineage(bound_at_ms=None if maker.sid is None else maker.expires_at_ms)
