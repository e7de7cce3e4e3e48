"""The kinds that look things up, as `Subject`s: with rows that memory does not hold, and commands about them."""

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from actors.chat import commands as chat
from actors.chat.kind import chat_kinds
from actors.chat.units import ConversationDraft, create, plan
from actors.connect import commands as connect
from actors.connect.kind import server_kind
from actors.party import commands as party
from actors.party.kind import party_kinds
from actors.party.memberships import Memberships
from actors.party.render_cache import RenderCache
from actors.party.units import PartyCreation, create_party
from actors.vault import Vault
from persistence.chat import attachments
from persistence.chat.rows import AttachmentRow
from persistence.connect import servers
from persistence.connect.rows import ClaimKeyRow, ServerRow
from persistence.connection import Connection
from persistence.users.audit import Stamp
from tests.chat.play import a_poll, mid, uid
from tests.chat.stage import make_users
from tests.kernel import ledger
from tests.kernel.sharing import NOW_MS, Subject
from tests.kernel.sharing_voice import voice_channels
from tests.kernel.sql_ledger import KIND as LEDGER
from tests.kernel.sql_ledger import ROWS as LEDGER_ROWS

Step = Callable[[int], Any]

NAMES = ("ann", "bob", "cid", "dan", "eve")
NEW_ID = 1_000
"""Ids of what steps make begin here."""

# ---- conversations

CONVERSATION = mid(900)
OLD = 6
"""Messages outside the window: a poll, a poll of one choice, two with a clientMessageId, one with an upload, plain."""


def _post(name: str, id: int, content: str | None = "hello", **draft: Any) -> chat.PostMessage:
    return chat.PostMessage(uid(name), mid(id), chat.MessageDraft(content=content, **draft))


def _upload(n: int) -> str:
    return mid(800 + n)


async def _found_conversation(conn: Connection) -> None:
    await make_users(conn, NAMES)
    draft = ConversationDraft(kind="group", participant_ids=tuple(map(uid, NAMES[1:4])))
    await create(conn, plan(draft, uid("ann"), id=CONVERSATION, epoch="e1", now_ms=NOW_MS - 1))
    for n in range(4):
        row = AttachmentRow(
            id=_upload(n),
            conversation_id=CONVERSATION,
            uploader_id=uid("ann"),
            file_name="a.txt",
            content_type="text/plain",
            size_bytes=1,
            sha256=bytes(31) + bytes([n]),
            created_at_ms=NOW_MS,
        )
        assert (
            await attachments.reserve(
                conn, row, quota_bytes=100, most_files=100, day_bytes=100, day_began_ms=0
            )
            is None
        )
        assert await attachments.keep(conn, row.id)


def _history() -> list[Any]:
    old = [
        _post("ann", 1, poll=a_poll(multiple=True)),
        _post("bob", 2, poll=a_poll(expires_at_ms=NOW_MS + 60_000), client_message_id="poll"),
        _post("ann", 3, client_message_id="old"),
        _post("ann", 4, attachment_ids=(_upload(0),)),
        _post("bob", 5),
        _post("cid", 6, poll=a_poll(), client_message_id="old"),
    ]
    edge = [_post("ann", 7, poll=a_poll(multiple=True)), _post("bob", 8, client_message_id="edge")]
    filler = [_post("cid", n, f"filler {n}") for n in range(9, OLD + 121)]
    votes = [chat.VotePoll(uid("cid"), mid(1), ("1",)), chat.VotePoll(uid("cid"), mid(7), ("2",))]
    return [*old, *edge, *filler, *votes]


def _conversation_steps() -> st.SearchStrategy[Sequence[Step]]:
    who = st.sampled_from(NAMES).map(uid)
    # The oldest of the window are there because new messages push them out of it.
    old = st.integers(1, OLD + 3)
    message = st.one_of(old, old, st.sampled_from([OLD + 120, 999, NEW_ID, NEW_ID + 1, NEW_ID + 2])).map(mid)
    uploads = st.lists(st.integers(0, 4).map(_upload), max_size=2, unique=True).map(tuple)
    client = st.sampled_from([None, None, "old", "poll", "edge", "new"])

    def posting(user_id: str, content: str, client_id: str | None, ids: tuple[str, ...], asks: bool) -> Step:
        draft = chat.MessageDraft(
            content=content,
            client_message_id=client_id,
            attachment_ids=ids or None,
            poll=a_poll() if asks else None,
        )
        return lambda n: chat.PostMessage(user_id, mid(NEW_ID + n), draft)

    stamp = st.integers(0, 2**96 - 1).map(lambda number: Stamp(f"{number:024x}", NOW_MS, None, None))
    plain = st.one_of(
        st.builds(chat.EditMessage, who, message, st.sampled_from(["one", "two"])),
        st.builds(chat.DeleteMessage, who, message, st.none() | stamp),
        st.builds(chat.VotePoll, who, message, st.sampled_from([(), ("1",), ("2",), ("1", "2")])),
        st.builds(chat.VotePoll, who, message, st.sampled_from([("1",), ("3",)])),
        st.builds(chat.ClosePoll, who, message),
        st.builds(chat.MarkRead, who, message),
        st.builds(chat.RemoveParticipant, who, who),
        st.builds(lambda one: chat.AddParticipants(uid("ann"), (one,)), who),
        st.builds(chat.TellErased, who),
        st.just(chat.TellArchive()),
        st.builds(chat.StartTyping, who),
    )
    posts = st.builds(posting, who, st.sampled_from(["x", "y"]), client, uploads, st.booleans()).map(_single)
    return st.one_of(plain.map(_whenever), plain.map(_whenever), posts)


