"""The channel of moderators on `/v1/social/live`.

| channel      | snapshot           | events in delta mode |
|--------------|--------------------|----------------------|
| `moderation` | ModerationSnapshot | moderation_changed   |
"""

from actors.moderation.queues import MODERATION, NAME, Judge, ModerationChanged, ModerationSnapshot
from routes.capes.catalog import MODERATE
from routes.edge.declare.shown import Shown
from routes.live.channel import LiveChannel

QUEUES = LiveChannel(
    name=NAME,
    shown=lambda _: MODERATION,
    looks=lambda access: Judge(access.is_moderator, access.allows(MODERATE), access.is_super_admin),
    shows=Shown(
        says="How many reports and capes wait for the viewer, and which came last: no report about themselves,"
        " unless they are a super-admin. Needs the role Moderator or a higher one, which shows reports, or"
        " `capes:moderate`, which shows capes; at most one frame a second.",
        snapshot=ModerationSnapshot,
        events={"moderation_changed": ModerationChanged},
    ),
)
