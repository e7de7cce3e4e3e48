"""Users whose party is uncertain since news from other nodes were lost or out of order: it is read from the rows."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec

from actors.kernel.directory import System
from actors.party.kind import PartyKinds
from actors.party.memberships import Memberships
from persistence.party import rows
from routes.changes import Reconciliation, reconcile_when_parted
from routes.party.memberships import MEMBERSHIPS
from routes.party.parts import PARTY_KINDS
from routes.service import Service

PartyInRows: TypeAlias = Callable[[str], Awaitable[str | None]]
"""Reads the party that a user is in, by the user's id. Raises PersistenceError."""


class MemberInDoubt(msgspec.Struct, frozen=True):
    """Reconciliation subject: the party of one user."""

    user_id: str


class MissedMembers(msgspec.Struct, frozen=True):
    """Reconciliation subject: all memberships, after a node has ended that may not have told of all its changes."""


def follow_doubts(service: Service) -> None:
    """Subscribe: queue a user for reconciliation when it is unknown where they are, and all when a node has ended."""
    reconcile_when_parted(service, MissedMembers())
    service.of(MEMBERSHIPS).on_doubt(lambda user_id: service.reconciler.add(MemberInDoubt(user_id)))


async def settle(
    system: System, parties: PartyKinds, memberships: Memberships, about: MemberInDoubt, in_rows: PartyInRows
) -> None:
    """Bring the memory of memberships up to date for one user, and have their view show their party.

    Args:
        system: the actor system in which parties live.
        parties: the kinds of actor of parties and of the views of a user's own party.
        memberships: the party of each user, as this node's memory has it.
        about: names the user.
        in_rows: reads the user's party from the database.

    Raises: PersistenceError if the rows cannot be read. Cancellation leaves memory as it was.
    """
    user_id = about.user_id
    party_id = await in_rows(user_id)
    before = memberships.of(user_id)
    if memberships.settle(user_id, party_id):
        for changed in (before, party_id):
            if changed is not None:
                system.changed(parties.own, user_id, changed)


async def _ask(service: Service, about: MemberInDoubt, _events: Sequence[object]) -> tuple[()]:
    async def in_rows(user_id: str) -> str | None:
        return await service.database.read(rows.party_of, user_id)

    await settle(service.system, service.of(PARTY_KINDS), service.of(MEMBERSHIPS), about, in_rows)
    return ()


async def _compare(service: Service, _about: MissedMembers, _events: Sequence[object]) -> tuple[()]:
    """Queue each user for reconciliation whose party in memory differs from the rows.

    Raises: PersistenceError if the rows cannot be read. Cancellation changes nothing.
    """
    service.of(MEMBERSHIPS).compare(await service.database.read(rows.memberships))
    return ()


DOUBTS = (Reconciliation(MemberInDoubt, _ask), Reconciliation(MissedMembers, _compare))
