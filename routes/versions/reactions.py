"""The reaction of memory to changed releases and pointers."""

from actors.versions.events import ScopeChanged
from routes.changes import Reaction
from routes.service import Service
from routes.versions.parts import RELEASES


def _changed(service: Service, event: ScopeChanged) -> None:
    service.of(RELEASES).changed(event.scope)


REACTIONS = (Reaction(ScopeChanged, _changed),)
