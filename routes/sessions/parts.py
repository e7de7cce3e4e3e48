"""The parts of sessions: those that have ended, and the issuers that users sign in with."""

from actors.sessions.signed_in import SignedIn
from routes.part import Opening, Part
from routes.sessions.providers import Provider, Providers


async def _open_signed_in(opening: Opening) -> SignedIn:
    return SignedIn(opening.database, opening.clock)


async def _open_providers(opening: Opening) -> Providers:
    entries = [entry for entry in opening.config.jwt_issuers if entry.name is not None]
    return Providers([Provider(entry, opening.clock) for entry in entries])


SIGNED_IN = Part(name="ended sessions", open=_open_signed_in)
"""Which sessions have ended of late."""

PROVIDERS = Part(name="issuers to sign in with", open=_open_providers)
"""The issuers that users sign in with."""
