"""Keeps every acknowledged message of a soak, and judges whether each is there in the end, once and in order."""

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
    """An acknowledged message, as the service has answered.

    Args:
        id: the message's id.
        created_at_ms: when it was created, epoch milliseconds; with the id, its place in the conversation.
    """

    id: str
    created_at_ms: int


class Writer:
    """Writes into a room for one user, one message after the other: each is sent until it is acknowledged.

    Args:
        number: the writer's number.
        user: the user who writes.
        room: the room that they write into.
    """

    def __init__(self, number: int, user: User, room: Room) -> None:
        self.number, self.user, self.room = number, user, room
        self.kept: list[Kept] = []
        self.repeats = 0
        self.is_busy = False

    def client_id(self, number: int) -> str:
        """The `clientMessageId` of the writer's message with this number, from 0."""
        return f"{self.number}-{number}"

    async def write(self, asker: Asker) -> None:
        """Post the writer's next message again and again until it is acknowledged; the writer was reserved by `take`.
        Cancelled, the message counts as not acknowledged.
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
    """Reserve one of the idle writers at random; None if all are busy.

    The writer is busy from now on, not only once its task begins: a loop that is late chooses again before that, and
    one message would count as two.
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
    """All messages of a conversation, oldest first.

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
    """Judge whether a conversation holds what was acknowledged: each message once, under its id, in order.

    Each writer may have one message there that was not acknowledged.

    Args:
        messages: all messages of the conversation, oldest first.
        writers: all writers of its room.
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
