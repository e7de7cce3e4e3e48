"""The messages that are posted, within the limits of Discord's API (v10). Pure."""

import re
import unicodedata
from typing import NamedTuple

import msgspec

from actors.discord.markdown import escaped
from actors.texts import without_controls, without_joiners
from actors.time import iso
from persistence.discord.rows import DiscordEvent, PostRow

MAX_TITLE = 256
MAX_DESCRIPTION = 4_096
MAX_USERNAME = 80

MAX_NAME = 200
"""Most characters of one name within a sentence, escaped."""

_FORBIDDEN_PARTS = ("clyde", "discord", "```", "@", "#", ":")
_FORBIDDEN_NAMES = frozenset({"everyone", "here", "system message"})

GREEN, RED, BLUE = 0x3BA55D, 0xED4245, 0x5865F2


class _Form(NamedTuple):
    """How an event is told: `sentence` gets the escaped names."""

    color: int
    sentence: str


FORMS: dict[DiscordEvent, _Form] = {
    "server_online": _Form(GREEN, "**{title}** is online."),
    "server_offline": _Form(RED, "**{title}** is offline."),
    "member_joined": _Form(BLUE, "**{player}** is now a member of **{title}**."),
    "publication_listed": _Form(BLUE, "**{title}** is in the public list of servers: {text}"),
    "news_published": _Form(BLUE, ""),
}
"""{event: colour and sentence of its post}; a post about an article has the article's title and summary instead."""


class _Image(msgspec.Struct, frozen=True):
    url: str


class _Embed(msgspec.Struct, frozen=True, omit_defaults=True):
    color: int
    timestamp: str
    title: str = ""
    description: str = ""
    image: _Image | None = None


class _Mentions(msgspec.Struct, frozen=True):
    parse: tuple[str, ...] = ()


class _Message(msgspec.Struct, frozen=True, omit_defaults=True):
    embeds: tuple[_Embed, ...]
    allowed_mentions: _Mentions
    username: str | None = None


def message_of(post: PostRow) -> bytes:
    """The JSON body of a post: one embed, under the network's name where Discord takes that, mentioning nobody."""
    form = FORMS[post.event]
    title = description = ""
    if post.event == "news_published":
        title = escaped(post.title, MAX_TITLE)
        description = escaped(post.text, MAX_DESCRIPTION)
    else:
        description = form.sentence.format(
            title=escaped(post.title, MAX_NAME),
            player=escaped(post.player_name or "", MAX_NAME),
            text=escaped(post.text, 2 * MAX_NAME),
        )
    image = None if post.image_url is None else _Image(post.image_url)
    embed = _Embed(form.color, iso(post.created_at_ms), title, description, image)
    return msgspec.json.encode(_Message((embed,), _Mentions(), username_of(post.network_name)))


def username_of(network_name: str) -> str | None:
    """The name under which a network's posts are shown; None where Discord would refuse it: then it shows the webhook's
    own name."""
    name = re.sub(r"\s+", " ", without_controls(network_name)).strip()[:MAX_USERNAME].strip()
    plain = without_joiners(unicodedata.normalize("NFKC", name)).casefold().strip()
    if not plain or plain in _FORBIDDEN_NAMES or any(part in plain for part in _FORBIDDEN_PARTS):
        return None
    return name
