"""`kill -9` of the server or of its PostgreSQL while people write: what was acknowledged is there, once and in order.

Eight writers post into four conversations with client message ids. An acknowledgement counts once it has been
written to the writer's own file and synced. Some kills are aimed at the moment between a write and its
acknowledgement: the writer repeats the message with the same id, and must get the one message, old or new.

`KILL_ROUNDS` and `KILL_SEED` have it kill more often, and otherwise.
"""

import json
import os
import secrets
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import httpx2
import pytest
import trio

from routes.edge.identity.keys import open_keys
from tests.support.embedded import postmaster
from tests.support.process import ServerProcess, server_process
from tests.support.waiting import PATIENCE_SECONDS, wait_until

KILLS = {"server": 20, "database": 4}
"""What is killed, and how often; a kill of PostgreSQL takes a second to heal."""

ROUNDS = int(os.environ.get("KILL_ROUNDS", "0"))
WRITERS = 8
SEED = int(os.environ.get("KILL_SEED", "20261121"))
MAX_ACKS_BEFORE_KILL = 60
AIM_SECONDS = 0.006  # an aimed kill comes so long after a request began, at most
RETRY_SECONDS = 0.02
PAGE = 120


@dataclass
class Posted:
    """One message as its writer knows it: when it was first sent and when acknowledged (monotonic ns)."""

    client_id: str
    sent_ns: int
    acked_ns: int = 0
    id: str = ""
    created_at_ms: int = 0


@dataclass
class Writer:
    """Posts one message after the other; the next is sent only when the last is acknowledged and logged."""

    number: int
    token: str
    log: Path
    conversation: str = ""
    posted: list[Posted] = field(default_factory=list)
    repeats: int = 0
    waiting: bool = False  # a request is on its way

    @property
    def messages(self) -> str:
        return f"/v1/social/chat/conversations/{self.conversation}/messages"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


@dataclass
class Trial:
    """The server, its writers, and the moments of the kills."""

    server: ServerProcess
    writers: list[Writer]
    up: trio.Event = field(default_factory=trio.Event)
    acknowledged: trio.Condition = field(default_factory=trio.Condition)
    began: trio.Condition = field(default_factory=trio.Condition)
    stopping: bool = False
    acks: int = 0
    open_at_kill: int = 0
    killed: int = 0  # the PostgreSQL that was

    async def write(self, writer: Writer, client: httpx2.AsyncClient) -> None:
        """Post until told to stop; the message in hand is finished first."""
        with writer.log.open("ab") as log:
            while not self.stopping:
                await self.up.wait()
                posted = Posted(f"{writer.number}-{len(writer.posted)}", time.monotonic_ns())
                writer.posted.append(posted)
                await self._until_acknowledged(writer, posted, client)
                line = {"clientMessageId": posted.client_id, "id": posted.id}
                log.write(json.dumps(line).encode() + b"\n")
                log.flush()
                os.fsync(log.fileno())
                posted.acked_ns = time.monotonic_ns()
                async with self.acknowledged:
                    self.acks += 1
                    self.acknowledged.notify_all()

    async def _until_acknowledged(self, writer: Writer, posted: Posted, client: httpx2.AsyncClient) -> None:
        body = {"content": f"message {posted.client_id}", "clientMessageId": posted.client_id}
        while True:
            writer.waiting = True
            async with self.began:
                self.began.notify_all()
            try:
                answer = await client.post(writer.messages, json=body, headers=writer.headers)
            except httpx2.TransportError:
                writer.repeats += 1
                await self.up.wait()
                await trio.sleep(RETRY_SECONDS)
                continue
            finally:
                writer.waiting = False
            if answer.status_code == 503:  # just started, or about to end
                writer.repeats += 1
                await trio.sleep(RETRY_SECONDS)
                continue
            assert answer.status_code == 201, answer.text
            message = answer.json()
            assert message["clientMessageId"] == posted.client_id
            posted.id, posted.created_at_ms = message["id"], message["createdAtMs"]
            return

    async def kill_after(self, acks: int, aimed_seconds: float | None) -> None:
        """Kill once so many more were acknowledged; aimed: so soon after the next request began."""
        goal = self.acks + acks
        async with self.acknowledged:
            while self.acks < goal:
                await self.acknowledged.wait()
        if aimed_seconds is not None:
            async with self.began:
                await self.began.wait()
            await trio.sleep(aimed_seconds)
        self.open_at_kill += sum(writer.waiting for writer in self.writers)

    async def _is_another_there(self) -> bool:
        try:
            return postmaster(self.server.data_dir) != self.killed
        except (OSError, ValueError, IndexError):
            return False

    async def kill(self, victim: str) -> None:
        """Kill now. The server is started again, and the writers go on then; PostgreSQL is by the server."""
        if victim == "database":
            # Answers that were on their way are counted as well: there may be no other PostgreSQL yet.
            await wait_until(self._is_another_there)
            self.killed = postmaster(self.server.data_dir)
            os.kill(self.killed, signal.SIGKILL)
            return
        self.up = trio.Event()
        await self.server.kill()
        await self.server.start()
        self.up.set()


