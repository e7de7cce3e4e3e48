"""Guards of the caller's party: checked before the body is read, and again in the turn (contract §1).

A caller in no party gets a 404, a member without the right a 403.
"""

from collections.abc import Callable

from actors.errors import NotFound
from actors.party.loading import load
from actors.party.rules_lobby import selector_of
from actors.party.rules_members import leader_of
from actors.party.state import Member, State
from routes.call import Call
from routes.edge.reply import MaybeAwaitable, then
from routes.party.actions import party_of
from routes.party.parts import PARTY_KINDS


def member(call: Call) -> str:
    """Guard: requires that the caller is in a party; returns its id.

    Raises:
        NotFound: the caller is in no party.
    """
    return party_of(call, call.user_id)


def leader(call: Call) -> MaybeAwaitable[str]:
    """Guard: requires that the caller leads their party; returns its id.

    Raises:
        NotFound: the caller is in no party.
        NotLeader: the caller does not lead it.
    """
    return _standing(call, leader_of)


def outgoing_leader(call: Call) -> MaybeAwaitable[str]:
    """Guard: requires that the caller leads their party, or is in it and may have handed it over by this very request.

    A request repeated with its Idempotency-Key comes from one who no longer leads. The turn checks who leads anyway.

    Raises: as `leader`.
    """
    return member(call) if call.may_be_a_repeat else leader(call)


def selector(call: Call) -> MaybeAwaitable[str]:
    """Guard: requires that the caller leads their party or may select in its lobby; returns the party's id.

    Raises:
        NotFound: the caller is in no party.
        NotSelector: the caller may not select.
    """
    return _standing(call, selector_of)


def _standing(call: Call, rule: Callable[[State, str], Member]) -> MaybeAwaitable[str]:
    party_id = party_of(call, call.user_id)
    service = call.service

    def check(state: State | None) -> str:
        if state is None:
            raise NotFound("you are in no party")
        rule(state, call.user_id)
        return party_id

    live = call.peek(service.of(PARTY_KINDS).party, party_id)
    if live is not None:
        return check(live)
    return then(service.database.read(load, party_id), check)
