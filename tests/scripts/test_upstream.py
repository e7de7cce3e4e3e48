"""The servers of others on this machine: from the command line, with the routes that make them go wrong."""

import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
import stripe
import trio

from scripts.upstreams import curseforge
from scripts.upstreams.__main__ import parser
from scripts.upstreams.faults import AFTERWARDS, INSTEAD
from scripts.upstreams.http import HttpServer, Reply, Request
from scripts.upstreams.stripe import API_VERSION, KEY, WEBHOOK_SECRET
from tests.contract.sources import ROOT
from tests.support.waiting import PATIENCE_SECONDS, patience

FORM = {
    "mode": "payment", "client_reference_id": "c1", "metadata[checkoutId]": "c1",
    "payment_intent_data[metadata][checkoutId]": "c1", "success_url": "https://x.example/ok",
    "cancel_url": "https://x.example/no", "line_items[0][price_data][currency]": "eur",
    "line_items[0][price_data][unit_amount]": "500", "line_items[0][price_data][product_data][name]": "<Glow>",
    "line_items[0][quantity]": "2",
}  # fmt: skip


class Hook:
    """A webhook that refuses what comes first, and keeps all that it is sent."""

    def __init__(self) -> None:
        self.sent: list[Request] = []
        self.changed = trio.Condition()
        self.refuses = 1

    async def answer(self, request: Request) -> Reply:
        self.sent.append(request)
        async with self.changed:
            self.changed.notify_all()
        self.refuses -= 1
        return Reply(200 if self.refuses < 0 else 503)

    async def until(self, count: int) -> list[stripe.Event]:
        """The events, once so many were sent; each signature is verified by Stripe's own library."""
        with patience():
            async with self.changed:
                while len(self.sent) < count:
                    await self.changed.wait()
        return [
            stripe.Webhook.construct_event(one.body, one.headers["stripe-signature"], WEBHOOK_SECRET)
            for one in self.sent
        ]


