"""When the client module asks for tokens, in Node, and takes somebody for signed out: only where it can get none."""

from pathlib import Path

import pytest

from tests.console.node import run_beside_client
from tests.support.world import World

pytestmark = pytest.mark.slow


SIGNED_IN_AGAIN = """
import { Partyline } from "./client/partyline.js";
const [url, token] = process.argv.slice(2);
const ended = token.slice(0, -8) + "AAAAAAAA";
const grants = [ended, ended, ended, null, token].map((one) => one && { token: one });
const getToken = async () => grants.shift();
const partyline = new Partyline({ url, getToken, random: () => 0 });
const told = new Promise((resolve) => {
  const hear = () => resolve(partyline.live.state);
  partyline.live.subscribe("inbox", { onSnapshot: hear });
  partyline.session.addEventListener("end", () => { console.log("ended"); setTimeout(() => partyline.restore()); });
});
await partyline.restore();
partyline.live.resume();
console.log(await told, grants.length);
partyline.live.close();
"""
"""Three tokens that no server takes, a session that has ended, and somebody who signs in again."""


SIGNED_IN_AS_ANOTHER = """
import { Partyline } from "./client/partyline.js";
const [url, ada, adaId, ben, benId, conversationId] = process.argv.slice(2);
const grants = [{ token: ada, user: { id: adaId } }, null, { token: ben, user: { id: benId } }];
const partyline = new Partyline({ url, getToken: async () => grants.shift(), random: () => 0 });
const { live, session } = partyline;
const shown = (name) => new Promise((resolve) => live.subscribe(name, { onSnapshot: resolve }));
await partyline.restore();
const first = await shown("inbox");
live.pause();
const unsent = live.send(`conversation:${conversationId}`, { content: "Ada's own words" }).catch((error) => error.name);
await partyline.restore();
session.addEventListener("other", () => console.log("other"));
await partyline.restore();
const second = await shown("inbox");
console.log(first.conversations.length, second.conversations.length, await unsent);
live.close();
"""
"""What somebody watched and had not sent yet, when another signs in to the browser."""


RENEWED_AFTER_SIGNING_IN_AGAIN = """
import { Partyline } from "./client/partyline.js";
const [url, token, id] = process.argv.slice(2);
let opened = 0;
class Counted extends WebSocket { constructor(...all) { super(...all); opened += 1; } }
const getToken = async () => ({ token, user: { id } });
const asPage = (address, more) => {
  const headers = new Headers(more.headers);
  headers.set("Origin", url);
  return fetch(address, { ...more, headers });
};
const partyline = new Partyline({ url, getToken, fetch: asPage, WebSocket: Counted, random: () => 0 });
const { live, session } = partyline;
const isLive = () => new Promise((resolve) => {
  live.addEventListener("state", ({ detail }) => detail === "live" && resolve());
});
const first = isLive();
await partyline.restore();
live.subscribe("inbox", {});
await first;
session.end();
const second = isLive();
await partyline.signIn({ token });
await second;
await session.renew();
console.log(opened);
live.close();
"""
"""A session that has ended, the same user on the same page again, and the next fresh token."""


async def test_a_fresh_token_has_a_fresh_socket_also_after_signing_in_again(
    world: World, tmp_path: Path
) -> None:
    """Else the socket would go on with the former token until that ends."""
    ada = await world.player("Ada")
    said = await run_beside_client(
        tmp_path, RENEWED_AFTER_SIGNING_IN_AGAIN, world.url, ada.token or "", ada.id
    )
    assert said.split() == ["3"]


async def test_nothing_of_one_user_goes_on_as_another(world: World, tmp_path: Path) -> None:
    ada, ben, cat = [await world.player(name) for name in ("Ada", "Ben", "Cat")]
    room = await ada.talk_to(cat)
    said = await run_beside_client(
        tmp_path, SIGNED_IN_AS_ANOTHER, world.url, ada.token or "", ada.id, ben.token or "", ben.id, room.id
    )
    assert said.split() == ["other", "1", "0", "Unreachable"]