def conversations() -> Subject:
    kinds = chat_kinds(lambda _ids: (), lambda: NOW_MS)
    return Subject(
        made_in="actors/chat/kind.py",
        kind=kinds.conversation,
        id=CONVERSATION,
        found=_found_conversation,
        history=_history(),
        steps=_conversation_steps(),
    )


# ---- game servers

SERVER, TEMPLATE = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
KEY = bytes(32)


async def _found_server(conn: Connection) -> None:
    await make_users(conn, NAMES)
    row = ServerRow(
        server_id=TEMPLATE,
        id=mid(1),
        server_type="paper",
        name="Template",
        owner_id=uid("ann"),
        secret=bytes(32),
        created_at_ms=NOW_MS,
        updated_at_ms=NOW_MS,
        last_seen_at_ms=NOW_MS,
    )
    await servers.create(conn, row, None, epoch="e1")
    await servers.change(conn, replace(row, is_template=True, access_mode="private"))
    fresh = replace(row, server_id=SERVER, id=mid(2), owner_id=None, template_id=TEMPLATE)
    await servers.create(conn, fresh, ClaimKeyRow(KEY, SERVER, NOW_MS + 60_000), epoch="e2")
    await conn.execute(
        "INSERT INTO friend_links (user_id, friend_id, created_at_ms, accepted_at_ms, updated_at_ms)"
        " VALUES ($1, $2, 0, 0, 0)",
        uid("ann"),
        uid("bob"),
    )
    await _block(conn, "ann", "eve")


async def _block(conn: Connection, name: str, other: str) -> None:
    await conn.execute(
        "INSERT INTO blocks (user_id, target_id, reason, created_at_ms, updated_at_ms) VALUES ($1, $2, '', 0, 0)",
        uid(name),
        uid(other),
    )


def _give(id: int, *, heard: bool = False) -> connect.CreateCommand:
    return connect.CreateCommand(
        user_id=uid("ann"),
        command_id=mid(id),
        action="restart",
        payload=b"{}",
        extension_id=None,
        ttl_ms=60_000,
        heard=heard,
    )


def _server_steps() -> st.SearchStrategy[Sequence[Step]]:
    who = st.sampled_from(NAMES).map(uid)
    known = st.sampled_from([1, 2, 3, NEW_ID, NEW_ID + 1, NEW_ID + 2]).map(mid)
    role = st.sampled_from(["admin", "viewer", "owner"])
    plain = st.one_of(
        st.builds(
            connect.AckCommand,
            command_id=known,
            status=st.sampled_from(["running", "success", "failed"]),
            result=st.sampled_from([None, b"1", b"2"]),
        ),
        st.builds(connect.CancelCommand, st.just(uid("ann")), known),
        st.just(connect.TakeCommands(2)),
        st.just(connect.Claim(uid("ann"), KEY, "ann")),
        st.builds(connect.PutMember, actor_id=who, user_id=who, role=role, capabilities=st.just(())),
        st.builds(connect.RemoveMember, who, who),
        st.builds(connect.AcceptInvite, who, known),
        st.builds(connect.RevokeInvite, who, known),
        st.builds(connect.ForgetUser, st.just(uid("bob"))),
        st.builds(connect.ChangePolicy, who, st.sampled_from(["private", "public"]), st.booleans()),
    )

    def inviting(user_id: str, role: str) -> Step:
        return lambda n: connect.CreateInvite(
            actor_id=uid("ann"),
            invite_id=mid(NEW_ID + n),
            notice_id=mid(NEW_ID + n),
            invitee_user_id=user_id,
            role=role,
            capabilities=(),
            note="",
        )

    giving = st.booleans().map(lambda heard: lambda n: _give(NEW_ID + n, heard=heard))
    return st.one_of(plain.map(_whenever), giving.map(_single), st.builds(inviting, who, role).map(_single))


