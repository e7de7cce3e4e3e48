"""What a client can say on `/v1/social/live`, at the root; domains derive theirs (`routes/chat/socket_commands.py`)."""

from typing import Annotated

import msgspec

from actors.bounds import MAX_SAFE_INTEGER

MAX_ID_LENGTH = 64
"""Characters of a command's id that is a text."""

_Number = Annotated[int, msgspec.Meta(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]
_Text = Annotated[str, msgspec.Meta(max_length=MAX_ID_LENGTH)]


class Command(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", rename="camel"):
    """One object from client to server.

    Args:
        id: chosen by the client, repeated in the reply; without it there is no reply.
    """

    id: _Number | _Text | None = None
