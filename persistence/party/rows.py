"""Parties, their members and invites, in rows; the rest of a party lies in the summary of its head."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from persistence.connection import Connection
from persistence.journal import history, journal

KIND = "party"
"""The kind under which the kernel keeps heads and journals of parties."""


class PartyRow(msgspec.Struct, frozen=True):
    """A party.

    Args:
        founder_id: the user who created it.
        erased: how many users were erased whom the party's history had named.
    """

    id: str
    founder_id: str
    founder_name: str
    created_at_ms: int
    erased: int = 0


class MemberRow(msgspec.Struct, frozen=True):
    """A member of a party."""

    party_id: str
    user_id: str
    name: str
    joined_at_ms: int


class InviteRow(msgspec.Struct, frozen=True):
    """An invite.

    Args:
        lapsed: whether the party has recorded that its time has passed.
    """

    party_id: str
    target_id: str
    target_name: str
    sender_id: str
    sender_name: str
    created_at_ms: int
    expires_at_ms: int
    lapsed: bool


_INVITE = """
SELECT i.party_id, i.target_id, coalesce(t.name, 'deleted') AS target_name, i.sender_id,
       coalesce(s.name, 'deleted') AS sender_name, i.created_at_ms, i.expires_at_ms, i.lapsed
FROM party_invites i LEFT JOIN users t ON t.id = i.target_id LEFT JOIN users s ON s.id = i.sender_id
"""

_INVITES_TO = f"{_INVITE} WHERE i.target_id = ANY ($1::text[]) AND NOT i.lapsed"

_STANDINGS = f"""
SELECT true AS is_member, party_id, user_id, NULL, NULL, NULL, NULL::bigint AS created_at_ms, NULL::bigint,
       NULL::boolean
FROM party_members WHERE user_id = ANY ($1::text[])
UNION ALL SELECT false, invite.* FROM ({_INVITES_TO}) AS invite ORDER BY created_at_ms, party_id
"""  # noqa: S608 - constants only


async def insert_party(
    conn: Connection, row: PartyRow, *, epoch: str, summary: bytes, due_at_ms: int | None
) -> bool:
    """Create a party with its founder as the only member.

    Args:
        epoch: a new name for its history (`journal.Head`).
        summary: what lists show of it, encoded.
        due_at_ms: its first deadline, epoch milliseconds, or None.

    Returns: False if the founder is in a party by now; the caller then has to roll the transaction back.
    """
    await conn.execute(
        "INSERT INTO parties (id, founder_id, created_at_ms) VALUES ($1, $2, $3)",
        row.id,
        row.founder_id,
        row.created_at_ms,
    )
    joined = await conn.fetchval(
        "INSERT INTO party_members (user_id, party_id, joined_at_ms) VALUES ($1, $2, $3)"
        " ON CONFLICT (user_id) DO NOTHING RETURNING true",
        row.founder_id,
        row.id,
        row.created_at_ms,
    )
    await journal.create_head(
        conn, KIND, row.id, epoch=epoch, summary=summary, due_at_ms=due_at_ms, at_ms=row.created_at_ms
    )
    return joined is not None


async def read(conn: Connection, party_id: str) -> PartyRow | None:
    """One party, or None."""
    row = await conn.fetchrow(
        "SELECT p.id, p.founder_id, coalesce(u.name, 'deleted') AS founder_name, p.created_at_ms, p.erased"
        " FROM parties p LEFT JOIN users u ON u.id = p.founder_id WHERE p.id = $1",
        party_id,
    )
    return None if row is None else PartyRow(*row)


async def members_of(conn: Connection, party_id: str) -> list[MemberRow]:
    """A party's members, the longest-standing first."""
    rows = await conn.fetch(
        "SELECT m.party_id, m.user_id, coalesce(u.name, 'deleted') AS name, m.joined_at_ms"
        " FROM party_members m LEFT JOIN users u ON u.id = m.user_id WHERE m.party_id = $1"
        " ORDER BY m.joined_at_ms, m.user_id",
        party_id,
    )
    return [MemberRow(*row) for row in rows]


async def memberships(conn: Connection) -> list[tuple[str, str]]:
    """(user id, party id) of all members of all parties."""
    rows = await conn.fetch("SELECT user_id, party_id FROM party_members")
    return [(row["user_id"], row["party_id"]) for row in rows]


async def party_of(conn: Connection, user_id: str) -> str | None:
    """The party that a user is in, or None."""
    return (await parties_of(conn, [user_id])).get(user_id)


