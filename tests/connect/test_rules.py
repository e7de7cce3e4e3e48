"""The rules of a game server: its table of moves, and everything that can be done to it, in any order."""

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec.structs import replace

from actors.connect import commands, events
from actors.connect.commands import AnyCommand
from actors.connect.events import AnyEvent
from actors.connect.rules import CLAIM_KEY_MS, FORMER_SECRET_MS, apply, due
from actors.connect.rules import decide as decide_with
from actors.connect.rules_sessions import MAX_SESSIONS, SESSION_MS, TICKET_MS
from actors.connect.state import CLAIM_KEYS_KEPT, State
from actors.errors import (
    ClaimKeyExpired,
    ClaimKeyUsed,
    Forbidden,
    JoinTokenExpired,
    JoinTokenUsed,
    NotFound,
    QuotaExceeded,
    Refused,
)
from actors.vault import Vault
from persistence.connect.rows import MemberRow, ServerRow, SessionRow, TicketRow

NOW = 1_700_000_000_000
decide = partial(decide_with, Vault(bytes(32)))
KEY, TICKET, SECRET = b"k" * 32, b"t" * 32, b"s" * 32
OWNER, ADMIN, PLAYER, STRANGER = "owner", "admin", "player", "stranger"


def _row(**more: Any) -> ServerRow:
    return ServerRow(
        **{
            "server_id": "server",
            "id": "0" * 24,
            "server_type": "paper",
            "name": "Lobby",
            "secret": SECRET,
            "created_at_ms": NOW,
            "updated_at_ms": NOW,
            "last_seen_at_ms": NOW,
            **more,
        }
    )


UNCLAIMED = State(_row(), {KEY: NOW + CLAIM_KEY_MS}, {}, {})
CLAIMED = replace(
    UNCLAIMED,
    row=_row(owner_id=OWNER),
    members={
        ADMIN: MemberRow(
            server_id="server",
            user_id=ADMIN,
            name="Admin",
            role="admin",
            capabilities=(),
            added_by=OWNER,
            created_at_ms=NOW,
            updated_at_ms=NOW,
        )
    },
    tickets={PLAYER: TicketRow("server", PLAYER, TICKET, "Player", NOW + TICKET_MS, used=False)},
    sessions={STRANGER: SessionRow("server", STRANGER, "session", "Stranger", NOW, NOW + SESSION_MS)},
)
TEMPORARY = replace(CLAIMED, row=_row(owner_id=OWNER, temporary=True))
REMOVED = replace(CLAIMED, removed=True)

CHANGED, ENDED, GONE = events.ServerChanged, events.SessionEnded, events.ServerRemoved

# command: what comes of it while unclaimed, while claimed, of a temporary one, of one that is gone
TABLE: list[tuple[AnyCommand, Any, Any, Any]] = [
    (commands.IssueClaimKey(b"n" * 32), [events.ClaimKeyIssued], [], []),
    (commands.Claim(STRANGER, KEY), [CHANGED], ClaimKeyUsed, ClaimKeyUsed),
    (commands.Claim(STRANGER, b"?" * 32), ClaimKeyExpired, ClaimKeyUsed, ClaimKeyUsed),
    (commands.RotateSecret(OWNER, b"n" * 32), NotFound, [CHANGED], [CHANGED]),
    (commands.RotateSecret(ADMIN, b"n" * 32), NotFound, Forbidden, Forbidden),
    (commands.RotateSecret(STRANGER, b"n" * 32), NotFound, NotFound, NotFound),
    (commands.ChangeServer(OWNER, is_template=True), NotFound, [CHANGED], [CHANGED]),
    (commands.ChangeServer(OWNER, is_template=False), NotFound, [], []),
    (commands.ChangeServer(ADMIN, is_template=True), NotFound, Forbidden, Forbidden),
    (commands.ChangeServer(STRANGER, is_template=True), NotFound, NotFound, NotFound),
    (commands.RemoveServer(OWNER), NotFound, [ENDED, GONE], [ENDED, GONE]),
    (commands.RemoveServer(ADMIN), NotFound, Forbidden, Forbidden),
    (commands.RemoveServer(STRANGER), NotFound, NotFound, NotFound),
    (commands.RemoveSilent(), [GONE], [], [ENDED, GONE]),
    (
        commands.IssueTicket(PLAYER, "Player", b"n" * 32),
        NotFound,
        [events.TicketIssued],
        [events.TicketIssued],
    ),
    (commands.RedeemTicket(TICKET, "new"), NotFound, [events.SessionStarted], [events.SessionStarted]),
    (commands.RedeemTicket(b"?" * 32, "new"), NotFound, NotFound, NotFound),
    (commands.EndSession("session"), NotFound, [ENDED], [ENDED]),
    (commands.EndSession("new"), NotFound, NotFound, NotFound),
    (commands.EndExpired(), [], [], []),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: type(row[0]).__name__)
