"""The upload terms: a user must have accepted their newest revision before submitting a cape (contract §8)."""

from actors.errors import Conflict, TermsNotAccepted
from persistence.capes.choices import Acceptance, read_acceptance, save_acceptance
from persistence.connection import Connection

TERMS_REVISION = 1
"""To be raised when the terms change; every user then has to accept them again."""


async def require_terms(conn: Connection, user_id: str) -> None:
    """Check that a user has accepted the current terms.

    Raises:
        TermsNotAccepted: the user has not accepted them.
    """
    accepted = await read_acceptance(conn, user_id)
    if accepted is None or accepted.revision < TERMS_REVISION:
        raise TermsNotAccepted("accept the upload terms first", revision=TERMS_REVISION)


async def accept_terms(conn: Connection, user_id: str, revision: int, now_ms: int) -> Acceptance | None:
    """Store that a user accepts the terms; returns the stored acceptance.

    Args:
        revision: the revision of the terms that the user was shown.
        now_ms: epoch milliseconds.

    Raises:
        Conflict: `revision` is not the current one.
    """
    if revision != TERMS_REVISION:
        raise Conflict(f"the present terms are revision {TERMS_REVISION}", revision=TERMS_REVISION)
    await save_acceptance(conn, user_id, revision, now_ms)
    return await read_acceptance(conn, user_id)
