"""The channel of a game server on `/v1/social/live`; its offsets stay valid across restarts.

| channel       | snapshot         | events in delta mode                                               |
|---------------|------------------|--------------------------------------------------------------------|
| `server:<id>` | SettingsSnapshot | settings_updated, command, extensions, access_policy, members      |
"""

from actors.connect.stream import ServerViewer
from actors.ids import parse_uuid
from routes.connect.parts import GAME_SERVERS
from routes.live.channel import LiveChannel

READ_SETTINGS = "connect:settings:read"
READ_COMMANDS = "connect:commands:read"
READ_MEMBERS = "connect:members:read"
"""The permission nodes for reading."""

SERVER = LiveChannel(
    name="server",
    needs=READ_SETTINGS,
    needs_too=(READ_COMMANDS, READ_MEMBERS),
    shown=lambda service: service.of(GAME_SERVERS).server,
    viewer=lambda user_id, _: ServerViewer(user_id),
    id_of=parse_uuid,
)
