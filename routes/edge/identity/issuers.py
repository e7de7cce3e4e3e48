"""Other issuers of user tokens, from `PARTYLINE_JWT_ISSUERS`, each with its keys and one algorithm.

The algorithm belongs to the key and is never taken from the token (RFC 8725 §3.1). A JWKS is fetched on a schedule
and never because of what a bearer token says, so that a flood of unknown `kid`s causes no work. An ID token is another
thing: its issuer has just handed it over for a code, so that a key that is not known was exchanged (`Issuers.learn`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from math import inf
from typing import TypeAlias

import httpx2
import jwt
import msgspec
import structlog
import trio

from actors.kernel.clock import Clock
from routes.edge.identity.issuer_settings import IssuerSettings, known_as
from routes.edge.identity.outbound import said_of, trusted_authorities
from routes.edge.identity.public_keys import PublicKey, fitting, pem_key
from routes.edge.outgoing_json import NotUnderstood, decoded

log = structlog.get_logger()

REFRESH_SECONDS = 300
"""How often a JWKS is fetched: issuers publish a new key longer than this before they use it."""

RETRY_SECONDS = 5
"""First wait after a failed fetch; doubles up to `REFRESH_SECONDS`."""

STALE_MS = 24 * 3_600_000
"""Keys of an issuer that could not be reached for this time are dropped: they may have been withdrawn."""

LEARN_SECONDS = 2.0
"""How long a sign-in waits for the keys of its issuer: beside the code's exchange, within the request's deadline."""

LEARN_AGAIN_SECONDS = 10.0
"""Least time between two fetches that sign-ins have caused, so that an issuer whose tokens fit no key of its own is not
asked by each."""

FETCH_SECONDS = 10
FETCH_MAX_BYTES = 64 * 1024
FETCH_MAX_KEYS = 32
"""Bounds of fetching one JWKS: issuers publish a few keys of some KB in all."""

_PUBLIC_MEMBERS = ("kty", "crv", "x", "y", "n", "e")
"""What a public key consists of (RFC 7518 §6)."""

VerifyingKey: TypeAlias = bytes | PublicKey
"""A secret for HS256, a public key for everything else."""


@dataclass(slots=True)
class Issuer:
    """One configured issuer with its current keys.

    Args:
        settings: the configured entry.
        keys: {`kid`: key}; "" for the one key of an issuer without key ids.
        fetched_at_ms: epoch milliseconds of the last successful fetch; None for never, or for configured keys.
        learning: held while a sign-in has the keys fetched.
        learnt_at: when one last had, in the seconds of trio's clock, which nobody sets back.
    """

    settings: IssuerSettings
    keys: Mapping[str, VerifyingKey]
    fetched_at_ms: int | None = None
    learning: trio.Lock = field(default_factory=trio.Lock)
    learnt_at: float = -inf

    def key_for(self, key_id: str | None) -> VerifyingKey | None:
        """The key that a token names by its `kid`, or the only one when it names none; None if there is no such key.

        A configured key has no id, and is used whatever `kid` the token has.
        """
        if self.settings.jwks_url is None:
            return self.keys[""]
        if key_id is None:
            return next(iter(self.keys.values())) if len(self.keys) == 1 else None
        return self.keys.get(key_id)


class Issuers:
    """All configured issuers.

    Args:
        settings: from `parse_issuers`.
        clock: tells the age of fetched key sets.

    Attributes:
        generation: increases when a key is added or withdrawn.
    """

    def __init__(self, settings: tuple[IssuerSettings, ...], clock: Clock) -> None:
        self._clock = clock
        self._issuers: dict[str, list[Issuer]] = {}  # {iss: its entries}
        self.generation = 0
        for entry in settings:
            keys: dict[str, VerifyingKey] = {}
            if entry.secret is not None:
                keys[""] = entry.secret.encode()
            elif entry.public_key is not None:
                keys[""] = pem_key(entry.iss, entry.alg, entry.public_key or "")
            self._issuers.setdefault(entry.iss, []).append(Issuer(entry, keys))

    def named(self, iss: str) -> list[Issuer]:
        """The entries of this issuer, compared whole; empty when it is not configured."""
        return self._issuers.get(iss, [])

    def of(self, settings: IssuerSettings) -> Issuer:
        """The issuer that was made from these settings."""
        return next(one for one in self.named(settings.iss) if one.settings is settings)

    async def keep_fresh(self) -> None:
        """Fetch every JWKS on its schedule until cancelled; returns at once when there is none. Cancellation keeps
        the keys.
        """
        remote = [one for several in self._issuers.values() for one in several if one.settings.jwks_url]
        if not remote:
            return
        async with fetching_client() as client, trio.open_nursery() as nursery:
            for issuer in remote:
                nursery.start_soon(self._keep_one_fresh, client, issuer)

    async def _keep_one_fresh(self, client: httpx2.AsyncClient, issuer: Issuer) -> None:
        wait_seconds = RETRY_SECONDS
        while True:
            if await self.fetch(client, issuer):
                wait_seconds = RETRY_SECONDS
                await trio.sleep(REFRESH_SECONDS)
            else:
                await trio.sleep(wait_seconds)
                wait_seconds = min(2 * wait_seconds, REFRESH_SECONDS)

    async def learn(self, issuer: Issuer) -> None:
        """Fetch the keys of an issuer now, because it has signed with one that is not known (OpenID Connect Core
        §10.1.1). Callers at the same time share one fetch, and within `LEARN_AGAIN_SECONDS` there is no other.

        Cancellation leaves the keys unchanged.

        Args:
            issuer: whose ID token, that it has handed over itself, is signed with none of its known keys.
        """
        async with issuer.learning:
            now = trio.current_time()
            if issuer.settings.jwks_url is None or now - issuer.learnt_at < LEARN_AGAIN_SECONDS:
                return
            issuer.learnt_at = now
            async with fetching_client() as client:
                await self.fetch(client, issuer, seconds=LEARN_SECONDS)

    async def fetch(
        self, client: httpx2.AsyncClient, issuer: Issuer, *, seconds: float = FETCH_SECONDS
    ) -> bool:
        """Fetch the JWKS of one issuer. Returns False on failure; the keys then stay until they are `STALE_MS` old.

        Cancellation leaves the keys unchanged.

        Args:
            client: asks the issuer.
            issuer: whose keys are fetched.
            seconds: how long that may take.
        """
        try:
            with trio.fail_after(seconds):
                keys = read_key_set(
                    await _download(client, issuer.settings.jwks_url or ""), issuer.settings.alg
                )
        except (httpx2.HTTPError, httpx2.InvalidURL, trio.TooSlowError, ValueError) as error:
            log.warning(
                "keys of an issuer cannot be fetched", issuer=issuer.settings.iss, error=repr(said_of(error))
            )
            age_ms = self._clock.now_ms() - (issuer.fetched_at_ms or 0)
            if issuer.keys and age_ms > STALE_MS:
                issuer.keys, issuer.fetched_at_ms = {}, None
                self.generation += 1
            return False
        issuer.fetched_at_ms = self._clock.now_ms()
        if keys != issuer.keys:
            issuer.keys = keys
            self.generation += 1
        return True


def fetching_client() -> httpx2.AsyncClient:
    """A client to fetch key sets with: like an `Upstream` it keeps no cookies and asks no proxies of the environment.

    It is none, because its errors are for the operator, who reads in the log what is wrong with a certificate.
    """
    return httpx2.AsyncClient(
        follow_redirects=False,
        timeout=FETCH_SECONDS,
        verify=trusted_authorities(),
        trust_env=False,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
    )


async def _download(client: httpx2.AsyncClient, url: str) -> bytes:
    headers = {"accept": "application/json", "accept-encoding": "identity"}
    async with client.stream("GET", url, headers=headers) as response:
        if response.status_code != httpx2.codes.OK:
            raise ValueError(f"answered {response.status_code}")
        # A small body would become a large one on the loop, before its bytes are counted.
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ValueError("answered with an encoded body")
        body = bytearray()
        # Read to its end even where it is too long, because leaving early would leave its generators open. Memory is
        # bounded here, time by `FETCH_SECONDS`.
        async for part in response.aiter_raw():
            if len(body) <= FETCH_MAX_BYTES:
                body += part
    if len(body) > FETCH_MAX_BYTES:
        raise ValueError(f"longer than {FETCH_MAX_BYTES} bytes")
    return bytes(body)


class _KeySet(msgspec.Struct, frozen=True):
    keys: list[dict[str, object]]


def read_key_set(body: bytes, algorithm: str) -> dict[str, VerifyingKey]:
    """The public keys of a JWKS (RFC 7517) that may be used with this algorithm; others are skipped.

    Args:
        body: the JSON document.
        algorithm: the one that is configured for the issuer.

    Raises:
        ValueError: the document is no JWKS, or has none of those keys.
    """
    try:
        entries = decoded(body, _KeySet).keys
    except NotUnderstood:
        raise ValueError("not a JWKS") from None
    keys: dict[str, VerifyingKey] = {}
    for entry in entries[:FETCH_MAX_KEYS]:
        # A symmetric key in a public document protects nothing; `fitting` skips it.
        if entry.get("use", "sig") != "sig" or known_as(str(entry.get("alg", algorithm))) != algorithm:
            continue
        # A private key is public now; and to make a whole one of a part of it would take seconds, here on the loop.
        if "d" in entry:
            continue
        public = {name: entry[name] for name in _PUBLIC_MEMBERS if name in entry}
        try:
            key = fitting(jwt.PyJWK(public, algorithm=algorithm).key, algorithm)
        except (jwt.PyJWTError, ValueError, TypeError):
            continue
        if key is not None:
            keys[str(entry.get("kid", ""))] = key
    if not keys:
        raise ValueError(f"no key for {algorithm}")
    return keys
