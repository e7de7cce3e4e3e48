"""The Domain record of news."""

from persistence.news.exported import EXPORTED
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.news import follows, public, reading, rss, votes, writing
from routes.news.channels import NEWS as CHANNEL
from routes.news.jobs import jobs_of
from routes.news.parts import FEED_DATES, NEWS_LIVE, RENDERER
from routes.news.reactions import REACTIONS, RECONCILIATIONS, follow

NEWS = Domain(
    name="news",
    mounts=(Mount("news", (reading, follows, writing, votes, public, rss)),),
    parts=(NEWS_LIVE, FEED_DATES, RENDERER),
    channels=(CHANNEL,),
    jobs=jobs_of,
    follow=follow,
    reactions=REACTIONS,
    reconciliations=RECONCILIATIONS,
    exported=EXPORTED,
)
