"""The lobby of a party: the selection, the selectors, and readiness (service-api §4 Party, contract §6)."""

from typing import Annotated

import msgspec

from actors.bounds import UuidText
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
    """The members who may select beside the leader.

    Args:
        selector_ids: the members who may choose, beside the leader; all others may not.
    """

    selector_ids: Annotated[tuple[UuidText, ...], msgspec.Meta(max_length=MAX_MEMBERS)]


class ReadyBody(Wire, frozen=True):
    """Whether the caller is ready.

    Args:
        ready: whether they are ready.
        profile_prepared: whether the caller's profile meets the requirement; needed to be ready.
        requirement_hash: `requirementHash` of the lobby for which the profile was prepared, in either case of letters;
            null skips the comparison.
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
    """Selects what to play; no member is ready then, and the lobby's revision rises by one.

    For the leader and the selectors (403 `NOT_SELECTOR` otherwise). `requirementHash` is the SHA-256 of the canonical
    JSON (RFC 8785) of `profileRequirement` as it is answered.
    """
    return await actions.do(call, call.user_id, call.subject, Select(call.user_id, body))


@endpoint(
    "PUT", f"{_LOBBY}/selectors", needs=AUTHENTICATED, refusals=(NotFound, NotLeader, Invalid), guard=leader
)
async def set_party_selectors(call: Call, body: SelectorsBody) -> Encoded[PartySnapshot]:
    """Sets the members who may select beside the leader; leader only (403 NOT_LEADER)."""
    ids = tuple(dict.fromkeys(id.lower() for id in body.selector_ids))
    return await actions.do(call, call.user_id, call.subject, SetSelectors(call.user_id, ids))


@endpoint(
    "PUT",
    f"{_LOBBY}/ready",
    needs=AUTHENTICATED,
    refusals=(NotFound, Invalid, NotProfilePrepared, RevisionConflict),
    guard=member,
)
async def set_party_ready(call: Call, body: ReadyBody) -> Encoded[PartySnapshot]:
    """Sets whether the caller is ready.

    To be ready without a prepared profile is a 409, and so is a profile prepared for another requirement. When all
    members are ready for a round-based minigame, `launchSignal` is set, also because the last member who was not ready
    leaves; a selection, a change of members, or a member who is no longer ready removes it.
    """
    command = SetReady(
        actor_id=call.user_id,
        ready=body.ready,
        profile_prepared=body.profile_prepared,
        profile_id=body.profile_id,
        temporary_profile=body.temporary_profile,
        requirement_hash=None if body.requirement_hash is None else body.requirement_hash.lower(),
    )
    return await actions.do(call, call.user_id, call.subject, command)
