"""What one user does in parties, for the routes of users and for those of game servers that act for a user.

`actor_id` is the user who acts; the routes have checked that the caller may act for them. Every change answers the
actor's party and invites as they are after the turn.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from actors.errors import Blocked, Conflict, Invalid, NotFound
from actors.field_errors import FieldError
from actors.ids import UserId, Uuid, new_epoch, new_uuid
from actors.party import frames, own_view
from actors.party.commands import (
    AcceptInvite,
    AnyCommand,
    DeclineInvite,
    Disband,
    Expect,
    ExpectNoMore,
    Leave,
    RevokeInvite,
    SendInvite,
)
from actors.party.loading import invite_of, load
from actors.party.lookups import fetch
from actors.party.public import PartyLookup, PartyMembership, PartySnapshot
from actors.party.rules_invites import check_invite
from actors.party.state import Invite, State
from actors.party.units import PartyCreation, create_party
from persistence.errors import LimitReached
from persistence.party import rows
from routes.call import Call
from routes.changes import change, change_by_itself
from routes.edge.reply import Encoded
from routes.friends.parts import FRIENDS_LIVE
from routes.inviting import count_invite
from routes.party.memberships import MEMBERSHIPS
from routes.party.parts import PARTY_KINDS
from routes.party.reactions import PartyInDoubt
from routes.service import Service


async def overview(call: Call, actor_id: UserId) -> Encoded[PartySnapshot]:
    """The actor's party, if any, and pending invites."""
    shown = await _shown(call, actor_id)
    return _encoded(call, actor_id, shown.party, shown.incoming)


async def create(call: Call, actor_id: UserId) -> Encoded[PartySnapshot]:
    """Create a party for the actor, or answer the one that they are in.

    Raises:
        NotFound: there is no such user.
        Conflict: the actor has joined a party meanwhile.
    """
    service = call.service
    shown = await _shown(call, actor_id)
    if shown.party is not None:
        return _encoded(call, actor_id, shown.party, shown.incoming)
    # A transaction's result is shaped on another thread, so presence is looked up before.
    seen = service.of(FRIENDS_LIVE).appearance(actor_id, actor_id)

    def shape(state: State) -> Encoded[PartySnapshot]:
        incoming = shown.incoming.values()
        return Encoded(
            frames.encoded(lambda _user, _viewer: seen, state, incoming, actor_id, now_ms=call.now_ms)
        )

    creation = _creation(call, actor_id)
    return await change(call, create_party, creation, about=PartyInDoubt(creation.party_id), shape=shape)


async def leave(call: Call, actor_id: UserId) -> Encoded[PartySnapshot]:
    """Leave the party; does nothing if the actor is in none."""
    party_id = call.service.of(MEMBERSHIPS).of(actor_id)
    if party_id is None:
        return await overview(call, actor_id)
    async with _no_other_acceptance(call, actor_id, party_id):
        return await do(call, actor_id, party_id, Leave(actor_id))


async def disband(call: Call, actor_id: UserId) -> Encoded[PartySnapshot]:
    """End the party.

    Raises:
        NotFound: the actor is in no party.
        NotLeader: the actor does not lead it.
    """
    party_id = party_of(call, actor_id)
    async with _no_other_acceptance(call, actor_id, party_id):
        return await do(call, actor_id, party_id, Disband(actor_id))


async def invite(call: Call, actor_id: UserId, target_id: UserId) -> Encoded[PartySnapshot]:
    """Invite a user; creates a party first if the actor is in none.

    Cancellation, or a refusal by the turn, may leave that new party.

    Raises: what `rules_invites.send` and `count_invite` raise; Conflict when the actor has joined a party meanwhile.
    """
    service = call.service
    party_id = service.of(MEMBERSHIPS).of(actor_id)
    if party_id is not None:
        await call.go_to(service.of(PARTY_KINDS).party, party_id)  # so that one node counts
    count_invite(call, actor_id, target_id)
    if party_id is None:
        # Not stored as this request's effect: a repeat finds the party and invites again.
        await _check_target(call, actor_id, target_id)
        creation = _creation(call, actor_id)
        about = PartyInDoubt(creation.party_id)
        party_id = (await change_by_itself(service, create_party, creation, about=about)).id
    notice_id = call.new_id()
    return await do(call, actor_id, party_id, SendInvite(actor_id, target_id, notice_id))


