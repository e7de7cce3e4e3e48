"""The channel `news` of `/v1/social/live` (contract §9, §10).

| snapshot     | events in delta mode |
|--------------|----------------------|
| NewsSnapshot | news_published       |
"""

from actors.news.live import NAME, NewsPublished, NewsSnapshot
from routes.edge.declare.shown import Shown
from routes.live.channel import LiveChannel, the_user
from routes.news.parts import NEWS_LIVE

NEWS = LiveChannel(
    name=NAME,
    shown=lambda service: service.of(NEWS_LIVE).view,
    viewer=the_user,
    shows=Shown(
        says="The first articles of the user's feed, without `body` and `bodyHtml`.",
        snapshot=NewsSnapshot,
        events={"news_published": NewsPublished},
    ),
)
