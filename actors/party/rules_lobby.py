"""What the party is going to play, and who is ready for it (service-api §3 Party lobby, contract §6)."""

from collections.abc import Sequence

from msgspec.structs import replace

from actors.errors import Invalid, NotProfilePrepared, NotSelector, RevisionConflict
from actors.field_errors import FieldError
from actors.party.commands import Select, SetReady, SetSelectors
from actors.party.events import AnyEvent, ReadyChanged, SelectionChanged, SelectorsChanged
from actors.party.launch import launch
from actors.party.rules_members import leader_of, member_of
from actors.party.selection import checked
from actors.party.state import Member, Ready, Signal, State
from actors.texts import LINE_SENTENCE, is_line


def set_selectors(state: State, command: SetSelectors, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on who may select beside the leader; no events if these members may already.

    Raises:
        NotFound: the actor is no member.
        NotLeader: the actor does not lead.
        Invalid: a user among them is no member.
    """
    leader_of(state, command.actor_id)
    strangers = [
        FieldError(f"/selectorIds/{place}", "UNKNOWN", "only members can select")
        for place, id in enumerate(command.selector_ids)
        if id not in state.members
    ]
    if strangers:
        raise Invalid(*strangers)
    chosen = tuple(id for id in state.members if id in command.selector_ids and id != state.leader_id)
    if chosen == state.lobby.selector_ids:
        return ()
    return (SelectorsChanged(chosen, now_ms),)


def select(state: State, command: Select, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on what to play; the same again is a selection too, for which no member is ready yet.

    Raises:
        NotFound: the actor is no member.
        NotSelector: the actor may not select.
        Invalid: the selection breaks a rule of `checked`.
    """
    selector_of(state, command.actor_id)
    selection, requirement_hash = checked(command.selection)
    return (SelectionChanged(selection, requirement_hash, now_ms),)


def selector_of(state: State, user_id: str) -> Member:
    """The member, who must be a selector.

    Raises:
        NotFound: the user is no member.
        NotSelector: the member may not select.
    """
    member = member_of(state, user_id)
    if not state.is_selector(user_id):
        raise NotSelector
    return member


def set_ready(state: State, command: SetReady, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on whether a member is ready; no events if they have said the same already.

    Raises:
        NotFound: the actor is no member.
        Invalid: the profile's id or the hash is more than a line.
        NotProfilePrepared: ready without a prepared profile.
        RevisionConflict: they have prepared for another requirement.
    """
    member = member_of(state, command.actor_id)
    shown = (("/profileId", command.profile_id), ("/requirementHash", command.requirement_hash))
    flaws = [FieldError(at, "BAD_TEXT", LINE_SENTENCE) for at, text in shown if text and not is_line(text)]
    if flaws:
        raise Invalid(*flaws)
    if command.ready:
        if not command.profile_prepared:
            raise NotProfilePrepared
        hash_ = command.requirement_hash
        if hash_ is not None and hash_ != state.lobby.requirement_hash:
            raise RevisionConflict(requirementHash=state.lobby.requirement_hash)
    said = Ready(
        ready=command.ready,
        profile_prepared=command.profile_prepared,
        profile_id=command.profile_id,
        temporary_profile=command.temporary_profile,
        requirement_hash=command.requirement_hash,
        updated_at_ms=member.ready.updated_at_ms,
    )
    signal = _signal(state, command, now_ms)
    if said == member.ready and member.ready.updated_at_ms is not None and signal == state.lobby.signal:
        return ()
    return (ReadyChanged(member.user_id, replace(said, updated_at_ms=now_ms), signal, now_ms),)


def _signal(state: State, command: SetReady, now_ms: int) -> Signal | None:
    """The launch signal after the member's word: the one that was given, a new one, or none."""
    others_ready = all(one.ready.ready for one in state.members.values() if one.user_id != command.actor_id)
    if not (command.ready and others_ready):
        return None
    return state.lobby.signal or launch(state, state.members, now_ms)