class Running:
    """The program, and a client of it."""

    def __init__(self, client: httpx2.AsyncClient, hook: Hook) -> None:
        self.client = client
        self.hook = hook
        self.now_s = int(time.time())

    async def control(self, method: str, path: str, site: str = "stripe", /, **body: object) -> Any:
        answer = await self.client.request(method, f"/_control/{site}/{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def create(self, key: str = "", **headers: str) -> httpx2.Response:
        sent = {"authorization": f"Bearer {KEY}", "stripe-version": API_VERSION, **headers}
        sent |= {"idempotency-key": key} if key else {}
        form = FORM | {"expires_at": str(self.now_s + 3600)}
        return await self.client.post("/stripe/v1/checkout/sessions", data=form, headers=sent)


@asynccontextmanager
async def program() -> AsyncIterator[Running]:
    hook = Hook()
    server = HttpServer(hook.answer)
    async with trio.open_nursery() as nursery:
        await nursery.start(server.serve)
        process = await trio.lowlevel.open_process(
            [
                sys.executable,
                "-m",
                "scripts.upstreams",
                "--port=0",
                f"--webhooks=http://127.0.0.1:{server.port}/",
            ],
            stdout=subprocess.PIPE,
            cwd=ROOT,
        )
        assert process.stdout is not None
        try:
            said = b""
            with patience():
                while b"WEBHOOK_SECRET=" not in said:
                    said += await process.stdout.receive_some()
            (url,) = re.findall(r"PARTYLINE_STRIPE_URL=(http://127\.0\.0\.1:\d+)/stripe\n", said.decode())
            async with httpx2.AsyncClient(base_url=url, timeout=PATIENCE_SECONDS) as client:
                yield Running(client, hook)
        finally:
            process.kill()
            with trio.CancelScope(shield=True):
                await process.wait()
        nursery.cancel_scope.cancel()


@pytest.fixture
async def running() -> AsyncIterator[Running]:
    async with program() as running:
        yield running


@pytest.mark.slow
async def test_a_payment_from_the_command_line(running: Running) -> None:
    made = (await running.create("k1")).json()
    assert (await running.create("k1")).json() == made
    page = await running.client.get(made["url"])
    assert "&lt;Glow&gt;" in page.text
    assert (await running.client.post(made["url"], data={"action": "pay"})).status_code == 303
    first, again = await running.hook.until(2)
    assert first.id == again.id
    assert (first.type, first.data.object["id"]) == ("checkout.session.completed", made["id"])
    assert "complete" in (await running.client.get(made["url"])).text

    await running.control("POST", "delivery", copies=2, held=True)
    await running.control("POST", "sessions", session=made["id"], do="dispute")
    await running.control("POST", "sessions", session=made["id"], do="refund")
    await running.control("POST", "flush", order="reversed")
    later = (await running.hook.until(6))[2:]
    assert sorted(event.type for event in later) == ["charge.dispute.created"] * 2 + ["charge.refunded"] * 2
    (shown,) = await running.control("GET", "sessions")
    assert shown["payment_status"] == "paid"

    second = (await running.create("k2")).json()
    cancelled = await running.client.post(second["url"], data={"action": "cancel"})
    assert cancelled.headers["location"] == FORM["cancel_url"]
    for wrong in ({"session": second["id"], "do": "settle"}, {"session": "x", "do": "pay"}, {"do": "pay"}):
        answer = await running.client.post("/_control/stripe/sessions", json=wrong)
        assert answer.status_code == 400, answer.text


@pytest.mark.slow
async def test_faults_that_are_chosen(running: Running) -> None:
    for fault, status in INSTEAD.items():
        await running.control("POST", "faults", fault=fault, on="POST /v1/checkout")
        assert (await running.create(fault)).status_code == status
        stored = fault in {"400", "402", "500"}
        assert (await running.create(fault)).status_code == (status if stored else 200)
        assert (await running.create(**{"x-fault": fault})).status_code == status
    for fault in AFTERWARDS:
        await running.control("POST", "faults", fault=fault)
    await running.control("DELETE", "faults")
    assert (await running.create()).status_code == 200
    for path, body in (
        ("faults", {"fault": "fire"}),
        ("faults", {}),
        ("flush", {"order": "up"}),
        ("faults", []),
    ):
        assert (await running.client.post(f"/_control/stripe/{path}", json=body)).status_code == 400
    for path in ("/_control/stripe/dance", "/stripe/v1/dance"):
        assert (
            await running.client.post(path, headers={"authorization": f"Bearer {KEY}"})
        ).status_code >= 400


@pytest.mark.slow
async def test_a_discord_from_the_command_line(running: Running) -> None:
    client, control = running.client, "/_control/discord"
    (webhook,) = (await client.get(f"{control}/webhooks")).json()
    url, message = webhook["url"], {"content": "hello"}
    shown = (await client.get(url)).json()
    assert (shown["type"], shown["guild_id"]) == (1, webhook["guildId"])
    await client.post(f"{control}/limits", json={"limit": 1, "seconds": 3600})
    taken = await client.post(url, params={"wait": "true"}, json=message)
    assert (taken.status_code, taken.json()["content"]) == (200, "hello")
    assert taken.headers["x-ratelimit-remaining"] == "0"
    assert 3590 < float(taken.headers["x-ratelimit-reset-after"]) <= 3600
    full = await client.post(url, json=message)
    assert (full.status_code, full.json()["global"]) == (429, False)
    assert full.json()["retry_after"] <= int(full.headers["retry-after"])
    await client.post(f"{control}/limits", json={"limit": 100, "globalSeconds": 3600})
    halted = await client.get(url)
    assert (halted.status_code, halted.json()["global"]) == (429, True)
    await client.post(f"{control}/limits", json={"globalSeconds": 0})
    for fault, status in INSTEAD.items():
        assert (await client.post(url, json=message, headers={"x-fault": fault})).status_code == status
    for wrong in ({}, {"content": "x" * 2001}, {"content": "x", "username": "My Discord"}, {"embeds": [{}]}):
        refused = await client.post(url, json=wrong)
        assert (refused.status_code, refused.json()["code"]) == (400, 50035)
    assert (await client.post(url, json=message)).status_code == 204
    assert (await client.get(f"{control}/posts")).json() == [message, message]
    for what, status, code in (("renew", 401, 50027), ("delete", 404, 10015)):
        await client.post(f"{control}/webhooks", json={"webhook": webhook["id"], "do": what})
        answer = await client.get(url)
        assert (answer.status_code, answer.json()["code"]) == (status, code)
    made = (await client.post(f"{control}/webhooks", json={"guildId": "1"})).json()
    assert (await client.get(made["url"])).json()["guild_id"] == "1"


@pytest.mark.slow
async def test_catalogues_of_mods(running: Running) -> None:
    client, named = running.client, {"x-api-key": curseforge.KEY}
    lanterns, first = "/modrinth/v2/project/lanterns", "/curseforge/v1/mods/300001"
    answer = await client.get(lanterns)
    assert (answer.json()["slug"], answer.headers["x-ratelimit-remaining"]) == ("lanterns", "300")
    refused = await client.get(first)
    assert (refused.status_code, refused.content) == (403, b"")
    assert (await client.get(first, headers=named)).json()["data"]["slug"] == "lanterns"
    files = (await client.get("/curseforge/v1/mods/300004/files", headers=named)).json()["data"]
    assert {one["downloadUrl"] for one in files} == {None}
    for fault, status in INSTEAD.items():
        for path in (lanterns, first):
            assert (await client.get(path, headers={**named, "x-fault": fault})).status_code == status
    for site, path in (("modrinth", lanterns), ("curseforge", first)):
        await running.control("POST", "retry", site, after="7")
        await running.control("POST", "faults", site, fault="410")
        assert (await client.get(path, headers=named)).headers["retry-after"] == "7"
        newest = (await running.control("GET", "asked", site))[-1]
        assert newest == ["GET", path.removeprefix(f"/{site}"), {}]
    await running.control("POST", "limits", "modrinth", remaining=0, reset=30)
    limited = (await client.get("/modrinth/v2/search")).headers
    assert (limited["x-ratelimit-remaining"], limited["x-ratelimit-reset"]) == ("0", "30")


def test_the_program_explains_itself() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "scripts.upstreams", "--help"], cwd=ROOT, capture_output=True, check=True
    )
    for route in (b"/_control/stripe/faults", b"/_control/discord/posts"):
        assert route in shown.stdout


@pytest.mark.parametrize("port", ["99999", "-1", "http"])
def test_a_port_that_is_none_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args([f"--port={port}"])
    assert f"'{port}' is no port" in capsys.readouterr().err
