"""The jobs of a service, run when a test wants it."""

from routes.connect.cleaning import connect_jobs
from routes.housekeeping import Job
from routes.jobs import jobs_of
from routes.networks.tending import network_jobs
from routes.publications.follow import publication_jobs
from tests.support.world import World


def job_named(world: World, name: str) -> Job:
    """One job, with a memory of its own."""
    (job,) = [job for job in jobs_of(world.service) if job.name == name]
    return job


async def clean_connect(world: World) -> None:
    """What is forgotten about game servers, once."""
    await _run(connect_jobs(world.service))


async def tend_networks(world: World) -> None:
    """What is done for networks, once."""
    await _run(network_jobs(world.service))


async def clean_publications(world: World) -> None:
    """What is done for publications, once."""
    await _run(publication_jobs(world.service))


async def _run(jobs: tuple[Job, ...]) -> None:
    for job in jobs:
        assert await job.run() is not False
