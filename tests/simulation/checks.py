"""What must hold when a run has come to rest, whatever has happened in it."""

from typing import Any

import msgspec
from msgspec.structs import replace

from actors.chat.commands import ChatViewer
from actors.chat.frames import audience
from actors.chat.records import decode
from actors.kernel.kind import Kind
from actors.kernel.recovery import recover
from actors.party.state import State as PartyState
from tests.simulation.chat_reads import load, load_inbox
from tests.simulation.chat_rows import KIND, Rows
from tests.simulation.image import CONVERSATIONS, image
from tests.simulation.party_history import unruly
from tests.simulation.party_reads import load as load_party
from tests.simulation.party_reads import load_own, stored_memberships
from tests.simulation.party_rows import KIND as PARTY_KIND
from tests.simulation.viewers import LIMIT, Viewer, comparable, flat
from tests.simulation.world import World

OVERDUE_MS = 2_500
"""How late a deadline may be met after a calm of that length: the sweep looks once a second."""


async def check(world: World) -> list[str]:
    """What is wrong; nothing, if all is well."""
    world.history.follow()
    wrong = [*world.wrong, *world.history.wrong, *_requests(world), *_rest(world)]
    kinds = world.nodes[-1].kinds
    for id in CONVERSATIONS:
        wrong += _journal(world, KIND, id) + _messages(world, id)
        wrong += await _states(world, kinds.conversation, id, await load(world.tables, id))
    wrong += await _parties(world)
    for viewer in world.viewers:
        wrong += await _viewer(world, viewer)
    return wrong


def _requests(world: World) -> list[str]:
    """Durability and exactly-once: what is acknowledged is there once, what was refused or failed is not there."""
    wrong = []
    for request in world.requests:
        effects = world.history.effects(request)
        allowed = {"done": (1,), "unknown": (0, 1), "not": (0,), "refused": (0,)}.get(request.fate, ())
        if request.what == "delete":  # another's, or an earlier one of the same user, may have done it
            allowed = (1,) if request.fate == "done" else (0, 1)
        if request.fate in ("waiting", "fault"):
            wrong.append(f"request {request.number} ({request.what}) ends as {request.fate}")
        elif effects is not None and effects not in allowed:
            wrong.append(
                f"request {request.number} ({request.what}) ends as {request.fate}, with {effects} effects"
            )
    return wrong


def _rest(world: World) -> list[str]:
    """Nothing waits for anything, and no deadline has passed unnoticed."""
    wrong = []
    now_ms = world.clock.now_ms()
    for node in world.nodes:
        wrong += [f"{node.name}: the writer is busy"] * (not node.store.rests)
        wrong += [f"{node.name}: a request waits"] * bool(node.waiting)
        for actor in node.system.statistics():
            if actor.mailbox:
                wrong.append(f"{node.name}: letters wait for {actor.kind} {actor.id[-4:]}")
    for (kind, id), head in world.tables.heads.items():
        if head.due_at_ms is not None and head.due_at_ms < now_ms - OVERDUE_MS:
            wrong.append(f"the deadline of {kind} {id[-2:]} has passed {now_ms - head.due_at_ms} ms ago")
    return wrong


def _journal(world: World, kind: str, id: str) -> list[str]:
    """Every turn stands on the one before it, and the journal has no gap. Versions may have some: heads are sealed."""
    key, wrong = (kind, id), []
    first = image().heads.get(key)
    seq, version = (0, 0) if first is None else (first.seq, first.version)
    for one in world.tables.landed:
        turn = one.turn
        if (turn.kind, turn.id) == key:
            if turn.seq != seq or turn.version < version:
                wrong.append(
                    f"{id[-2:]}: a turn decided at {turn.seq}, version {turn.version} was committed at {seq}, {version}"
                )
            seq, version = turn.seq + len(turn.journal), turn.version + 1
    seqs = [row.seq for row in world.tables.events.get(key, ())]
    if seqs and seqs != list(range(seqs[0], world.tables.heads[key].seq + 1)):
        wrong.append(f"{id[-2:]}: the journal has gaps")
    return wrong


def _messages(world: World, id: str) -> list[str]:
    """Order, and polls whose counts are those of their votes."""
    rows: Rows = world.tables.rows[KIND, id]
    wrong, last_ms = [], 0
    for seq, row in enumerate(rows.messages.values(), 1):
        if row.seq != seq or row.created_at_ms <= last_ms:
            wrong.append(f"{id[-2:]}: message {row.seq} at {row.created_at_ms} is out of order")
        last_ms = row.created_at_ms
        if row.poll_expires_at_ms is not None and row.poll_expires_at_ms < world.clock.now_ms() - OVERDUE_MS:
            wrong.append(f"{id[-2:]}: the poll of message {seq} has expired and is open")
        if row.has_poll:
            wrong += _poll(id, row.record, rows.votes.get(row.id, {}))
            for voter_id, chosen in rows.votes.get(row.id, {}).items():
                if world.history.choices.get((row.id, voter_id)) != chosen:
                    wrong.append(f"{id[-2:]}: a vote in message {seq} is not the last one of its voter")
    return wrong