async def parties_of(conn: Connection, user_ids: Sequence[str]) -> dict[str, str]:
    """{user id: the party that they are in}, without those who are in none."""
    rows = await conn.fetch(
        "SELECT user_id, party_id FROM party_members WHERE user_id = ANY ($1::text[])", user_ids
    )
    return {row["user_id"]: row["party_id"] for row in rows}


async def standings_of(
    conn: Connection, user_ids: Sequence[str]
) -> tuple[dict[str, str], dict[str, list[InviteRow]]]:
    """What `parties_of` and `invites_to` return, by one statement, because it is read for each user who comes."""
    rows = await conn.fetch(_STANDINGS, user_ids)
    parties: dict[str, str] = {}
    invites: dict[str, list[InviteRow]] = {user_id: [] for user_id in user_ids}
    for is_member, *fields in rows:
        if is_member:
            parties[fields[1]] = fields[0]
        else:
            invites[fields[1]].append(InviteRow(*fields))
    return parties, invites


async def invites_of(conn: Connection, party_id: str) -> list[InviteRow]:
    """The invites into a party, including lapsed ones, in the order of sending."""
    rows = await conn.fetch(
        f"{_INVITE} WHERE i.party_id = $1 ORDER BY i.created_at_ms, i.target_id", party_id
    )
    return [InviteRow(*row) for row in rows]


async def invites_to(conn: Connection, user_ids: Sequence[str]) -> dict[str, list[InviteRow]]:
    """{user id: the invites for them that have not lapsed, in the order of sending}."""
    rows = await conn.fetch(f"{_INVITES_TO} ORDER BY i.created_at_ms, i.party_id", user_ids)
    found: dict[str, list[InviteRow]] = {user_id: [] for user_id in user_ids}
    for row in rows:
        invite = InviteRow(*row)
        found[invite.target_id].append(invite)
    return found


async def showing(conn: Connection, user_id: str) -> dict[str, frozenset[str]]:
    """{party id: ids of its members and of those who are invited} of the parties that name a user: as a member, as one
    who is invited, or who has invited. Cancellation ends the query."""
    rows = await conn.fetch(
        """
        SELECT party_id, array_agg(user_id) AS user_ids FROM (
            SELECT party_id, user_id FROM party_members
            UNION ALL SELECT party_id, target_id FROM party_invites WHERE NOT lapsed
        ) AS seen
        WHERE party_id IN (
            SELECT party_id FROM party_members WHERE user_id = $1
            UNION SELECT party_id FROM party_invites WHERE NOT lapsed AND (target_id = $1 OR sender_id = $1)
        ) GROUP BY party_id
        """,
        user_id,
    )
    return {row["party_id"]: frozenset(row["user_ids"]) for row in rows}


async def inviting_between(conn: Connection, one_id: str, other_id: str) -> list[str]:
    """The ids of the parties into which one of two users has invited the other, in either direction, by invites that
    have not lapsed. Cancellation ends the query."""
    rows = await conn.fetch(
        "SELECT DISTINCT party_id FROM party_invites WHERE NOT lapsed"
        " AND (target_id = $1 AND sender_id = $2 OR target_id = $2 AND sender_id = $1)",
        one_id,
        other_id,
    )
    return [row["party_id"] for row in rows]


async def invites_across_blocks(
    conn: Connection, after: tuple[str, str] | None, limit: int, *, since_ms: int
) -> list[tuple[str, str]]:
    """(sender, target) of invites that have not lapsed although one of the two blocks the other, in order.

    Reads as many rows as there are new blocks, however many invites are open.

    Args:
        after: the last pair of the page before; None from the start.
        limit: at most so many.
        since_ms: only blocks made at this time or later, epoch milliseconds.
    """
    rows = await conn.fetch(
        """
        SELECT DISTINCT i.sender_id, i.target_id
        FROM blocks b CROSS JOIN LATERAL (VALUES (b.user_id, b.target_id), (b.target_id, b.user_id)) AS p (one, other)
        JOIN party_invites i ON i.target_id = p.other AND i.sender_id = p.one
        WHERE b.created_at_ms >= $4 AND NOT i.lapsed AND (i.sender_id, i.target_id) > ($1, $2)
        ORDER BY i.sender_id, i.target_id LIMIT $3
        """,
        *(after or ("", "")),
        limit,
        since_ms,
    )
    return [(row["sender_id"], row["target_id"]) for row in rows]


