"""The channel `news` of `/v1/social/live` (contract §9, §10).

| snapshot     | events in delta mode |
|--------------|----------------------|
| NewsSnapshot | news_published       |
"""

from actors.news.live import NAME
from routes.live.channel import LiveChannel, the_user
from routes.news.parts import NEWS_LIVE

NEWS = LiveChannel(
    name=NAME,
    needs=None,
    shown=lambda service: service.of(NEWS_LIVE).view,
    viewer=the_user,
)
