"""A conversation's head, encoded: everything up to the viewer's own fields.

It is encoded when the conversation has changed, and joined when the presence that its viewers see has.
"""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from actors.chat.public import ConversationHead, Participant
from actors.chat.state import Facts
from actors.time import iso

_ONLINE = b'"online":'


class Head(NamedTuple):
    """An encoded head, with what it was made of.

    Args:
        facts: the data that the head shows.
        speaking: ids of the participants whose presence everybody sees.
        online: ids of the participants whom the head shows as online.
        encoded: the encoded head.
    """

    facts: Facts
    speaking: tuple[str, ...]
    online: tuple[str, ...]
    encoded: bytes


def encode_head(shown: Facts) -> bytes:
    """Encode a conversation's head with all participants offline."""
    last = shown.last_message
    head = ConversationHead(
        id=shown.id,
        kind=shown.kind,
        title=shown.title,
        owner_id=shown.owner_id,
        participants=tuple(Participant(id=id, name=name, online=False) for id, name in shown.participants),
        participant_count=shown.participant_count,
        created_at=iso(shown.created_at_ms),
        updated_at=iso(shown.updated_at_ms),
        last_message_id=last.id if last else None,
        last_message_preview=last.preview if last else None,
        last_message_at_ms=last.at_ms if last else None,
        last_message_sender_id=last.sender_id if last else None,
        last_event=shown.last_event,
    )
    return msgspec.json.encode(head)[:-1]


def with_presence(head: bytes, online: Iterable[bool]) -> bytes:
    """The head with other presence.

    Args:
        head: an encoded head.
        online: whether each participant is online, in the head's order.
    """
    # Quotes inside a JSON string are escaped, so these bytes occur only as the member that they are.
    before, *parts = head.split(_ONLINE)
    pieces = [before]
    for one, part in zip(online, parts, strict=True):
        pieces += (_ONLINE, b"true" if one else b"false", part[part.index(b"}") :])
    return b"".join(pieces)