def test_each_command_does_in_each_state_what_its_row_says(row: tuple[AnyCommand, Any, Any, Any]):
    command, *outcomes = row
    for state, outcome in zip((UNCLAIMED, CLAIMED, TEMPORARY, REMOVED), (*outcomes, NotFound), strict=True):
        if isinstance(outcome, list):
            assert [type(event) for event in decide(state, command, NOW)] == outcome
        else:
            with pytest.raises(outcome) as refused:
                decide(state, command, NOW)
            assert type(refused.value) is outcome


@pytest.mark.parametrize(
    ("state", "command", "lasts_ms", "refusal"),
    [
        (UNCLAIMED, commands.Claim(STRANGER, KEY), CLAIM_KEY_MS, ClaimKeyExpired),
        (CLAIMED, commands.RedeemTicket(TICKET, "new"), TICKET_MS, JoinTokenExpired),
    ],
)
def test_ends_are_exact(state: State, command: AnyCommand, lasts_ms: int, refusal: type[Refused]):
    assert decide(state, command, NOW + lasts_ms - 1)
    with pytest.raises(refusal):
        decide(state, command, NOW + lasts_ms)


def test_a_ticket_serves_once():
    state = _after(CLAIMED, commands.RedeemTicket(TICKET, "new"), NOW)
    with pytest.raises(JoinTokenUsed):
        decide(state, commands.RedeemTicket(TICKET, "newer"), NOW)


def test_a_server_has_only_so_many_sessions():
    def seated(*players: str) -> dict[str, SessionRow]:
        return {one: SessionRow("server", one, one, one, NOW, NOW + SESSION_MS) for one in players}

    others = [f"p{number}" for number in range(MAX_SESSIONS - 1)]
    redeem = commands.RedeemTicket(TICKET, "new")
    with pytest.raises(QuotaExceeded):
        decide(replace(CLAIMED, sessions=seated(*others, STRANGER)), redeem, NOW)
    assert decide(replace(CLAIMED, sessions=seated(*others)), redeem, NOW)
    # Who plays there already takes nobody's place.
    assert decide(replace(CLAIMED, sessions=seated(*others, PLAYER)), redeem, NOW)


def test_sessions_end_at_their_time():
    assert due(CLAIMED) == NOW + SESSION_MS
    assert not decide(CLAIMED, commands.EndExpired(), NOW + SESSION_MS - 1)
    assert due(_after(CLAIMED, commands.EndExpired(), NOW + SESSION_MS)) is None


def _after(state: State, command: AnyCommand, now_ms: int) -> State:
    for event in decide(state, command, now_ms):
        state = apply(state, event)
    return state


