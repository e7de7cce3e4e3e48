"""A conversation on a real database: whole turns with their rows, journal and head, but without the kernel.

`act` does what the kernel does with several commands of one turn; `reload` and `restored` give the state that
would come back after a crash, from rows alone and from a snapshot with the journal above it.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Any

import msgspec

from actors.chat import reading, rendering
from actors.chat.apply import apply
from actors.chat.commands import AnyCommand, MessageDraft, PostMessage
from actors.chat.kind import ChatKinds, chat_kinds
from actors.chat.lookups import distrust, overlaps
from actors.chat.public import Message, MessagePage
from actors.chat.records import decode
from actors.chat.state import NOTHING_LOOKED_UP, State
from actors.chat.units import ConversationDraft, Created, create, plan
from actors.errors import Refused
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.errors import RowsRejected
from persistence.journal import commit as writer
from persistence.journal import journal
from persistence.journal.turn import Turn
from persistence.nodes.leases import take_leases
from tests.chat.play import NOW_MS, mid, uid

KIND = "conversation"
NAMES = ("ann", "bob", "cid", "dan", "eve")


async def make_users(conn: Connection, names: Iterable[str]) -> None:
    """Users with these names, as the store of users would have them."""
    for name in names:
        await conn.execute(
            """
            INSERT INTO users (id, name, name_lower, name_issued_at_s, created_at_ms, updated_at_ms)
            VALUES ($1, $2, $2, 0, 0, 0) ON CONFLICT DO NOTHING
            """,
            uid(name),
            name,
        )


async def gone(conn: Connection, name: str) -> None:
    """Delete a user, as erasing does before their name is looked for."""
    await conn.execute("DELETE FROM users WHERE id = $1", uid(name))


async def commit(conn: Connection, turn: Turn) -> None:
    """Write one turn as the writer would: at once, where that is possible."""
    statement = writer.at_once([turn])
    if statement is not None:
        await conn.fetch(statement.sql, *statement.parameters)
        return
    outcomes = await writer.write(conn, [turn])
    if outcomes[0] is not None:
        raise outcomes[0]


class Stage:
    """See the module. Opened by `open_stage`."""

    def __init__(self, database: Database, kinds: ChatKinds, fence: int) -> None:
        self.database = database
        self.kinds = kinds
        self.fence = fence
        self.now_ms = NOW_MS
        self.number = 0
        self.seq = 0
        self.version = 0
        self.state: State
        self.snapshot: tuple[int, bytes] | None = None

    @property
    def id(self) -> str:
        """The conversation's id."""
        return self.state.id

    async def create(self, *names: str, kind: str = "group") -> Created:
        """Make or find a conversation and take it on the stage; the first one is its owner."""
        self.number += 1
        draft = ConversationDraft(kind=kind, participant_ids=tuple(map(uid, names[1:])))
        creation = plan(draft, uid(names[0]), id=mid(10**9 + self.number), epoch="e1", now_ms=self.now_ms)
        created = (await self.database.transact(create, creation)).value
        await self.enter(created.conversation.facts.id)
        return created

    async def enter(self, conversation_id: str) -> None:
        """Take a conversation on the stage."""
        self.state = await self.loaded(conversation_id)
        head = await self.database.read(journal.read_head, KIND, conversation_id)
        assert head is not None
        self.seq, self.version = head.seq, head.version

    async def act(self, *commands: AnyCommand) -> list[Any]:
        """One turn; the replies, or what they were refused with. When its rows are refused, once more in doubt."""
        try:
            return await self._act(commands)
        except RowsRejected:
            if distrust(self.state) is self.state:
                raise
            self.state = distrust(self.state)
            return await self._act(commands)

    async def _act(self, commands: Sequence[AnyCommand]) -> list[Any]:
        kind, state = self.kinds.conversation, self.state
        replies: list[Any] = []
        durable: list[Any] = []
        for place, command in enumerate(commands):
            scratch = state
            missing = kind.lookups.missing(scratch, command)
            if missing is not None and any(overlaps(event, missing) for event in durable):
                await self._commit(state, durable)
                return replies + await self._act(commands[place:])
            if missing is not None:
                scratch = kind.lookups.absorb(
                    scratch, await self.database.read(kind.lookups.fetch, state.id, missing)
                )
            try:
                events = kind.decide(scratch, command, self.now_ms)
            except Refused as refused:
                replies.append(refused)
                continue
            for event in events:
                scratch = kind.apply(scratch, event)
            replies.append(kind.answer(scratch, command, events))
            durable += [event for event in events if event.durable]
            state = kind.lookups.forget(scratch)
        await self._commit(state, durable)
        return replies

    async def begin(self, command: AnyCommand) -> Callable[[], Awaitable[None]]:
        """One turn as far as its decision; what is returned commits it. No other may be taken in between."""
        kind, state = self.kinds.conversation, self.state
        missing = kind.lookups.missing(state, command)
        if missing is not None:
            state = kind.lookups.absorb(
                state, await self.database.read(kind.lookups.fetch, state.id, missing)
            )
        events = kind.decide(state, command, self.now_ms)
        for event in events:
            state = kind.apply(state, event)
        return partial(self._commit, kind.lookups.forget(state), [one for one in events if one.durable])

    async def _commit(self, state: State, durable: Sequence[Any]) -> None:
        if durable:
            turn = self.turn_of(state, durable)
            await self.database.transact(commit, turn)
            self.seq += len(turn.journal)
            self.version += 1
        self.state = state

    def turn_of(self, state: State, events: Sequence[Any]) -> Turn:
        """What the kernel would hand to the writer."""
        return Turn(
            kind=KIND,
            id=state.id,
            shard=0,
            fence=self.fence,
            seq=self.seq,
            version=self.version,
            at_ms=self.now_ms,
            events=tuple(events),
            journal=tuple(msgspec.msgpack.encode(event) for event in events if event.journaled),
            due_at_ms=self.kinds.conversation.due(state),
            summary=self.kinds.conversation.summary(state),
            persist=self.kinds.conversation.persist,
            plan=self.kinds.conversation.plan,
        )

    async def do(self, command: AnyCommand) -> Any:
        """A turn of one command; raises what it is refused with."""
        (reply,) = await self.act(command)
        if isinstance(reply, Refused):
            raise reply
        return reply

    def posting(self, name: str = "ann", content: str | None = "hello", **draft: Any) -> PostMessage:
        """The command that sends a message."""
        self.number += 1
        return PostMessage(uid(name), mid(self.number), MessageDraft(content=content, **draft))

    async def post(self, name: str = "ann", content: str | None = "hello", **draft: Any) -> Message:
        """Send a message and return it."""
        return decode(bytes(await self.do(self.posting(name, content, **draft))))

    async def fill(self, count: int, name: str = "ann") -> None:
        """Send many messages, 60 a turn."""
        for start in range(0, count, 60):
            await self.act(*(self.posting(name, f"filler {n}") for n in range(start, min(start + 60, count))))

    def take_snapshot(self) -> None:
        """Keep a snapshot for `restored`."""
        self.snapshot = self.seq, self.kinds.conversation.dump(self.state)

    async def loaded(self, conversation_id: str) -> State:
        """The state from rows alone."""
        state = await self.database.read(self.kinds.conversation.load, conversation_id)
        assert state is not None
        return state

    async def restored(self) -> State:
        """The state from the last snapshot, the journal above it, and the rows that the journal omits."""
        assert self.snapshot is not None
        seq, kept = self.snapshot
        kind = self.kinds.conversation
        state = kind.restore(kept)
        for row in await self.database.read(_events_after, self.id, seq):
            state = apply(state, msgspec.msgpack.decode(row.event, type=kind.events))
        return await self.database.read(kind.unjournaled.refresh, self.id, state)

    async def page(self, name: str = "ann", **query: Any) -> MessagePage:
        """A page as the routes would answer it: from memory when it can, and from rows; both must agree."""
        asked = reading.MessageSlice(**{"limit": 50, **query})
        stored = await self.database.read(reading.read_page, self.id, uid(name), asked)
        from_rows = rendering.message_page(self.kinds.frames, stored)
        live = self.kinds.frames.page_for(
            self.state,
            uid(name),
            before_ms=asked.before_ms,
            limit=asked.limit,
            include_archived=asked.include_archived,
        )
        assert live in (None, from_rows)
        return msgspec.json.decode(from_rows, type=MessagePage)


async def _events_after(conn: Connection, id: str, seq: int) -> list[journal.JournalRow]:
    return await journal.read_events(conn, KIND, id, after=seq, limit=10_000)


def lasting(state: State) -> State:
    """What of a state must come back after a crash."""
    return msgspec.structs.replace(
        state, read_notices_sent_ms={}, read_notices_due={}, looked_up=NOTHING_LOOKED_UP, doubtful=False
    )


async def open_stage(database: Database, *names: str, kind: str = "group") -> Stage:
    """A stage with five users and a conversation of the named ones."""
    await database.transact(make_users, NAMES)
    leases = await database.transact(take_leases, "test", [0])
    stage = Stage(database, chat_kinds(lambda _ids: (), lambda: stage.now_ms), leases[0])
    await stage.create(*(names or ("ann", "bob", "cid")), kind=kind)
    return stage
