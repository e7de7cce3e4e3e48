"""Where all voice channels live: on one node, which counts seats, hears voice nodes and sessions, and gives orders.

A joining turn cannot ask another owner, and what it needs to know is of all channels. So channels have ids that lie in
one shard, and whoever owns that minds voice for everybody.
"""

from actors.ids import RandomBytes, Uuid, new_uuid
from persistence.nodes.shards import shard_of
from persistence.voice.channels import KIND

HOME = "home"
"""A name used in place of a channel's id: it lies in the shard of all channels."""

HOME_SHARD = shard_of(KIND, HOME)

_TAILS = 0x1_0000


def lives_at_home(channel_id: str) -> bool:
    """Whether a channel lives with the others; those that are older than this rule need not."""
    return shard_of(KIND, channel_id) == HOME_SHARD


def new_channel_id(random_bytes: RandomBytes) -> Uuid:
    """A fresh id of a channel that lives with the others. One in a thousand does, so that its last digits are tried in
    turn, which takes a millisecond."""
    while True:
        drawn = new_uuid(random_bytes)
        head, first = drawn[:-4], int(drawn[-4:], 16)
        for number in range(_TAILS):
            id = f"{head}{(first + number) % _TAILS:04x}"
            if lives_at_home(id):
                return Uuid(id)
