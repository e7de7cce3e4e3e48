"""The Domain record of news."""

from routes.domain import Domain
from routes.edge.declare.endpoint import Mount
from routes.news import follows, public, reading, rss, votes, writing
from routes.news.channels import NEWS as CHANNEL
from routes.news.jobs import jobs_of
from routes.news.parts import NEWS_LIVE, RENDERER
from routes.news.reactions import REACTIONS, RECONCILIATIONS

NEWS = Domain(
    name="news",
    mounts=(Mount("news", (reading, follows, writing, votes, public, rss)),),
    parts=(NEWS_LIVE, RENDERER),
    channels=(CHANNEL,),
    jobs=jobs_of,
    reactions=REACTIONS,
    reconciliations=RECONCILIATIONS,
)
