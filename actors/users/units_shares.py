"""Launcher profiles that users share by a code (contract §8): units of work, inside the caller's transaction.

A code is 60 random bits, written like a claim key: too many to guess. A share expires after 90 days; the number of a
user's shares that have not expired is bounded by the quota node.
"""

import msgspec

from actors.connect.claim_keys import ALPHABET
from actors.errors import Invalid, NotFound, QuotaExceeded
from actors.field_errors import FieldError
from actors.ids import RandomBytes
from actors.users.locking import require_user
from actors.users.permissions import Access
from persistence.connection import Connection
from persistence.users import shares
from persistence.users.shares import Share, ShareHead

SHARE_TTL_MS = 90 * 24 * 60 * 60 * 1000
"""How long a share is valid."""

SHARES_NODE = "profile-share.max"
"""The permission node that grants a number of shares (service-api §8)."""

SHARES_DEFAULT, SHARES_BOUND = 10, 500
"""How many shares a user may have where no quota is granted (contract §8), and the most that a quota can allow."""

MANIFEST_MAX_BYTES = 128 * 1024
"""The most bytes of a manifest, encoded as the client sends it."""

_CHARACTERS, _GROUP = 12, 4


def new_code(random_bytes: RandomBytes) -> str:
    """A fresh code: 12 characters in groups of four.

    Args:
        random_bytes: the injected source of randomness.
    """
    characters = "".join(ALPHABET[byte % 32] for byte in random_bytes(_CHARACTERS))
    return "-".join(characters[at : at + _GROUP] for at in range(0, _CHARACTERS, _GROUP))


def capacity(access: Access) -> int:
    """How many shares a user with these rights may have."""
    quota = access.quota(SHARES_NODE)
    return SHARES_DEFAULT if quota is None else min(int(quota.value), SHARES_BOUND)


def json_object(value: msgspec.Raw, pointer: str, max_bytes: int) -> bytes:
    """Check that JSON of a client is an object within a size limit, and return its text.

    Args:
        value: the JSON, valid.
        pointer: the JSON pointer to it in the body (RFC 6901).
        max_bytes: the limit.

    Raises:
        Invalid: the value is no object, or too long.
    """
    text = bytes(value).strip()
    if not text.startswith(b"{"):
        raise Invalid(FieldError(pointer, "WRONG_TYPE", "expected an object"))
    if len(text) > max_bytes:
        raise Invalid(FieldError(pointer, "BAD_LENGTH", f"at most {max_bytes // 1024} KiB"))
    return text


async def add(conn: Connection, user_id: str, share: Share, maximum: int) -> ShareHead:
    """Store a shared profile.

    Args:
        maximum: how many shares the user may have.

    Raises:
        NotFound: there is no such user.
        QuotaExceeded: the user has as many shares as they may.
    """
    # Locking the user's row serialises their shares, so that concurrent ones cannot exceed the limit.
    await require_user(conn, user_id)
    if await shares.count(conn, user_id, share.head.created_at_ms) >= maximum:
        raise QuotaExceeded(message=f"you may share {maximum} profiles", max=maximum)
    await shares.add(conn, user_id, share)
    return share.head


async def remove(conn: Connection, user_id: str, code: str, now_ms: int) -> None:
    """Delete a share; its code is no longer valid.

    Args:
        code: the code in its canonical form.

    Raises:
        NotFound: the user has no share with this code.
    """
    if not await shares.remove(conn, user_id, code, now_ms):
        raise NotFound("no such share")
