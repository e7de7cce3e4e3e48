"""`kill -9` while people write in every domain: whatever was acknowledged is there after the next start, and what was
under way has happened as a whole or not at all. The same where PostgreSQL alone is killed, and where the program is
told to end, which leaves no write in doubt.

Every second time the writers begin to write at the same moment, just before. `KILL_ROUNDS` and `KILL_SEED` have it
happen more often, and otherwise.
"""

import os
import signal

import pytest
import trio

from tests.gateways.play import TOKEN
from tests.process.kept.people import PEOPLE
from tests.process.kept.servers import DOMAIN, SERVERS_OF_PLAYERS
from tests.process.kept.stage import Stage, staged
from tests.process.kept.talk import TALK
from tests.process.kept.things import THINGS
from tests.process.kept.writer import Deed, Writer
from tests.support.embedded import postmaster
from tests.support.process import ServerProcess, reachable_directory
from tests.support.waiting import wait_until
from tests.support.world import Player

ROUNDS = int(os.environ.get("KILL_ROUNDS", "4"))
SEED = int(os.environ.get("KILL_SEED", "20261201"))
MAX_ACKS_BEFORE_KILL = 120
AIM_SECONDS = 0.08

SETTINGS = {"gateway_token": TOKEN, "gateway_domain": DOMAIN}
WRITERS = (*PEOPLE, *TALK, *THINGS, *SERVERS_OF_PLAYERS)


async def kill(stage: Stage) -> None:
    """Kill the program, and start it again."""
    stage.up = trio.Event()
    await stage.server.kill()
    await stage.server.start()
    stage.up.set()


async def stop(stage: Stage) -> None:
    """Have the program end while they go on writing, and start it again."""
    stage.answers_all = True
    assert await stage.server.stop() == 0
    await stage.server.start()


async def kill_database(stage: Stage) -> None:
    """Kill PostgreSQL, which the program starts again."""
    stage.heals = True
    killed = postmaster(stage.server.data_dir)
    os.kill(killed, signal.SIGKILL)

    async def is_back() -> bool:
        try:
            return postmaster(stage.server.data_dir) != killed and await _is_ready(stage)
        except (OSError, ValueError, IndexError):
            return False

    await wait_until(is_back)


async def _is_ready(stage: Stage) -> bool:
    return (await stage.http.get("/ready")).status_code == 200


@pytest.mark.drill
@pytest.mark.parametrize("end", [kill, kill_database, stop], ids=lambda end: end.__name__)
async def test_nothing_acknowledged_is_lost_in_any_domain(end) -> None:
    with reachable_directory() as folder:
        async with staged(ServerProcess(folder, settings=SETTINGS), SEED) as stage:
            writers: list[Writer] = [await make(stage) for make in WRITERS]
            async with trio.open_nursery() as nursery:
                for writer in writers:
                    nursery.start_soon(writer.write)
                for number in range(ROUNDS):
                    await stage.after(stage.rng.randint(1, MAX_ACKS_BEFORE_KILL))
                    if number % 2:
                        await stage.gather(len(writers))
                    await trio.sleep(stage.rng.uniform(0, AIM_SECONDS))
                    await end(stage)
                stage.stopping = True
            await kill(stage)
            for writer in writers:
                await writer.compare(None)
            assert await stage.server.stop() == 0
    print(
        f"{ROUNDS} times {end.__name__} (seed {SEED}): {stage.acks} acknowledged, "
        f"{stage.unknown} unanswered and {stage.refused} refused at first"
    )


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ('200 {"items": [{"name": "w1q"}]}', []),
        ('200 {"items": []}', ["no w1q"]),
        ('200 {"items": [{"name": "w1q"}, {"name": "w2q"}]}', ["still w2q"]),
        ('200 {"items": [{"name": "w1q"}, {"name": "w1q"}]}', ["twice w1q in page"]),
    ],
)
def test_a_deed_knows_what_pages_show_of_it(page: str, found: list[str]) -> None:
    nobody = Player(None, "", "", None)  # type: ignore[arg-type]
    assert Deed(nobody, "POST", "/", shows=("w1q",), hides=("w2q",)).wrong({"page": page}) == found
