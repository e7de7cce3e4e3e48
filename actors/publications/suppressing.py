"""Suppression goes by address: it concerns the other publications at the same address, too. Steps of units of work.

Anybody may register another server, so a moderator who suppresses a publication means its address, on whatever server
or network it is published. Only what is proven to be somebody's is not suppressed for what others have published there
without proof; otherwise strangers could keep it out of the list.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from actors.publications.states import discovery
from actors.server_address import normal_address
from persistence.connection import Connection
from persistence.publications import moderating, publications
from persistence.publications.rows import DiscoveryState, PublicationRow

TOGETHER = 200
"""Most other publications of an address that are suppressed with one: a user's servers are at most 1,000."""


def moderated_state(row: PublicationRow, now_ms: int) -> DiscoveryState:
    """The discovery state of what a moderator has judged; an address that is not published, only saved, is never in the
    list. Pure.

    Args:
        now_ms: epoch milliseconds.
    """
    if row.target is None:
        return "SUPPRESSED" if row.suppressed else "UNLISTED"
    return discovery(
        suppressed=row.suppressed,
        hidden=row.hidden,
        ownership=row.ownership_state,
        seen_at_ms=row.seen_at_ms,
        now_ms=now_ms,
    )


def key_of(row: PublicationRow) -> str:
    """The address of a publication in its canonical form (`Address.key`), by which others at it are found; pure."""
    return normal_address(row.address) or row.address


async def suppress_others(conn: Connection, row: PublicationRow, now_ms: int) -> list[PublicationRow]:
    """Suppress what else is published at the address of a publication that a moderator has suppressed just now.

    The transaction has taken `publications.hold_address` of it.

    Args:
        now_ms: epoch milliseconds.

    Returns:
        Those that are suppressed with it, at most `TOGETHER`.
    """
    key = key_of(row)
    owned_as_well = row.ownership_state in {"UNCLAIMED", "OWNED"}
    others = []
    for target in await publications.listed_at(conn, key, owned_as_well=owned_as_well, limit=TOGETHER):
        await publications.hold(conn, target)
        other = await publications.of_target(conn, target, "")
        if other is None or other.suppressed or key_of(other) != key:
            continue  # changed before it was held
        after = replace(other, suppressed=True, discovery_state="SUPPRESSED", updated_at_ms=now_ms)
        await moderating.save_moderation(conn, after)
        others.append(after)
    return others


def told_with(others: Sequence[PublicationRow]) -> dict[str, list[str]]:
    """What the audit trail has of the publications that were suppressed with one, by their ids; pure."""
    return {"suppressedWith": [other.id for other in others]} if others else {}
