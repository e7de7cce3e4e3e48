"""The kinds of notifications, and all that differs between them: a new kind is a name and a row here.

Beside it the console needs a sentence for it (`notifications.kind.…` in `routes/console/static/text/*.play.json`).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

NotificationKind: TypeAlias = Literal[
    "friend_request",
    "friend_accepted",
    "party_invite",
    "server_invite",
    "cape_moderated",
    "news",
    "sign_in_link",
]
"""All kinds of notifications (contract §5)."""


class KindRules(NamedTuple):
    """What holds for notifications of one kind.

    Args:
        of_pair_max: how many of it that one actor has caused are kept for one user; None where only the bound of all
            kinds holds, because moderators or the service cause them.
        name_in: the member of its data that has the actor's name, which is replaced when they are erased; None where no
            member has.
        text_in: the member of its data that has a text of the actor's, which is removed when they are erased; None
            where no member has.
    """

    of_pair_max: int | None = None
    name_in: str | None = None
    text_in: str | None = None

    @property
    def has_words(self) -> bool:
        """Whether its data has the actor's name or a text of theirs."""
        return self.name_in is not None or self.text_in is not None


KINDS: Mapping[str, KindRules] = MappingProxyType(
    {
        "friend_request": KindRules(of_pair_max=1, name_in="name"),
        "friend_accepted": KindRules(of_pair_max=1, name_in="name"),
        "party_invite": KindRules(of_pair_max=1, name_in="senderName"),
        "server_invite": KindRules(of_pair_max=17, text_in="note"),
        "cape_moderated": KindRules(),
        "news": KindRules(of_pair_max=20),
        "sign_in_link": KindRules(),
    }
)
"""{kind: what holds for it}; of one actor's, 40 in all are kept for one user. Rows that a newer node has added may have
kinds that are not here.
"""