async def join(conn: Connection, rows: Sequence[MemberRow]) -> bool:
    """Add members; returns whether all of them were added. Who is in a party already is passed over."""
    added: int = await conn.fetchval(
        "WITH added AS (INSERT INTO party_members (user_id, party_id, joined_at_ms)"
        " SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])"
        " ON CONFLICT (user_id) DO NOTHING RETURNING user_id) SELECT count(*) FROM added",
        [row.user_id for row in rows],
        [row.party_id for row in rows],
        [row.joined_at_ms for row in rows],
    )
    return added == len(rows)


async def leave(conn: Connection, pairs: Sequence[tuple[str, str]]) -> None:
    """Delete the memberships of (party id, user id) pairs."""
    await conn.execute(
        "DELETE FROM party_members m USING unnest($1::text[], $2::text[]) AS gone (party_id, user_id)"
        " WHERE m.party_id = gone.party_id AND m.user_id = gone.user_id",
        [pair[0] for pair in pairs],
        [pair[1] for pair in pairs],
    )


async def end(conn: Connection, party_ids: Sequence[str]) -> None:
    """Delete parties with their members and invites."""
    await conn.execute("DELETE FROM parties WHERE id = ANY ($1::text[])", list(party_ids))


async def invite(conn: Connection, rows: Sequence[InviteRow]) -> None:
    """Store invites; an existing one gets the new sender and times."""
    await conn.execute(
        "INSERT INTO party_invites (party_id, target_id, sender_id, created_at_ms, expires_at_ms, lapsed)"
        " SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::boolean[])"
        " ON CONFLICT (party_id, target_id) DO UPDATE SET sender_id = excluded.sender_id,"
        " created_at_ms = excluded.created_at_ms, expires_at_ms = excluded.expires_at_ms, lapsed = excluded.lapsed",
        [row.party_id for row in rows],
        [row.target_id for row in rows],
        [row.sender_id for row in rows],
        [row.created_at_ms for row in rows],
        [row.expires_at_ms for row in rows],
        [row.lapsed for row in rows],
    )


async def lapse(conn: Connection, pairs: Sequence[tuple[str, str]]) -> None:
    """Mark the invites of (party id, target id) pairs as lapsed."""
    await conn.execute(
        "UPDATE party_invites i SET lapsed = true FROM unnest($1::text[], $2::text[]) AS late (party_id, target_id)"
        " WHERE i.party_id = late.party_id AND i.target_id = late.target_id",
        [pair[0] for pair in pairs],
        [pair[1] for pair in pairs],
    )


async def count_erased(conn: Connection, counts: Mapping[str, int]) -> None:
    """Add to the numbers of erased users whom parties had named.

    Args:
        counts: {party id: how many more}.
    """
    await conn.execute(
        "UPDATE parties p SET erased = p.erased + more.count"
        " FROM unnest($1::text[], $2::integer[]) AS more (id, count) WHERE p.id = more.id",
        list(counts),
        list(counts.values()),
    )


async def withdraw(conn: Connection, pairs: Collection[tuple[str, str]]) -> None:
    """Delete the invites of (party id, target id) pairs."""
    await conn.execute(
        "DELETE FROM party_invites i USING unnest($1::text[], $2::text[]) AS gone (party_id, target_id)"
        " WHERE i.party_id = gone.party_id AND i.target_id = gone.target_id",
        [pair[0] for pair in pairs],
        [pair[1] for pair in pairs],
    )


_HEADS = """
SELECT h.id, p.id IS NULL AND h.updated_at_ms < $2 AS ended
FROM (SELECT id, updated_at_ms FROM heads WHERE kind = $1 AND id > $3 ORDER BY id LIMIT $4) AS h
LEFT JOIN parties p ON p.id = h.id ORDER BY h.id
"""


async def sweep_ended(conn: Connection, after: str | None, limit: int, *, now_ms: int) -> str | None:
    """Delete heads, journals and snapshots of those among the next parties that ended an hour ago.

    Args:
        after: the last party of the page before; None from the start.
        limit: parties that are looked at, and events that are deleted, at most.
        now_ms: epoch milliseconds.

    Returns:
        Where the next page starts; None after the last.
    """
    ended = history.Ended(KIND, _HEADS, now_ms - history.ENDED_KEPT_MS)
    return await history.sweep_ended(conn, ended, after, limit)
