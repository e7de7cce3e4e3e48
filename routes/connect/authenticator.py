"""Verifies a game server's secret or delegated token (contract §2). The result is cached until the server's row or its
owner's rights change.
"""

from dataclasses import dataclass
from hashlib import blake2b
from hmac import compare_digest

from actors.connect.access import ServerAccess
from actors.connect.claim_keys import digest
from actors.connect.credentials import Credentials
from actors.errors import NotFound
from actors.ids import UserId, Uuid, is_uuid
from actors.kernel.clock import Clock
from actors.users.permissions import Access
from actors.users.users import Users
from persistence.connect.rows import ServerRow
from routes.connect.parts import GAME_SERVERS
from routes.connect.tokens import verify_delegated
from routes.edge.errors import BadServerCredentials
from routes.edge.identity.keys import Keys
from routes.edge.principal import ServerPrincipal
from routes.part import Opening, Part
from routes.users.parts import USER_DIRECTORY

CAPACITY = 20_000
"""Most verified credentials in the cache, 0.5 KB each; the oldest is evicted."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A verified credential, with the row and the owner's rights that it was verified against."""

    principal: ServerPrincipal
    row: ServerRow
    owner: Access | None


class ServerCredentials:
    """Finds the server of a secret or token; implements `ServerAuthenticator`.

    Args:
        keys: this service's keys, which sign delegated tokens.
        credentials: the rows of servers, with their secrets' digests.
        users: the rights of the servers' owners.
        clock: tells when tokens and former secrets expire.
    """

    def __init__(self, keys: Keys, credentials: Credentials, users: Users, clock: Clock) -> None:
        self._keys = keys
        self._credentials = credentials
        self._users = users
        self._clock = clock
        self._known: dict[bytes, _Known] = {}  # {digest of both headers: …}, so that no secret is in memory

    def known(self, carried: bytes, server_id: bytes, now_ms: int) -> ServerPrincipal | None:
        """The server of a credential in the cache; None if it is not there, has expired, or its facts have changed.

        Args:
            carried: the value of Authorization: `Bearer`, a space and the secret or token.
            server_id: the value of X-Server-Id.
            now_ms: epoch milliseconds.
        """
        remembered_by = _digest(carried, server_id)
        known = self._known.get(remembered_by)
        if known is None:
            return None
        principal = known.principal
        owner = None if known.row.owner_id is None else self._users.peek_access(known.row.owner_id)
        ended = principal.expires_at_ms is not None and principal.expires_at_ms <= now_ms
        moved = self._credentials.peek(principal.server_id) is not known.row or owner is not known.owner
        if ended or moved:
            del self._known[remembered_by]
            return None
        return principal

    async def server(self, token: str, server_id: str) -> ServerPrincipal:
        """Verify a secret or delegated token, and cache the result.

        Args:
            token: the secret or token, without `Bearer`.
            server_id: the value of X-Server-Id.

        Raises:
            BadServerCredentials: the token is not one of this server, or there is no such server.
            TokenExpired: the token was valid once.
            DatabaseUnavailable: the server is not in memory and cannot be read.
        """
        now_ms = self._clock.now_ms()
        row = await self._credentials.of(server_id.lower()) if is_uuid(server_id.lower()) else None
        if row is None:
            raise BadServerCredentials
        scopes, expires_at_ms, number = self._verified(token, row, now_ms)
        owner = await self._owner(row)
        owner_id = None if row.owner_id is None else UserId(Uuid(row.owner_id))
        principal = ServerPrincipal(
            row.server_id, owner_id, scopes, ServerAccess(owner), expires_at_ms, number
        )
        if len(self._known) >= CAPACITY:
            del self._known[next(iter(self._known))]
        carried = b"Bearer " + token.encode("latin-1")
        self._known[_digest(carried, server_id.encode("latin-1"))] = _Known(principal, row, owner)
        return principal

    def called(self, principal: ServerPrincipal, address: str, now_ms: int) -> None:
        """Record when and from where a verified server has called.

        Args:
            address: the client's address, normalised.
            now_ms: epoch milliseconds.
        """
        self._credentials.saw(principal.server_id, now_ms, address)

    def _verified(
        self, token: str, row: ServerRow, now_ms: int
    ) -> tuple[frozenset[str] | None, int | None, int]:
        """The scopes of a credential, None for all; its end in epoch milliseconds, None for no end; and the number of
        the secret that it is, or was made with.
        """
        former_until_ms = row.former_until_ms or 0
        if token.count(".") == 2:
            said = verify_delegated(self._keys, token, now_ms)
            ends_at_ms = said.exp * 1000
            if said.sub != row.server_id:
                raise BadServerCredentials
            if said.num == row.secret_number:
                return frozenset(said.scopes), ends_at_ms, said.num
            if said.num == row.secret_number - 1 and former_until_ms > now_ms:
                return frozenset(said.scopes), min(ends_at_ms, former_until_ms), said.num
            raise BadServerCredentials
        given = digest(token)
        current = compare_digest(given, row.secret)
        former = compare_digest(given, row.former_secret or b"")
        if current:
            return None, None, row.secret_number
        if former and former_until_ms > now_ms:
            return None, former_until_ms, row.secret_number - 1
        raise BadServerCredentials

    async def _owner(self, row: ServerRow) -> Access | None:
        if row.owner_id is None:
            return None
        try:
            return await self._users.access_of(row.owner_id)
        except NotFound:
            return None


def _digest(carried: bytes, server_id: bytes) -> bytes:
    return blake2b(carried + b"\n" + server_id).digest()


async def _open(opening: Opening) -> ServerCredentials:
    connect, users = await opening.of(GAME_SERVERS), await opening.of(USER_DIRECTORY)
    return ServerCredentials(opening.keys, connect.credentials, users, opening.clock)


SERVER_AUTHENTICATOR = Part(name="credentials of game servers", open=_open)
"""Verifies the credentials of game servers."""
