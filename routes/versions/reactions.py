"""The reaction of memory to changed releases and pointers."""

from collections.abc import Sequence

import msgspec

from actors.versions.events import ScopeChanged
from routes.changes import Reaction, Reconciliation, reconcile_when_parted
from routes.service import Service
from routes.versions.parts import RELEASES


class MissedScopes(msgspec.Struct, frozen=True):
    """Reconciliation subject: all releases and pointers, some of which an ended node may have changed untold."""


def follow(service: Service) -> tuple[()]:
    """Subscribe: have memory read all scopes again when another node has ended; there are no tasks."""
    reconcile_when_parted(service, MissedScopes())
    return ()


def _changed(service: Service, event: ScopeChanged) -> None:
    service.of(RELEASES).changed(event.scope)


async def _look(service: Service, _about: MissedScopes, _events: Sequence[object]) -> tuple[()]:
    await service.of(RELEASES).reread()
    return ()


REACTIONS = (Reaction(ScopeChanged, _changed),)

RECONCILIATIONS = (Reconciliation(MissedScopes, _look),)
