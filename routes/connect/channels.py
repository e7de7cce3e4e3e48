"""The channels of game servers on `/v1/social/live`.

| channel       | snapshot         | events in delta mode                                               |
|---------------|------------------|--------------------------------------------------------------------|
| `server:<id>` | SettingsSnapshot | settings_updated, command, extensions, access_policy, members      |
| `servers`     | ServersSnapshot  | server_changed, server_removed                                     |

The offsets of `server:<id>` stay valid across restarts; `servers` is the user's own, and counts in memory.
"""

from actors.connect import own_view
from actors.connect.public import Command, Registration, Settings, SettingsSnapshot
from actors.connect.public_members import AccessPolicy, Member
from actors.connect.public_own import OwnServer
from actors.connect.stream import ServerViewer
from actors.ids import parse_uuid
from routes.connect.own_servers import OWN_SERVERS
from routes.connect.parts import GAME_SERVERS
from routes.edge.declare.shown import Shown
from routes.live.channel import LiveChannel, the_user

READ_SETTINGS = "connect:settings:read"
READ_COMMANDS = "connect:commands:read"
READ_MEMBERS = "connect:members:read"
"""The permission nodes for reading."""

SERVER = LiveChannel(
    name="server",
    needs=(READ_SETTINGS, READ_COMMANDS, READ_MEMBERS),
    shown=lambda service: service.of(GAME_SERVERS).server,
    viewer=lambda user_id, _: ServerViewer(user_id),
    id_of=parse_uuid,
    shows=Shown(
        says="The settings of a game server, and what happens to it. Offsets are durable. `command` needs"
        " `server.commands.read` on that server, `access_policy` and `members` need `server.members.read`.",
        snapshot=SettingsSnapshot,
        events={
            "settings_updated": Settings,
            "command": Command,
            "extensions": tuple[Registration, ...],
            "access_policy": AccessPolicy,
            "members": tuple[Member, ...],
        },
    ),
)

SERVERS = LiveChannel(
    name=own_view.NAME,
    shown=lambda service: service.of(OWN_SERVERS).view,
    viewer=the_user,
    shows=Shown(
        says="The game servers that the user owns or is a member of, with access, status and whether they listen; at"
        " most one frame each two seconds.",
        snapshot=own_view.ServersSnapshot,
        events={"server_changed": OwnServer, "server_removed": own_view.ServerGone},
    ),
)
