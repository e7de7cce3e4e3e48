"""Signing in at another issuer: OpenID Connect's authorization code flow with PKCE, and the way back.

Browsers navigate to both routes, so every failure leads to the sign-in page, with one of a few fixed words in the
fragment. A redirect never goes to an address that was in a request.
"""

from typing import Annotated

import msgspec
import structlog
from msgspec.structs import replace

from actors.change import Change
from actors.errors import Conflict, NotFound, QuotaExceeded, Refused, Revoked
from actors.ids import new_uuid
from actors.sessions.lifetimes import lifetime_of
from actors.sessions.units_identities import Linking, Presented, begin_by_identity, link
from persistence.connection import Connection
from persistence.sessions.sessions import Session
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.query import Lenient
from routes.edge.errors import Unauthenticated, UpstreamUnavailable
from routes.edge.identity.id_tokens import SignedIn, UnknownKey, verify_id_token
from routes.edge.pipeline.guessing import count_guess, refuse_guessing
from routes.edge.principal import PUBLIC
from routes.edge.reply import Redirect, Reply
from routes.edge.wire import Wire
from routes.rates import SIGN_IN
from routes.sessions.browser import flow_cookie, new_secret, new_session
from routes.sessions.flow import Flow, keeping, kept, new_flow
from routes.sessions.parts import PROVIDERS
from routes.sessions.providers import Provider
from routes.sessions.sessions import setting_of
from routes.sessions.tokens import chain_of_secret, rights_in
from routes.users.authenticator import ISSUERS

log = structlog.get_logger()

LISTED = "public, max-age=60"

Vschars = Annotated[str, msgspec.Meta(max_length=512, pattern="^[ -~]*$")]
"""A text of VSCHAR (RFC 6749 Appendix A): what OAuth 2.0 has in all parameters of a callback, here bounded."""

Code = Annotated[str, msgspec.Meta(max_length=2048, pattern="^[ -~]*$")]


class SignInIssuer(Wire, frozen=True):
    """An issuer that users sign in with, at `/app/sign-in/{id}`."""

    id: str
    name: str


class SignInIssuers(Wire, frozen=True):
    """All of them, in the order in which they are to be shown."""

    items: list[SignInIssuer]


class CallbackQuery(Wire, Lenient, frozen=True):
    """What an issuer tells of a sign-in, by the browser (RFC 6749 §4.1.2, RFC 9207 §2).

    Args:
        state: what the service gave the issuer along, to know the browser again.
        code: what the service exchanges for the user's identity.
        error: why the issuer has refused.
        iss: the issuer itself.
    """

    state: Vschars = ""
    code: Code | None = None
    error: Vschars | None = None
    iss: Vschars | None = None


class _Astray(Exception):
    """A sign-in has failed; the exception's text is the word for the sign-in page."""


@endpoint("GET", "/v1/public/issuers", needs=PUBLIC, cacheable=LISTED)
def list_issuers(call: Call) -> SignInIssuers:
    """The issuers that users sign in with."""
    return SignInIssuers(
        [SignInIssuer(one.settings.slug, one.settings.name or "") for one in call.service.of(PROVIDERS)]
    )


@endpoint(
    "GET",
    "/app/sign-in/{issuer}",
    needs=PUBLIC,
    rate=SIGN_IN,
    cookies=True,
    refusals=(NotFound,),
)
async def begin_sign_in(call: Call, issuer: str) -> Reply[Redirect]:
    """Leads the browser to an issuer, to sign in there. An unknown issuer is a 404."""
    provider = provider_of(call, issuer)
    flow = new_flow(call, issuer)
    try:
        return Reply(Redirect(await asked_of(call, provider, flow)), cookies=(keeping(call, flow),))
    except UpstreamUnavailable:
        return Reply(_page(call, "sign-in#error=unavailable"))


@endpoint(
    "GET",
    "/app/sign-in/{issuer}/callback",
    needs=PUBLIC,
    rate=SIGN_IN,
    cookies=True,
    refusals=(NotFound,),
)
async def finish_sign_in(call: Call, issuer: str, query: CallbackQuery) -> Reply[Redirect]:
    """Where an issuer leads the browser back to: signs it in, or links the account that it has signed in with, and
    leads to the console. Whatever is wrong leads to the sign-in page. An unknown issuer is a 404.
    """
    provider = provider_of(call, issuer)
    refuse_guessing(call)
    flow = kept(call)
    if flow is None or flow.issuer != provider.settings.slug or not flow.is_answered_by(query.state):
        # Whatever this answers, it is not the sign-in that is under way in this browser, perhaps in another tab: that
        # one goes on, or any page could end it by leading the browser here.
        count_guess(call)
        return Reply(_page(call, "sign-in#error=expired"))
    forget = flow_cookie(call.service.config).removal()
    try:
        await _check_answer(provider, query)
        presented = _presented(provider, await _signed_in(call, provider, flow, query.code or ""))
        if flow.linking is not None:
            await _link(call, flow.linking, presented)
            return Reply(_page(call, "#linked"), cookies=(forget,))
        return Reply(_page(call, ""), cookies=(await _begin(call, presented), forget))
    except _Astray as astray:
        count_guess(call)
        return Reply(_page(call, f"sign-in#error={astray}"), cookies=(forget,))


