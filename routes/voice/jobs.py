"""Periodic jobs of voice: what time does to nodes."""

from persistence.voice import nodes
from routes.jobs import Job, ticking
from routes.service import Service
from routes.voice.parts import FLEET


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs: find who has fallen silent, and write down when nodes were heard."""
    fleet = service.of(FLEET)

    def look() -> None:
        fleet.silence()
        fleet.expire()

    async def write_heard() -> None:
        heard = [(node.row.node_id, node.heard_ms, node.status == "draining") for node in fleet]
        if heard:
            await service.database.transact(nodes.save_heard, heard)

    return (ticking("silent voice nodes", 1, look), Job("heartbeats of voice nodes", 60, write_heard))