async def _stored(writer: Writer, client: httpx2.AsyncClient) -> list[dict[str, object]]:
    """The whole conversation of a writer, oldest first, page by page."""
    found: list[dict[str, object]] = []
    before: dict[str, int] = {}
    while True:
        page = await client.get(writer.messages, params={"limit": PAGE, **before}, headers=writer.headers)
        assert page.status_code == 200, page.text
        answer = page.json()
        found = answer["items"] + found
        if not answer["hasMore"]:
            return found
        before = {"beforeMs": answer["nextBeforeMs"]}


def _judge(stored: list[dict[str, object]], pair: list[Writer]) -> None:
    """None lost, none twice, order kept; `stored` may hold one unacknowledged message of each writer."""
    places = {str(message["clientMessageId"]): place for place, message in enumerate(stored)}
    assert len(places) == len(stored), "a message is there twice"
    times = [message["createdAtMs"] for message in stored]
    assert times == sorted(set(times)), "the order of times is broken"
    known = {posted.client_id: posted for writer in pair for posted in writer.posted}
    assert places.keys() <= known.keys(), "a message is there that nobody wrote"
    for writer in pair:
        acknowledged = [posted for posted in writer.posted if posted.acked_ns]
        lost = [posted.client_id for posted in acknowledged if posted.client_id not in places]
        assert not lost, f"acknowledged and lost: {lost}"
        for posted in acknowledged:
            message = stored[places[posted.client_id]]
            assert (message["id"], message["createdAtMs"]) == (posted.id, posted.created_at_ms)
        order = [places[posted.client_id] for posted in writer.posted if posted.client_id in places]
        assert order == sorted(order), f"writer {writer.number}'s messages are out of order"
    # What was acknowledged before another message was first sent stands before it.
    earliest_ack = float("inf")
    for message in reversed(stored):
        posted = known[str(message["clientMessageId"])]
        assert posted.sent_ns <= earliest_ack, f"{posted.client_id} stands before what it came after"
        earliest_ack = min(earliest_ack, posted.acked_ns or float("inf"))


def _logged(writer: Writer) -> list[dict[str, str]]:
    return [json.loads(line) for line in writer.log.read_text().splitlines()]


