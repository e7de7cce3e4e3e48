"""Keep performance reports of launchers: units of work, inside the caller's transaction.

What is kept is bounded for each user: a day's newest reports, and a number of bytes. All that come are counted, so that
the totals do not depend on what was kept.
"""

import msgspec

from actors.texts import is_line
from actors.time import DAY_MS
from actors.users.locking import require_user
from persistence.connection import Connection
from persistence.launcher import performance_reports as rows
from persistence.launcher.performance_reports import Report, ReportCount

REPORT_MAX_BYTES = 256 * 1024
"""Most bytes of a report."""

KEPT_A_DAY = 20
"""How many reports of one user are kept of one day (UTC), the newest."""

KEPT_BYTES = 16 * 1024 * 1024
"""How many bytes of one user's reports are kept in all; the oldest go first."""

KEPT_DAYS = 30
"""How long reports and counts are kept."""

NAME_MAX = 64
"""Most characters of a version or platform that is told apart from others."""

_NAME_BYTES = 2 + 12 * NAME_MAX
"""Most bytes of such a name as JSON, where each character is two escapes."""

KEYS_A_DAY = 200
"""Most pairs of platform and version that are told apart on one day: they are bounded because clients choose them."""


class _Named(msgspec.Struct, frozen=True, rename="camel"):
    # Raw, because whatever else stands there is not to be parsed: 16 KB of long floats would take a tenth of a second.
    launcher_version: msgspec.Raw = msgspec.Raw()
    platform: msgspec.Raw = msgspec.Raw()


async def keep(conn: Connection, id: str, user_id: str, content: bytes, now_ms: int) -> str:
    """Store a report, and drop older ones of the user that are too many; returns its id.

    Args:
        id: a fresh objectId.
        content: the report, a JSON object, at most `REPORT_MAX_BYTES` long.
        now_ms: epoch milliseconds.

    Raises:
        NotFound: there is no such user.
    """
    version, platform = names_in(content)
    # The lock serialises one user's reports, so that concurrent ones do not exceed the bounds.
    await require_user(conn, user_id)
    await rows.add(conn, Report(0, id, user_id, version, platform, now_ms, content))
    await rows.thin_out(
        conn,
        user_id,
        day_starts_ms=now_ms - now_ms % DAY_MS,
        most_a_day=KEPT_A_DAY,
        most_bytes=KEPT_BYTES,
    )
    # The last statement, because all reports of a version meet at this row.
    key = ReportCount(platform or "", version or "", 1)
    await rows.count(conn, now_ms // DAY_MS, key, most_keys=KEYS_A_DAY)
    return id


def names_in(content: bytes) -> tuple[str | None, str | None]:
    """The version and the platform that a report names; None for either that is no line of 1 to 64 characters.

    Args:
        content: the report, a JSON object.
    """
    named = msgspec.json.decode(content, type=_Named)
    return _name(named.launcher_version), _name(named.platform)


def _name(value: msgspec.Raw) -> str | None:
    text = bytes(value)
    if not text.startswith(b'"') or len(text) > _NAME_BYTES:
        return None
    name = msgspec.json.decode(text, type=str)
    return name if 0 < len(name) <= NAME_MAX and is_line(name) else None
