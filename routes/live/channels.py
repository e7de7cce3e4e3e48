"""The channels of `/v1/social/live`, one line each; a name that is not here is a `NOT_FOUND` to its
subscriber.

Of the channels that the contract subscribes on connect (`friends`, `party`, `inbox`) those that are served
are.
"""

from actors.errors import NotFound
from actors.ids import UserId
from routes.chat.channels import CONVERSATION, INBOX
from routes.connect.channel import SERVER
from routes.friends.channels import FRIENDS
from routes.live.channel import LiveChannel
from routes.notifications.channel import NOTIFICATIONS
from routes.party.channels import PARTY

CHANNELS = {
    channel.name: channel
    for channel in (
        FRIENDS,
        PARTY,
        INBOX,
        CONVERSATION,
        NOTIFICATIONS,
        SERVER,
    )
}
"""{name, or what stands before the colon: channel}."""

DEFAULTS = tuple(channel.name for channel in CHANNELS.values() if channel.by_default)
"""What a socket is subscribed to when it does not say otherwise."""


def locate(name: str, user_id: UserId) -> tuple[LiveChannel, str]:
    """The channel behind a name, and the id of the actor that it shows.

    Args:
        name: as the client wrote it.
        user_id: whose socket it is; the id of channels that are the user's own.

    Raises:
        NotFound: no such channel, or an id that no such thing can have.
    """
    head, colon, tail = name.partition(":")
    channel = CHANNELS.get(head)
    if channel is None or bool(colon) != (channel.id_of is not None):
        raise NotFound("no such channel")
    if channel.id_of is None:
        return channel, user_id
    id = channel.id_of(tail)
    if id is None:
        raise channel.missing
    return channel, id


def channel_of(name: str) -> LiveChannel:
    """The channel of a name as replies and frames write it.

    Args:
        name: of an actor that `locate` has found.
    """
    return CHANNELS[name.partition(":")[0]]
