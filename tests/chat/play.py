"""Conversations in memory, for tests of the rules: a state, commands, and nothing else.

`Play` takes turns without kernel and rows. Names stand for users: `uid("ann")` is Ann's id everywhere.
"""

import base64
from collections.abc import Collection, Sequence
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from actors.chat.apply import apply
from actors.chat.commands import (
    AnyCommand,
    MentionDraft,
    MessageDraft,
    PostMessage,
)
from actors.chat.events import AnyEvent
from actors.chat.frames import Frames
from actors.chat.kind import answer, decide
from actors.chat.public import Message
from actors.chat.records import decode
from actors.chat.sight import NOBODY
from actors.chat.state import Member, State
from actors.polls import PollDraft, PollOptionDraft

NOW_MS = 1_795_000_000_000
CONVERSATION_ID = f"{1:024x}"


def uid(name: str) -> str:
    """The id of a user, by their name."""
    return str(uuid5(NAMESPACE_URL, name))


def mid(number: int) -> str:
    """The id of a message, by its number."""
    return f"{number:024x}"


def a_poll(*labels: str, **fields: Any) -> PollDraft:
    """A poll with these options."""
    options = tuple(PollOptionDraft(label=label) for label in labels or ("red", "blue", "green"))
    return PollDraft(**{"question": "which?", "options": options, **fields})


def a_mention(name: str, label: str | None = None) -> MentionDraft:
    """A mention of a user."""
    return MentionDraft(id=uid(name), label=label)


def a_conversation(*names: str, kind: Any = "group", **fields: Any) -> State:
    """A conversation of these users; the first one is the owner of a group."""
    members = {
        uid(name): Member(
            user_id=uid(name),
            name=name,
            joined_at_ms=NOW_MS - 1_000_000 + place,
            joined_seq=0,
            muted=False,
            read_seq=0,
            read_at_ms=None,
            own_at_read=0,
            sent=0,
        )
        for place, name in enumerate(names)
    }
    values: dict[str, Any] = {
        "id": CONVERSATION_ID,
        "kind": kind,
        "title": None,
        "owner_id": uid(names[0]) if kind == "group" else None,
        "created_at_ms": NOW_MS - 1_000_000,
        "updated_at_ms": NOW_MS - 1_000_000,
        "message_seq": 0,
        "last_ms": 0,
        "members": members,
    }
    return State(**{**values, **fields})


class Blocks:
    """Strangers, some of whom block each other.

    Attributes:
        pairs: pairs of users of whom one blocks the other.
    """

    def __init__(self) -> None:
        self.pairs: set[frozenset[str]] = set()

    def parted(self, one_id: str, other_id: str) -> bool:
        return frozenset((one_id, other_id)) in self.pairs

    def friends_among(self, _viewer_id: str, _ids: Collection[str]) -> frozenset[str]:
        return NOBODY

    def hidden_among(self, _viewer_id: str, _ids: Collection[str]) -> frozenset[str]:
        return NOBODY


class Play:
    """A conversation that takes commands, one in a turn; time stands still but for `later`."""

    def __init__(self, *names: str, state: State | None = None, kind: str = "group") -> None:
        self.state = state or a_conversation(*(names or ("ann", "bob", "cid")), kind=kind)
        self.now_ms = NOW_MS
        self.online: set[str] = set()
        self.blocks = Blocks()
        self.frames = Frames(lambda ids: [id for id in ids if id in self.online], lambda: self.now_ms)
        self.events: list[AnyEvent] = []
        self._posted = 0

    def later(self, ms: int) -> "Play":
        """Let so many milliseconds pass."""
        self.now_ms += ms
        return self

    def do(self, command: AnyCommand) -> Sequence[AnyEvent]:
        """Do one command, and return its events; raises the refusal."""
        events = decide(self.blocks, self.state, command, self.now_ms)
        for event in events:
            self.state = apply(self.state, event)
        self.reply = answer(self.frames, self.state, command, events)
        self.events += events
        return events

    def post(self, name: str = "ann", content: str | None = "hello", **draft: Any) -> Message:
        """Send a message and return it."""
        self._posted += 1
        self.do(PostMessage(uid(name), mid(self._posted), MessageDraft(content=content, **draft)))
        return decode(bytes(self.reply))


PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(200))


def a_file(data: bytes = PNG, name: str = "map.png", content_type: str = "image/png") -> dict[str, str]:
    return {"fileName": name, "contentType": content_type, "dataBase64": base64.b64encode(data).decode()}


def poll_body(*labels: str, **more: object) -> dict[str, Any]:
    return {
        "question": "Where?",
        "options": [{"label": label} for label in labels or ("Here", "There")],
        **more,
    }
