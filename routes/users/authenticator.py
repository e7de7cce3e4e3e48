"""Verifies users' bearer tokens, and caches the result.

A cached token is not accepted after its `exp`, and is verified again after the rights of its user or the keys of any
issuer have changed (performance: verifying a signature costs 81 µs, a digest and a lookup in a dict 0.7 µs).
"""

from hashlib import blake2b

from actors.errors import NotFound
from actors.kernel.clock import Clock
from actors.sessions.signed_in import SignedIn
from actors.users.permissions import capped_to
from actors.users.users import Users
from routes.edge.errors import TokenExpired, Unauthenticated
from routes.edge.identity.credentials import as_header
from routes.edge.identity.issuers import Issuers
from routes.edge.identity.keys import Keys
from routes.edge.identity.tokens import verify_user_token
from routes.edge.principal import UserPrincipal
from routes.part import Opening, Part
from routes.sessions.parts import SIGNED_IN
from routes.users.parts import USER_DIRECTORY

CAPACITY = 50_000
"""How many tokens a generation of the cache holds at most, some 0.3 KB each; there are two generations."""

DIGEST_BYTES = 16


class TokenAuthenticator:
    """Finds the user of a token.

    The cache has two generations, each a dict: tokens used lately, and tokens used before that. When the first is full
    it becomes the second, and the former second is dropped. So tokens in use stay, and most lookups move nothing.

    Keys are digests of the whole Authorization header: it need not be parsed, an entry takes 0.4 KB less than with the
    token itself, and no token is in memory.

    Args:
        keys: this service's keys.
        issuers: the configured issuers of other tokens.
        users: creates a user at their first request, and knows their rights.
        signed_in: knows which sessions have ended, and with them their tokens.
        clock: tells whether tokens have expired.
        capacity: how many tokens a generation of the cache holds at most; at least 1.
    """

    def __init__(
        self,
        keys: Keys,
        issuers: Issuers,
        users: Users,
        signed_in: SignedIn,
        clock: Clock,
        *,
        capacity: int = CAPACITY,
    ) -> None:
        self._keys = keys
        self._issuers = issuers
        self._users = users
        self._signed_in = signed_in
        self._clock = clock
        self._capacity = capacity
        self._recent: dict[bytes, UserPrincipal] = {}
        self._older: dict[bytes, UserPrincipal] = {}
        self._issued, self._ended = self._generations()  # for which the memory holds

    def __len__(self) -> int:
        """How many tokens are cached."""
        return len(self._recent) + len(self._older)

    async def user(self, token: str) -> UserPrincipal:
        """Verify a token, creating its user at their first request, and cache the result.

        Args:
            token: the token, without `Bearer`.

        Raises:
            TokenExpired: it was valid once.
            Unauthenticated: it is not a valid token, it was revoked, its session has ended, or its user was erased
                since.
            UpstreamUnavailable: its issuer's keys are not known yet.
            DatabaseUnavailable: the user's rights are not in memory and cannot be read.
        """
        carried = as_header(token)
        principal = self.known(carried, self._clock.now_ms())
        if principal is None:
            generations = self._generations()
            verified = verify_user_token(token, self._keys, self._issuers, self._clock.now_ms())
            if verified.sid is not None and not await self._signed_in.lives(verified.sid):
                raise Unauthenticated
            try:
                access = await self._users.arrive(verified.user_id, verified.name, verified.issued_at_s)
            except NotFound:
                raise Unauthenticated from None
            principal = UserPrincipal(
                verified.user_id,
                verified.name,
                verified.expires_at_ms,
                capped_to(access, capped=verified.capped),
                verified.issued_at_s,
                verified.capped,
                verified.sid,
            )
            if generations == self._generations():  # else what it was verified by has changed meanwhile
                self._remember(_digest(carried), principal)
            self._users.last_seen.note(principal.user_id, self._clock.now_ms())
        return principal

    def known(self, carried: bytes, now_ms: int) -> UserPrincipal | None:
        """The user of a token in the cache; None if it is not there or must be verified again.

        Args:
            carried: the value of Authorization: `Bearer`, a space and the token.
            now_ms: epoch milliseconds.

        Raises:
            TokenExpired: it was valid once.
        """
        if self._issued != self._issuers.generation or self._ended != self._signed_in.generation:
            self._recent, self._older = {}, {}
            self._issued, self._ended = self._generations()
        digest = _digest(carried)
        principal = self._recent.get(digest)
        if principal is None:
            principal = self._older.pop(digest, None)
            if principal is None:
                return None
            self._remember(digest, principal)
        if principal.expires_at_ms <= now_ms:
            del self._recent[digest]
            raise TokenExpired
        if principal.sid is not None and self._signed_in.has_ended(principal.sid):
            del self._recent[digest]
            return None
        access = self._users.peek_believed(principal.user_id, principal.issued_at_s)
        if access is not None and principal.capped:
            access = access.capped()
        if access is not principal.access:
            del self._recent[digest]
            return None
        self._users.last_seen.note(principal.user_id, now_ms)
        return principal

    def _generations(self) -> tuple[int, int]:
        """The generations of the issuers' keys and of the ended sessions; a change voids the cached tokens."""
        return self._issuers.generation, self._signed_in.generation

    def _remember(self, digest: bytes, principal: UserPrincipal) -> None:
        if len(self._recent) >= self._capacity:
            self._recent, self._older = {}, self._recent
        self._recent[digest] = principal


def _digest(carried: bytes) -> bytes:
    return blake2b(carried, digest_size=DIGEST_BYTES).digest()


async def _open_issuers(opening: Opening) -> Issuers:
    return Issuers(opening.config.jwt_issuers, opening.clock)


async def _open(opening: Opening) -> TokenAuthenticator:
    issuers, users = await opening.of(ISSUERS), await opening.of(USER_DIRECTORY)
    return TokenAuthenticator(opening.keys, issuers, users, await opening.of(SIGNED_IN), opening.clock)


ISSUERS = Part(name="issuers of tokens", open=_open_issuers)
"""The issuers whose tokens are accepted beside this service's own."""

USER_AUTHENTICATOR = Part(name="tokens of users", open=_open)
"""Verifies the tokens of users."""
