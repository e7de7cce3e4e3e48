"""The jobs of a service, which a test runs when it wants to."""

from routes.connect.domain import CONNECT
from routes.domain import Domain
from routes.domains import DOMAINS
from routes.jobs import Job
from routes.networks.domain import NETWORKS
from routes.publications.domain import PUBLICATIONS
from routes.service import Service
from tests.support.world import World


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs of all domains."""
    return tuple(job for domain in DOMAINS for job in domain.jobs(service))


def job_named(world: World, name: str, *, at: Service | None = None) -> Job:
    """The job of this name, made anew, so that it remembers nothing of other runs; `at` is its node, else the first."""
    (job,) = [job for job in jobs_of(at or world.service) if job.name == name]
    return job


async def clean_connect(world: World) -> None:
    """Run once the jobs that forget things about game servers."""
    await _run(CONNECT, world)


async def tend_networks(world: World) -> None:
    """Run once the jobs of networks."""
    await _run(NETWORKS, world)


async def clean_publications(world: World) -> None:
    """Run once the jobs of publications."""
    await _run(PUBLICATIONS, world)


async def _run(domain: Domain, world: World) -> None:
    for job in domain.jobs(world.service):
        assert await job.run() is not False
