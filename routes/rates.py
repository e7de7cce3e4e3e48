"""The rate limits that this service declares: the table of contract §3, and some that the contract does not name.

An endpoint is declared with one of them (`rate=UPLOAD`), or has the limit of its kind of caller (`edge/policies.py`).
A policy that is made anywhere else would not be counted across nodes.
"""

from collections.abc import Mapping

from routes.edge import policies
from routes.edge.policies import OWNED_SERVERS, Policy

UPLOAD = Policy("upload", 20, 60)

ALL_CHAT = Policy("chat-send-all", 300, 60)
"""Messages of one sender in all conversations together; not in the contract's table."""

CHAT_SEND = Policy("chat-send", 30, 10, quota_node="social:chat.send", outer=ALL_CHAT)

CHAT_BYTES = Policy("chat-bytes", 64 * 1024 * 1024, 86_400)
"""Bytes of one sender's messages and edits, without the first KiB of each (`chat/volume.py`); not in the contract's
table."""

FRIEND_REQUEST = Policy("friend-request", 20, 3600)

INVITE = Policy("invite", 10, 600)
"""Invites from one user to one other user; not in the contract's table."""

CHECKOUT = Policy("checkout", 10, 600)

WEBHOOK = Policy("webhook", 600, 60, by_address=True)
"""Webhooks of payment providers, which repeat what was refused; counted by address."""

ARTICLE = Policy("article", 120, 240)
"""Articles written or changed, each of which may take a quarter of a second to render; not in the contract's table."""

VOICE_JOIN = Policy("voice-join", 20, 60)

SIGN_IN = Policy("sign-in", 30, 60, by_address=True)
"""Sign-ins with other issuers, each of which asks another server twice; not in the contract's table."""

SIGN_IN_LINK = Policy("sign-in-link", 20, 3600)

REGISTER = Policy("register", 10, 3600, by_address=True)

CLAIM_KEY = Policy("claim-key", 20, 60)
"""Claim keys, each a durable write for a server without an owner; not in the contract's table."""

STATUS_PUSH = Policy("status-push", 2, 1, of_owner=OWNED_SERVERS)

ALL_SETTINGS = Policy("settings-write-all", 120, 60)
"""Writes of one caller to all servers together, as many as of anything else; not in the contract's table."""

OWNED_SETTINGS = Policy("settings-write-owned", 600, 60)
"""Writes of all servers of one owner together, with credentials of their own: a network that starts writes some for
each server at once, so they are more than those of one caller. Not in the contract's table."""

SETTINGS_WRITE = Policy("settings-write", 60, 60, outer=ALL_SETTINGS, of_owner=OWNED_SETTINGS)
"""Settings writes, each a version of up to 64 KiB that is published to all viewers; not in the contract's table."""

CONNECT_BYTES = Policy("connect-bytes", 1024 * 1024 * 1024, 86_400)
"""Bytes of settings, registrations, commands and their results of one user and all servers that are theirs, without the
first KiB of each (`connect/volume.py`); not in the contract's table."""

DOMAIN_VERIFY = Policy("domain-verify", 30, 60)
"""Checks of domains, each of which sends a DNS query for a name that the caller chooses; not in the contract's table.
"""

ALL_LIVE = Policy("live-command-all", 1200, 60)
"""Commands of one user on all sockets, including those closed since; not in the contract's table."""

LIVE_COMMAND = Policy("live-command", 120, 60, outer=ALL_LIVE)

OPERATIONS = Policy("operations", 1200, 60, by_address=True)
"""Probes and scrapers, often many from one address; not in the contract's table, far above their rate."""

PAGES = Policy("pages", 3000, 60, by_address=True)
"""Files of the service's pages, sent from memory: a browser that has none of them asks for some fifty."""

POLICIES: Mapping[str, Policy] = {
    one.name: one for one in (*vars(policies).values(), *globals().values()) if isinstance(one, Policy)
}
"""{name: policy}: all above and those of the edge, since nodes tell each other of the spending of each."""
