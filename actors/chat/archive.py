"""The archive: history brought in from elsewhere as JSON lines. (A job adds live messages that grew old.)

An import may be repeated: a line whose id is there already is passed over, and a line without an id gets one
from what it says. Two messages of one millisecond are kept apart by moving the later one on, since `beforeMs`
could not tell them apart. Nothing is imported into the last minute, so that no message that is just being
sent is in the way.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import msgspec
from msgspec.structs import replace

from actors.chat import records
from actors.chat.commands import MAX_CONTENT_CHARACTERS, MAX_MENTION_LABEL_CHARACTERS
from actors.chat.public import Message, Public
from actors.chat.units import Creation, create
from actors.errors import Refused
from actors.ids import is_object_id, is_uuid
from actors.kernel.store import Store
from actors.texts import LINE_SENTENCE, SENTENCE, line_flaws, lines_flaws, with_line_feeds
from actors.time import iso, parse_iso
from persistence.chat import archive, conversations
from persistence.chat.rows import ArchiveRow, ConversationRow
from persistence.connection import Connection
from persistence.users import erasure
from persistence.users.users import keep_users

LINES_AT_ONCE = 500
"""Lines that are imported in one transaction."""

YOUNGEST_MS = 60_000
"""An imported message is at least this old."""

_SPAN_MS = 2_000  # how far a message may be moved on to find a free millisecond


class ArchiveLine(Public, frozen=True):
    """One line of an import.

    Args:
        conversation_id: the conversation that the message belongs to. In its place a line may have `participant_ids`:
            a conversation of these users is found or made.
        kind: only with `participant_ids`: `direct` for two users, or `group`, whose owner is the first of them.
        created_at_ms: when the message was sent, epoch milliseconds; or in its place `created_at`, ISO 8601.
        id: the message's id, 24 hexadecimal digits; made from the line when absent.
    """

    sender_id: str
    sender_name: str
    content: str
    conversation_id: str | None = None
    participant_ids: tuple[str, ...] | None = None
    kind: str = "direct"
    created_at_ms: int | None = None
    created_at: str | None = None
    id: str | None = None


class ImportReport(msgspec.Struct, frozen=True):
    """The result of an import.

    Args:
        imported: how many messages were added.
        present: how many were there already.
        refused: (line number from 1, reason) of each line that was not imported.
    """

    imported: int = 0
    present: int = 0
    refused: tuple[tuple[int, str], ...] = ()


class _Tally:
    """What an import has come to so far. It grows in place: a file of another form has every line refused."""

    def __init__(self) -> None:
        self._imported = self._present = 0
        self._refused: list[tuple[int, str]] = []

    def add(self, part: ImportReport) -> None:
        self._imported += part.imported
        self._present += part.present
        self._refused += part.refused

    def refuse(self, number: int, reason: str) -> None:
        self._refused.append((number, reason))

    def report(self) -> ImportReport:
        return ImportReport(self._imported, self._present, tuple(self._refused))


class Numbered(msgspec.Struct, frozen=True):
    """A valid line of the archive, with its number in the file."""

    number: int
    line: ArchiveLine
    at_ms: int


class Homeless(msgspec.Struct, frozen=True):
    """The reason why a line has no conversation to go to."""

    reason: str


_decoder = msgspec.json.Decoder(ArchiveLine)


async def import_archive(
    database: Store,
    lines: Iterable[bytes],
    *,
    now_ms: int,
    new_id: Callable[[], str],
    report: Callable[[ImportReport], None] = lambda _: None,
) -> ImportReport:
    """Import history. Lines that break a rule are reported one by one, and the others are imported.

    Args:
        lines: JSON objects in the form of `ArchiveLine`; blank lines are passed over.
        now_ms: epoch milliseconds; messages must be at least a minute older.
        new_id: makes object ids for new conversations.
        report: called with the report so far after each transaction, for the user who waits.

    Cancellation: what was reported as imported stays; the import may be repeated.
    """
    tally = _Tally()
    batch: list[Numbered] = []
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            batch.append(check_line(number, text, now_ms))
        except (msgspec.MsgspecError, ValueError) as wrong:
            tally.refuse(number, str(wrong))
        if len(batch) >= LINES_AT_ONCE:
            tally.add(await database.transact(_import_batch, tuple(batch), now_ms, new_id))
            batch.clear()
            report(tally.report())
    if batch:
        tally.add(await database.transact(_import_batch, tuple(batch), now_ms, new_id))
    total = tally.report()
    report(total)
    return total


def check_line(number: int, text: bytes, now_ms: int) -> Numbered:
    """Parse a line and check that it may be imported.

    Args:
        number: the line's number in the file, from 1.
        text: the line, JSON.
        now_ms: epoch milliseconds.

    Raises:
        ValueError: the line breaks a rule, which the text names; `msgspec.MsgspecError` when it is not JSON in the form
            of `ArchiveLine`.
    """
    line = _decoder.decode(text)
    line = replace(line, content=with_line_feeds(line.content))
    if not is_uuid(line.sender_id):
        raise ValueError("senderId is not a lower-case uuid")
    if not line.content.strip() or lines_flaws(line.content, "/content", MAX_CONTENT_CHARACTERS):
        raise ValueError(f"content has 1 to {MAX_CONTENT_CHARACTERS} characters, {SENTENCE}")
    if not line.sender_name.strip() or line_flaws(
        line.sender_name, "/senderName", MAX_MENTION_LABEL_CHARACTERS
    ):
        raise ValueError(f"senderName is 1 to {MAX_MENTION_LABEL_CHARACTERS} characters, {LINE_SENTENCE}")
    if line.id is not None and not is_object_id(line.id):
        raise ValueError("id is not 24 lower-case hexadecimal digits")
    if (line.conversation_id is None) == (line.participant_ids is None):
        raise ValueError("exactly one of conversationId and participantIds")
    if line.participant_ids is not None:
        _check_participants(line.kind, line.participant_ids)
    if (line.created_at_ms is None) == (line.created_at is None):
        raise ValueError("exactly one of createdAtMs and createdAt")
    at_ms = line.created_at_ms if line.created_at_ms is not None else parse_iso(line.created_at or "")
    if not 0 < at_ms <= now_ms - YOUNGEST_MS:
        raise ValueError("createdAtMs must lie at least a minute in the past")
    return Numbered(number, line, at_ms)


def _check_participants(kind: str, participant_ids: Sequence[str]) -> None:
    several = len(set(participant_ids))
    if kind not in ("direct", "group"):
        raise ValueError("kind is direct or group")
    if several < 2 or (kind == "direct" and several > 2):
        raise ValueError("participantIds: two for direct, two or more for group")


async def _import_batch(
    conn: Connection, batch: Sequence[Numbered], now_ms: int, new_id: Callable[[], str]
) -> ImportReport:
    tally = _Tally()
    batch = await _without_erased(conn, batch)
    homes: dict[tuple[object, ...], str | Homeless] = {}
    by_home: dict[str, list[Numbered]] = defaultdict(list)
    for one in batch:
        key = (one.line.conversation_id, one.line.kind, one.line.participant_ids)
        if key not in homes:
            homes[key] = await _home(conn, one.line, now_ms, new_id)
        home = homes[key]
        if isinstance(home, Homeless):
            tally.refuse(one.number, home.reason)
        else:
            by_home[home].append(one)
    for home, lines in sorted(by_home.items()):
        tally.add(await _import_into(conn, home, lines))
    return tally.report()


async def _without_erased(conn: Connection, batch: Sequence[Numbered]) -> Sequence[Numbered]:
    """The lines, in which users who were erased are called `deleted`; nobody is erased until the transaction ends."""
    senders = {one.line.sender_id for one in batch}
    gone = await erasure.erased_among(conn, senders - await keep_users(conn, senders))
    return [
        replace(one, line=replace(one.line, sender_name=records.DELETED))
        if one.line.sender_id in gone
        else one
        for one in batch
    ]


async def _home(
    conn: Connection, line: ArchiveLine, now_ms: int, new_id: Callable[[], str]
) -> str | Homeless:
    """The conversation of a line, or why it has none."""
    if line.participant_ids is None:
        row = await conversations.read(conn, line.conversation_id or "")
        return Homeless("no such conversation") if row is None else row.id
    participant_ids = tuple(dict.fromkeys(line.participant_ids))
    owner_id = participant_ids[0]
    creation = Creation(
        row=ConversationRow(new_id(), line.kind, None, owner_id if line.kind == "group" else None, now_ms),
        caller_id=owner_id,
        member_ids=participant_ids,
        pointers={id: f"/participantIds/{place}" for place, id in enumerate(participant_ids)},
        epoch=new_id()[-8:],
    )
    try:
        created = await create(conn, creation)
    except Refused as refused:
        return Homeless(refused.message)
    home = created.value.conversation.facts.id
    if created.value.fresh:
        await archive.tell_made(conn, home)
    return home


async def _import_into(conn: Connection, conversation_id: str, lines: Sequence[Numbered]) -> ImportReport:
    await archive.lock(conn, conversation_id)
    ids = {one.number: one.line.id or _made_id(conversation_id, one) for one in lines}
    present = await archive.present(conn, list(ids.values()))
    taken = await archive.taken_ms(conn, conversation_id, [one.at_ms for one in lines], span_ms=_SPAN_MS)
    rows: list[ArchiveRow] = []
    refused: list[tuple[int, str]] = []
    repeated = 0
    for one in sorted(lines, key=lambda one: (one.at_ms, one.number)):
        id = ids[one.number]
        if id in present:
            repeated += 1
            continue
        at_ms = next((ms for ms in range(one.at_ms, one.at_ms + _SPAN_MS) if ms not in taken), None)
        if at_ms is None:
            refused.append((one.number, "too many messages at this moment"))
            continue
        present.add(id)
        taken.add(at_ms)
        rows.append(ArchiveRow(conversation_id, at_ms, id, _record(conversation_id, id, one.line, at_ms)))
    if rows:
        await archive.store(conn, rows)
    return ImportReport(len(rows), repeated, tuple(refused))


def _made_id(conversation_id: str, one: Numbered) -> str:
    said = "\n".join([conversation_id, one.line.sender_id, str(one.at_ms), one.line.content])
    return hashlib.sha256(said.encode()).hexdigest()[:24]


def _record(conversation_id: str, id: str, line: ArchiveLine, at_ms: int) -> bytes:
    return records.encode(
        Message(
            id=id,
            conversation_id=conversation_id,
            sender_id=line.sender_id,
            sender_name=line.sender_name,
            content=line.content,
            mentions=(),
            attachments=(),
            poll=None,
            created_at=iso(at_ms),
            created_at_ms=at_ms,
            source="archived",
            revision=1,
            client_message_id=None,
            edited_at=None,
            deleted_at=None,
        )
    )
