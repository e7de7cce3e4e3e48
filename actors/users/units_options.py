"""The game's options, synchronised between a user's machines (contract §10): a unit of work, inside the
caller's transaction.

| the caller says that they know | and the rows hold | then                                   |
|--------------------------------|-------------------|----------------------------------------|
| nothing                        | anything          | their options are written over it      |
| the revision that is there     | that revision     | their options are written over it      |
| any other                      | anything          | `RevisionConflict`, and nothing changes |

Writing equal options makes no new revision.
"""

from actors.errors import RevisionConflict
from actors.users.locking import require_user
from persistence.connection import Connection
from persistence.users import options
from persistence.users.options import Options

OPTIONS_MAX_BYTES = 64 * 1024
"""The most bytes of options, encoded as the client sends them."""

NO_OPTIONS = Options(b"{}", 0, 0)
"""The options of a user who has stored none."""


async def read(conn: Connection, user_id: str) -> Options:
    """A user's options; `NO_OPTIONS` before any were stored."""
    return await options.read(conn, user_id) or NO_OPTIONS


async def change(
    conn: Connection, user_id: str, new: bytes, known: frozenset[int] | None, now_ms: int
) -> Options:
    """Write a user's options.

    Args:
        new: the options, an encoded JSON object.
        known: the revisions that the caller accepts as the stored one; None for any.
        now_ms: epoch milliseconds.

    Raises:
        NotFound: there is no such user.
        RevisionConflict: another revision is stored; `meta.revision` names it.
    """
    await require_user(conn, user_id)
    before = await read(conn, user_id)
    if known is not None and before.revision not in known:
        raise RevisionConflict(revision=before.revision)
    if before.revision and before.options == new:
        return before
    after = Options(new, before.revision + 1, max(now_ms, before.updated_at_ms))
    await options.save(conn, user_id, after)
    return after
