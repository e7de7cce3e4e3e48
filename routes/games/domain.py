"""The Domain record of games."""

from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.games import catalog, streams
from routes.games.channels import GAMES as CHANNEL
from routes.games.jobs import jobs_of
from routes.games.parts import GAMES_LIVE
from routes.games.reactions import REACTIONS
from routes.jobs import BackgroundTask, Job
from routes.service import Service


def _follow(service: Service) -> tuple[Job | BackgroundTask, ...]:
    service.of(GAMES_LIVE).tell(service.system.changed)
    return ()


GAMES = Domain(
    name="games",
    mounts=(Mount("games", (catalog, streams)),),
    parts=(GAMES_LIVE,),
    channels=(CHANNEL,),
    jobs=jobs_of,
    follow=_follow,
    reactions=REACTIONS,
)
