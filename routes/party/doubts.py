"""Users of whom the news of several nodes did not come, or not in order: where they are is read from their rows."""

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
    """Reconciliation subject: who is in which party, of which a node that has ended may have told less than it did."""


def follow_doubts(service: Service) -> None:
    """Subscribe: queue a user for reconciliation when it is unknown where they are, and all when a node has ended."""
    reconcile_when_parted(service, MissedMembers())
    service.of(MEMBERSHIPS).on_doubt(lambda user_id: service.reconciler.add(MemberInDoubt(user_id)))


async def settle(
    system: System, parties: PartyKinds, memberships: Memberships, about: MemberInDoubt, in_rows: PartyInRows
) -> None:
    """Have memory know in which party the user is, and their view show that.

    Args:
        system: where the parties live.
        parties: their kinds.
        memberships: who is in which party.
        about: the user.
        in_rows: reads where they are.

    Raises: PersistenceError where that cannot be read. Cancellation leaves memory as it was.
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
    """Doubt all who are not where rows have them.

    Raises: PersistenceError where these cannot be read. Cancellation changes nothing.
    """
    service.of(MEMBERSHIPS).compare(await service.database.read(rows.memberships))
    return ()


DOUBTS = (Reconciliation(MemberInDoubt, _ask), Reconciliation(MissedMembers, _compare))
