"""What parties keep in rows, in memory: the writing half of `actors/party/persisting.py`.

How a turn is folded to rows is the real code (`Changes`); only its statements are done here. All rows of one party are
one immutable value; none are left once it has ended.
"""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from actors.party.loading import new_party, summary_of
from actors.party.persisting import Changes
from persistence.errors import LimitReached, RowsRejected
from persistence.journal.turn import Turn
from persistence.party import rows
from persistence.party.rows import InviteRow, PartyRow
from tests.simulation.tables import Tables

KIND = rows.KIND


class Rows(msgspec.Struct, frozen=True):
    """All rows of one party.

    Args:
        members: {user id: when they joined}.
        invites: {target id: row}.
    """

    row: PartyRow
    members: dict[str, int]
    invites: dict[str, InviteRow] = {}


def all_parties(tables: Tables) -> Iterator[tuple[str, Rows]]:
    """(id, rows) of the parties that have not ended."""
    for (kind, id), kept in tables.rows.items():
        if kind == KIND:
            yield id, kept


def party_of(tables: Tables, user_id: str) -> str | None:
    """The party that a user is in."""
    return next((id for id, kept in all_parties(tables) if user_id in kept.members), None)


async def insert_party(tables: Tables, row: PartyRow, epoch: str) -> None:
    """Create a party with its founder as the only member, who is in none."""
    tables.rows[KIND, row.id] = Rows(row, {row.founder_id: row.created_at_ms})
    summary = summary_of(new_party(row, epoch))
    await tables.create_head(
        tables, KIND, row.id, epoch=epoch, summary=summary, due_at_ms=None, at_ms=row.created_at_ms
    )


async def persist(tables: Tables, turns: Sequence[Turn]) -> None:
    """Write the rows of turns; raises RowsRejected or LimitReached, and then a turn's rows are as they were."""
    for turn in turns:
        changes = Changes()
        for event in turn.events:
            changes.take(turn.id, event)
        _write(tables, turn.id, changes)


def _write(tables: Tables, id: str, changes: Changes) -> None:
    kept: Rows | None = tables.rows.get((KIND, id))
    if kept is None:
        raise RowsRejected("this party is gone")
    members, invites = kept.members.copy(), kept.invites.copy()
    for _, user_id in changes.left:
        members.pop(user_id, None)
    for (_, user_id), row in changes.joined.items():
        if user_id in members or party_of(tables, user_id) not in (None, id):
            raise LimitReached("a user is in one party at most", 1)
        members[user_id] = row.joined_at_ms
    for (_, target_id), invite in changes.invites.items():
        if invite is None:
            invites.pop(target_id, None)
        else:
            invites[target_id] = invite
    for _, target_id in changes.lapsed:
        if target_id in invites:
            invites[target_id] = replace(invites[target_id], lapsed=True)
    if changes.ended:
        del tables.rows[KIND, id]
    else:
        row = replace(kept.row, erased=kept.row.erased + changes.erased[id])
        tables.rows[KIND, id] = replace(kept, row=row, members=members, invites=invites)
