"""Creating conversations: `plan` checks the draft, and `create` is one transaction, since no actor is live yet
(contract §4).
"""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from actors.bounds import MAX_NAMED, IdText, UuidText, ruled
from actors.change import Change
from actors.chat import bounds
from actors.chat.commands import MAX_TITLE_CHARACTERS, Title
from actors.chat.public import Public
from actors.chat.reading import StoredConversation
from actors.chat.rules_members import check_consent
from actors.chat.state import MAX_MEMBERS, Summary, encode_summary, participant_key
from actors.chat.stored import facts_of_row, standing_of_row
from actors.errors import ConversationNotFound, Invalid
from actors.field_errors import FieldError
from actors.texts import line_flaws
from persistence.chat import consent, conversations
from persistence.chat.rows import ConversationRow
from persistence.connection import Connection
from persistence.users.names import read_names


class ConversationDraft(Public, frozen=True):
    """A conversation that a client asks for; the caller is added by the server (service description §4).

    Args:
        kind: `direct` or `group`.
        participant_ids: the other members; the caller and repeated ids are ignored.
        title: the title, for groups only.
    """

    kind: Annotated[IdText, ruled(enum=["direct", "group"])]
    participant_ids: Annotated[tuple[UuidText, ...], msgspec.Meta(max_length=MAX_NAMED)]
    title: Title | None = None


class Creation(msgspec.Struct, frozen=True):
    """A conversation to create, unless one with the same members exists.

    Args:
        pointers: {user id: JSON pointer into the request} of the other members.
        epoch: a fresh short name for its history.
        groups_max: how many groups the caller may own; None for an operator's import, to which no bounds apply.
    """

    row: ConversationRow
    caller_id: str
    member_ids: tuple[str, ...]
    pointers: dict[str, str]
    epoch: str
    groups_max: int | None = None


class Created(msgspec.Struct, frozen=True):
    """The result of `create`.

    Args:
        fresh: True if the conversation was created, False if it existed before.
    """

    conversation: StoredConversation
    fresh: bool


class ConversationMade(msgspec.Struct, frozen=True):
    """A conversation was created.

    Args:
        member_ids: the users whose inboxes show it.
    """

    conversation_id: str
    member_ids: tuple[str, ...]


def plan(
    draft: ConversationDraft,
    caller_id: str,
    *,
    id: str,
    epoch: str,
    now_ms: int,
    groups_max: int = bounds.GROUPS_DEFAULT,
) -> Creation:
    """Check a draft and turn it into the conversation to create.

    Args:
        id: a fresh object id.
        epoch: a fresh short name for the conversation's history.
        now_ms: epoch milliseconds.
        groups_max: how many groups the caller may own.

    Raises:
        Invalid: the kind is unknown, there are too few or too many other members, or the title breaks a rule.
    """
    pointers: dict[str, str] = {}
    for place, peer_id in enumerate(draft.participant_ids):
        pointers.setdefault(peer_id.lower(), f"/participantIds/{place}")
    pointers.pop(caller_id, None)
    errors = [*_check_peers(draft.kind, pointers), *_check_title(draft)]
    if errors:
        raise Invalid(*errors)
    group = draft.kind == "group"
    title = (draft.title or "").strip() or None
    return Creation(
        row=ConversationRow(id, draft.kind, title, caller_id if group else None, now_ms),
        caller_id=caller_id,
        member_ids=(caller_id, *pointers),
        pointers=pointers,
        epoch=epoch,
        groups_max=groups_max,
    )


def _check_peers(kind: str, pointers: Mapping[str, str]) -> list[FieldError]:
    if kind not in ("direct", "group"):
        return [FieldError("/kind", "UNKNOWN", "kind is direct or group")]
    if not pointers:
        return [FieldError("/participantIds", "TOO_FEW", "name a user other than yourself")]
    if kind == "direct" and len(pointers) > 1:
        return [FieldError("/participantIds", "TOO_MANY", "a direct conversation has exactly one peer")]
    if len(pointers) >= MAX_MEMBERS:
        return [FieldError("/participantIds", "TOO_MANY", f"at most {MAX_MEMBERS} participants")]
    return []


def _check_title(draft: ConversationDraft) -> list[FieldError]:
    title = (draft.title or "").strip()
    if not title:
        return []
    if draft.kind != "group":
        return [FieldError("/title", "NOT_ALLOWED", "only groups have a title")]
    return line_flaws(title, "/title", MAX_TITLE_CHARACTERS)


async def create(conn: Connection, creation: Creation) -> Change[Created]:
    """Create the conversation, or find the oldest with the same kind and members; inside a transaction.

    Raises:
        Invalid: one of the other members does not exist, or there are fewer than two members.
        Blocked: one of a group's members blocks the caller, or is blocked by them.
        Forbidden: the settings of one of a group's members do not let the caller add them to groups.
        QuotaExceeded: the caller or another member would be beyond a bound of `bounds.py`.
        ConversationNotFound: the caller has left the conversation that was found in the meantime.
    """
    known = await read_names(conn, creation.member_ids)
    unknown = [
        FieldError(pointer, "UNKNOWN", "no such user")
        for user_id, pointer in creation.pointers.items()
        if user_id not in known
    ]
    if unknown:
        raise Invalid(*unknown)
    row = creation.row
    summary = encode_summary(Summary(row.created_at_ms, 0, 0))
    key = participant_key(row.kind, creation.member_ids)
    if key is None:
        raise Invalid(FieldError("/participantIds", "TOO_FEW", "at least two participants"))
    found = await conversations.find(conn, key)
    if found is None:
        await _check_consent(conn, creation)
        await conversations.create(
            conn,
            row,
            maker_id=creation.caller_id,
            member_ids=creation.member_ids,
            participant_key=key,
            epoch=creation.epoch,
            summary=summary,
        )
        await _check_bounds(conn, creation)
    id = found or row.id
    rows = await conversations.named(conn, creation.caller_id, [id])
    if not rows:
        # The caller was a member when it was found, and has left it since.
        raise ConversationNotFound
    shown = StoredConversation(facts_of_row(rows[0]), standing_of_row(rows[0]))
    if found is not None:
        return Change(Created(shown, False))
    return Change(Created(shown, True), (ConversationMade(id, creation.member_ids),))


async def _check_consent(conn: Connection, creation: Creation) -> None:
    if creation.row.kind == "group":
        check_consent(await consent.among(conn, creation.caller_id, list(creation.pointers)))


async def _check_bounds(conn: Connection, creation: Creation) -> None:
    if creation.groups_max is not None:
        await bounds.check_made(
            conn,
            creation.caller_id,
            creation.pointers,
            is_group=creation.row.kind == "group",
            groups_max=creation.groups_max,
            now_ms=creation.row.created_at_ms,
        )