def _poll(id: str, record: bytes, votes: dict[str, tuple[str, ...]]) -> list[str]:
    poll = decode(record).poll
    assert poll is not None
    counts = {option.id: option.votes for option in poll.options}
    tallies = {one: sum(one in chosen for chosen in votes.values()) for one in counts}
    if (counts, poll.total_voters) == (tallies, len(votes)):
        return []
    return [f"{id[-2:]}: a poll shows {counts} of {poll.total_voters} voters, and its votes are {tallies}"]


async def _states(world: World, kind: Kind[Any, Any], id: str, rows: Any) -> list[str]:
    """What is in memory, and what comes of snapshot and journal, is what the rows say."""
    tables: Any = world.tables
    kept = await recover(tables, tables, kind, id)
    live = world.nodes[-1].system.peek(kind, id)
    assert rows is not None
    assert kept is not None
    wrong, wanted = [], kind.dump(_ordered(rows))
    if kind.dump(_ordered(kept.state)) != wanted:
        wrong.append(f"{kind.name} {id[-2:]}: snapshot and journal lead elsewhere than the rows")
    if live is not None and kind.dump(_ordered(live)) != wanted:
        wrong.append(f"{kind.name} {id[-2:]}: the state in memory is not that of the rows")
    return wrong


def _ordered(state: Any) -> Any:
    """Rows do not say which of two invites of the same millisecond came first."""
    if not isinstance(state, PartyState):
        return state
    return replace(state, invites=dict(sorted(state.invites.items())))


async def _parties(world: World) -> list[str]:
    """Parties keep their rules, and who is in which is known; invites are sent once."""
    world.parties.follow()
    wrong, node = [*world.parties.wrong, *world.parties.unwished()], world.nodes[-1]
    for kind, id in [*world.tables.heads]:
        if kind != PARTY_KIND:
            continue
        wrong += _journal(world, kind, id)
        if (state := await load_party(world.tables, id)) is not None:
            wrong += unruly(state) + await _states(world, node.parties.party, id, state)
    known = {(user_id, id) for user_id, id in node.memberships.all()}
    stored = set(await stored_memberships(world.tables))
    missed = [(user_id, id) for user_id, id in sorted(stored - known) if user_id not in world.strays]
    wrong += [f"{user_id[:4]} is not known to be in {id[-2:]}" for user_id, id in missed]
    wrong += [f"{user_id[:4]} is thought to be in {id[-2:]}" for user_id, id in sorted(known - stored)]
    for request in world.requests:
        sent = sum(world.parties.invited[id] for id in request.attempts) if request.what == "invite" else 0
        if sent > (request.fate in ("done", "unknown")):
            wrong.append(
                f"request {request.number} (invite) ends as {request.fate}, and was sent {sent} times"
            )
    return wrong


async def _viewer(world: World, viewer: Viewer) -> list[str]:
    """Who has read everything sees what a fresh snapshot would show."""
    viewer.catch_up()
    if viewer.shows == "party" and viewer.user_id in world.strays:
        return []  # their view follows memory, which nobody has told of that party (`_parties`)
    fresh = await _fresh(world, viewer)
    if viewer.subscription is None:
        return [] if fresh is None else [f"{viewer.name} is not let in"]
    if fresh is None or viewer.seen is None:
        return [f"{viewer.name} is let in" if fresh is None else f"{viewer.name} is shown nothing"]
    seen, wanted = dict(flat(comparable(viewer, viewer.seen))), dict(flat(comparable(viewer, fresh)))
    return [
        f"{viewer.name} sees {path} as {seen.get(path)}, in place of {wanted.get(path)}"
        for path in sorted(seen.keys() | wanted.keys())
        if seen.get(path) != wanted.get(path)
    ][:3]


async def _fresh(world: World, viewer: Viewer) -> dict[str, Any] | None:
    tables, kinds = world.tables, world.nodes[-1].kinds
    if viewer.shows == "party":
        own = world.nodes[-1].parties.own
        return msgspec.json.decode(bytes(own.rendering.render(await load_own(tables, viewer.id), None)))  # type: ignore[arg-type]
    if viewer.shows == "inbox":
        inbox = await load_inbox(tables, viewer.id)
        return msgspec.json.decode(bytes(kinds.inbox.rendering.render(inbox, None)))  # type: ignore[arg-type]
    state = await load(tables, viewer.id)
    assert state is not None
    if viewer.user_id not in state.members:
        return None
    return msgspec.json.decode(
        kinds.frames.snapshot(state, audience(state, ChatViewer(viewer.user_id, LIMIT)))
    )