def provider_of(call: Call, issuer: str) -> Provider:
    """The issuer that an address names.

    Raises:
        NotFound: users do not sign in with it.
    """
    provider = call.service.of(PROVIDERS).find(issuer)
    if provider is None:
        raise NotFound("no such issuer")
    return provider


async def asked_of(call: Call, provider: Provider, flow: Flow) -> str:
    """The address at the issuer where the browser signs in.

    Raises:
        UpstreamUnavailable: the issuer does not answer.
    """
    return await provider.authorization_url(
        redirect_uri=_back(call, provider), state=flow.state, nonce=flow.nonce, challenge=flow.challenge
    )


def _back(call: Call, provider: Provider) -> str:
    return f"{call.service.config.dashboard_url}/app/sign-in/{provider.settings.slug}/callback"


def _page(call: Call, below: str) -> Redirect:
    return Redirect(f"{call.service.config.dashboard_url}/app{'/' if below[:1].isalpha() else ''}{below}")


async def _check_answer(provider: Provider, query: CallbackQuery) -> None:
    """Check that an answer comes from the issuer that was asked, and that it has signed the user in."""
    try:
        if not await provider.may_answer(query.iss):
            raise _Astray("failed")
    except UpstreamUnavailable:
        raise _Astray("unavailable") from None
    if query.error is not None or not query.code:
        raise _Astray("denied" if query.error == "access_denied" else "failed")


async def _signed_in(call: Call, provider: Provider, flow: Flow, code: str) -> SignedIn:
    try:
        tokens = await provider.tokens(code, redirect_uri=_back(call, provider), verifier=flow.verifier)
        found = await _verified(call, provider, tokens.id_token, flow.nonce)
    except UpstreamUnavailable:
        raise _Astray("unavailable") from None
    except (Unauthenticated, UnknownKey) as error:
        log.warning(
            "an issuer's answer to a sign-in is not valid", issuer=provider.settings.iss, why=str(error)
        )
        raise _Astray("failed") from None
    if found.name is not None:
        return found
    return replace(found, name=await provider.name_of(found.subject, tokens.access_token))


async def _verified(call: Call, provider: Provider, token: str, nonce: str) -> SignedIn:
    """Verify an ID token, with keys that are fetched anew if it is signed with none of the known ones."""
    issuers, now_ms = call.service.of(ISSUERS), call.service.clock.now_ms()
    issuer = issuers.of(provider.settings)
    try:
        return verify_id_token(token, issuer, nonce=nonce, now_ms=now_ms)
    except (UnknownKey, UpstreamUnavailable):
        await issuers.learn(issuer)
        return verify_id_token(token, issuer, nonce=nonce, now_ms=now_ms)


def _presented(provider: Provider, signed_in: SignedIn) -> Presented:
    settings = provider.settings
    if not signed_in.subject.lower().startswith(settings.subjects):
        raise _Astray("failed")
    capped = not settings.super_admins
    return Presented(settings.iss, signed_in.subject, signed_in.name, signed_in.issued_at_s, capped)


async def _begin(call: Call, presented: Presented) -> str:
    """Begin the session; returns the value of Set-Cookie."""
    secret, fresh = new_secret(call), new_uuid(call.service.random_bytes)
    new, identity_id = new_session(call, secret), call.new_id()

    async def unit(conn: Connection) -> Change[Session]:
        return await begin_by_identity(conn, presented, new, identity_id=identity_id, user_id=fresh)

    try:
        session = await change(call, unit, about=None)
    except NotFound:
        raise _Astray("failed") from None
    except Revoked:
        raise _Astray("expired") from None
    _, access = await rights_in(call, session)
    chain = await chain_of_secret(call, secret)
    return setting_of(call, chain, lifetime_of(access).whole_ms, secret)


async def _link(call: Call, linking: Linking, presented: Presented) -> None:
    try:
        await change(call, link, linking, presented, call.new_id(), call.now_ms, about=None)
    except (NotFound, QuotaExceeded, Conflict) as refused:
        raise _Astray(_WORDS.get(type(refused), "failed")) from None


_WORDS: dict[type[Refused], str] = {NotFound: "expired", Conflict: "taken", QuotaExceeded: "too-many"}
