"""Sending, editing and deleting: each legal move and each refusal once."""

from typing import Any

import pytest
from msgspec.structs import replace

from actors.chat.commands import DeleteMessage, EditMessage, MessageDraft, PostMessage, RemoveParticipant
from actors.chat.events import DeletionAudited
from actors.chat.records import decode
from actors.chat.state import LookedUp, standing
from actors.errors import Blocked, Conflict, ConversationNotFound, Forbidden, Invalid, NotFound, QuotaExceeded
from persistence.chat.rows import AttachmentRow
from persistence.users.audit import Stamp
from tests.chat.play import CONVERSATION_ID, NOW_MS, Play, a_mention, a_poll, mid, uid

DAY_MS = 24 * 3600 * 1000


def an_upload(number: int = 7, **fields: Any) -> AttachmentRow:
    values: dict[str, Any] = {
        "id": mid(number),
        "conversation_id": CONVERSATION_ID,
        "uploader_id": uid("ann"),
        "file_name": "cat.png",
        "content_type": "image/png",
        "size_bytes": 3,
        "sha256": bytes(32),
        "created_at_ms": NOW_MS - 1,
    }
    return AttachmentRow(**{**values, **fields})


def with_uploads(play: Play, *rows: AttachmentRow) -> Play:
    play.state = replace(play.state, looked_up=LookedUp(attachments={row.id: row for row in rows}))
    return play


def refusal(draft: MessageDraft, play: Play | None = None) -> list[tuple[str, str]]:
    """Pointer and code of each field that is refused."""
    with pytest.raises(Invalid) as caught:
        (play or Play()).do(PostMessage(uid("ann"), mid(1), draft))
    return [(error.pointer, error.code) for error in caught.value.errors]


def test_a_message_has_every_field():
    play = Play()
    message = play.post(
        "ann", f"hi <@user:{uid('bob')}>", mentions=(a_mention("bob"),), client_message_id="c1"
    )
    assert message.id == mid(1)
    assert message.conversation_id == CONVERSATION_ID
    assert (message.sender_id, message.sender_name) == (uid("ann"), "ann")
    assert [(m.kind, m.id, m.token, m.label) for m in message.mentions] == [
        ("user", uid("bob"), f"<@user:{uid('bob')}>", "bob")
    ]
    assert message.created_at_ms == NOW_MS
    assert message.created_at.endswith("Z")
    assert (message.source, message.revision, message.client_message_id) == ("live", 1, "c1")
    assert (message.poll, message.attachments, message.edited_at, message.deleted_at) == (
        None,
        (),
        None,
        None,
    )


def test_created_at_strictly_increases():
    play = Play()
    times = [play.post().created_at_ms for _ in range(3)]
    play.now_ms -= 5_000
    times.append(play.post().created_at_ms)
    assert times == [NOW_MS, NOW_MS + 1, NOW_MS + 2, NOW_MS + 3]


