"""Text of messages: where control characters are refused, and how large a message can come to be."""

import pytest
from msgspec.structs import replace

from actors.chat.commands import EditMessage, MentionDraft, PostMessage
from actors.chat.commands import MessageDraft as Draft
from actors.chat.drafts import (
    MAX_ATTACHMENTS,
    MAX_CLIENT_ID_CHARACTERS,
    MAX_CONTENT_CHARACTERS,
    MAX_MENTION_LABEL_CHARACTERS,
    MAX_MENTIONS,
    MAX_RECORD_BYTES,
)
from actors.chat.state import LookedUp
from actors.errors import Invalid
from actors.polls import MAX_LABEL_CHARACTERS, MAX_OPTIONS, MAX_QUESTION_CHARACTERS
from persistence.chat.rows import AttachmentRow
from tests.chat.play import NOW_MS, Play, a_conversation, a_poll, mid, uid

WIDEST = "\U0001f600"  # four bytes, as wide as characters get


@pytest.mark.parametrize("control", ["\x01", "\x08", "\x0b", "\x1b", "\x7f", "\x85", "\x9f"])
def test_control_characters_get_into_no_message(control: str):
    play = Play()
    sent = play.post()
    cases = [
        (PostMessage(uid("ann"), mid(90), Draft(content=f"a{control}")), "/content"),
        (PostMessage(uid("ann"), mid(90), Draft(content="a", client_message_id=control)), "/clientMessageId"),
        (
            PostMessage(
                uid("ann"),
                mid(90),
                Draft(content="a", mentions=(MentionDraft(id=uid("bob"), label=f"b{control}b"),)),
            ),
            "/mentions/0/label",
        ),
        (PostMessage(uid("ann"), mid(90), Draft(poll=a_poll(question=f"w{control}?"))), "/poll/question"),
        (PostMessage(uid("ann"), mid(90), Draft(poll=a_poll("a", f"b{control}c"))), "/poll/options/1/label"),
        (EditMessage(uid("ann"), sent.id, f"a{control}"), "/content"),
    ]
    for command, pointer in cases:
        with pytest.raises(Invalid) as caught:
            play.do(command)
        assert [(error.pointer, error.code) for error in caught.value.errors] == [(pointer, "BAD_TEXT")]


def test_line_breaks_of_windows_are_kept_as_line_feeds():
    play = Play()
    sent = play.post(content="a\r\nb")
    assert sent.content == "a\nb"
    assert play.do(EditMessage(uid("ann"), sent.id, "a\r\nb")) == ()
    # Counted as what is kept.
    assert (
        len(play.post(content="\r\n" * (MAX_CONTENT_CHARACTERS - 1) + "x").content) == MAX_CONTENT_CHARACTERS
    )


def test_no_message_is_larger_than_said():
    """Everything in it at its widest; file names are cut by bytes, and quotes in them are escaped."""
    uploads = {
        mid(500 + number): AttachmentRow(
            id=mid(500 + number),
            conversation_id="c" * 24,
            uploader_id=uid("n0"),
            file_name='"' * 255,
            content_type=f"{'a' * 63}/{'b' * 63}",
            size_bytes=2**40,
            sha256=bytes(32),
            created_at_ms=NOW_MS,
        )
        for number in range(MAX_ATTACHMENTS)
    }
    names = [f"n{number}" for number in range(MAX_MENTIONS)]
    state = a_conversation(*names)
    members = {id: replace(one, name=WIDEST * 64) for id, one in state.members.items()}
    play = Play(state=replace(state, members=members, looked_up=LookedUp(attachments=uploads)))
    options = [f"{number}" + WIDEST * (MAX_LABEL_CHARACTERS - 1) for number in range(MAX_OPTIONS)]
    play.post(
        "n0",
        WIDEST * MAX_CONTENT_CHARACTERS,
        mentions=tuple(
            MentionDraft(id=uid(name), label=WIDEST * MAX_MENTION_LABEL_CHARACTERS) for name in names
        ),
        attachment_ids=tuple(uploads),
        poll=a_poll(*options, question=WIDEST * MAX_QUESTION_CHARACTERS, expires_at_ms=NOW_MS + 1),
        client_message_id=WIDEST * MAX_CLIENT_ID_CHARACTERS,
    )
    (line,) = play.state.window
    assert MAX_RECORD_BYTES * 0.8 < len(line.record) <= MAX_RECORD_BYTES
