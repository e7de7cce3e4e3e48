"""What there is more of after each life: why it is kept, and what keeps it from growing for ever.

Whoever adds a line says both. A line that no life adds to any more fails the test: it excuses nothing.
"""

from actors.chat.frames import HEADS_KEPT, NEWEST_KEPT
from actors.friends.circles import FRIENDS_KEPT
from actors.friends.streaks import REMEMBERED_MAX
from actors.friends.visibility import TURNS_KEPT
from actors.mods.kept import ENTRY_BYTES
from actors.mods.kept import MAX_BYTES as MODS_BYTES
from actors.news.live import RECENT_MAX
from actors.party.render_cache import KEPT as PARTIES_KEPT
from actors.users.presence import GONE_KEPT
from actors.users.resolver import MOVES_KEPT
from actors.users.users import CAPACITY as USERS_KEPT
from actors.voice.fleet import REMEMBERED
from persistence.bridge.suspects import MAX_SUSPECTS
from persistence.bridge.writer_connection import MOST_PREPARED
from persistence.failing import MOST_FAILING
from routes import TABLE
from routes.connect.authenticator import CAPACITY as SECRETS_KEPT
from routes.edge.declare.query import KEPT_QUERIES
from routes.users.authenticator import CAPACITY as TOKENS_KEPT

ROWS = {
    "artifacts": "files of releases",
    "audit_log": "what super-admins and moderators have done is kept for ever, and nobody else writes to it",
    "channel_activations": "which release a channel had; publishers write it, and each channel keeps its newest",
    "erased_users": "that somebody was erased, so that tokens of before are refused: an id and a time of each",
    "news_articles": "what editors have written; each scope has a bound, beyond which the oldest archived ones go",
    "news_polls": "go with their articles",
    "news_votes": "count without their voters, and go with their articles",
    "permissions": "nodes that a super-admin or a manager of the shop has named",
    "releases": "what publishers have published stays, as clients may have it",
    "reports": "what moderators were told; callers are held to a rate",
    "shop_checkouts": "records of payments",
    "shop_grants": "what products give",
    "shop_products": "what managers of the shop sell; a purchase refers to its product for good",
    "shop_purchases": "records of payments",
}
"""{table: why its rows stay when everybody is erased, and by what they are bounded}"""

PLACES = {
    "part catalogues of mods.kept._entries": MODS_BYTES // ENTRY_BYTES,
    "part chat.frames._facts": HEADS_KEPT,
    "part chat.frames._heads": HEADS_KEPT,
    "part credentials of game servers._known": SECRETS_KEPT,
    "part friends._turns._newest": TURNS_KEPT,
    "part friends._visibilities.turns._newest": TURNS_KEPT,
    "part friends.circles._circles": FRIENDS_KEPT,
    "part live news._recent": RECENT_MAX,
    "part parties.render_cache._kept": PARTIES_KEPT,
    "part presence._gone_at_ms": GONE_KEPT,
    "part streaks._written": REMEMBERED_MAX,
    "part tokens of users._recent": TOKENS_KEPT,
    "part users._entries": USERS_KEPT,
    "part users._resolver._moves": MOVES_KEPT,
    "part voice nodes._former": REMEMBERED,
}
"""{place: the most that it holds} of what is remembered of those who are gone, until newer things need the room"""

AS_ROWS = {"part users._resolver._catalog": "permissions"}
"""{place: the table whose rows it has in memory, each once}"""

NOW_AND_THEN = {
    "database._writer._connection._prepared": MOST_PREPARED,
    "database._writer._refusals._failing._things": MOST_FAILING,
    "database._writer._refusals._failing._things[].times": MOST_FAILING,
    "database._writer._suspects._until": MAX_SUSPECTS,
    "part chat.frames._newest": NEWEST_KEPT,
}
"""As `PLACES`, but not with each life: statements for turns that came together, changes that rows have refused, lists
that somebody has begun to read."""

AMONG_NODES = {"service.node.passing_on._answers._answers{}.query._kept": KEPT_QUERIES * len(TABLE.endpoints)}
"""What a node holds beside `PLACES` where there are others: queries of requests that were passed on to it."""
