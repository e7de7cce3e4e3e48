"""The issuers that users sign in with, asked as an OpenID Connect client: discovery, and codes for ID tokens.

What an issuer answers decides only where browsers and codes are sent, and what a user is called; who has signed in is
taken from the ID token, whose keys and algorithm are configured (`id_tokens.py`).
"""

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from urllib.parse import quote_plus, urlencode, urlsplit

import msgspec
import structlog
import trio

from actors.kernel.clock import Clock
from routes.edge.errors import Unauthenticated, UpstreamUnavailable
from routes.edge.identity.id_tokens import Names
from routes.edge.identity.issuer_settings import IssuerSettings, is_confidential
from routes.edge.outgoing_http import Answer, OutgoingFault, ask_address
from routes.edge.outgoing_json import NotUnderstood, decoded

log = structlog.get_logger()

FRESH_MS = 3_600_000
"""How long an issuer's configuration is used before it is asked for again."""

ASK_SECONDS = 4.0
"""How long one request to an issuer may take; less than the deadline of the client's request that waits for it."""

NAME_SECONDS = 1.5
"""How long the request for a user's name may take, which comes after the others within the same deadline."""

ANSWER_MAX_BYTES = 64 * 1024

TOKEN_ERRORS = frozenset(
    {
        "invalid_request",
        "invalid_client",
        "invalid_grant",
        "unauthorized_client",
        "unsupported_grant_type",
        "invalid_scope",
    }
)
"""What a token endpoint may say of a refusal (RFC 6749 §5.2); no other text of an issuer gets into the log."""

SCOPE = "openid profile"


_AWAY = "this issuer does not answer"

