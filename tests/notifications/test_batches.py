"""The notifications of one batch of turns are added together, whatever kinds of actors they come from."""

from functools import partial

import msgspec

from actors.connect import persisting as connect
from actors.connect.events import InviteCreated
from actors.party import persisting as party
from actors.party.events import InviteSent
from actors.party.state import Invite
from persistence.bridge.database import Database
from persistence.connect import servers
from persistence.connect.rows import InviteRow
from persistence.connection import Connection
from persistence.journal import commit
from persistence.journal.turn import Turn
from persistence.notifications import notifications
from persistence.party import rows
from tests.connect.play import ROW
from tests.notifications.rows import NOW_MS, make_users, notification, user
from tests.support.locks import crossed
from tests.support.turns import a_turn, make_things

ANN, BEN, OWNER = user(1), user(2), user(3)
SERVER = msgspec.structs.replace(ROW, server_id=user(9), owner_id=OWNER)
PARTY = rows.PartyRow(user(8), OWNER, "Owner", NOW_MS)


async def _make(conn: Connection) -> None:
    """What the turns are about: a party, a game server, and a head for the turn of each."""
    await make_things(conn, ["a", "b"])
    await rows.insert_party(conn, PARTY, epoch="e", summary=b"", due_at_ms=None)
    await servers.create(conn, SERVER, None, epoch="e")


def to_the_party(target_id: str) -> Turn:
    invite = Invite(PARTY.id, target_id, "Somebody", OWNER, "Owner", NOW_MS, NOW_MS)
    event = InviteSent(invite, (), "a" * 24, NOW_MS)
    return msgspec.structs.replace(a_turn("a"), events=(event,), persist=party.persist)


def to_the_server(target_id: str) -> Turn:
    invite = InviteRow(
        id="c" * 24, server_id=SERVER.server_id, inviter_id=OWNER, invitee_user_id=target_id, role="admin",
        capabilities=(), note="", status="pending", created_at_ms=NOW_MS, expires_at_ms=NOW_MS,
    )  # fmt: skip
    event = InviteCreated(invite, "Lobby", "b" * 24, None)
    return msgspec.structs.replace(a_turn("b"), events=(event,), persist=partial(connect.persist, None))


async def test_a_batch_of_two_kinds_beside_others_who_notify_the_same_users(database: Database) -> None:
    await make_users(database, 1, 2, 3)
    await database.transact(_make)
    first, second = (
        partial(notifications.add, rows=[notification(n, id)]) for n, id in enumerate((ANN, BEN))
    )
    batch = partial(commit.write, turns=[to_the_party(BEN), to_the_server(ANN)])
    await crossed(database, first, second, partial(database.transact, batch))
    kinds = [
        [one.kind for one in await database.read(notifications.newest, user_id)] for user_id in (ANN, BEN)
    ]
    assert kinds == [["server_invite", "friend_accepted"], ["party_invite", "friend_accepted"]]
