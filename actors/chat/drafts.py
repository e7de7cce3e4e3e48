"""What a message may consist of: every broken field is found at once, each with its JSON pointer (contract
§4, §7).

Nothing here knows the state but the names of members; refusals that depend on more are in
`rules_messages.py`.
"""

from collections.abc import Mapping, Sequence

from actors.chat.commands import (
    MAX_ATTACHMENTS,
    MAX_CLIENT_ID_CHARACTERS,
    MAX_CONTENT_CHARACTERS,
    MAX_MENTION_LABEL_CHARACTERS,
    MAX_MENTIONS,
    MentionDraft,
    MessageDraft,
)
from actors.chat.public import Mention
from actors.chat.state import Member
from actors.field_errors import FieldError
from actors.texts import line_flaws, lines_flaws

MAX_RECORD_BYTES = 80 * 1024
"""What the record of a message can come to when everything in it is as large as it may be: four bytes for each
character, file names of 255 bytes that are all escaped. A test makes such a message."""


def check_draft(draft: MessageDraft, content: str) -> list[FieldError]:
    """Check a message, except for its mentions, the rows of its attachments and its poll; returns one error a flaw.

    Args:
        draft: the message as the client sent it.
        content: the draft's content, with line feeds for line breaks.
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
    """Check a text, given with line feeds for line breaks; returns one error a flaw."""
    return lines_flaws(content, "/content", MAX_CONTENT_CHARACTERS)


def resolve_mentions(
    drafts: Sequence[MentionDraft],
    members: Mapping[str, Member],
    errors: list[FieldError],
    earlier: Sequence[Mention] = (),
) -> tuple[Mention, ...]:
    """The mentions with their tokens, each user once; for a user who is not a member an error is added to `errors`.

    A token need not stand in the content: a client may show a mention beside the text.

    Args:
        earlier: the mentions that the message has so far: these may stay, as they are, when the user has left.
    """
    if len(drafts) > MAX_MENTIONS:
        errors.append(FieldError("/mentions", "TOO_MANY", f"at most {MAX_MENTIONS} mentions"))
        return ()
    kept = {mention.id: mention for mention in earlier if mention.id not in members}
    found: dict[str, Mention] = {}
    for place, draft in enumerate(drafts):
        user_id = draft.id.lower()
        member = members.get(user_id)
        label = (draft.label or "").strip() or (member.name if member else "")
        if draft.kind != "user":
            errors.append(FieldError(f"/mentions/{place}/kind", "UNKNOWN", "only users can be mentioned"))
        elif user_id in kept:
            found[user_id] = kept[user_id]
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