class Life(RuleBasedStateMachine):
    """A server beside a plain model of who owns it, which secrets hold, and who plays."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = NOW
        self.state = UNCLAIMED
        self.number = 0
        self.keys: dict[bytes, int] = {KEY: NOW + CLAIM_KEY_MS}
        self.tickets: dict[bytes, tuple[str, int]] = {}
        self.owner: str | None = None
        self.playing: dict[str, int] = {}

    def _fresh(self) -> bytes:
        self.number += 1
        return self.number.to_bytes(32, "big")

    def _do(self, command: AnyCommand) -> list[AnyEvent] | type[Refused]:
        try:
            happened = list(decide(self.state, command, self.now_ms))
        except Refused as refused:
            return type(refused)
        for event in happened:
            self.state = apply(self.state, event)
        return happened

    @rule(ms=st.sampled_from([1, 30_000, 60_000, 300_000, SESSION_MS]))
    def time_passes(self, ms: int) -> None:
        self.now_ms += ms

    @rule()
    def ask_for_a_key(self) -> None:
        key = self._fresh()
        if self._do(commands.IssueClaimKey(key)):
            self.keys[key] = self.now_ms + CLAIM_KEY_MS
            self.keys = dict(list(self.keys.items())[-CLAIM_KEYS_KEPT:])

    @rule(data=st.data(), user=st.sampled_from([OWNER, STRANGER]))
    def claim(self, data: st.DataObject, user: str) -> None:
        key = data.draw(st.sampled_from(list(self.keys)))
        outcome = self._do(commands.Claim(user, key))
        if self.owner is not None:
            assert outcome is ClaimKeyUsed
        elif self.keys[key] > self.now_ms:
            self.owner = user
        else:
            assert outcome is ClaimKeyExpired

    @rule(user=st.sampled_from([OWNER, STRANGER]))
    def rotate(self, user: str) -> None:
        before, secret = self.state.row, self._fresh()
        outcome = self._do(commands.RotateSecret(user, secret))
        if user != self.owner:
            assert outcome is NotFound
            return
        row = self.state.row
        assert (row.secret, row.former_secret) == (secret, before.secret)
        assert row.former_until_ms == self.now_ms + FORMER_SECRET_MS
        assert row.secret_number == before.secret_number + 1

    @rule(user=st.sampled_from(["a", "b", "c"]))
    def ask_for_a_ticket(self, user: str) -> None:
        ticket = self._fresh()
        if self._do(commands.IssueTicket(user, user, ticket)) is not NotFound:
            self.tickets = {one: (who, ms) for one, (who, ms) in self.tickets.items() if who != user}
            self.tickets[ticket] = (user, self.now_ms + TICKET_MS)

    @rule(data=st.data())
    def redeem(self, data: st.DataObject) -> None:
        if not self.tickets:
            return
        ticket = data.draw(st.sampled_from(list(self.tickets)))
        user, until_ms = self.tickets[ticket]
        outcome = self._do(commands.RedeemTicket(ticket, self._fresh().hex()))
        if isinstance(outcome, list):
            assert until_ms > self.now_ms
            assert isinstance(outcome[-1], events.SessionStarted)
            assert outcome[-1].session.user_id == user
            self.playing.pop(user, None)
            self.playing[user] = self.now_ms + SESSION_MS
            assert self._do(commands.RedeemTicket(ticket, "again")) is JoinTokenUsed
            del self.tickets[ticket]
        else:
            assert until_ms <= self.now_ms

    @rule()
    def end_what_has_expired(self) -> None:
        self._do(commands.EndExpired())
        self.playing = {user: ms for user, ms in self.playing.items() if ms > self.now_ms}

    @invariant()
    def the_model_agrees(self) -> None:
        assert self.state.row.owner_id == self.owner
        assert {one.user_id: one.expires_at_ms for one in self.state.sessions.values()} == self.playing
        assert due(self.state) == min(self.playing.values(), default=None)
        assert len(self.state.claim_keys) <= CLAIM_KEYS_KEPT

    @invariant()
    def a_snapshot_holds_all_of_it(self) -> None:
        kept = msgspec.msgpack.encode(self.state)
        assert msgspec.msgpack.decode(kept, type=State) == self.state


TestLife: Callable[..., Any] = Life.TestCase
TestLife.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)  # type: ignore[attr-defined]
