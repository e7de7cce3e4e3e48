"""When each feed last changed, for readers who ask again by date (RFC 9110 §8.8.2).

Rows do not tell: where an article was archived, or went with its network, no row of the feed is newer than before.
"""

import hashlib
from collections import OrderedDict

FEEDS_MAX = 1_000
"""Most feeds whose date is known; beyond it the feed that was asked for longest ago counts as changed."""


class FeedDates:
    """The dates of feeds, since the service began."""

    def __init__(self) -> None:
        # {feed: (digest of its content, the first whole second in which it was so)}
        self._seen: OrderedDict[str, tuple[bytes, int]] = OrderedDict()

    def since_s(self, feed: str, content: bytes, now_s: int) -> int | None:
        """The first whole second, in epoch seconds, in which a feed had this content; None for a feed that has changed
        in the present second, because a reader may have fetched it earlier in that second.

        Args:
            feed: the feed's address, with everything that its content depends on.
            content: the present content of the feed.
            now_s: epoch seconds.
        """
        digest = hashlib.sha256(content).digest()
        known = self._seen.pop(feed, None)
        since_s = known[1] if known is not None and known[0] == digest else now_s + 1
        self._seen[feed] = digest, since_s
        if len(self._seen) > FEEDS_MAX:
            self._seen.popitem(last=False)
        return since_s if since_s <= now_s else None
