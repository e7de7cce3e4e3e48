"""The access token of one user, and what gets the next one before it ends."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import time

import anyio

from partyline.client.problem import Document, Problem

USED_PART = 0.8
"""The part of a token's life after which it is renewed."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A token.

    Args:
        token: as `Authorization: Bearer` carries it.
        expires_at: epoch seconds; None where that is not known: it is then renewed once it is refused.
    """

    token: str
    expires_at: float | None = None


GetToken = Callable[[], Awaitable[Grant | None]]
"""Gets a fresh token, for instance from your login service; None where the user is signed out. Where it cannot be said
now it raises `Unreachable`, or a temporary `Problem`, and is asked again; anything else ends the client."""


class Credentials:
    """Keeps a token fresh.

    Args:
        token: to begin with; alone, it is used until it ends.
        get_token: gets a fresh one.
    """

    def __init__(self, token: str | None, get_token: GetToken | None) -> None:
        self._grant = Grant(token) if token is not None else None
        self._get_token = get_token
        self._renew_at: float | None = None
        self._lock: anyio.Lock | None = None

    async def token(self) -> str | None:
        """The token to use now; None for somebody who is not signed in. Waits for `get_token` where one is due."""
        due = self._grant is None or (self._renew_at is not None and time() >= self._renew_at)
        if due and self._get_token is not None:
            await self.renew(self._grant)
        return self._grant.token if self._grant is not None else None

    @property
    def grant(self) -> Grant | None:
        """What is used now."""
        return self._grant

    async def renew(self, used: Grant | None) -> bool:
        """Get a fresh token, once for all who ask at the same time.

        Args:
            used: what was refused or is due; where somebody else has renewed it already, nothing is asked for.

        Returns:
            Whether there is another one now. Raises what `get_token` raises; cancelled, the old one stays.
        """
        if self._get_token is None:
            return False
        if self._lock is None:
            self._lock = anyio.Lock()
        async with self._lock:
            if self._grant is not used:
                return self._grant is not None
            grant = await self._get_token()
            self._grant = grant
            self._renew_at = None
            if grant is not None and grant.expires_at is not None:
                now = time()
                self._renew_at = now + (grant.expires_at - now) * USED_PART
            return grant is not None


def signed_out() -> Problem:
    """What a client raises where it has no token, or none that is accepted."""
    return Problem(Document(code="UNAUTHENTICATED", message="nobody is signed in"), 401)
