"""Invitations to become a member or the owner of a game server (contract §7)."""

from functools import partial
from typing import Annotated

import msgspec

from actors.bounds import UuidText
from actors.connect.capabilities import OWNER, READ_MEMBERS, WRITE_MEMBERS, Role
from actors.connect.commands import AcceptInvite, CreateInvite, DeclineInvite, RevokeInvite
from actors.connect.public_members import Invite, Offer, invite_of, offer_of
from actors.connect.room import require_room, turn_of
from actors.errors import (
    Blocked,
    Conflict,
    Forbidden,
    Invalid,
    InviteExpired,
    NotFound,
    QuotaExceeded,
)
from actors.id_fields import uuid_in
from actors.ids import ObjectId, Uuid
from actors.texts import lines
from persistence.connect import invites
from persistence.connect.rows import InviteRow
from routes.call import Call
from routes.connect.guards import may
from routes.connect.members import READ_NODE, WRITE_NODE, Capabilities
from routes.connect.parts import GAME_SERVERS
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.principal import AUTHENTICATED
from routes.edge.reply import Ask
from routes.edge.wire import Wire
from routes.inviting import count_invite

MAX_NOTE_CHARACTERS = 300

_INVITES = "/v1/connect/servers/{serverId}/invites"

_OFFERS = "/v1/connect/server-invites"

_PAGES = Cursor("invites-of-server", tuple[int, str])

_OFFER_PAGES = Cursor("server-invites", tuple[int, str])


class ServerInviteBody(Wire, frozen=True):
    """An invite: the user, and what they are offered.

    Args:
        role: `owner` transfers the server; only its owner may offer that, and is an admin afterwards.
        capabilities: in addition to those of the role.
        note: shown to the invited user, at most 300 characters.
    """

    invitee_user_id: UuidText
    role: Role
    capabilities: Capabilities = ()
    note: Annotated[str, msgspec.Meta(max_length=MAX_NOTE_CHARACTERS)] = ""


class InviteList(Wire, frozen=True):
    """A page of the invites of a server, oldest first; at most 100 are kept."""

    items: tuple[Invite, ...]
    next_cursor: str | None
    has_more: bool


class OfferList(Wire, frozen=True):
    """A page of the invites that a user can accept, newest first."""

    items: tuple[Offer, ...]
    next_cursor: str | None
    has_more: bool


@endpoint("GET", _INVITES, needs=READ_NODE, refusals=(NotFound, Forbidden), guard=may(READ_MEMBERS))
async def list_invites(call: Call, server_id: Uuid, query: PageQuery) -> InviteList:
    """Open and finished invites, oldest first.

    Needs the capability `server.members.read`.
    """
    rows = await call.service.database.read(invites.of_server, server_id)
    page = _PAGES.page_of_few(rows, query, lambda row: (row.created_at_ms, row.id))
    return InviteList(
        tuple(invite_of(row, call.now_ms) for row in page.rows), page.next_cursor, page.has_more
    )


@endpoint(
    "POST",
    _INVITES,
    needs=WRITE_NODE,
    status=201,
    refusals=(NotFound, Forbidden, Blocked, Invalid, QuotaExceeded, Conflict),
    guard=may(WRITE_MEMBERS),
)
async def create_invite(call: Call, server_id: Uuid, body: ServerInviteBody) -> Invite:
    """Invites a user to become a member; they are notified.

    Needs the capability `server.members.write`; the caller cannot offer more than they hold. An invite can be accepted
    for seven days, as long as its sender could still grant it. If the access policy requires it, only friends can be
    invited. An `inviteeUserId` that is not a uuid is a 422.
    """
    invitee_user_id = uuid_in(body.invitee_user_id, "/inviteeUserId")
    await call.go_to(call.service.of(GAME_SERVERS).server, server_id)  # so that one node counts
    count_invite(call, call.user_id, invitee_user_id)
    command = CreateInvite(
        actor_id=call.user_id,
        invite_id=call.new_id(),
        notice_id=call.new_id(),
        invitee_user_id=invitee_user_id,
        role=body.role,
        capabilities=body.capabilities,
        note=lines(body.note, "/note", MAX_NOTE_CHARACTERS),
    )
    return await _ask_for_invite(call, server_id, command)


