"""The channel `games` of `/v1/social/live` (contract §9, §10).

| snapshot      | events in delta mode |
|---------------|----------------------|
| GamesSnapshot | games_changed        |
"""

from actors.games.live import NAME
from routes.games.parts import GAMES_LIVE
from routes.live.channel import LiveChannel

GAMES = LiveChannel(
    name=NAME,
    needs=None,
    shown=lambda service: service.of(GAMES_LIVE).view,
    viewer=lambda _user_id, _: None,
    shared=True,
)
