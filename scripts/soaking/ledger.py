"""Every acknowledged message of a soak, and whether each is there in the end: once, and in order."""

from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

import trio

from scripts.load.clients.exchange import EXAMPLES, Verdict
from scripts.soaking.asking import Asker, NotDone
from scripts.soaking.scene import Room, User

RETRY_SECONDS = 0.25
PAGE = 120


class Kept(NamedTuple):
    """What the service has said of a message that it keeps.

    Args:
        id: of the message.
        created_at_ms: its place in the conversation.
    """

    id: str
    created_at_ms: int


class Writer:
    """Who writes into a room, one message after the other: each is sent until it is acknowledged.

    Args:
        number: of the writer.
        user: who it is.
        room: where.
    """

    def __init__(self, number: int, user: User, room: Room) -> None:
        self.number, self.user, self.room = number, user, room
        self.kept: list[Kept] = []
        self.repeats = 0
        self.is_busy = False

    def client_id(self, number: int) -> str:
        """The `clientMessageId` of a message, by its number from 0."""
        return f"{self.number}-{number}"

    async def write(self, asker: Asker) -> None:
        """Post the next message of a writer that was taken (`take`), as often as it takes; cancelled, it counts as not
        acknowledged.
        """
        client_id = self.client_id(len(self.kept))
        body = {"content": f"message {client_id} " + "abcdefghi " * 8, "clientMessageId": client_id}
        try:
            while True:
                try:
                    made = await asker.ask(
                        "chat/message", "POST", f"{self.room.path}/messages", self.user.token, body
                    )
                    break
                except NotDone:
                    self.repeats += 1
                    await trio.sleep(RETRY_SECONDS)
        finally:
            self.is_busy = False
        self.kept.append(Kept(made["id"], made["createdAtMs"]))


def take(writers: Sequence[Writer], rng: Random) -> Writer | None:
    """One of the writers that are idle, who is busy from now on; None if all are.

    Busy before its task begins: a loop that is late chooses again before that, and a message would count as two.
    """
    idle = [writer for writer in writers if not writer.is_busy]
    if not idle:
        return None
    writer = rng.choice(idle)
    writer.is_busy = True
    return writer


def writers_of(rooms: Sequence[Room]) -> list[Writer]:
    """A writer for each member of each room."""
    pairs = [(user, room) for room in rooms for user in room.members]
    return [Writer(number, user, room) for number, (user, room) in enumerate(pairs)]


async def stored(asker: Asker, room: Room) -> list[dict[str, Any]]:
    """The whole conversation, oldest first.

    Raises:
        NotDone: a page was refused.
    """
    pages: list[list[dict[str, Any]]] = []
    before = ""
    while True:
        target = f"{room.path}/messages?limit={PAGE}{before}"
        page = await asker.ask("judging/messages", "GET", target, room.members[0].token)
        pages.append(page["items"])
        if not page["hasMore"]:
            return [message for items in reversed(pages) for message in items]
        before = f"&beforeMs={page['nextBeforeMs']}"


def judge(messages: Sequence[dict[str, Any]], writers: Sequence[Writer]) -> Verdict:
    """Whether a conversation holds what was acknowledged: each message once, under its id, in order.

    Each writer may have one message there that nobody acknowledged.

    Args:
        messages: all of them, oldest first.
        writers: all who write there.
    """
    places: dict[str, int] = {}
    examples: list[str] = []
    repeated = missing = disordered = 0
    for place, message in enumerate(messages):
        if places.setdefault(str(message["clientMessageId"]), place) != place:
            repeated += 1
            examples.append(f"{message['clientMessageId']} is there twice")
    for writer in writers:
        last = -1
        for number, kept in enumerate(writer.kept):
            place = places.get(writer.client_id(number), -1)
            found = messages[place] if place >= 0 else {}
            if (found.get("id"), found.get("createdAtMs")) != kept:
                missing += 1
                examples.append(f"{writer.client_id(number)} was acknowledged and is not there")
            elif place <= last:
                disordered += 1
                examples.append(f"{writer.client_id(number)} stands before what was sent earlier")
            last = max(last, place)
    return Verdict(
        subscriptions=len(writers),
        expected=sum(len(writer.kept) for writer in writers),
        missing=missing,
        repeated=repeated,
        disordered=disordered,
        examples=examples[:EXAMPLES],
    )
