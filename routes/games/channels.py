"""The channel `games` of `/v1/social/live` (contract §9, §10).

| snapshot      | events in delta mode |
|---------------|----------------------|
| GamesSnapshot | games_changed        |
"""

from actors.games.live import NAME, GamesChanged, GamesSnapshot
from routes.edge.declare.shown import Shown
from routes.games.parts import GAMES_LIVE
from routes.live.channel import LiveChannel

GAMES = LiveChannel(
    name=NAME,
    shown=lambda service: service.of(GAMES_LIVE).view,
    shared=True,
    shows=Shown(
        says="How many play each game; at most one frame a second.",
        snapshot=GamesSnapshot,
        events={"games_changed": GamesChanged},
    ),
)
