"""The Domain record of voice."""

from actors.connect import events
from actors.connect.events import AnyEvent
from actors.connect.state import State
from routes.connect.parts import GAME_SERVERS
from routes.domain import Domain
from routes.edge.declare.endpoint import Mount
from routes.jobs import BackgroundTask, Job
from routes.service import Service
from routes.voice import machines, regions
from routes.voice.jobs import jobs_of
from routes.voice.parts import FLEET, NODE_SECRETS, WAITING_NODES
from routes.voice.reactions import REACTIONS, RECONCILIATIONS


def _follow(service: Service) -> tuple[Job | BackgroundTask, ...]:
    def happened(state: State, event: AnyEvent) -> None:
        if isinstance(event, events.ServerRemoved):
            service.of(FLEET).remove_of_server(state.id)

    async def let_go() -> None:
        await service.lifecycle.wait_draining()
        service.of(WAITING_NODES).close()

    service.of(GAME_SERVERS).listeners.append(happened)
    return (BackgroundTask("waiting heartbeats of voice nodes", let_go),)


VOICE = Domain(
    name="voice",
    mounts=(Mount("voice", (machines, regions)),),
    parts=(FLEET, NODE_SECRETS, WAITING_NODES),
    jobs=jobs_of,
    follow=_follow,
    reactions=REACTIONS,
    reconciliations=RECONCILIATIONS,
)