async def accept(call: Call, actor_id: UserId, party_id: Uuid) -> Encoded[PartySnapshot]:
    """Leave the party that the actor is in, and join the one that has invited them.

    If the second step fails or is cancelled, they are in no party, and the invite still stands.

    Raises:
        NotFound: there is no such invite.
        Blocked: the actor and the sender of the invite block each other, in either direction.
        Conflict: the actor has joined another party meanwhile; or they are the only member of theirs, which somebody
            is just joining.
        Refused: what else `rules_invites.accept` raises, such as InviteExpired.
    """
    async with _no_other_acceptance(call, actor_id, party_id):
        await _make_free(call, actor_id, party_id)
        try:
            return await do(call, actor_id, party_id, AcceptInvite(actor_id))
        except LimitReached:
            raise Conflict("you have just joined another party") from None


async def decline(call: Call, actor_id: UserId, party_id: Uuid) -> Encoded[PartySnapshot]:
    """Decline an invite.

    Raises: what `rules_invites.decline` raises.
    """
    return await do(call, actor_id, party_id, DeclineInvite(actor_id))


async def revoke(call: Call, actor_id: UserId, party_id: Uuid, target_id: UserId) -> Encoded[PartySnapshot]:
    """Take back an invite.

    Raises: what `rules_invites.revoke` raises.
    """
    async with _no_other_acceptance(call, actor_id, party_id):
        return await do(call, actor_id, party_id, RevokeInvite(actor_id, target_id))


async def lookup(call: Call, player_ids: Sequence[UserId], viewer_id: str) -> PartyLookup:
    """The parties of some players, as one user sees them who need not be in any.

    Args:
        player_ids: at most 100, which the caller checks.
        viewer_id: the user who looks; players who hide from them, or with whom there is a block, look offline.
    """
    service = call.service
    party_ids = {user_id: service.of(MEMBERSHIPS).of(user_id) for user_id in player_ids}
    states: dict[str, State] = {}
    for party_id in dict.fromkeys(party_ids.values()):
        state = None if party_id is None else await _state(call, party_id)
        if state is not None:
            states[state.id] = state
    memberships = tuple(
        PartyMembership(user_id, state.id, user_id == state.leader_id)
        for user_id, party_id in party_ids.items()
        if party_id is not None and (state := states.get(party_id)) is not None and user_id in state.members
    )
    seen = service.of(PARTY_KINDS).render_cache.seen
    return PartyLookup(
        memberships, tuple(frames.party_of(seen, state, viewer_id) for state in states.values())
    )


async def do(call: Call, actor_id: UserId, party_id: str, command: AnyCommand) -> Encoded[PartySnapshot]:
    """Send a command to a party, and answer the actor's party and invites after it.

    Args:
        party_id: the party that takes the command.
        command: what to do, carried out in the party's turn.

    Raises:
        Refused: what the command's rule raises.
    """
    incoming = await _incoming(call, actor_id)

    def shape(state: State) -> Encoded[PartySnapshot]:
        after = own_view.with_party(own_view.OwnParty(actor_id, None, incoming), state)
        return _encoded(call, actor_id, after.party, after.incoming)

    answer = await call.ask(call.service.of(PARTY_KINDS).party, party_id, command, shape)
    await call.service.heard()
    return answer


def party_of(call: Call, actor_id: UserId) -> str:
    """The id of the party that the actor is in.

    Raises:
        NotFound: the actor is in no party.
    """
    party_id = call.service.of(MEMBERSHIPS).of(actor_id)
    if party_id is None:
        raise NotFound("you are in no party")
    return party_id


@asynccontextmanager
async def _no_other_acceptance(call: Call, actor_id: UserId, party_id: str) -> AsyncIterator[None]:
    """Hold the turns of this party and of the actor's own, so that no other acceptance concerns them meanwhile.

    Otherwise an acceptance that was checked, and whose user has left their own party for it, could find the other party
    ended or full, or the invite taken back. The turns are those of one node, which `_meeting_place` chooses; circles
    across nodes are refused by `_leave_for`.
    """
    service = call.service
    own_id = service.of(MEMBERSHIPS).of(actor_id)
    if own_id is None or own_id == party_id:
        party_ids, place = [party_id], party_id
    else:
        party_ids = sorted((party_id, own_id))
        place = await _meeting_place(call, actor_id, own_id, party_id)
    await call.go_to(service.of(PARTY_KINDS).party, place)
    async with AsyncExitStack() as turns:
        for one in party_ids:
            await turns.enter_async_context(service.turnstile.turn(f"acceptances of party {one}"))
        yield


