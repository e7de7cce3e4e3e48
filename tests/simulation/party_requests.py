"""What clients want of parties: the requests, and how each is repeated."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from actors.party import commands
from tests.party.play import FREE, ROUND
from tests.simulation.party_rows import KIND
from tests.simulation.requests import Request

Make = Callable[[str, str, int], Any]
"""The command of an actor about another user, given a number."""

_MADE: dict[str, Make] = {
    "accept": lambda user_id, _about, _number: commands.AcceptInvite(user_id),
    "decline": lambda user_id, _about, _number: commands.DeclineInvite(user_id),
    "revoke": lambda user_id, about, _number: commands.RevokeInvite(user_id, about),
    "leave": lambda user_id, _about, _number: commands.Leave(user_id),
    "kick": lambda user_id, about, _number: commands.Kick(user_id, about),
    "disband": lambda user_id, _about, _number: commands.Disband(user_id),
    "hand over": lambda user_id, about, _number: commands.HandOver(user_id, about),
    "selectors": lambda user_id, about, _number: commands.SetSelectors(user_id, (about,)),
    "select": lambda user_id, _about, number: commands.Select(user_id, ROUND if number % 3 else FREE),
    "ready": lambda user_id, _about, number: commands.SetReady(
        user_id, number % 4 != 0, True, None, False, None
    ),
}

REPEATABLE = ("accept", "decline", "leave")


def inviting(number: int, user_id: str, party_id: str, target_id: str, *, keyed: bool) -> Request:
    """Invite a user, under an Idempotency-Key or not."""
    return Request(
        number,
        "invite",
        user_id,
        party_id,
        "",
        lambda fresh: commands.SendInvite(user_id, target_id, fresh),
        about=target_id,
        key=sha256(f"invite {number}".encode()).digest() if keyed else None,
        repeatable=keyed,
        kind=KIND,
    )


def asking(number: int, what: str, user_id: str, party_id: str, about: str) -> Request:
    """Any other request.

    Args:
        what: one of `_MADE`.
        about: the user whom it concerns, where it concerns one.
    """
    make = _MADE[what]
    return Request(
        number,
        what,
        user_id,
        party_id,
        "",
        lambda _: make(user_id, about, number),
        about=about,
        repeatable=what in REPEATABLE,
        kind=KIND,
    )
