"""The Domain record of daily quests."""

from persistence.quests.exported import EXPORTED
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.jobs import BackgroundTask, Job
from routes.party.parts import PARTY_KINDS
from routes.quests import daily
from routes.quests.jobs import jobs_of
from routes.quests.parts import LAUNCHES
from routes.service import Service


def _follow(service: Service) -> tuple[Job | BackgroundTask, ...]:
    service.of(PARTY_KINDS).listeners.append(service.of(LAUNCHES).happened)
    return ()


QUESTS = Domain(
    name="quests",
    mounts=(Mount("quests", (daily,)),),
    parts=(LAUNCHES,),
    jobs=jobs_of,
    follow=_follow,
    exported=EXPORTED,
)