async def _meeting_place(call: Call, actor_id: UserId, own_id: str, party_id: str) -> str:
    """The id of the party on whose node an acceptance is decided.

    Usually that is the party to be joined, where others may take the last seat, leave, or take invites back. If a
    member of that party is invited to the actor's own, and so may be about to leave for it, it is the lesser of the
    two ids, so that both acceptances are decided on the same node.
    """
    own, other = await _state(call, own_id), await _state(call, party_id)
    if own is None or other is None or actor_id not in own.members:
        return party_id
    return party_id if own.invites.keys().isdisjoint(other.members) else min(own_id, party_id)


async def _make_free(call: Call, actor_id: UserId, party_id: str) -> None:
    """Have the actor leave the party that they are in, unless the invite to the other would be refused."""
    service = call.service
    state = await _state(call, party_id)
    if state is None:
        raise NotFound("no such invite")
    if actor_id in state.members:
        return
    invited = check_invite(state, actor_id, call.now_ms)
    now = await service.database.read(fetch, party_id, (actor_id, invited.sender_id))
    if now.barred:
        raise Blocked
    if now.party_id is not None and now.party_id != party_id:
        await _leave_for(service, actor_id, now.party_id, party_id)


async def _leave_for(service: Service, actor_id: UserId, own_id: str, party_id: str) -> None:
    """Have the actor leave their own party, once the other one expects them; while it does, its last member cannot
    leave it for another party.

    The turnstile separates acceptances that are decided on one node. In a circle of three, each may be decided on a
    different node: then at least one of them is refused here, before anything has changed.

    Raises: what `rules_invites.expect` and `rules_members.leave` raise. After any exception, and after cancellation,
    the other party expects the actor no more.
    """
    system, kind = service.system, service.of(PARTY_KINDS).party
    has_left = False
    try:
        await system.ask(kind, party_id, Expect(actor_id))
        await system.ask(kind, own_id, Leave(actor_id, for_another=True))
        has_left = True
    finally:
        if not has_left:
            system.post(kind, party_id, ExpectNoMore(actor_id), lambda _answer: None)


async def _state(call: Call, party_id: str) -> State | None:
    service = call.service
    state = service.system.peek(service.of(PARTY_KINDS).party, party_id)
    if state is None:
        state = await service.database.read(load, party_id)
    return state


async def _shown(call: Call, actor_id: UserId) -> own_view.OwnParty:
    service = call.service
    known = service.system.peek_view(service.of(PARTY_KINDS).own, actor_id)
    return known if known is not None else await service.database.read(own_view.load, actor_id)


async def _incoming(call: Call, actor_id: UserId) -> Mapping[str, Invite]:
    service = call.service
    known = service.system.peek_view(service.of(PARTY_KINDS).own, actor_id)
    if known is not None:
        return known.incoming
    found = await service.database.read(rows.invites_to, [actor_id])
    return {row.party_id: invite_of(row) for row in found[actor_id]}


async def _check_target(call: Call, actor_id: UserId, target_id: UserId) -> None:
    """Refuse early what the turn would refuse, so that no party is created for such an invite."""
    if target_id == actor_id:
        raise Invalid(FieldError("/targetId", "NOT_ALLOWED", "name a user other than yourself"))
    found = await call.service.database.read(fetch, "", (target_id, actor_id))
    if found.name is None:
        raise NotFound("no such user")
    if found.barred:
        raise Blocked


def _creation(call: Call, actor_id: UserId) -> PartyCreation:
    random_bytes = call.service.random_bytes
    return PartyCreation(actor_id, new_uuid(random_bytes), new_epoch(random_bytes), call.now_ms)


def _encoded(
    call: Call, actor_id: UserId, party: State | None, incoming: Mapping[str, Invite]
) -> Encoded[PartySnapshot]:
    render_cache = call.service.of(PARTY_KINDS).render_cache
    return Encoded(render_cache.snapshot(party, incoming.values(), actor_id, now_ms=call.now_ms))
