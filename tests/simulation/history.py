"""What was really committed, and what of it must hold whenever a client is told that its request is done."""

from collections import Counter
from collections.abc import Iterable

import msgspec
import trio

from actors.chat import events
from actors.chat.public import Message
from actors.chat.records import decode
from tests.simulation.chat_rows import KIND, Rows
from tests.simulation.requests import Request
from tests.simulation.tables import Landed, Tables


class History:
    """Follows the turns that land.

    Args:
        tables: where they land.

    Attributes:
        created, edited, deleted, titled: how often each effect was committed.
        choices: {(message id, voter id): the options of the last vote}.
        wrong: what must not be.
    """

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._followed = 0
        self.created: Counter[str] = Counter()
        self.edited: Counter[tuple[str, str]] = Counter()
        self.deleted: Counter[str] = Counter()
        self.titled: Counter[str] = Counter()
        self.choices: dict[tuple[str, str], tuple[str, ...]] = {}
        self.texts: dict[str, list[str]] = {}  # {message id: what it has said}
        self.doubtful_votes: set[tuple[str, str]] = set()
        self.wrong: list[str] = []
        self._told: dict[str, int] = {}
        self._gone: list[tuple[float, bytes]] = []

    def told_seq(self, id: str) -> int:
        """The newest message of a conversation that some client was told of."""
        return self._told.get(id, 0)

    def gone(self) -> Iterable[bytes]:
        """Texts that were deleted or replaced, and that was acknowledged before this moment."""
        now = trio.current_time()
        return [text for since, text in self._gone if since < now]

    def acknowledged(self, request: Request) -> None:
        """A client is told that its request is done."""
        self.follow()
        if self.effects(request) not in (None, 1):
            self._complain(request, f"has {self.effects(request)} effects")
        rows: Rows = self._tables.rows[KIND, request.id]
        match request.what:
            case "post":
                self._posted(request, rows)
            case "edit" | "delete":
                texts = self.texts.get(request.about, [])
                old = texts[: texts.index(request.tag)] if request.tag in texts else texts
                self._gone += [(trio.current_time(), text.encode()) for text in old]
            case "vote":
                self._voted(request)
            case "read":
                member, message = rows.members.get(request.user_id), rows.messages.get(request.about)
                if member is not None and message is not None and member.read_seq < message.seq:
                    self._complain(request, "is not in the rows")

    def effects(self, request: Request) -> int | None:
        """How often the effect of a request was committed; None where that cannot be told from another's."""
        if request.kind != KIND:
            return None
        match request.what:
            case "post":
                return sum(self.created[id] for id in request.attempts)
            case "edit":
                return self.edited[request.about, request.tag]
            case "title":
                return self.titled[request.tag]
            case "delete":
                return self.deleted[request.about]
            case _:
                return None

    def follow(self) -> None:
        """Take in what has landed since the last time."""
        landed = self._tables.landed
        for one in landed[self._followed :]:
            if one.turn.fence != one.fence:
                self.wrong.append(
                    f"{one.turn.id[-2:]} was written under fence {one.turn.fence}, not {one.fence}"
                )
            if one.turn.kind == KIND:
                self._take(one)
        self._followed = len(landed)

    def _take(self, landed: Landed) -> None:
        for event in landed.turn.events:
            match event:
                case events.MessageCreated(line=line):
                    self.created[line.id] += 1
                    self.texts.setdefault(line.id, []).append(_text(line.record))
                case events.MessageEdited(line=line):
                    self.edited[line.id, _text(line.record)] += 1
                    self.texts.setdefault(line.id, []).append(_text(line.record))
                case events.MessageDeleted(line=line):
                    self.deleted[line.id] += 1
                case events.ConversationChanged(title=title):
                    self.titled[title or ""] += 1
                case events.PollVoted():
                    self.choices[event.line.id, event.voter_id] = event.option_ids

    def _posted(self, request: Request, rows: Rows) -> None:
        found = [rows.messages[id].seq for id in request.attempts if id in rows.messages]
        if not found:
            self._complain(request, "is not in the rows")
            return
        if not any(id.encode() in request.reply for id in request.attempts):
            self._complain(request, "is answered with another message")
        # Those who repeat may be told late of what was early.
        if len(request.attempts) == 1 and found[0] <= request.after_seq:
            self._complain(request, "comes before a message that was acknowledged earlier")
        self._told[request.id] = max(self.told_seq(request.id), found[0])

    def _voted(self, request: Request) -> None:
        about = request.about, request.user_id
        if about in self.doubtful_votes:
            return
        if set(self.choices.get(about, ())) != set(request.chosen):
            self._complain(
                request, f"has chosen {request.chosen}, and {self.choices.get(about)} is committed"
            )
        poll = msgspec.json.decode(request.reply, type=Message).poll
        shown = {option.id for option in poll.options if option.selected is True} if poll else set()
        if shown != set(request.chosen):
            self._complain(request, f"has chosen {request.chosen}, and is shown {shown}")

    def _complain(self, request: Request, what: str) -> None:
        self.wrong.append(f"request {request.number} ({request.what}) is acknowledged, and {what}")


def _text(record: bytes) -> str:
    return decode(record).content.split(" ")[0]