async def test_the_live_socket_ends_with_the_session_alone(world: World, tmp_path: Path) -> None:
    """Whoever gets a token is signed in, also where it has ended before the service looks at it."""
    ada = await world.player("Ada")
    said = await run_beside_client(tmp_path, SIGNED_IN_AGAIN, world.url, ada.token or "")
    assert said.split() == ["ended", "live", "0"]


AHEAD = """
import { Partyline } from "./client/partyline.js";
const [url, token] = process.argv.slice(2);
const [device, later] = [Date.now, setTimeout];
Date.now = () => device() + AHEAD_MS;
const pausesMs = [];
globalThis.setTimeout = (act, ms, ...more) => {
  if (act.toString().includes("InTime")) pausesMs.push(ms);
  return later(act, ms, ...more);
};
let cookie = "";
const asPage = async (address, more) => {
  const headers = new Headers(more.headers);
  headers.set("Origin", url);
  headers.set("Cookie", cookie);
  const response = await fetch(address, { ...more, headers });
  cookie = response.headers.getSetCookie()[0]?.split(";")[0] ?? cookie;
  return response;
};
const partyline = new Partyline({ url, fetch: asPage });
await partyline.signIn({ token });
await partyline.restore();
partyline.close();
const minutes = pausesMs.map((ms) => ms / 60_000);
console.log(minutes.length, minutes.every((one) => one > 7.9 && one < 8.1));
"""
"""A device whose clock is wrong, at a service whose tokens last ten minutes."""


@pytest.mark.parametrize("ahead_minutes", [15, -60])
async def test_tokens_are_renewed_by_the_clock_of_the_service(
    world: World, tmp_path: Path, ahead_minutes: int
) -> None:
    ada = await world.player("Ada")
    program = AHEAD.replace("AHEAD_MS", str(ahead_minutes * 60_000))
    said = await run_beside_client(tmp_path, program, world.url, ada.token or "")
    assert said.split() == ["2", "true"]


UNCLEAR = """
import { Partyline } from "./client/partyline.js";
import { ByHand, sockets, takeTime } from "./by_hand.mjs";
const { now, pass } = takeTime();
let asked = 0;
const getToken = async () => ({ token: `t${asked++}`, expiresAt: EXPIRES });
const partyline = new Partyline({ url: "http://127.0.0.1:1", getToken, WebSocket: ByHand });
await partyline.session.renew();
await pass(60_000);
console.log(asked);
partyline.live.subscribe("inbox", {});
sockets[0].open();
sockets[0].tell({ type: "hello", serverTimeMs: now() - 15 * 60_000 });
await pass(3_600_000);
console.log(asked);
partyline.close();
"""
"""A login service whose answers do not say what time it is, until the live socket does."""


@pytest.mark.parametrize(
    ("expires", "asked"),
    [("new Date(now() - 300_000).toISOString()", ["2", "10"]), ('"in ten minutes"', ["2", "115"])],
)
async def test_a_token_that_seems_to_have_ended_is_not_renewed_without_end(
    tmp_path: Path, expires: str, asked: list[str]
) -> None:
    said = await run_beside_client(tmp_path, UNCLEAR.replace("EXPIRES", expires))
    assert said.split() == asked


CROSSED = """
import { Partyline } from "./client/partyline.js";
import { settled, takeTime } from "./by_hand.mjs";
const { pass } = takeTime();
let asked = 0;
let conclude;
const getToken = () => { asked++; return new Promise((resolve, reject) => { conclude = { resolve, reject }; }); };
const partyline = new Partyline({ url: "http://127.0.0.1:1", getToken });
const { session } = partyline;
session.addEventListener("renewed", () => console.log("renewed"));
session.addEventListener("end", () => console.log("ended"));
session.take({ token: "first", expiresAt: new Date(Date.now() + 100_000).toISOString() });
await pass(80_000);
CROSSES
CONCLUDES
await settled();
await pass(200_000);
console.log(session.token(), asked);
partyline.close();
"""
"""Somebody signs in or out while a token is on its way."""


