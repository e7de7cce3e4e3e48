"""Conversations that are read together: each as it would be alone."""

from actors.chat.commands import MentionDraft, VotePoll
from actors.kernel.recovery import recover, recover_many
from persistence.bridge.database import Database
from persistence.journal import journal
from tests.chat.history import archive_old
from tests.chat.play import NOW_MS, a_poll, uid
from tests.chat.stage import KIND, Stage, open_stage


async def save(stage: Stage) -> None:
    await stage.database.transact(_save, stage.id, stage.seq, stage.kinds.conversation.dump(stage.state))


async def _save(conn: object, id: str, seq: int, state: bytes) -> None:
    await journal.save_snapshot(conn, KIND, id, seq=seq, version=3, state=state)  # type: ignore[arg-type]


async def test_conversations_that_are_read_together_are_as_each_is_alone(database: Database) -> None:
    """Of long ones with an archive, a poll and votes, mentions, and a snapshot with events above it, or none."""
    stage = await open_stage(database, "ann", "bob", "cid")
    ids = [stage.id]
    await stage.fill(130)
    assert await archive_old(database, before_ms=NOW_MS + 10**9) == 10
    poll = await stage.post("ann", None, poll=a_poll("a", "b", expires_at_ms=NOW_MS + 10**8))
    assert poll.poll is not None
    await stage.do(VotePoll(uid("bob"), poll.id, (poll.poll.options[0].id,)))
    for members in (("bob", "cid", "dan"), ("ann", "dan"), ("ann", "eve", "cid")):
        await stage.create(*members)
        ids.append(stage.id)
        await stage.fill(len(ids), members[1])
        if len(ids) > 2:
            await save(stage)
            await stage.post(members[0])
    kind = stage.kinds.conversation
    alone = {id: await database.read(recover, journal, kind, id) for id in ids}
    together = await database.read(recover_many, journal, kind, [*ids, "0" * 24])
    assert together == alone
    assert [together[id].from_rows for id in ids] == [True, True, False, False]
    assert [len(together[id].state.archived) for id in ids] == [0, 0, 0, 0]
    assert [together[id].state.older_archived_ms > 0 for id in ids] == [True, False, False, False]
    assert [len(together[id].state.members) for id in ids] == [3, 3, 2, 3]


async def test_members_share_the_numbers_of_messages_that_mention_them(database: Database) -> None:
    """A group of a thousand, each with two hundred, held six megabytes of equal numbers."""
    stage = await open_stage(database, "ann", "bob", "cid")
    await stage.fill(300)
    mentions = tuple(MentionDraft(id=uid(name), label=name) for name in ("bob", "cid"))
    for _ in range(3):
        await stage.post("ann", "look", mentions=mentions)
    await stage.enter(stage.id)
    bob, cid = (stage.state.members[uid(name)].mentions for name in ("bob", "cid"))
    assert bob == cid == (301, 302, 303)
    assert all(one is other for one, other in zip(bob, cid, strict=True))