@pytest.mark.parametrize(
    ("draft", "expected"),
    [
        ({}, [("", "REQUIRED")]),
        ({"content": "  \n"}, [("", "REQUIRED")]),
        ({"content": "x" * 4_001}, [("/content", "TOO_LONG")]),
        ({"content": "x", "mentions": (a_mention("eve"),)}, [("/mentions/0/id", "NOT_PARTICIPANT")]),
        (
            {"content": "x", "mentions": (replace(a_mention("bob"), kind="role"),)},
            [("/mentions/0/kind", "UNKNOWN")],
        ),
        ({"content": "x", "mentions": (a_mention("bob", "y" * 101),)}, [("/mentions/0/label", "TOO_LONG")]),
        ({"content": "x", "mentions": (a_mention("bob"),) * 101}, [("/mentions", "TOO_MANY")]),
        ({"content": "x", "client_message_id": ""}, [("/clientMessageId", "REQUIRED")]),
        ({"content": "x", "client_message_id": "y" * 101}, [("/clientMessageId", "TOO_LONG")]),
        ({"attachment_ids": (mid(9),)}, [("/attachmentIds/0", "UNKNOWN")]),
        ({"attachment_ids": (mid(9), mid(9))}, [
            ("/attachmentIds", "DUPLICATE"),
            ("/attachmentIds/0", "UNKNOWN"),
            ("/attachmentIds/1", "UNKNOWN"),
        ]),
        ({"attachment_ids": tuple(mid(number) for number in range(9, 20))}, [("/attachmentIds", "TOO_MANY")]),
        ({"poll": a_poll(question=" ")}, [("/poll/question", "REQUIRED")]),
        ({"poll": a_poll(question="x" * 301)}, [("/poll/question", "TOO_LONG")]),
        ({"poll": a_poll("one")}, [("/poll/options", "TOO_FEW")]),
        ({"poll": a_poll(*"abcdefghijk")}, [("/poll/options", "TOO_MANY")]),
        ({"poll": a_poll("a", " ")}, [("/poll/options/1/label", "REQUIRED")]),
        ({"poll": a_poll("a", "x" * 101)}, [("/poll/options/1/label", "TOO_LONG")]),
        ({"poll": a_poll("a", "b", " a ")}, [("/poll/options/2/label", "DUPLICATE")]),
        ({"poll": a_poll(expires_at_ms=NOW_MS)}, [("/poll/expiresAtMs", "PAST")]),
        ({"poll": a_poll(expires_at_ms=NOW_MS + 32 * DAY_MS + 1)}, [("/poll/expiresAtMs", "TOO_FAR")]),
        (
            {"content": "x" * 4_001, "poll": a_poll("a", "a", question="")},
            [
                ("/content", "TOO_LONG"),
                ("/poll/question", "REQUIRED"),
                ("/poll/options/1/label", "DUPLICATE"),
            ],
        ),
    ],
)  # fmt: skip
def test_a_broken_draft_is_refused_with_its_pointers(draft: dict[str, Any], expected: list[tuple[str, str]]):
    assert refusal(MessageDraft(**draft)) == expected


@pytest.mark.parametrize(
    "draft",
    [
        {"content": "x" * 4_000},
        {"poll": a_poll("a", "b", expires_at_ms=NOW_MS + 1)},
        {"poll": a_poll(*"abcdefghij", expires_at_ms=NOW_MS + 32 * DAY_MS)},
        {"content": "x", "mentions": (a_mention("bob"), a_mention("bob"))},
        {"content": "no token", "mentions": (a_mention("ann"),)},
        {"content": f"<@user:{uid('eve')}>"},
    ],
)
def test_the_limits_themselves_are_allowed(draft: dict[str, Any]):
    Play().do(PostMessage(uid("ann"), mid(1), MessageDraft(**draft)))


def test_a_stranger_finds_no_conversation():
    with pytest.raises(ConversationNotFound):
        Play().post("eve")


def test_a_block_silences_a_direct_conversation_only():
    play = Play("ann", "bob", kind="direct")
    message = play.post("bob")
    play.blocks.pairs.add(frozenset((uid("ann"), uid("bob"))))
    for command in (
        PostMessage(uid("ann"), mid(8), MessageDraft(content="x")),
        PostMessage(uid("bob"), mid(8), MessageDraft(content="x")),
        EditMessage(uid("bob"), message.id, "y"),
    ):
        with pytest.raises(Blocked):
            play.do(command)
    play.blocks.pairs.clear()
    play.post("bob")

    group = Play("ann", "bob")
    group.blocks.pairs.add(frozenset((uid("ann"), uid("bob"))))
    group.post("bob")


def test_a_repeated_client_id_is_answered_with_the_first_message():
    play = Play()
    first = play.post("ann", "one", client_message_id="c")
    again = play.post("ann", "two", client_message_id="c")
    assert again == first
    assert play.state.message_seq == 1
    assert play.post("bob", "mine", client_message_id="c").content == "mine"


def test_a_client_id_from_long_ago_is_recalled():
    play = Play()
    play.post("ann", "one", client_message_id="c")
    line = play.state.window[0]
    for _ in range(120):
        play.post("bob")
    assert line not in play.state.window
    play.state = replace(play.state, looked_up=LookedUp(original=line))
    assert play.post("ann", "two", client_message_id="c").content == "one"
    assert play.post("bob", "two", client_message_id="c").content == "two"


