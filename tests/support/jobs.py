"""The jobs of a service, run when a test wants it."""

from routes.connect.domain import CONNECT
from routes.domain import Domain
from routes.domains import DOMAINS
from routes.jobs import Job
from routes.networks.domain import NETWORKS
from routes.publications.domain import PUBLICATIONS
from routes.service import Service
from tests.support.world import World


def jobs_of(service: Service) -> tuple[Job, ...]:
    """Those of all domains."""
    return tuple(job for domain in DOMAINS for job in domain.jobs(service))


def job_named(world: World, name: str) -> Job:
    """One job, with a memory of its own."""
    (job,) = [job for job in jobs_of(world.service) if job.name == name]
    return job


async def clean_connect(world: World) -> None:
    """What is forgotten about game servers, once."""
    await _run(CONNECT, world)


async def tend_networks(world: World) -> None:
    """What is done for networks, once."""
    await _run(NETWORKS, world)


async def clean_publications(world: World) -> None:
    """What is done for publications, once."""
    await _run(PUBLICATIONS, world)


async def _run(domain: Domain, world: World) -> None:
    for job in domain.jobs(world.service):
        assert await job.run() is not False
