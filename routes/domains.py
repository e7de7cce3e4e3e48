"""The list of all domains, and the tables of commands and routes made of it."""

from routes.banners.domain import BANNERS
from routes.capes.domain import CAPES
from routes.catalogs.domain import CATALOGS
from routes.chat.domain import CHAT
from routes.connect.domain import CONNECT
from routes.console.domain import CONSOLE
from routes.discord.domain import DISCORD
from routes.domain import Domains, channels_of
from routes.edge.declare.mounts import Mount, RouteTable
from routes.friends.domain import FRIENDS
from routes.games.domain import GAMES
from routes.gateways.domain import GATEWAYS
from routes.ip.domain import IP
from routes.launcher.domain import LAUNCHER
from routes.live.commands import Commands
from routes.live.streams import social_stream
from routes.moderation.domain import MODERATION
from routes.mods.domain import MODS
from routes.networks.domain import NETWORKS
from routes.news.domain import NEWS
from routes.notifications.domain import NOTIFICATIONS
from routes.operations.domain import OPERATIONS
from routes.party.domain import PARTY
from routes.publications.domain import PUBLICATIONS
from routes.quests.domain import QUESTS
from routes.reports.domain import REPORTS
from routes.saved_servers.domain import SAVED
from routes.services.domain import SERVICES
from routes.sessions.domain import SESSIONS
from routes.shop.domain import SHOP
from routes.totems.domain import TOTEMS
from routes.users.domain import USERS
from routes.versions.domain import VERSIONS
from routes.vocabulary import WORDS
from routes.voice.domain import VOICE

DOMAINS: Domains = (
    OPERATIONS,
    USERS,
    SESSIONS,
    CONSOLE,
    SAVED,
    CAPES,
    NOTIFICATIONS,
    REPORTS,
    MODERATION,
    FRIENDS,
    PARTY,
    CHAT,
    CONNECT,
    PUBLICATIONS,
    NETWORKS,
    GATEWAYS,
    TOTEMS,
    IP,
    LAUNCHER,
    SHOP,
    VERSIONS,
    NEWS,
    DISCORD,
    QUESTS,
    GAMES,
    BANNERS,
    CATALOGS,
    MODS,
    SERVICES,
    VOICE,
)
"""All domains, in the order in which documents list their routes and sockets subscribe to their default channels. For
an erased user `forget_user` is called from the last to the first, because the first ones copy texts of later ones."""

COMMANDS = Commands(command for domain in DOMAINS for command in domain.commands)
"""The commands of `/v1/social/live`."""

MOUNTS = (
    *(mount for domain in DOMAINS for mount in domain.mounts),
    Mount("chat", streams=(social_stream(COMMANDS, channels_of(DOMAINS)),)),
)

TABLE = RouteTable.of(MOUNTS, WORDS)
"""All routes and streams that the service declares."""
