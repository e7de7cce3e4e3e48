"""The channels of `/v1/social/live`, by name; subscribing to an unknown name is refused with `NOT_FOUND`."""

from collections.abc import Iterable

from actors.errors import NotFound
from actors.ids import UserId
from routes.edge.declare.shown import ShownChannel
from routes.live.channel import LiveChannel


class Channels:
    """All channels.

    Args:
        channels: those of all domains, with unique names.

    Attributes:
        defaults: names of the channels that a socket is subscribed to by default, in the order of the domains.

    Raises:
        ValueError: two channels have the same name.
    """

    def __init__(self, channels: Iterable[LiveChannel]) -> None:
        self._by_name: dict[str, LiveChannel] = {}
        for channel in channels:
            if self._by_name.setdefault(channel.name, channel) is not channel:
                raise ValueError(f"two channels are called {channel.name}")
        self.defaults = tuple(name for name, channel in self._by_name.items() if channel.by_default)

    def locate(self, name: str, user_id: UserId) -> tuple[LiveChannel, str]:
        """The channel behind a name, and the id of the actor that it shows.

        Args:
            name: the name, as the client wrote it.
            user_id: the socket's user; the actor's id for a channel that is the user's own.

        Raises:
            NotFound: there is no such channel, or its id is malformed.
        """
        head, colon, tail = name.partition(":")
        channel = self._by_name.get(head)
        if channel is None or bool(colon) != (channel.id_of is not None):
            raise NotFound("no such channel")
        if channel.id_of is None:
            return channel, (channel.name if channel.shared else user_id)
        id = channel.id_of(tail)
        if id is None:
            raise channel.missing
        return channel, id

    def described(self) -> tuple[ShownChannel, ...]:
        """All channels, for the description of the service."""
        return tuple(
            ShownChannel(
                name if channel.id_of is None else f"{name}:<id>",
                tuple(needs if isinstance(needs, str) else needs.value for needs in channel.needs),
                channel.shows,
            )
            for name, channel in self._by_name.items()
        )

    def named(self, name: str) -> LiveChannel:
        """The channel of a name as replies and frames write it.

        Args:
            name: the wire name of a channel that `locate` has found.
        """
        return self._by_name[name.partition(":")[0]]
