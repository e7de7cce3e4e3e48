"""A conversation without the name of somebody who was erased."""

from actors.chat.commands import TellErased
from actors.chat.erasing import erased_record
from actors.chat.events import UserErased
from actors.chat.loading import dump, restore
from actors.chat.public import Message
from actors.chat.records import decode
from tests.chat.play import Play, a_mention, uid


def shown(play: Play) -> list[Message]:
    return [decode(line.record) for line in play.state.window]


def test_messages_and_mentions_lose_the_name() -> None:
    play = Play()
    play.post("ann")
    play.post(
        "bob", f"<@user:{uid('ann')}> <@user:{uid('cid')}>", mentions=(a_mention("ann"), a_mention("cid"))
    )
    play.post("cid")
    before = shown(play)
    (event,) = play.do(TellErased(uid("ann")))
    assert isinstance(event, UserErased)
    after = shown(play)
    assert [one.sender_name for one in after] == ["deleted", "bob", "cid"]
    assert [one.label for one in after[1].mentions] == ["deleted", "cid"]
    assert [line.id for line in event.lines] == [before[0].id, before[1].id]
    assert (after[2], play.state.members[uid("ann")].name) == (before[2], "deleted")
    assert [one.content for one in after] == [one.content for one in before]
    assert restore(dump(play.state)).window == play.state.window


def test_nothing_comes_of_it_twice_or_for_strangers() -> None:
    play = Play()
    play.post("bob")
    assert play.do(TellErased(uid("eve"))) == ()
    assert len(play.do(TellErased(uid("ann")))) == 1
    assert play.do(TellErased(uid("ann"))) == ()


def test_a_record_that_needs_no_change_is_told_apart() -> None:
    play = Play()
    play.post("ann")
    record = play.state.window[0].record
    assert erased_record(record, uid("bob")) is None
    changed = erased_record(record, uid("ann"))
    assert changed is not None
    assert erased_record(changed, uid("ann")) is None
