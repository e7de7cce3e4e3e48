"""`kill -9` while money is on its way: between Stripe's answer and our commit, and between a webhook's commit and its
answer. What the buyer repeats finds the one checkout, and each payment is fulfilled once.

`KILL_ROUNDS=50` in the environment makes more rounds of it.
"""

import os
from collections import Counter as Count
from random import Random
from typing import Any

import pytest
import trio

from tests.process.shop_play import CREATE, NODE, PURCHASES, Buyer, Counter, selling
from tests.support.proxy import open_proxy
from tests.support.waiting import patience

ROUNDS = int(os.environ.get("KILL_ROUNDS", "10"))
SEED = 20_261_123
AIM_SECONDS = 0.02  # an aimed kill comes so long after what it is aimed at has begun, at most


async def kill_while_held(counter: Counter, buyer: Buyer, _rng: Random) -> None:
    """Stripe has made the session, and its answer is not there yet."""
    held = counter.site.faults.add("held", on=CREATE)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(counter.order_in_vain, buyer)
        with patience():
            await held.reached.wait()
        await counter.server.kill()
    counter.site.faults.release()


async def kill_after_answer(counter: Counter, buyer: Buyer, rng: Random) -> None:
    """Stripe's answer is on its way, or being committed."""
    held = counter.site.faults.add("held", on=CREATE)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(counter.order_in_vain, buyer)
        with patience():
            await held.reached.wait()
        counter.site.faults.release()
        await trio.sleep(rng.uniform(0, AIM_SECONDS))
        await counter.server.kill()


async def kill_at_webhook(counter: Counter, buyer: Buyer, rng: Random) -> None:
    """The payer has paid, and Stripe is telling us, twice at once."""
    checkout = await counter.order_until_answered(buyer)
    (session,) = counter.sessions_of(checkout["id"])
    counter.site.deliveries.copies = 2
    counter.site.pay(session.id)
    counter.site.deliveries.copies = 1
    await trio.sleep(rng.uniform(0, AIM_SECONDS))
    await counter.server.kill()


KILLS = (kill_while_held, kill_after_answer, kill_at_webhook)


async def _fulfilled_once(counter: Counter, buyer: Buyer, checkout_id: str) -> None:
    purchases: list[dict[str, Any]] = (await counter.get(buyer.token, PURCHASES))["items"]
    assert [(one["checkoutId"], one["status"]) for one in purchases] == [(checkout_id, "fulfilled")]
    assert NODE in (await counter.get(buyer.token, "/v1/auth/verify"))["permissions"]
    grants = (await counter.get(counter.root, f"/v1/admin/users/{buyer.id}/permissions"))["items"]
    bought = [(one["node"], one["purchaseId"]) for one in grants if one["source"] == "shop"]
    assert bought == [(NODE, purchases[0]["id"])]


async def _after_the_kill(counter: Counter, buyer: Buyer) -> None:
    """The buyer repeats the request, pays if they have not yet, and has what they have paid for."""
    await counter.server.start()
    checkout = await counter.order_until_answered(buyer)
    (session,) = counter.sessions_of(checkout["id"])
    assert checkout["url"] in {session.url, None}
    if session.status == "open":
        counter.site.pay(session.id)
    await counter.all_told()
    await _fulfilled_once(counter, buyer, checkout["id"])


@pytest.mark.drill
async def test_kill_nine_neither_loses_nor_doubles_a_payment() -> None:
    rng, seen = Random(SEED), Count[str]()
    async with selling() as counter:
        for round in range(ROUNDS):
            kill = KILLS[round % len(KILLS)]
            buyer = await counter.buyer(round)
            await kill(counter, buyer, rng)
            await _after_the_kill(counter, buyer)
            seen[kill.__name__] += 1
        assert len(counter.site.sessions) == ROUNDS
        assert await counter.server.stop() == 0
    print(f"{ROUNDS} kills (seed {SEED}): {dict(seen)}; one session and one fulfilment each")


@pytest.mark.drill
async def test_kill_nine_between_commit_and_answer(database_url: str) -> None:
    """PostgreSQL has committed, and the process dies before it hears of that: once each with the session of a checkout
    and with what a webhook tells."""
    async with open_proxy(database_url) as proxy, selling(database_url=proxy.url) as counter:
        buyer = await counter.buyer(1)
        committed = proxy.hold_at(b"COMMIT\0", after=b"session_ref = ")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(counter.order_in_vain, buyer)
            with patience():
                await committed.wait()
            await counter.server.kill()
        await counter.server.start()
        checkout = await counter.order_until_answered(buyer)
        (session,) = counter.sessions_of(checkout["id"])
        assert checkout["url"] == session.url

        committed = proxy.hold_at(b"COMMIT\0", after=b"INTO shop_webhook_events")
        counter.site.pay(session.id)
        with patience():
            await committed.wait()
        await counter.server.kill()
        assert counter.site.deliveries.answers == []
        await _after_the_kill(counter, buyer)
        assert counter.site.deliveries.answers == [200]
        assert await counter.server.stop() == 0
