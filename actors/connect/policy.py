"""Who may come to play on a game server (contract §7, `access`): pure.

| mode           | besides owner and members     | reason when so | reason when not  |
|----------------|-------------------------------|----------------|------------------|
| `public`       | every user                    | `public`       |                  |
| `network`      | who is in the same network    | `network`      | `not_in_network` |
| `friends_only` | the owner's friends           | `friend`       | `not_a_friend`   |
| `invite_only`  | who has an open invite        | `invited`      | `not_invited`    |
| `private`      | no one else                   |                | `private`        |

The owner is admitted with the reason `owner`, a member with `member`; an id without a user is an `unknown_user`. Nobody
is admitted in any mode between whom and the owner a block stands, with the reason `blocked`: they get no ticket either.
"""

from dataclasses import dataclass

import msgspec

from actors.connect.rules_invites import status_at
from actors.connect.state import State
from actors.errors import NotFound


class Entry(msgspec.Struct, frozen=True):
    """Whether a user may play, with a one-word reason.

    Args:
        allowed: whether the user may play.
        reason: why, in one word.
    """

    allowed: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquaintance:
    """What the rows say of the user who wants to play; looked up only as far as the mode needs it.

    Args:
        exists: whether there is such a user.
        barred: whether a block stands between them and the server's owner.
        friend_of_owner: whether they and the server's owner are friends.
        in_network: whether they own, belong to or play on a server of the same network.
    """

    exists: bool
    barred: bool = False
    friend_of_owner: bool = False
    in_network: bool = False


def admits(state: State, user_id: str, known: Acquaintance, now_ms: int) -> Entry:
    """Decide whether the user may play on the server.

    Raises:
        NotFound: the server is unclaimed, so that it has no policy, or removed.
    """
    row = state.row
    if row.owner_id is None or state.removed:
        raise NotFound
    if not known.exists:
        return Entry(allowed=False, reason="unknown_user")
    if user_id == row.owner_id:
        return Entry(allowed=True, reason="owner")
    if known.barred:
        return Entry(allowed=False, reason="blocked")
    if user_id in state.members:
        return Entry(allowed=True, reason="member")
    invited = any(
        invite.invitee_user_id == user_id and status_at(invite, now_ms) == "pending"
        for invite in state.invites.values()
    )
    allowed, yes, no = {
        "public": (True, "public", ""),
        "network": (known.in_network, "network", "not_in_network"),
        "friends_only": (known.friend_of_owner, "friend", "not_a_friend"),
        "invite_only": (invited, "invited", "not_invited"),
        "private": (False, "", "private"),
    }[row.access_mode]
    return Entry(allowed=allowed, reason=yes if allowed else no)
