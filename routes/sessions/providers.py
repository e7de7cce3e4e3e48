"""The issuers that users sign in with, asked as an OpenID Connect client: discovery, and codes for ID tokens.

What an issuer answers decides only where browsers and codes are sent; who has signed in is taken from the ID token,
whose keys and algorithm are configured (`id_tokens.py`).
"""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from urllib.parse import quote_plus, urlencode, urlsplit

import msgspec
import trio

from actors.kernel.clock import Clock
from routes.edge.errors import Unauthenticated, UpstreamUnavailable
from routes.edge.identity.issuer_settings import IssuerSettings, is_confidential
from routes.edge.outgoing_http import Answer, OutgoingFault, ask_address
from routes.edge.outgoing_json import NotUnderstood, decoded

FRESH_MS = 3_600_000
"""How long an issuer's configuration is used before it is asked for again."""

ASK_SECONDS = 4.0
"""How long one request to an issuer may take; less than the deadline of the client's request that waits for it."""

ANSWER_MAX_BYTES = 64 * 1024

SCOPE = "openid profile"


class Discovered(msgspec.Struct, frozen=True):
    """An issuer's configuration (OpenID Connect Discovery §3), as far as it is used.

    Args:
        issuer: equal to the configured one (§4.3).
        authorization_endpoint: where browsers are sent.
        token_endpoint: where codes are exchanged.
        token_endpoint_auth_methods_supported: how this service may authenticate there.
        authorization_response_iss_parameter_supported: every answer names its issuer (RFC 9207 §3).
    """

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    token_endpoint_auth_methods_supported: Sequence[str] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False


class _Tokens(msgspec.Struct, frozen=True):
    id_token: str


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

    async def discovered(self) -> Discovered:
        """The issuer's configuration, kept for an hour; callers that need it at the same time share one request.

        If that request fails, it fails for all of them: to try one after another would take longer than a request may.

        Cancellation changes nothing.

        Raises:
            UpstreamUnavailable: it does not answer with a configuration that can be used.
        """
        failures = self._failures
        async with self._finding:
            if self._found is None or self._clock.now_ms() - self._found[1] > FRESH_MS:
                if self._failures != failures:
                    raise UpstreamUnavailable("this issuer does not answer")
                try:
                    self._found = await self._discover(), self._clock.now_ms()
                except UpstreamUnavailable:
                    self._failures += 1
                    raise
            return self._found[0]

    async def _discover(self) -> Discovered:
        answer = await _ask("GET", self.settings.discovery_url or "")
        try:
            found = decoded(answer.body, Discovered)
        except NotUnderstood:
            raise UpstreamUnavailable("this issuer's configuration cannot be read") from None
        ends = (found.authorization_endpoint, found.token_endpoint)
        if answer.status != 200 or found.issuer != self.settings.iss or not all(map(is_confidential, ends)):
            raise UpstreamUnavailable("this issuer's configuration cannot be used")
        return found

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

    async def id_token(self, code: str, *, redirect_uri: str, verifier: str) -> str:
        """Exchange a code for an ID token, which is not verified yet (RFC 6749 §4.1.3, RFC 7636 §4.5).

        Cancellation: the code may be used up.

        Args:
            code: the code that the browser has brought.
            redirect_uri: the same that the browser was sent to the issuer with.
            verifier: the code verifier, of which the challenge was made.

        Raises:
            Unauthenticated: the issuer does not accept the code.
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
        answer = await _ask("POST", found.token_endpoint, headers=headers, body=urlencode(form).encode())
        if answer.status >= 500:
            raise UpstreamUnavailable("this issuer does not answer")
        try:
            return decoded(answer.body, _Tokens).id_token
        except NotUnderstood:
            raise Unauthenticated("the issuer does not accept this code") from None


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
    method: str, url: str, *, headers: dict[str, str] | None = None, body: bytes | None = None
) -> Answer:
    try:
        return await ask_address(
            method, url, seconds=ASK_SECONDS, max_bytes=ANSWER_MAX_BYTES, headers=headers, body=body
        )
    except OutgoingFault:
        raise UpstreamUnavailable("this issuer does not answer") from None


def _basic(client_id: str, secret: str) -> str:
    """The Authorization header of a client that authenticates with its secret (RFC 6749 §2.3.1)."""
    pair = f"{quote_plus(client_id)}:{quote_plus(secret)}"
    return f"Basic {b64encode(pair.encode()).decode()}"
