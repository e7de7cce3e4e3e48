"""What a message may consist of: every broken field is found at once, each with its JSON pointer (contract
§4, §7).

Nothing here knows the state but the names of members; refusals that depend on more are in
`rules_messages.py`.
"""

from collections.abc import Mapping, Sequence

from actors.chat.commands import MentionDraft, MessageDraft, PollDraft
from actors.chat.public import Mention, Poll
from actors.chat.records import new_poll
from actors.chat.state import Member
from actors.errors import FieldError
from actors.texts import line_flaws, lines_flaws, with_line_feeds

MAX_CONTENT_CHARACTERS = 4_000
"""Of a message (contract §4)."""

MAX_MENTIONS = 100
"""Of a message; its content could not hold the tokens of more."""

MAX_ATTACHMENTS = 10
"""Of a message, as Discord has it."""

MAX_CLIENT_ID_CHARACTERS = 100
"""Of a `clientMessageId`: room for any sort of id."""

MAX_LABEL_CHARACTERS = 100
"""Of a poll option (contract §4)."""

MAX_MENTION_LABEL_CHARACTERS = 64
"""Of a mention's label: as long as a name may be."""

MAX_QUESTION_CHARACTERS = 300
"""Of a poll (contract §4)."""

MIN_OPTIONS, MAX_OPTIONS = 2, 10
"""Of a poll (contract §4)."""

MAX_RECORD_BYTES = 80 * 1024
"""What the record of a message can come to when everything in it is as large as it may be: four bytes for each
character, file names of 255 bytes that are all escaped. A test makes such a message."""

MAX_EXPIRY_MS = 32 * 24 * 3600 * 1000
"""From now to a poll's expiry (contract §4)."""


def check_draft(draft: MessageDraft, content: str) -> list[FieldError]:
    """What is wrong with a message, but for its mentions, attachments' rows and poll.

    Args:
        content: of the draft, with line feeds for line breaks.
    """
    errors = check_content(content)
    attachment_ids = draft.attachment_ids or ()
    if not content.strip() and not attachment_ids and draft.poll is None:
        errors.append(FieldError("", "REQUIRED", "a message needs content, attachments or a poll"))
    if len(attachment_ids) > MAX_ATTACHMENTS:
        errors.append(FieldError("/attachmentIds", "TOO_MANY", f"at most {MAX_ATTACHMENTS} attachments"))
    elif len(set(attachment_ids)) != len(attachment_ids):
        errors.append(FieldError("/attachmentIds", "DUPLICATE", "an attachment is named twice"))
    client_id = draft.client_message_id
    if client_id is not None:
        errors += line_flaws(client_id, "/clientMessageId", MAX_CLIENT_ID_CHARACTERS)
    return errors


def check_content(content: str) -> list[FieldError]:
    """What is wrong with a text, given with line feeds for line breaks."""
    return lines_flaws(content, "/content", MAX_CONTENT_CHARACTERS)


def resolve_mentions(
    drafts: Sequence[MentionDraft], members: Mapping[str, Member], errors: list[FieldError]
) -> tuple[Mention, ...]:
    """The mentions with their tokens, each user once; a user who is not a member is an error.

    A token need not stand in the content: a client may show a mention beside the text.
    """
    if len(drafts) > MAX_MENTIONS:
        errors.append(FieldError("/mentions", "TOO_MANY", f"at most {MAX_MENTIONS} mentions"))
        return ()
    found: dict[str, Mention] = {}
    for place, draft in enumerate(drafts):
        member = members.get(draft.id.lower())
        label = (draft.label or "").strip() or (member.name if member else "")
        if draft.kind != "user":
            errors.append(FieldError(f"/mentions/{place}/kind", "UNKNOWN", "only users can be mentioned"))
        elif member is None:
            sentence = "only participants can be mentioned"
            errors.append(FieldError(f"/mentions/{place}/id", "NOT_PARTICIPANT", sentence))
        elif draft.label is not None and (
            flaws := line_flaws(label, f"/mentions/{place}/label", MAX_MENTION_LABEL_CHARACTERS)
        ):
            errors += flaws
        elif member.user_id not in found:
            token = f"<@user:{member.user_id}>"
            found[member.user_id] = Mention(id=member.user_id, token=token, label=label)
    return tuple(found.values())


def check_poll(draft: PollDraft, now_ms: int, errors: list[FieldError]) -> Poll | None:
    """The poll, without votes; None when something of it is wrong."""
    before = len(errors)
    question = with_line_feeds(draft.question).strip()
    errors += lines_flaws(question, "/poll/question", MAX_QUESTION_CHARACTERS, required=True)
    labels = [option.label.strip() for option in draft.options]
    if not MIN_OPTIONS <= len(labels) <= MAX_OPTIONS:
        code = "TOO_FEW" if len(labels) < MIN_OPTIONS else "TOO_MANY"
        errors.append(FieldError("/poll/options", code, f"{MIN_OPTIONS} to {MAX_OPTIONS} options"))
    else:
        errors.extend(_check_labels(labels))
    if draft.expires_at_ms is not None:
        errors.extend(_check_expiry(draft.expires_at_ms, now_ms))
    if len(errors) > before:
        return None
    return new_poll(
        question=question, labels=labels, multiple=draft.multiple, expires_at_ms=draft.expires_at_ms
    )


def _check_labels(labels: Sequence[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for place, label in enumerate(labels):
        pointer = f"/poll/options/{place}/label"
        flaws = line_flaws(label, pointer, MAX_LABEL_CHARACTERS)
        if flaws:
            errors += flaws
        elif label.casefold() in seen:
            errors.append(FieldError(pointer, "DUPLICATE", "labels must differ within a poll"))
        seen.add(label.casefold())
    return errors


def _check_expiry(expires_at_ms: int, now_ms: int) -> list[FieldError]:
    if expires_at_ms <= now_ms:
        return [FieldError("/poll/expiresAtMs", "PAST", "the expiry must lie in the future")]
    if expires_at_ms > now_ms + MAX_EXPIRY_MS:
        return [FieldError("/poll/expiresAtMs", "TOO_FAR", "a poll may run for 32 days at most")]
    return []
