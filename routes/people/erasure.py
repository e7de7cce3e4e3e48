"""Erasing a user, and what is still to be done afterwards (contract §8)."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from actors.chat.commands import TellErased
from actors.chat.erasing import erase_everywhere
from actors.chat.forgetting import forget_in_journal
from actors.connect.commands import ForgetUser, RemoveServer
from actors.errors import Conflict, NotFound, Refused
from actors.friends.relations import Between
from actors.ids import UserId
from actors.kernel.kind import Kind
from actors.kernel.supervisor import Fault
from actors.party.commands import Leave
from actors.party.commands import TellErased as ForgetInParty
from actors.party.forgetting import forget_in_parties
from actors.people import erasure as rules
from actors.people.forgetting import forget_in_notifications, forget_in_receipts
from persistence.chat.conversations import of_member
from persistence.connect import members, servers
from persistence.people import erasure
from persistence.users import read_user
from routes.auditing import stamp_of
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.pipeline.idempotency import mark_of
from routes.edge.principal import SUPER_ADMIN
from routes.edge.websocket.close_codes import CloseCode

if TYPE_CHECKING:
    from routes.service import Service

SERVERS_MAX = 1_000
"""Game servers of one user that are given up at once; the others are nobody's, and go when they fall silent."""

SWEPT_AT_ONCE = 10


@endpoint("DELETE", "/v1/admin/users/{userId}", needs=SUPER_ADMIN, refusals=(NotFound, Conflict))
async def erase_user(call: Call, user_id: UserId) -> None:
    """DELETE /v1/admin/users/{userId}: erases a user for good.

    Profile, rights, friendships, attachments, capes, shares and game servers go; in conversations they are called
    `deleted`. Their tokens open nothing from then on. Oneself is a 409. Answers 204.
    """
    service = call.service
    if user_id != call.user_id and await service.database.read(read_user, user_id) is not None:
        await _give_up(service, user_id)
    others: dict[str, bool] = {}

    async def settle() -> None:
        if await service.database.read(read_user, user_id) is None:
            _tell(service, user_id, others)

    with service.doubts.unless_known(f"erased {user_id}", settle):
        await call.transact(rules.erase, user_id, stamp_of(call), shape=others.update)
    _tell(service, user_id, others)


async def sweep_erased(service: "Service") -> None:
    """Take the names of erased users out of messages and of what others were told of them; a job.

    One of whom not everything could be done is not finished, and begun again by the next run; the others go on.

    Raises:
        PersistenceError: the database is away; the rest waits for the next run.
        Fault, Refused: of the last who could not be finished, once the others are.
    """
    failure: Fault | Refused | None = None
    after: tuple[int, str] | None = (-1, "")
    while after is not None:
        user_ids, after = await service.database.read(erasure.unswept, after, SWEPT_AT_ONCE)
        for user_id in user_ids:
            try:
                await _sweep(service, user_id)
            except (Fault, Refused) as refused:
                failure = refused
    if failure is not None:
        raise failure


async def _sweep(service: "Service", user_id: str) -> None:
    database = service.database

    async def tell(conversation_id: str) -> None:
        try:
            await service.system.ask(service.chat.conversation, conversation_id, TellErased(user_id))
        except NotFound:
            return  # messages without a conversation: nothing of them is in memory

    for conversation_id in await database.read(of_member, user_id):
        service.system.tell(service.chat.conversation, conversation_id, TellErased(user_id))
    await erase_everywhere(database, user_id, tell)
    for conversation_id in await database.read(of_member, user_id):
        await tell(conversation_id)
        await forget_in_journal(database, conversation_id, user_id)
    await forget_in_parties(database, user_id, partial(_tell_party, service, user_id))
    await forget_in_receipts(database, user_id, mark_of(user_id))
    for recipient_id in await forget_in_notifications(database, user_id):
        service.system.changed(service.notifications, recipient_id, "notifications")
    await database.transact(erasure.finish, user_id)


async def _tell_party(service: "Service", user_id: str, party_id: str) -> None:
    try:
        await service.system.ask(service.parties.party, party_id, ForgetInParty(user_id))
    except NotFound:
        return  # it has ended: nothing of it is in memory


async def _give_up(service: "Service", user_id: str) -> None:
    """What owners of their own have to let go: no foreign key reaches into their memory."""
    party_id = service.memberships.of(user_id)
    if party_id is not None:
        await _ask_if_there(service, service.parties.party, party_id, Leave(user_id))
    for server in await service.database.read(servers.of_owner, user_id, SERVERS_MAX):
        await _ask_if_there(service, service.connect.server, server.server_id, RemoveServer(user_id))
    for server_id in await service.database.read(members.servers_of, user_id):
        await _ask_if_there(service, service.connect.server, server_id, ForgetUser(user_id))


async def _ask_if_there(service: "Service", kind: Kind[Any, Any], id: str, command: object) -> None:
    try:
        await service.system.ask(kind, id, command)
    except (NotFound, Conflict):
        return  # somebody was faster


def _tell(service: "Service", user_id: str, others: Mapping[str, bool]) -> None:
    service.users.changed(user_id)
    service.sockets.close_user(user_id, CloseCode.UNAUTHENTICATED, "UNAUTHENTICATED")
    for other_id, blocks in others.items():
        nothing = Between(False, {}, frozenset({other_id} if blocks else ()), [])
        service.friends.settled(user_id, other_id, nothing, service.friends.next_turn())