@endpoint(
    "DELETE",
    _INVITES + "/{inviteId}",
    needs=WRITE_NODE,
    refusals=(NotFound, Forbidden, Conflict),
    guard=may(WRITE_MEMBERS),
)
def revoke_invite(call: Call, server_id: Uuid, invite_id: ObjectId) -> Ask[None]:
    """Revokes an invite. One that was accepted is a 409.

    Needs the capability `server.members.write`, and to hold no less than it offers, or to have sent it. Answers 204.
    """
    return call.ask(call.service.of(GAME_SERVERS).server, server_id, RevokeInvite(call.user_id, invite_id))


@endpoint("GET", _OFFERS, needs=AUTHENTICATED)
async def list_offers(call: Call, query: PageQuery) -> OfferList:
    """The invites that the caller can accept, newest first.

    While a block stands between the caller and who has sent it, an invite is not among them.
    """
    read = partial(invites.open_of_invitee, after=_OFFER_PAGES.place(query.cursor), limit=query.limit + 1)
    rows = await call.service.database.read(read, call.user_id, call.now_ms)
    page = _OFFER_PAGES.page(rows, query.limit, lambda row: (row.created_at_ms, row.id))
    offers = tuple(offer_of(row, call.now_ms) for row in page.rows)
    return OfferList(offers, page.next_cursor, page.has_more)


async def invited(call: Call, invite_id: ObjectId) -> InviteRow:
    """Guard: requires that the caller is the invited user.

    Raises:
        NotFound: there is no such invite, or it is for another user: both are answered alike.
    """
    row = await call.service.database.read(invites.read, invite_id)
    if row is None or row.invitee_user_id != call.user_id:
        raise NotFound
    return row


@endpoint(
    "POST",
    _OFFERS + "/{inviteId}/accept",
    needs=AUTHENTICATED,
    refusals=(NotFound, Blocked, Conflict, InviteExpired, QuotaExceeded),
    guard=invited,
)
async def accept_invite(call: Call, invite_id: ObjectId) -> Invite:
    """Accepts an invite; the caller becomes a member or the owner.

    Only for the invited user. An invite that was revoked, or is older than seven days, is a 410; one that was accepted
    is a 409. A new owner should rotate the server's secret, which the former owner may know.
    """
    row: InviteRow = call.subject
    command = AcceptInvite(call.user_id, invite_id)
    if row.role != OWNER:
        return await _ask_for_invite(call, Uuid(row.server_id), command)
    async with call.service.turnstile.turn(turn_of(call.user_id)):
        await call.service.database.read(require_room, call.user_id)
        accepted = await _ask_for_invite(call, Uuid(row.server_id), command)
    await call.service.heard()  # all consent to the owner before has ended
    return accepted


@endpoint(
    "POST",
    _OFFERS + "/{inviteId}/decline",
    needs=AUTHENTICATED,
    refusals=(NotFound, Conflict),
    guard=invited,
)
def decline_invite(call: Call, invite_id: ObjectId) -> Ask[None]:
    """Declines an invite, which is `revoked` then. Answers 204.

    Only for the invited user. One that was accepted is a 409; one that has ended already is the same answer.
    """
    row: InviteRow = call.subject
    command = DeclineInvite(call.user_id, invite_id)
    return call.ask(call.service.of(GAME_SERVERS).server, Uuid(row.server_id), command)


def _ask_for_invite(call: Call, server_id: Uuid, command: CreateInvite | AcceptInvite) -> Ask[Invite]:
    def shape(row: InviteRow) -> Invite:
        return invite_of(row, call.now_ms)

    return call.ask(call.service.of(GAME_SERVERS).server, server_id, command, shape)