def test_attachments_are_bound_once():
    play = with_uploads(Play(), an_upload())
    message = play.post("ann", None, attachment_ids=(mid(7),))
    assert [(a.id, a.file_name, a.size_bytes) for a in message.attachments] == [(mid(7), "cat.png", 3)]
    assert message.attachments[0].url.endswith(f"/{CONVERSATION_ID}/attachments/{mid(7)}")
    with_uploads(play, an_upload())
    assert refusal(MessageDraft(attachment_ids=(mid(7),)), play) == [("/attachmentIds/0", "UNKNOWN")]


@pytest.mark.parametrize(
    "row",
    [
        an_upload(uploader_id=uid("bob")),
        an_upload(used_at_ms=NOW_MS - 1, message_id=mid(3)),
        an_upload(created_at_ms=NOW_MS - DAY_MS),
    ],
    ids=["another's", "used", "too old"],
)
def test_unusable_uploads_are_refused(row: AttachmentRow):
    play = with_uploads(Play(), row)
    assert refusal(MessageDraft(attachment_ids=(mid(7),)), play) == [("/attachmentIds/0", "UNKNOWN")]


def test_open_polls_with_an_expiry_are_bounded():
    play = Play()
    play.state = replace(play.state, deadlines={mid(n): NOW_MS + 1 for n in range(100, 300)})
    with pytest.raises(QuotaExceeded):
        play.post(poll=a_poll(expires_at_ms=NOW_MS + 5))
    play.post(poll=a_poll())


def test_editing_replaces_text_and_counts_revisions():
    play = Play()
    message = play.post("ann", f"hi <@user:{uid('bob')}>", mentions=(a_mention("bob"),))
    play.later(10).do(EditMessage(uid("ann"), message.id, "bye"))
    edited = decode(bytes(play.reply))
    assert (edited.content, edited.revision, edited.mentions) == ("bye", 2, ())
    assert edited.edited_at is not None
    assert edited.created_at_ms == message.created_at_ms
    assert play.state.last_message is not None
    assert play.state.last_message.preview == "bye"
    assert play.state.last_event is not None
    assert (play.state.last_event.type, play.state.last_event.at_ms) == ("message_edited", NOW_MS + 10)


def test_editing_keeps_mentions_whose_token_stays():
    play = Play()
    token = f"<@user:{uid('bob')}>"
    message = play.post("ann", f"hi {token}", mentions=(a_mention("bob"), a_mention("cid")))
    play.do(EditMessage(uid("ann"), message.id, f"bye {token}"))
    assert [mention.id for mention in decode(bytes(play.reply)).mentions] == [uid("bob")]
    play.do(EditMessage(uid("ann"), message.id, "bye", (a_mention("cid"),)))
    assert [mention.id for mention in decode(bytes(play.reply)).mentions] == [uid("cid")]
    assert play.do(EditMessage(uid("ann"), message.id, "bye", (a_mention("cid"),))) == ()