async def _gather(server: ServerProcess, client: httpx2.AsyncClient) -> list[Writer]:
    """Eight users with tokens, two and two in a conversation."""
    keys = open_keys(server.data_dir)
    ids = [f"{number:08d}-0000-4000-8000-000000000000" for number in range(WRITERS)]
    writers = []
    for number, id in enumerate(ids):
        minted = keys.mint_user_token(
            id,
            f"writer{number}",
            now_ms=time.time_ns() // 1_000_000,
            ttl_seconds=3600,
            random_bytes=secrets.token_bytes,
        )
        writers.append(Writer(number, minted.token, server.folder / f"writer{number}.log"))
        answer = await client.get("/v1/profile/self", headers=writers[-1].headers)
        assert answer.status_code == 200, answer.text
    for first, second in zip(writers[::2], writers[1::2], strict=True):
        body = {"kind": "direct", "participantIds": [ids[second.number]]}
        answer = await client.post("/v1/social/chat/conversations", json=body, headers=first.headers)
        assert answer.status_code in (200, 201), answer.text
        first.conversation = second.conversation = answer.json()["id"]
    return writers


@pytest.mark.drill
@pytest.mark.parametrize("victim", KILLS)
async def test_kill_nine_loses_nothing_acknowledged(victim: str):
    rng, kills = Random(SEED), ROUNDS or KILLS[victim]
    async with server_process() as server:
        limits = httpx2.Limits(max_connections=WRITERS + 1, max_keepalive_connections=WRITERS + 1)
        async with httpx2.AsyncClient(base_url=server.url, limits=limits, timeout=PATIENCE_SECONDS) as client:
            trial = Trial(server, await _gather(server, client))
            trial.up.set()
            aimed = 0
            async with trio.open_nursery() as nursery:
                for writer in trial.writers:
                    nursery.start_soon(trial.write, writer, client)
                for kill in range(kills):
                    acks = rng.randint(1, MAX_ACKS_BEFORE_KILL)
                    aim = rng.uniform(0, AIM_SECONDS) if kill % 2 else None
                    aimed += aim is not None
                    await trial.kill_after(acks, aim)
                    await trial.kill(victim)
                trial.stopping = True

            async def reads() -> bool:
                return (await client.get("/ready")).status_code == 200

            await wait_until(reads)  # the last kill was a moment ago
            for pair in zip(trial.writers[::2], trial.writers[1::2], strict=True):
                _judge(await _stored(pair[0], client), list(pair))
        for writer in trial.writers:
            logged = [(line["clientMessageId"], line["id"]) for line in _logged(writer)]
            assert logged == [(posted.client_id, posted.id) for posted in writer.posted]
        assert await server.stop() == 0
    print(
        f"{kills} kills of the {victim} (seed {SEED}, {aimed} of them aimed between write and acknowledgement, "
        f"{trial.open_at_kill} requests under way), {trial.acks} messages acknowledged, "
        f"{sum(writer.repeats for writer in trial.writers)} repeats: none lost, none twice, order kept"
    )


def _trial(*, acked: str, stored: str) -> tuple[list[dict[str, object]], list[Writer]]:
    """A finished trial in small: what one writer had acknowledged, and what the server shows, by number."""
    writer = Writer(0, "", Path())
    for number, name in enumerate(sorted(set(acked + stored))):
        posted = Posted(name, sent_ns=number * 10, id=name, created_at_ms=number)
        posted.acked_ns = number * 10 + 5 if name in acked else 0
        writer.posted.append(posted)
    messages: list[dict[str, object]] = [
        {"clientMessageId": name, "id": name, "createdAtMs": ord(name) - ord("a")} for name in stored
    ]
    return messages, [writer]


@pytest.mark.parametrize(("acked", "stored"), [("abc", "abc"), ("ab", "abc"), ("", "")])
def test_the_judge_is_content(acked: str, stored: str):
    _judge(*_trial(acked=acked, stored=stored))


@pytest.mark.parametrize(
    ("acked", "stored", "found"),
    [("abc", "ac", "lost"), ("abc", "abbc", "twice"), ("abc", "acb", "order"), ("abc", "", "lost")],
)
def test_the_judge_notices(acked: str, stored: str, found: str):
    with pytest.raises(AssertionError, match=found):
        _judge(*_trial(acked=acked, stored=stored))