_BEARER = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""An access token that can be sent (RFC 6750 §2.1)."""


class _Unusable(Exception):
    """An issuer has answered nothing that can be used; the text says why, for the operator alone."""


class Discovered(msgspec.Struct, frozen=True):
    """An issuer's configuration (OpenID Connect Discovery §3), as far as it is used.

    Args:
        issuer: equal to the configured one (§4.3).
        authorization_endpoint: where browsers are sent.
        token_endpoint: where codes are exchanged.
        userinfo_endpoint: where a user's names are asked for.
        token_endpoint_auth_methods_supported: how this service may authenticate there.
        authorization_response_iss_parameter_supported: every answer names its issuer (RFC 9207 §3).
    """

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    userinfo_endpoint: str | None = None
    token_endpoint_auth_methods_supported: Sequence[str] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False


class Tokens(msgspec.Struct, frozen=True):
    """What a token endpoint answers (OpenID Connect Core §3.1.3.3), nothing of it verified.

    Args:
        id_token: says who has signed in.
        access_token: opens the userinfo endpoint.
    """

    id_token: str
    access_token: str | None = None

    def __repr__(self) -> str:
        return "Tokens(…)"


class _UserInfo(Names, frozen=True, kw_only=True):
    sub: str


class _Refusal(msgspec.Struct, frozen=True):
    error: str


class Provider:
    """One issuer that users sign in with.

    Args:
        settings: the issuer as configured, with its name, client id and discovery address.
        clock: tells how old its configuration is.
    """

    def __init__(self, settings: IssuerSettings, clock: Clock) -> None:
        self.settings = settings
        self._clock = clock
        self._found: tuple[Discovered, int] | None = None  # and when, epoch milliseconds
        self._finding = trio.Lock()
        self._failures = 0
        self._fault: str | None = None  # that the log has

    async def discovered(self) -> Discovered:
        """The issuer's configuration, kept for an hour; callers that need it at the same time share one request.

        If that request fails, it fails for all of them: to try one after another would take longer than a request may.

        Cancellation changes nothing.

        Raises:
            UpstreamUnavailable: it does not answer with a configuration that can be used; the log says why.
        """
        failures = self._failures
        async with self._finding:
            if self._found is None or self._clock.now_ms() - self._found[1] > FRESH_MS:
                if self._failures != failures:
                    raise UpstreamUnavailable(_AWAY)
                try:
                    self._found = await self._discover(), self._clock.now_ms()
                except _Unusable as error:
                    self._failures += 1
                    self._tell(error)
                    raise UpstreamUnavailable(_AWAY) from None
                self._fault = None
            return self._found[0]

    async def _discover(self) -> Discovered:
        answer = await _ask("GET", self.settings.discovery_url or "", fails_from=201)
        try:
            found = decoded(answer.body, Discovered)
        except NotUnderstood:
            raise _Unusable("discoveryUrl answers no OpenID Provider Configuration") from None
        if found.issuer != self.settings.iss:
            raise _Unusable("discoveryUrl names another issuer than iss, which has to be equal to it")
        if not all(map(is_confidential, (found.authorization_endpoint, found.token_endpoint))):
            raise _Unusable("discoveryUrl names addresses that are not https")
        return found

    def _tell(self, error: _Unusable) -> None:
        """Have the log say once what is wrong, as an operator may have to mend that, and any stranger can ask again."""
        if str(error) != self._fault:
            log.warning("users cannot sign in with an issuer", issuer=self.settings.iss, why=str(error))
        self._fault = str(error)

    async def authorization_url(self, *, redirect_uri: str, state: str, nonce: str, challenge: str) -> str:
        """The address at the issuer where a browser signs in (OpenID Connect Core §3.1.2.1, RFC 7636 §4.3).

        Args:
            redirect_uri: where the browser comes back to.
            state, nonce: 256 random bits each.
            challenge: SHA-256 of the code verifier.

        Raises:
            UpstreamUnavailable: the issuer's configuration is not known.
        """
        found = await self.discovered()
        asked = {
            "response_type": "code",
            "client_id": self.settings.client_id or "",
            "redirect_uri": redirect_uri,
            "scope": SCOPE,
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        joined = "&" if urlsplit(found.authorization_endpoint).query else "?"
        return f"{found.authorization_endpoint}{joined}{urlencode(asked)}"

    async def may_answer(self, iss: str | None) -> bool:
        """Whether an answer to a browser's request may come from this issuer (RFC 9207 §2.4).

        Args:
            iss: the issuer that the answer names; None if it names none.

        Raises:
            UpstreamUnavailable: the issuer's configuration is not known.
        """
        if iss is None:
            return not (await self.discovered()).authorization_response_iss_parameter_supported
        return iss == self.settings.iss

    async def tokens(self, code: str, *, redirect_uri: str, verifier: str) -> Tokens:
        """Exchange a code for tokens, which are not verified yet (RFC 6749 §4.1.3, RFC 7636 §4.5).

        Cancellation: the code may be used up.

        Args:
            code: the code that the browser has brought.
            redirect_uri: the same that the browser was sent to the issuer with.
            verifier: the code verifier, of which the challenge was made.

        Raises:
            Unauthenticated: the issuer does not accept the code; the message says why, for the operator.
            UpstreamUnavailable: it does not answer.
        """
        found = await self.discovered()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
            "client_id": self.settings.client_id or "",
        }
        headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
        secret = self.settings.client_secret
        if secret is not None and "client_secret_basic" in found.token_endpoint_auth_methods_supported:
            headers["authorization"] = _basic(self.settings.client_id or "", secret)
        elif secret is not None:
            form["client_secret"] = secret
        try:
            answer = await _ask(
                "POST", found.token_endpoint, fails_from=500, headers=headers, body=urlencode(form).encode()
            )
        except _Unusable as error:
            self._tell(error)
            raise UpstreamUnavailable(_AWAY) from None
        self._fault = None
        try:
            return decoded(answer.body, Tokens)
        except NotUnderstood:
            raise Unauthenticated(_refusal(answer)) from None

    async def name_of(self, subject: str, access_token: str | None) -> str | None:
        """What the issuer calls a user whose ID token has no name, as issuers need not tell it there (OpenID Connect
        Core §5.4); None where it tells none, or does not answer in time.

        Cancellation changes nothing.

        Args:
            subject: whom a verified ID token names; what is told of anybody else is ignored (§5.3.2).
            access_token: came with that ID token.
        """
        try:
            endpoint = (await self.discovered()).userinfo_endpoint
        except UpstreamUnavailable:  # what was known of it has run out since the code was exchanged
            return None
        if endpoint is None or not is_confidential(endpoint) or not _BEARER.fullmatch(access_token or ""):
            return None
        headers = {"authorization": f"Bearer {access_token}", "accept": "application/json"}
        try:
            answer = await _ask("GET", endpoint, fails_from=201, seconds=NAME_SECONDS, headers=headers)
            said = decoded(answer.body, _UserInfo)
        except (_Unusable, NotUnderstood):
            return None
        return said.best() if said.sub == subject else None


class Providers:
    """All issuers that users sign in with.

    Args:
        providers: in the order of the configuration.
    """

    def __init__(self, providers: Sequence[Provider]) -> None:
        self._by_slug = {one.settings.slug: one for one in providers}

    def __iter__(self) -> Iterator[Provider]:
        return iter(self._by_slug.values())

    def find(self, slug: str) -> Provider | None:
        """The issuer that has this name in addresses, or None."""
        return self._by_slug.get(slug)


async def _ask(
    method: str,
    url: str,
    *,
    fails_from: int,
    seconds: float = ASK_SECONDS,
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
) -> Answer:
    """Ask an issuer; an answer with the status `fails_from` or a higher one is as good as none."""
    host = urlsplit(url).hostname
    try:
        answer = await ask_address(
            method, url, seconds=seconds, max_bytes=ANSWER_MAX_BYTES, headers=headers, body=body
        )
    except OutgoingFault as fault:
        raise _Unusable(f"{host}: {fault}") from None
    if answer.status >= fails_from:
        raise _Unusable(f"{host}: the server has answered {answer.status}")
    return answer


def _refusal(answer: Answer) -> str:
    """Why a token endpoint has given no tokens, for the operator."""
    try:
        error = decoded(answer.body, _Refusal).error
    except NotUnderstood:
        error = ""
    said = error if error in TOKEN_ERRORS else "no tokens"
    return f"the token endpoint answers {answer.status}, {said}"


def _basic(client_id: str, secret: str) -> str:
    """The Authorization header of a client that authenticates with its secret (RFC 6749 §2.3.1)."""
    pair = f"{quote_plus(client_id)}:{quote_plus(secret)}"
    return f"Basic {b64encode(pair.encode()).decode()}"
