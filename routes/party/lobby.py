"""The lobby of a party: what is selected, who may select, who is ready (service-api §4 Party, contract §6)."""

from typing import Annotated

import msgspec

from actors.bounds import IdText
from actors.errors import Invalid, NotFound, NotLeader, NotProfilePrepared, NotSelector, RevisionConflict
from actors.party.commands import Select, SetReady, SetSelectors
from actors.party.public import PartySnapshot
from actors.party.selection import Selection
from actors.party.state import MAX_MEMBERS
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED
from routes.edge.reply import Encoded
from routes.edge.wire import Wire
from routes.party import actions
from routes.party.guards import leader, member, selector

_LOBBY = "/v1/social/party/lobby"


class SelectorsBody(Wire, frozen=True):
    """Who may select: members; the leader always may."""

    selector_ids: Annotated[tuple[IdText, ...], msgspec.Meta(max_length=MAX_MEMBERS)]


class ReadyBody(Wire, frozen=True):
    """Whether the caller is ready.

    Args:
        profile_prepared: the profile has what is required; without it nobody is ready.
        requirement_hash: the lobby's, for which it was prepared; null leaves it unsaid.
    """

    ready: bool
    profile_prepared: bool = False
    profile_id: Annotated[str, msgspec.Meta(max_length=100)] | None = None
    temporary_profile: bool = False
    requirement_hash: Annotated[str, msgspec.Meta(max_length=64)] | None = None


@endpoint(
    "PUT",
    f"{_LOBBY}/selection",
    needs=AUTHENTICATED,
    refusals=(NotFound, NotSelector, Invalid),
    guard=selector,
)
async def select_for_party(call: Call, body: Selection) -> Encoded[PartySnapshot]:
    """PUT …/lobby/selection: chooses what to play; nobody is ready for it yet, and the lobby's revision rises by one.

    The leader and the selectors may (403 NOT_SELECTOR). `requirementHash` is the SHA-256 of the canonical JSON
    (RFC 8785) of `profileRequirement` as it is answered.
    """
    return await actions.do(call, call.user_id, call.subject, Select(call.user_id, body))


@endpoint(
    "PUT", f"{_LOBBY}/selectors", needs=AUTHENTICATED, refusals=(NotFound, NotLeader, Invalid), guard=leader
)
async def set_party_selectors(call: Call, body: SelectorsBody) -> Encoded[PartySnapshot]:
    """PUT …/lobby/selectors: says which members may select beside the leader, who alone may say so."""
    ids = tuple(dict.fromkeys(id.lower() for id in body.selector_ids))
    return await actions.do(call, call.user_id, call.subject, SetSelectors(call.user_id, ids))


@endpoint(
    "PUT",
    f"{_LOBBY}/ready",
    needs=AUTHENTICATED,
    refusals=(NotFound, NotProfilePrepared, RevisionConflict),
    guard=member,
)
async def set_party_ready(call: Call, body: ReadyBody) -> Encoded[PartySnapshot]:
    """PUT …/lobby/ready: the caller is ready, or is not.

    Ready without a prepared profile is a 409, and so is one prepared for another requirement. When all members are
    ready for a round-based minigame, `launchSignal` is given, also when the last who was not ready goes; a selection, a
    change of members or anybody who is no longer ready takes it away.
    """
    command = SetReady(
        actor_id=call.user_id,
        ready=body.ready,
        profile_prepared=body.profile_prepared,
        profile_id=body.profile_id,
        temporary_profile=body.temporary_profile,
        requirement_hash=body.requirement_hash,
    )
    return await actions.do(call, call.user_id, call.subject, command)
