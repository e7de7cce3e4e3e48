"""The terms of uploading: whoever submits a cape has accepted their newest revision (contract §8)."""

from actors.errors import Conflict, TermsNotAccepted
from persistence.capes.choices import Acceptance, read_acceptance, save_acceptance
from persistence.connection import Connection

TERMS_REVISION = 1
"""Raised when the terms change; then everybody is asked again."""


async def require_terms(conn: Connection, user_id: str) -> None:
    """Pass users who have accepted the present terms.

    Raises:
        TermsNotAccepted: this one has not.
    """
    accepted = await read_acceptance(conn, user_id)
    if accepted is None or accepted.revision < TERMS_REVISION:
        raise TermsNotAccepted("accept the upload terms first", revision=TERMS_REVISION)


async def accept_terms(conn: Connection, user_id: str, revision: int, now_ms: int) -> Acceptance | None:
    """Keep that a user accepts the terms.

    Args:
        revision: which terms they were shown.

    Raises:
        Conflict: these are not the present terms.
    """
    if revision != TERMS_REVISION:
        raise Conflict(f"the present terms are revision {TERMS_REVISION}", revision=TERMS_REVISION)
    await save_acceptance(conn, user_id, revision, now_ms)
    return await read_acceptance(conn, user_id)