def test_editing_keeps_the_mention_of_who_has_left():
    play = Play()
    message = play.post("ann", "hi", mentions=(a_mention("bob", "Bobby"), a_mention("cid")))
    play.do(RemoveParticipant(uid("bob"), uid("bob")))
    play.do(EditMessage(uid("ann"), message.id, "hi!", (a_mention("bob", "Robert"), a_mention("cid"))))
    # As it was, since who has left has no name here that it could be checked against.
    kept = decode(bytes(play.reply)).mentions
    assert [(mention.id, mention.label) for mention in kept] == [(uid("bob"), "Bobby"), (uid("cid"), "cid")]
    with pytest.raises(Invalid):
        play.post("ann", "hi", mentions=(a_mention("bob"),))
    play.do(EditMessage(uid("ann"), message.id, "hi!", ()))
    with pytest.raises(Invalid):
        play.do(EditMessage(uid("ann"), message.id, "hi!", (a_mention("bob"),)))


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (EditMessage(uid("eve"), mid(1), "x"), ConversationNotFound),
        (EditMessage(uid("bob"), mid(1), "x"), Forbidden),
        (EditMessage(uid("ann"), mid(5), "x"), NotFound),
        (EditMessage(uid("ann"), mid(6), "x"), Conflict),
        (EditMessage(uid("ann"), mid(1), " "), Invalid),
        (EditMessage(uid("ann"), mid(1), "x" * 4_001), Invalid),
        (EditMessage(uid("ann"), mid(1), "x", (a_mention("eve"),)), Invalid),
        (EditMessage(uid("ann"), mid(2), "x"), Conflict),
        (DeleteMessage(uid("eve"), mid(1)), ConversationNotFound),
        (DeleteMessage(uid("bob"), mid(1)), Forbidden),
        (DeleteMessage(uid("ann"), mid(5)), NotFound),
        (DeleteMessage(uid("ann"), mid(6)), Conflict),
    ],
)
def test_refused_edits_and_deletions_change_nothing(command: Any, error: type[Exception]):
    play = Play()
    play.post("ann")
    play.post("ann")
    play.do(DeleteMessage(uid("ann"), mid(2)))
    play.state = before = replace(play.state, looked_up=LookedUp(archived=frozenset({mid(6)})))
    with pytest.raises(error):
        play.do(command)
    assert play.state == before


def test_an_attachment_may_lose_its_text():
    play = with_uploads(Play(), an_upload())
    message = play.post("ann", "look", attachment_ids=(mid(7),))
    play.do(EditMessage(uid("ann"), message.id, ""))
    assert play.state.last_message is not None
    assert play.state.last_message.preview == "[attachment] cat.png"


def test_deleting_leaves_a_shell():
    play = Play()
    message = play.post("ann", "secret", mentions=(a_mention("bob"),), poll=a_poll(expires_at_ms=NOW_MS + 9))
    assert standing(play.state, play.state.members[uid("bob")]).mentions == 1
    play.do(DeleteMessage(uid("ann"), message.id))
    shell = decode(bytes(play.reply))
    assert (shell.content, shell.mentions, shell.attachments, shell.poll) == ("", (), (), None)
    assert shell.deleted_at is not None
    assert play.state.deadlines == {}
    assert play.state.votes == {}
    assert play.state.last_message is not None
    assert play.state.last_message.preview == ""
    assert standing(play.state, play.state.members[uid("bob")]).mentions == 0
    assert play.do(DeleteMessage(uid("ann"), message.id)) == ()


def test_a_moderator_deletes_without_being_in():
    play = Play()
    message = play.post("ann")
    stamp = Stamp(mid(900), NOW_MS, uid("mod"), "request")
    events = play.do(DeleteMessage(uid("mod"), message.id, stamp))
    assert play.state.last_event is not None
    assert play.state.last_event.actor_id == uid("mod")
    assert events[-1] == DeletionAudited(stamp, message.id, uid("ann"))
    assert play.do(DeleteMessage(uid("mod"), message.id, stamp)) == ()


def test_what_a_moderator_deletes_of_their_own_is_not_audited():
    play = Play()
    message = play.post("ann")
    events = play.do(DeleteMessage(uid("ann"), message.id, Stamp(mid(900), NOW_MS, uid("ann"), None)))
    assert not any(isinstance(event, DeletionAudited) for event in events)


@pytest.mark.parametrize(
    ("draft", "preview"),
    [
        ({"content": "short"}, "short"),
        ({"content": "x" * 141}, "x" * 139 + "…"),
        ({"content": None, "poll": a_poll(question="which?")}, "which?"),
        ({"content": "text wins", "poll": a_poll()}, "text wins"),
    ],
)
def test_the_preview_is_the_start_of_the_text_else_the_question(draft: dict[str, Any], preview: str):
    play = Play()
    play.post("ann", **draft)
    assert play.state.last_message is not None
    assert play.state.last_message.preview == preview


def test_the_window_is_bounded_and_knows_that_there_is_more():
    play = Play()
    for number in range(121):
        assert play.state.older_live is False, number
        play.post(poll=a_poll() if number == 0 else None)
    assert len(play.state.window) == 120
    assert play.state.older_live is True
    assert play.state.votes == {}
