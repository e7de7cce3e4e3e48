"""The addresses that a network's owner gives: a webhook of Discord, and an invite to its guild. Pure.

Only the number and the token of a webhook's address are used; requests go to the configured base address, whatever
host it named. So no address of a user is ever asked.
"""

import re
from typing import NamedTuple

MAX_ADDRESS_CHARACTERS = 400
"""Most characters of the address of a webhook or invite."""

_WEBHOOK = r"([0-9]{1,20})/([A-Za-z0-9_-]{60,100})"
_DISCORD = rf"https://(?:|ptb\.|canary\.)discord(?:|app)\.com/api(?:/v[0-9]{{1,2}})?/webhooks/{_WEBHOOK}"
_INVITE = re.compile(r"https://discord\.(?:gg|com/invite)/[A-Za-z0-9-]{2,64}", re.ASCII)


class WebhookAddress(NamedTuple):
    """What the address of a webhook holds.

    Args:
        id: Discord's number of the webhook.
        token: the webhook's secret: whoever knows it can post.
    """

    id: str
    token: str

    def __repr__(self) -> str:
        """Shows no token, because logs may have this text."""
        return f"WebhookAddress({self.id})"


def webhook_of(text: str, base_url: str) -> WebhookAddress | None:
    """The webhook that an address names; None when it has another form.

    Args:
        text: the address as the owner gave it.
        base_url: addresses below it are taken as well as those of Discord itself; without a slash at its end.
    """
    found = re.fullmatch(_DISCORD, text, re.ASCII)
    found = found or re.fullmatch(rf"{re.escape(base_url)}/webhooks/{_WEBHOOK}", text, re.ASCII)
    return None if found is None else WebhookAddress(found[1], found[2])


def is_invite(text: str) -> bool:
    """Whether a text is the address of an invite to a guild."""
    return _INVITE.fullmatch(text) is not None
