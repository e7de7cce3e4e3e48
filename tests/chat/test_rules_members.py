"""Reading, typing, titles, coming and going."""

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from actors.chat.commands import (
    AddParticipants,
    ChangeConversation,
    EditMessage,
    MarkRead,
    RemoveParticipant,
    StartTyping,
    TellErased,
    TellRename,
)
from actors.chat.events import PastRewritten, ReadMarked, ReadTold, TypingStarted
from actors.chat.public import ReadMarker
from actors.chat.rules_members import stand_in_of
from actors.chat.rules_polls import due, expire
from actors.chat.state import LookedUp, participant_key, standing
from actors.errors import Blocked, Conflict, ConversationNotFound, Forbidden, Invalid, NotFound
from tests.chat.play import NOW_MS, Play, a_mention, mid, uid


def unread(play: Play, name: str) -> tuple[int, int]:
    own = standing(play.state, play.state.members[uid(name)])
    return own.unread, own.mentions


def test_own_messages_are_never_unread():
    play = Play()
    for name in ("ann", "bob", "ann", "cid"):
        play.post(name, mentions=(a_mention("bob"),))
    assert [unread(play, name) for name in ("ann", "bob", "cid")] == [(2, 0), (3, 3), (3, 0)]


def test_reading_is_monotonic():
    play = Play()
    for name in ("ann", "bob", "ann", "cid"):
        play.post(name, mentions=(a_mention("bob"),))
    play.do(MarkRead(uid("bob"), mid(3)))
    assert play.reply == ReadMarker(unread_count=1, mention_count=1, last_read_at_ms=NOW_MS + 2)
    assert play.do(MarkRead(uid("bob"), mid(1))) == ()
    assert play.reply == ReadMarker(unread_count=1, mention_count=1, last_read_at_ms=NOW_MS + 2)
    play.do(MarkRead(uid("bob"), mid(4)))
    assert play.reply == ReadMarker(unread_count=0, mention_count=0, last_read_at_ms=NOW_MS + 3)


def test_an_edit_mentions_nobody_who_has_read_it():
    play = Play()
    message = play.post("ann")
    play.do(MarkRead(uid("bob"), message.id))
    play.do(EditMessage(uid("ann"), message.id, "you!", (a_mention("bob"), a_mention("cid"))))
    assert [unread(play, name)[1] for name in ("bob", "cid")] == [0, 1]


def test_reading_what_is_not_there():
    play = Play()
    play.post()
    with pytest.raises(NotFound):
        play.do(MarkRead(uid("bob"), mid(7)))
    with pytest.raises(ConversationNotFound):
        play.do(MarkRead(uid("eve"), mid(1)))
    play.state = replace(play.state, looked_up=LookedUp(archived=frozenset({mid(7)})))
    assert play.do(MarkRead(uid("bob"), mid(7))) == ()


def test_the_others_are_told_of_reading_at_most_once_a_second():
    play = Play()
    for _ in range(4):
        play.post()
    told = [play.later(300).do(MarkRead(uid("bob"), mid(number))) for number in (1, 2, 3)]
    assert [[(type(event), event.everyone) for event in events] for events in told] == [  # type: ignore[union-attr]
        [(ReadMarked, True)], [(ReadMarked, False)], [(ReadMarked, False)],
    ]  # fmt: skip
    assert due(play.state) == NOW_MS + 1_300
    play.later(400)
    events = play.do(expire(play.state, play.now_ms))
    assert [(type(event), event.notice.message_id) for event in events] == [(ReadTold, mid(3))]  # type: ignore[union-attr]
    assert due(play.state) is None
    events = play.later(1_000).do(MarkRead(uid("bob"), mid(4)))
    assert events[0].everyone  # type: ignore[union-attr]


def test_in_a_large_conversation_only_the_reader_is_told():
    play = Play(*(f"user{number}" for number in range(33)))
    play.post("user0")
    (event,) = play.do(MarkRead(uid("user1"), mid(1)))
    assert isinstance(event, ReadMarked)
    assert not event.everyone
    assert due(play.state) is None


def test_typing_lasts_five_seconds():
    play = Play("ann", "bob", kind="direct")
    assert play.do(StartTyping(uid("ann"))) == (TypingStarted(uid("ann"), NOW_MS + 5_000),)
    assert play.reply is None
    with pytest.raises(ConversationNotFound):
        play.do(StartTyping(uid("eve")))
    play.blocks.pairs.add(frozenset((uid("ann"), uid("bob"))))
    with pytest.raises(Blocked):
        play.do(StartTyping(uid("ann")))


@pytest.mark.parametrize(
    ("kind", "name", "title", "error"),
    [
        ("group", "ann", "Raid", None),
        ("group", "ann", "x" * 100, None),
        ("group", "ann", None, None),
        ("group", "ann", "x" * 101, Invalid),
        ("group", "ann", "a\nb", Invalid),
        ("group", "bob", "Raid", Forbidden),
        ("group", "eve", "Raid", ConversationNotFound),
        ("direct", "ann", "Raid", Conflict),
    ],
)
def test_an_owner_gives_a_group_a_title_of_one_line(
    kind: str, name: str, title: str | None, error: type[Exception] | None
):
    play = Play("ann", "bob", kind=kind)
    command = ChangeConversation(uid(name), title=title)
    if error is None:
        play.do(command)
        assert play.state.title == title
        assert not play.do(command)
    else:
        with pytest.raises(error):
            play.do(command)


def test_everybody_mutes_for_themselves():
    play = Play()
    play.do(ChangeConversation(uid("bob"), title=UNSET, muted=True))
    assert [member.muted for member in play.state.members.values()] == [False, True, False]
    assert b'"muted":true' in bytes(play.reply)
    assert not play.do(ChangeConversation(uid("bob"), muted=True))


