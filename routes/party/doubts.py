"""Users of whom the news of several nodes did not come in order: where they are is read from their rows."""

from collections.abc import Sequence
from typing import NamedTuple

from persistence.party import rows
from routes.changes import Reconciliation
from routes.party.memberships import MEMBERSHIPS
from routes.party.parts import PARTY_KINDS
from routes.service import Service


class MemberInDoubt(NamedTuple):
    """Reconciliation subject: the party of one user."""

    user_id: str


def follow_doubts(service: Service) -> None:
    """Subscribe: queue a user for reconciliation when it is unknown where they are."""
    service.of(MEMBERSHIPS).on_doubt(lambda user_id: service.reconciler.add(MemberInDoubt(user_id)))


async def _ask(service: Service, about: MemberInDoubt, _events: Sequence[object]) -> tuple[()]:
    """Have memory know in which party the user is, and their view show that.

    Raises: PersistenceError where that cannot be read. Cancellation leaves memory as it was.
    """
    memberships, user_id = service.of(MEMBERSHIPS), about.user_id
    party_id = await service.database.read(rows.party_of, user_id)
    before = memberships.of(user_id)
    if memberships.settle(user_id, party_id):
        for changed in (before, party_id):
            if changed is not None:
                service.system.changed(service.of(PARTY_KINDS).own, user_id, changed)
    return ()


DOUBTS = (Reconciliation(MemberInDoubt, _ask),)
