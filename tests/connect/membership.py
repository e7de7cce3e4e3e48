"""A server with its members and invites, and what the rules make of a command to it."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from msgspec.structs import replace

from actors.connect import commands
from actors.connect.commands import AnyCommand
from actors.connect.rules import apply
from actors.connect.rules import decide as decide_with
from actors.connect.rules_invites import INVITE_MS
from actors.connect.state import Relation, State
from actors.vault import Vault
from persistence.connect.rows import InviteRow, MemberRow, ServerRow

NOW = 1_700_000_000_000
decide = partial(decide_with, Vault(bytes(32)))


OWNER = "owner"


def member_row(user_id: str, role: str, capabilities: Iterable[str] = ()) -> MemberRow:
    return MemberRow(
        server_id="server",
        user_id=user_id,
        name=user_id,
        role=role,
        capabilities=tuple(sorted(capabilities)),
        added_by=OWNER,
        created_at_ms=NOW,
        updated_at_ms=NOW,
    )


def invite_row(**more: Any) -> InviteRow:
    return InviteRow(
        **{
            "id": "invite",
            "server_id": "server",
            "inviter_id": "admin",
            "invitee_user_id": "stranger",
            "role": "viewer",
            "capabilities": (),
            "note": "",
            "status": "pending",
            "created_at_ms": NOW,
            "expires_at_ms": NOW + INVITE_MS,
            **more,
        }
    )


def server_with(*members: MemberRow, **more: Any) -> State:
    row = ServerRow(
        **{
            "server_id": "server",
            "id": "0" * 24,
            "server_type": "paper",
            "name": "Lobby",
            "owner_id": OWNER,
            "owner_name": OWNER,
            "secret": b"s" * 32,
            "created_at_ms": NOW,
            "updated_at_ms": NOW,
            "last_seen_at_ms": NOW,
            **more,
        }
    )
    return State(row, {}, {}, {}, members={member.user_id: member for member in members})


SERVER = server_with(*(member_row(role, role) for role in ("admin", "operator", "viewer")))


def known(state: State, user_id: str, *, friends: bool = False, barred: bool = False) -> State:
    return replace(state, relation=Relation(user_id, user_id, friends, barred))


def state_after(state: State, command: AnyCommand, now_ms: int = NOW) -> State:
    for event in decide(state, command, now_ms):
        state = apply(state, event)
    return state


def putting(actor_id: str, user_id: str, role: str, *capabilities: str) -> commands.PutMember:
    return commands.PutMember(actor_id=actor_id, user_id=user_id, role=role, capabilities=capabilities)


def offering(actor_id: str, user_id: str, role: str, *capabilities: str) -> commands.CreateInvite:
    return commands.CreateInvite(
        actor_id=actor_id,
        invite_id="new",
        notice_id="notice",
        invitee_user_id=user_id,
        role=role,
        capabilities=capabilities,
        note="",
    )