def adding(play: Play, *names: str) -> AddParticipants:
    ids = tuple(uid(name) for name in names)
    known = {uid(name): name for name in names if name != "nobody"}
    play.state = replace(play.state, looked_up=LookedUp(names=known))
    return AddParticipants(uid("ann"), ids)


def test_new_members_have_read_everything_and_stand_last():
    play = Play()
    play.post()
    play.do(adding(play, "eve", "bob", "dan", "eve"))
    assert [member.name for member in play.state.members.values()] == ["ann", "bob", "cid", "eve", "dan"]
    assert unread(play, "eve") == (0, 0)
    assert b'"participantCount":5' in bytes(play.reply)
    play.post()
    assert unread(play, "eve") == (1, 0)
    assert play.do(adding(play, "eve")) == ()


@pytest.mark.parametrize(
    ("play", "names", "caller", "error"),
    [
        (Play(), ["dan"], "bob", Forbidden),
        (Play(), ["dan"], "eve", ConversationNotFound),
        (Play(), ["dan", "nobody"], "ann", Invalid),
        (Play(), [], "ann", Invalid),
        (Play("ann", "bob", kind="direct"), ["dan"], "ann", Conflict),
        (Play(*["ann", *map(str, range(1_023))]), ["dan"], "ann", Invalid),
    ],
)
def test_refused_joins(play: Play, names: list[str], caller: str, error: type[Exception]):
    command = replace(adding(play, *names), user_id=uid(caller))
    with pytest.raises(error):
        play.do(command)


@pytest.mark.parametrize(
    ("kind", "caller", "target", "error"),
    [
        ("group", "ann", "bob", None),
        ("group", "bob", "bob", None),
        ("group", "bob", "cid", Forbidden),
        ("group", "eve", "bob", ConversationNotFound),
        ("group", "ann", "eve", NotFound),
        ("direct", "ann", "ann", Conflict),
        ("direct", "ann", "bob", Conflict),
    ],
)
def test_members_leave_and_the_owner_removes_them(
    kind: str, caller: str, target: str, error: type[Exception] | None
):
    names = ("ann", "bob", "cid") if kind == "group" else ("ann", "bob")
    play = Play(*names, kind=kind)
    command = RemoveParticipant(uid(caller), uid(target))
    if error is not None:
        with pytest.raises(error):
            play.do(command)
        return
    play.do(command)
    assert uid(target) not in play.state.members
    assert play.state.owner_id == uid("ann")


def test_an_owner_who_leaves_is_followed_by_the_longest_standing():
    play = Play()
    play.do(RemoveParticipant(uid("ann"), uid("ann")))
    assert play.state.owner_id == uid("bob")
    play.do(RemoveParticipant(uid("bob"), uid("cid")))
    play.do(RemoveParticipant(uid("bob"), uid("bob")))
    assert (play.state.owner_id, play.state.members) == (None, {})
    with pytest.raises(ConversationNotFound):
        play.post("bob")


def test_who_is_erased_leaves_a_group_like_anybody():
    play = Play()
    play.post("ann")
    play.do(TellErased(uid("ann")))
    assert (play.state.owner_id, list(play.state.members)) == (uid("bob"), [uid("bob"), uid("cid")])
    with pytest.raises(ConversationNotFound):
        play.post("ann")
    assert play.do(ChangeConversation(uid("bob"), title="Raid"))
    assert [type(event) for event in play.do(TellErased(uid("ann")))] == [PastRewritten]
    play.do(TellErased(uid("cid")))
    play.do(TellErased(uid("bob")))
    assert (play.state.owner_id, play.state.members) == (None, {})


def test_a_direct_conversation_stays_the_others_with_a_stand_in():
    play = Play("ann", "bob", kind="direct")
    play.post("ann")
    updated_ms = play.state.updated_at_ms
    play.later(60_000).do(TellErased(uid("ann")))
    assert {id: member.name for id, member in play.state.members.items()} == {
        uid("bob"): "bob",
        stand_in_of(play.state.id): "deleted",
    }
    assert (unread(play, "bob"), play.state.updated_at_ms) == ((1, 0), updated_ms)
    added = play.events[-1]
    assert added.participant_key not in {None, participant_key("direct", [uid("ann"), uid("bob")])}  # type: ignore[union-attr]
    with pytest.raises(ConversationNotFound):
        play.post("ann")
    play.post("bob")
    assert [type(event) for event in play.do(TellErased(uid("ann")))] == [PastRewritten]
    play.do(TellErased(uid("bob")))
    assert play.state.members == {}


def test_the_key_follows_the_set():
    play = Play()
    (removed,) = play.do(RemoveParticipant(uid("ann"), uid("cid")))
    assert removed.participant_key == participant_key("group", [uid("bob"), uid("ann")])  # type: ignore[union-attr]
    assert participant_key("direct", [uid("bob"), uid("ann")]) != removed.participant_key  # type: ignore[union-attr]
    assert participant_key("group", [uid("bob")]) is None
    (added,) = play.do(adding(play, "cid"))
    assert added.participant_key == participant_key("group", map(uid, ("ann", "bob", "cid")))  # type: ignore[union-attr]


def test_a_rename_shows_in_what_comes_after():
    play = Play()
    old = play.post("bob")
    play.do(TellRename(uid("bob"), "Robert"))
    assert play.post("bob").sender_name == "Robert"
    assert b'"senderName":"bob"' in play.state.window[0].record
    assert old.sender_name == "bob"
    assert play.do(TellRename(uid("bob"), "Robert")) == ()
    assert play.do(TellRename(uid("eve"), "Eva")) == ()
