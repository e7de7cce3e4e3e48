"""The life of commands: its table, its times, its bounds, and any order of everything that can happen."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec import Raw
from msgspec.structs import replace

from actors.connect import commands, events
from actors.connect.commands import AnyCommand
from actors.connect.extensions import NO_SCHEMA
from actors.connect.loading import dump, restore
from actors.connect.lookups import missing
from actors.connect.persisting import persist, plan
from actors.connect.rules import apply, due
from actors.connect.rules import decide as decide_with
from actors.connect.rules_commands import ENDS, LEASE_MS, MAX_BYTES, MAX_OPEN, MAX_OPEN_BYTES, bytes_of
from actors.connect.state import State
from actors.errors import CommandFinished, Invalid, NotFound, QuotaExceeded, Refused, RevisionConflict
from actors.pages import MAX_PAGE_BYTES
from actors.vault import Vault
from persistence.journal.turn import Turn
from tests.connect.play import ID, NOW, OWNER, PENDING, ROW, STRANGER, TTL_MS

SERVER = State(ROW, {}, {}, {})
decide = partial(decide_with, Vault(bytes(32)))


def _with(status: str) -> State:
    """A server with one command; a finished one has been looked up."""
    row = replace(PENDING, status=status)
    if status == "delivered":
        row = replace(row, leased_until_ms=NOW + LEASE_MS, attempts=1)
    if status in ENDS:
        return replace(SERVER, found=replace(row, finished_at_ms=NOW))
    return replace(SERVER, commands={ID: row})


def _ack(status: str) -> AnyCommand:
    return commands.AckCommand(command_id=ID, status=status)


TAKE, CANCEL = commands.TakeCommands(10), commands.CancelCommand(OWNER, ID)
NOTHING = "nothing"

# {what happens: {status before: status after, or the refusal}}; every status not named is in `else`.
TABLE: dict[str, tuple[AnyCommand, dict[str, Any], Any]] = {
    "taken": (TAKE, {"pending": "delivered"}, NOTHING),
    "running": (
        _ack("running"),
        dict.fromkeys(("pending", "delivered"), "running") | {"running": NOTHING},
        CommandFinished,
    ),
    **{
        end: (
            _ack(end),
            dict.fromkeys(("pending", "delivered", "running"), end) | {end: NOTHING},
            CommandFinished,
        )
        for end in ("success", "failed", "rejected")
    },
    "cancelled": (
        CANCEL,
        dict.fromkeys(("pending", "delivered", "running"), "cancelled") | {"cancelled": NOTHING},
        CommandFinished,
    ),
}  # fmt: skip


@pytest.mark.parametrize("status", ("pending", "delivered", "running", *sorted(ENDS)))
@pytest.mark.parametrize("name", TABLE)
def test_a_command_moves_between_statuses_as_the_table_says(name: str, status: str):
    command, outcomes, otherwise = TABLE[name]
    state, outcome = _with(status), outcomes.get(status, otherwise)
    looked_up = status in ENDS and not isinstance(command, commands.TakeCommands)
    assert missing(state, command) == (("command", ID) if looked_up else None)
    if isinstance(outcome, str):
        happened = decide(state, command, NOW)
        assert [event.command.status for event in happened] == ([] if outcome == NOTHING else [outcome])
    else:
        with pytest.raises(outcome):
            decide(state, command, NOW)


def _ended_with(result: str) -> AnyCommand:
    return commands.AckCommand(command_id=ID, status="success", result=result.encode())


def test_an_end_that_is_repeated_may_have_its_keys_in_another_order():
    """JSON objects have no order, and an agent that makes its report anew may write another one."""
    row = replace(PENDING, status="success", result=b'{"a":1,"b":{"c":[1,2],"d":null}}', finished_at_ms=NOW)
    state = replace(SERVER, found=row)
    assert not decide(state, _ended_with('{"b":{"d":null,"c":[1,2]},"a":1}'), NOW)
    for other in (
        '{"b":{"d":null,"c":[2,1]},"a":1}',
        '{"a":2,"b":{"c":[1,2],"d":null}}',
        '{"a":1,"b":{"c":[1,2]}}',
        "{}",
    ):
        with pytest.raises(CommandFinished):
            decide(state, _ended_with(other), NOW)
    with pytest.raises(CommandFinished):
        decide(replace(SERVER, found=replace(row, result=None)), _ended_with("{}"), NOW)


def test_a_lease_is_thirty_seconds():
    state = _with("delivered")
    assert not decide(state, TAKE, NOW + LEASE_MS - 1)
    (again,) = decide(state, TAKE, NOW + LEASE_MS)
    assert isinstance(again, events.CommandTouched)
    assert (again.command.attempts, again.command.leased_until_ms) == (2, NOW + 2 * LEASE_MS)
    assert due(state) == NOW + LEASE_MS
    assert not decide(state, commands.EndExpired(), NOW + LEASE_MS - 1)
    (ended,) = decide(state, commands.EndExpired(), NOW + LEASE_MS)
    freed = apply(state, ended)
    assert due(freed) == NOW + TTL_MS
    assert decide(freed, TAKE, NOW + LEASE_MS)


@pytest.mark.parametrize("status", ["pending", "delivered", "running"])
def test_its_time_is_exact(status: str):
    state = _with(status)
    before = [type(event) for event in decide(state, commands.EndExpired(), NOW + TTL_MS - 1)]
    assert before in ([], [events.LeaseEnded])
    (ended,) = decide(state, commands.EndExpired(), NOW + TTL_MS)
    assert ended.command.status == "expired"
    assert not decide(state, TAKE, NOW + TTL_MS)
    for late in (_ack("success"), CANCEL):  # the sweep may not have run
        with pytest.raises(CommandFinished):
            decide(state, late, NOW + TTL_MS)
        assert decide(state, late, NOW + TTL_MS - 1)
    assert due(apply(state, ended)) is None


def test_progress_alone_takes_no_offset():
    state = _with("running")
    (moved,) = decide(state, commands.AckCommand(command_id=ID, status="running", progress=5), NOW)
    assert not moved.journaled
    assert moved.command.progress == 5
    assert not decide(
        apply(state, moved), commands.AckCommand(command_id=ID, status="running", progress=5), NOW
    )


def test_the_queue_is_bounded():
    state = replace(SERVER, commands={str(n): replace(PENDING, id=str(n)) for n in range(1_000)})
    with pytest.raises(QuotaExceeded):
        decide(state, _create("x"), NOW)
    heavy = replace(PENDING, payload=b"x" * (4 * 1024 * 1024))
    with pytest.raises(QuotaExceeded):
        decide(replace(SERVER, commands={ID: heavy}), _create("x"), NOW)
    twice = replace(PENDING, payload=b"x" * (2 * 1024 * 1024), masked=b"x" * (2 * 1024 * 1024))
    with pytest.raises(QuotaExceeded):  # what others see of it counts as well
        decide(replace(SERVER, commands={ID: twice}), _create("x"), NOW)


def test_results_of_running_commands_count_until_they_end():
    """Each could keep 64 KiB, so that a thousand of them held 65 MB of memory."""
    large = b"x" * MAX_BYTES
    state = replace(
        SERVER, commands={str(n): replace(PENDING, id=str(n), status="running") for n in range(MAX_OPEN - 1)}
    )
    refused = 0
    for id in state.commands:
        try:
            (event,) = decide(state, commands.AckCommand(command_id=id, status="running", result=large), NOW)
        except QuotaExceeded:
            refused += 1
        else:
            state = apply(state, event)
    kept = sum(map(bytes_of, state.commands.values()))
    assert MAX_OPEN_BYTES - MAX_BYTES < kept <= MAX_OPEN_BYTES
    assert refused == MAX_OPEN - 1 - kept // MAX_BYTES
    with pytest.raises(QuotaExceeded):
        decide(state, replace(_create("x"), payload=large), NOW)
    for again in (None, large, b"1"):  # who has one may go on, also with another that is no larger
        running = commands.AckCommand(command_id="0", status="running", result=again, progress=5)
        assert decide(state, running, NOW)
    (ended,) = decide(state, commands.AckCommand(command_id="998", status="success", result=large), NOW)
    assert ended.command.result == large


def test_commands_that_expire_together_end_in_turns_that_fit_into_pages():
    row = replace(PENDING, status="running", result=b"x" * MAX_BYTES)
    state = replace(SERVER, commands={str(n): replace(row, id=str(n)) for n in range(100)})
    ended: list[str] = []
    while (at := due(state)) is not None:
        happened = decide(state, commands.EndExpired(), at)
        assert 0 < sum(bytes_of(event.command) for event in happened) <= MAX_PAGE_BYTES
        for event in happened:
            state = apply(state, event)
        ended += [event.command.id for event in happened]
    assert ended == [str(n) for n in range(100)]


@pytest.mark.parametrize("command", [commands.EndExpired(), CANCEL, TAKE, _ack("running"), _ack("failed")])
def test_only_what_changes_of_a_command_is_written(command: AnyCommand):
    """Payload and result of each were sent again with each change, 64 KiB and 64 KiB."""
    large = replace(PENDING, status="delivered", payload=b"p" * MAX_BYTES, result=b"r" * MAX_BYTES)
    happened = decide(
        replace(SERVER, commands={ID: large}), command, NOW + TTL_MS * (command == commands.EndExpired())
    )
    (statement,) = plan([_turn(happened)]) or ()
    assert len(msgspec.json.encode(statement.parameters)) < 1_000
    acked = decide(
        replace(SERVER, commands={ID: large}),
        commands.AckCommand(command_id=ID, status="running", result=b"1"),
        NOW,
    )
    (statement,) = plan([_turn([*acked, *decide(apply(SERVER, acked[0]), CANCEL, NOW)])]) or ()
    assert [b"1"] in statement.parameters


def _turn(happened: Sequence[Any]) -> Turn:
    return Turn(
        kind="server", id="server", shard=0, fence=0, seq=0, version=0, at_ms=NOW, events=tuple(happened),
        journal=(), due_at_ms=None, summary=b"", persist=persist,
    )  # fmt: skip


def test_strangers_find_nothing():
    for command in (_create("x", STRANGER), commands.CancelCommand(STRANGER, ID)):
        with pytest.raises(NotFound):
            decide(_with("pending"), command, NOW)
    with pytest.raises(NotFound):
        decide(SERVER, _ack("success"), NOW)


def test_a_snapshot_leaves_out_what_rows_hold():
    assert restore(dump(_with("pending"))) == SERVER


def test_a_payload_that_was_fitted_to_another_schema_is_not_taken():
    text = Raw(b'{"fields":[],"version":"1"}')
    state = replace(SERVER, actions={"e": {"a": text}})
    fitted = replace(_create("x"), extension_id="e", schema_text=Raw(bytes(text)))
    (made,) = decide(state, fitted, NOW)
    assert made.command.extension_id == "e"
    for command in (replace(fitted, schema_text=NO_SCHEMA), _create("x")):
        with pytest.raises(RevisionConflict):
            decide(state, command, NOW)
    for actions in ({}, {"e": {"b": text}}):
        with pytest.raises(Invalid):
            decide(replace(SERVER, actions=actions), fitted, NOW)


def _create(id: str, user_id: str = OWNER) -> AnyCommand:
    return commands.CreateCommand(
        user_id=user_id, command_id=id, action="a", payload=b"{}", extension_id=None, ttl_ms=TTL_MS
    )


class Queue(RuleBasedStateMachine):
    """A server's commands beside a plain model: {id: (status, ends at, leased until)}."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = NOW
        self.state = SERVER
        self.model: dict[str, tuple[str, int, int]] = {}
        self.versions: dict[str, int] = {}

    def _do(self, command: AnyCommand) -> list[Any] | type[Refused]:
        try:
            happened = list(decide(self.state, command, self.now_ms))
        except Refused as refused:
            return type(refused)
        for event in happened:
            self.state = apply(self.state, event)
            if not isinstance(event, events.LeaseEnded):
                row = event.command
                assert row.version == self.versions.get(row.id, 0) + 1
                self.versions[row.id] = row.version
        return happened

    @rule(ms=st.sampled_from([1, 10_000, LEASE_MS, TTL_MS]))
    def time_passes(self, ms: int) -> None:
        self.now_ms += ms
        # The kernel's timer.
        while (at := due(self.state)) is not None and at <= self.now_ms:
            self._do(commands.EndExpired())
        for id, (status, ends, leased) in self.model.items():
            if status not in ENDS and ends <= self.now_ms:
                self.model[id] = ("expired", ends, leased)

    @rule()
    def create(self) -> None:
        id = f"{len(self.model):024d}"
        self._do(_create(id))
        self.model[id] = ("pending", self.now_ms + TTL_MS, 0)

    @rule(limit=st.integers(1, 3))
    def take(self, limit: int) -> None:
        wanted = [
            id
            for id, (status, _, leased) in self.model.items()
            if status == "pending" or (status == "delivered" and leased <= self.now_ms)
        ][:limit]
        happened = self._do(commands.TakeCommands(limit))
        assert isinstance(happened, list)
        assert [event.command.id for event in happened] == wanted
        for id in wanted:
            self.model[id] = ("delivered", self.model[id][1], self.now_ms + LEASE_MS)

    @rule(data=st.data(), status=st.sampled_from(["running", "success", "failed", "rejected", "cancelled"]))
    def end(self, data: st.DataObject, status: str) -> None:
        if not self.model:
            return
        id = data.draw(st.sampled_from(list(self.model)))
        before, ends, leased = self.model[id]
        command: AnyCommand = commands.AckCommand(command_id=id, status=status)
        if status == "cancelled":
            command = commands.CancelCommand(OWNER, id)
        if before in ENDS:
            # What the kernel fetches from the rows.
            row = replace(PENDING, id=id, status=before, finished_at_ms=self.now_ms)
            assert missing(replace(self.state, found=None), command) == ("command", id)
            self.state = replace(self.state, found=row)
        outcome = self._do(command)
        if before in ENDS:
            assert outcome == ([] if before == status else CommandFinished)
        else:
            assert isinstance(outcome, list)
            self.model[id] = (status, ends, leased)

    @invariant()
    def open_ones_are_in_the_state(self) -> None:
        shown = {id: row.status for id, row in self.state.commands.items()}
        assert shown == {id: status for id, (status, _, _) in self.model.items() if status not in ENDS}
        assert list(shown) == sorted(shown)


Queue.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestQueue = Queue.TestCase


def test_a_server_that_listens_takes_a_command_as_it_is_made():
    """Also what it has not acknowledged in time; who waits longest comes first."""
    state = _with("delivered")
    made = commands.CreateCommand(
        user_id=OWNER,
        command_id="d" * 24,
        action="a",
        payload=b"{}",
        extension_id=None,
        ttl_ms=1000,
        heard=True,
    )
    happened = decide(state, made, NOW)
    assert [(event.command.id[0], event.command.status) for event in happened] == [
        ("d", "pending"),
        ("d", "delivered"),
    ]
    late = decide(state, made, NOW + LEASE_MS)
    assert [(event.command.id[0], event.command.status) for event in late] == [
        ("d", "pending"),
        ("c", "delivered"),
        ("d", "delivered"),
    ]