def _server_kind() -> Any:
    return server_kind(
        Vault(bytes(32)),
        lambda _server_id, _news: None,
        lambda _state, _event: None,
        lambda _state, _event: None,
        lambda _server_id: None,
    )


def claimed_servers() -> Subject:
    ended = [
        _give(1),
        _give(2),
        _give(3),
        connect.AckCommand(command_id=mid(3), status="success", result=b"1"),
    ]
    return Subject(
        made_in="actors/connect/kind.py",
        kind=_server_kind(),
        id=SERVER,
        found=_found_server,
        history=[connect.Claim(uid("ann"), KEY, "ann"), *ended],
        steps=_server_steps(),
    )


def unclaimed_servers() -> Subject:
    return Subject(
        made_in="actors/connect/kind.py",
        kind=_server_kind(),
        id=SERVER,
        found=_found_server,
        steps=_server_steps(),
    )


# ---- parties

PARTY = "00000000-0000-4000-8000-000000000003"


async def _found_party(conn: Connection) -> None:
    await make_users(conn, NAMES)
    await create_party(conn, PartyCreation(uid("ann"), PARTY, "e1", NOW_MS - 1))
    await create_party(conn, PartyCreation(uid("dan"), SERVER, "e2", NOW_MS - 1))
    await _block(conn, "cid", "bob")


def _party_steps() -> st.SearchStrategy[Sequence[Step]]:
    who = st.sampled_from(NAMES).map(uid)
    plain = st.one_of(
        st.builds(party.AcceptInvite, who),
        st.builds(party.AcceptInvite, who),
        st.builds(party.DeclineInvite, who),
        st.builds(party.RevokeInvite, who, who),
        st.builds(party.Leave, who),
        st.builds(party.Kick, who, who),
        st.builds(party.HandOver, who, who),
        st.builds(party.Disband, who),
        st.builds(party.TellPresence, who, st.sampled_from([None, NOW_MS])),
        st.builds(party.TellBlock, who, who),
    )

    def inviting(name: str, other: str) -> Step:
        return lambda n: party.SendInvite(name, other, mid(NEW_ID + n))

    def coming_back(name: str, other: str) -> Sequence[Step]:
        return (*_whenever(party.Leave(other)), inviting(name, other), *_whenever(party.AcceptInvite(other)))

    invites = st.builds(inviting, who, who).map(_single)
    back = st.builds(coming_back, st.just(uid("ann")), st.sampled_from(["bob", "cid"]).map(uid))
    return st.one_of(plain.map(_whenever), plain.map(_whenever), invites, back)


def parties() -> Subject:
    render_cache = RenderCache(lambda *_: None, lambda _id: frozenset(), lambda *_: 0)  # type: ignore[arg-type, return-value]
    kinds = party_kinds(lambda _id: True, render_cache, lambda: NOW_MS, Memberships([]))
    return Subject(
        made_in="actors/party/kind.py",
        kind=kinds.party,
        id=PARTY,
        found=_found_party,
        history=[
            party.SendInvite(uid("ann"), uid("bob"), mid(1)),
            party.AcceptInvite(uid("bob")),
            party.SendInvite(uid("ann"), uid("cid"), mid(2)),
        ],
        steps=_party_steps(),
    )


# ---- the kernel's own tests


async def _found_ledger(conn: Connection) -> None:
    await LEDGER_ROWS.make(conn, ["l0"])


def ledgers() -> Subject:
    """A kind that does not say what overlaps: each durable event may."""
    deposits = st.lists(
        st.builds(ledger.Deposit, st.just("ann"), st.sampled_from([1, 2, 3])), min_size=3, max_size=6
    )
    steps = st.one_of(
        deposits,
        st.builds(ledger.Withdraw, st.just("ann"), st.integers(0, 40)).map(_alone),
        st.builds(ledger.Recall, st.integers(5, 12)).map(_alone),
        st.just([ledger.Wave("ann")]),
    )
    return Subject(
        made_in="tests/kernel/ledger.py",
        kind=LEDGER,
        id="l0",
        found=_found_ledger,
        history=[ledger.Deposit("ann", n) for n in range(7)],
        steps=steps.map(lambda some: [step for command in some for step in _whenever(command)]),
    )


def _alone(command: Any) -> list[Any]:
    return [command]


def _whenever(command: Any) -> Sequence[Step]:
    return (lambda _n: command,)


def _single(step: Step) -> Sequence[Step]:
    return (step,)


SUBJECTS = (conversations, claimed_servers, unclaimed_servers, parties, voice_channels, ledgers)