@pytest.mark.parametrize(
    "concludes", ['conclude.resolve({ token: "late" });', "conclude.reject(new Error());"]
)
@pytest.mark.parametrize(
    ("crosses", "said"),
    [("session.end();", ["ended", "null 1"]), ('session.take({ token: "other" });', ["other 1"])],
)
async def test_a_token_that_comes_too_late_is_nobodys(
    tmp_path: Path, crosses: str, concludes: str, said: list[str]
) -> None:
    program = CROSSED.replace("CROSSES", crosses).replace("CONCLUDES", concludes)
    assert (await run_beside_client(tmp_path, program)).splitlines() == said


TOLD_TO_WAIT = """
import { Partyline, Problem } from "./client/partyline.js";
import { takeTime } from "./by_hand.mjs";
const { pass } = takeTime();
let asked = 0;
const getToken = async () => {
  asked++;
  throw new Problem({ code: "RATE_LIMITED" }, { status: 429, retryAfterMs: 60_000 });
};
const partyline = new Partyline({ url: "http://127.0.0.1:1", getToken, random: () => 0 });
partyline.session.take({ token: "t", expiresAt: new Date(Date.now() + 100_000).toISOString() });
await pass(80_000 + 59_000);
console.log(asked);
await pass(1_000);
console.log(asked);
partyline.close();
"""


async def test_renewals_wait_as_long_as_they_are_told(tmp_path: Path) -> None:
    assert (await run_beside_client(tmp_path, TOLD_TO_WAIT)).split() == ["1", "2"]


CLOSED = """
import { Partyline } from "./client/partyline.js";
const heard = new Map();
globalThis.addEventListener = (name, act, { signal }) => {
  heard.set(name, act);
  signal.addEventListener("abort", () => heard.delete(name));
};
const [url, token] = process.argv.slice(2);
const expiresAt = new Date(Date.now() + 600_000).toISOString();
const partyline = new Partyline({ url, getToken: async () => ({ token, expiresAt }) });
await partyline.session.renew();
await new Promise((resolve) => partyline.live.subscribe("inbox", { onSnapshot: resolve }));
const renewed = partyline.session.renew();
console.log(heard.size);
partyline.close();
console.log(heard.size, await renewed, partyline.session.token(), partyline.live.state);
"""
"""A program that is to end by itself, since nothing of the client is left."""


async def test_a_closed_client_lets_a_program_end(world: World, tmp_path: Path) -> None:
    ada = await world.player("Ada")
    said = await run_beside_client(tmp_path, CLOSED, world.url, ada.token or "")
    assert said.split("\n") == ["2", "0 false null closed", ""]


REFUSED = """
import { Partyline } from "./client/partyline.js";
const asked = [];
const answers = [401, 401, 200, 200];
const getToken = async () => { throw new TypeError("no network"); };
const fetch = async (url, { method, headers }) => {
  asked.push(`${method} ${new URL(url).pathname} ${headers.get("Idempotency-Key") ?? ""}`);
  return Response.json({ title: "an answer" }, { status: answers.shift() });
};
const partyline = new Partyline({ url: "http://127.0.0.1:1", getToken, fetch });
partyline.session.take({ token: "t" });
const error = await partyline.rest.post("/v1/things", {}, { idempotencyKey: "key" }).catch((reason) => reason);
console.log(error.name, error.isTemporary);
const first = partyline.rest.get("/v1/things");
partyline.session.take({ token: "fresh" });
await first;
await error.again();
console.log(asked.join(", "));
"""


async def test_a_request_without_a_fresh_token_can_be_said_again(tmp_path: Path) -> None:
    """What is repeated is the request, not what was to get the token; and none is asked for where there is another."""
    said = (await run_beside_client(tmp_path, REFUSED)).splitlines()
    things = "POST /v1/things key, GET /v1/things , GET /v1/things , POST /v1/things key"
    assert said == ["Unreachable true", things]
