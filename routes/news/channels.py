"""The channel `news` of `/v1/social/live` (contract §9, §10).

| snapshot     | events in delta mode |
|--------------|----------------------|
| NewsSnapshot | news_published       |
"""

from actors.news.live import NAME, NewsViewer
from routes.live.channel import LiveChannel
from routes.news.parts import NEWS_LIVE

NEWS = LiveChannel(
    name=NAME,
    needs=None,
    shown=lambda service: service.of(NEWS_LIVE).view,
    viewer=lambda user_id, _: NewsViewer(user_id),
)
