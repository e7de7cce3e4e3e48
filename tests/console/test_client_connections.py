"""Connections of the client module that fail, hang, come too late, or are sent away, in Node."""

from pathlib import Path

import pytest

from tests.console.node import run_beside_client
from tests.support.world import World

pytestmark = pytest.mark.slow

PROLOGUE = """
import { Partyline } from "./client/partyline.js";
import { ByHand, settled, sockets, takeTime } from "./by_hand.mjs";
const client = (more = {}) => new Partyline({
  url: "http://127.0.0.1:1", getToken: async () => ({ token: "t" }), WebSocket: ByHand, random: () => 0, ...more,
});
const signedIn = async (more) => {
  const partyline = client(more);
  await partyline.session.renew();
  return { partyline, live: partyline.live, session: partyline.session };
};
"""


async def said_by(folder: Path, program: str) -> list[str]:
    """The lines that a program prints whose sockets are in its own hand."""
    return (await run_beside_client(folder, PROLOGUE + program)).splitlines()


NOT_OPENED = """
const { partyline, live, session } = await signedIn();
live.subscribe("inbox", {});
const [first] = sockets;
first.open();
first.grant("subscribe", "inbox");
await session.renew();
live.send("conversation:1", { content: "hello" }).then(() => console.log("sent"));
live.read("conversation:1", "m").then(() => console.log("read"));
live.subscribe("friends", { onEvent: (event) => console.log(event) });
sockets[1].die();
for (const command of first.said.slice(1)) first.grant(command);
first.tell({ type: "event", channel: "friends", epoch: "e", offset: 1, event: "presence" });
await settled();
console.log(first.words.slice(1).join(), live.state, sockets.length);
partyline.close();
"""


NO_SOCKETS = """
delete globalThis.WebSocket;
const partyline = new Partyline({ url: "http://127.0.0.1:1", token: "t" });
try {
  partyline.live.subscribe("inbox", {});
} catch (error) {
  console.log(error.message);
}
partyline.close();
"""


async def test_where_there_are_no_web_sockets_it_says_what_is_missing(tmp_path: Path) -> None:
    """As in Node before 22; requests need none."""
    assert await said_by(tmp_path, NO_SOCKETS) == [
        "no WebSocket here: give one as new Partyline({ WebSocket })"
    ]


async def test_all_goes_on_over_the_connection_that_stands(tmp_path: Path) -> None:
    """Every renewal of the token opens a second connection, and that may be refused."""
    assert await said_by(tmp_path, NOT_OPENED) == [
        "presence",
        "sent",
        "read",
        "send conversation:1,read conversation:1,subscribe friends live 2",
    ]


LOST_HALFWAY = """
const { partyline, live, session } = await signedIn();
const hear = (channel) => live.subscribe(channel, { onEvent: (event, data) => console.log(channel, data) });
const [inbox, friends] = ["inbox", "friends"].map(hear);
const [first] = sockets;
first.open();
for (const command of first.said) first.grant(command);
await session.renew();
const second = sockets[1];
second.open();
second.grant("subscribe", "inbox");
second.tell({ type: "event", channel: "inbox", epoch: "e", offset: 1, event: "news", data: "one" });
const sent = live.send("conversation:1", { content: "hello" }).then(() => console.log("sent"));
second.die();
console.log(first.words.slice(2).join(), JSON.stringify(first.last("subscribe", "inbox").since), live.state);
first.grant("subscribe", "inbox");
for (const [offset, data] of [[1, "one"], [2, "two"]]) {
  first.tell({ type: "event", channel: "inbox", epoch: "e", offset, event: "news", data });
}
first.tell({ type: "event", channel: "friends", epoch: "e", offset: 1, event: "news", data: "three" });
first.grant("send", "conversation:1");
await sent;
partyline.close();
"""


async def test_what_had_moved_comes_back_to_the_connection_that_stands(tmp_path: Path) -> None:
    assert await said_by(tmp_path, LOST_HALFWAY) == [
        "inbox one",
        'subscribe inbox,send conversation:1 {"epoch":"e","offset":1} live',
        "inbox two",
        "friends three",
        "sent",
    ]


ANSWERED_LATE = """
const { partyline, live, session } = await signedIn();
live.subscribe("inbox", { onEvent: (event) => console.log(event), onEnd: () => console.log("ended") });
const [first] = sockets;
first.open();
const late = first.said[0];
await session.renew();
const second = sockets[1];
second.open();
second.grant("subscribe", "inbox");
ANSWER
await settled();
second.tell({ type: "event", channel: "inbox", epoch: "e", offset: 1, event: "news" });
console.log(first.readyState, second.readyState);
partyline.close();
"""


@pytest.mark.parametrize(
    "answer",
    [
        "first.grant(late);",
        'first.tell({ type: "reply", id: late.id, ok: false, error: { code: "FORBIDDEN" } });',
    ],
)
async def test_a_slow_connection_does_not_get_back_what_was_taken_over(tmp_path: Path, answer: str) -> None:
    """Else the channel would be silent as soon as the former connection is closed."""
    assert await said_by(tmp_path, ANSWERED_LATE.replace("ANSWER", answer)) == ["news", "3 1"]


ENDED_MEANWHILE = """
const { partyline, live, session } = await signedIn();
live.addEventListener("state", ({ detail }) => console.log(detail));
live.subscribe("inbox", {});
sockets[0].open();
await session.renew();
sockets[0].die(4401);
sockets[1].open();
console.log(sockets[1].words.join());
partyline.close();
"""


async def test_it_is_not_live_where_nothing_is_open(tmp_path: Path) -> None:
    assert await said_by(tmp_path, ENDED_MEANWHILE) == [
        "connecting",
        "live",
        "connecting",
        "live",
        "subscribe inbox",
        "closed",
    ]


REFUSED_MOVE = """
const { partyline, live, session } = await signedIn();
live.subscribe("inbox", { onEnd: () => console.log("ended") });
sockets[0].open();
sockets[0].grant("subscribe", "inbox");
await session.renew();
sockets[1].open();
const { id } = sockets[1].last("subscribe", "inbox");
sockets[1].tell({ type: "reply", id, ok: false, error: { code: "FORBIDDEN" } });
await settled();
console.log(sockets[0].readyState, sockets[1].readyState);
partyline.close();
"""


async def test_the_former_connection_goes_with_the_last_channel_that_it_shows(tmp_path: Path) -> None:
    assert await said_by(tmp_path, REFUSED_MOVE) == ["ended", "3 1"]


WATCHED_ANEW = """
const { partyline, live, session } = await signedIn();
const first = live.subscribe("conversation:1", { onEnd: () => console.log("first ended") });
const [socket] = sockets;
socket.open();
socket.grant("subscribe", "conversation:1");
first.close();
live.subscribe("conversation:1", {
  onSnapshot: (data) => console.log(data), onEnd: ({ code }) => console.log("second ended:", code),
});
const tell = (type, more) => socket.tell({ type, channel: "conversation:1", epoch: "e", offset: 1, ...more });
tell("snapshot", { data: "of the first" });
tell("unsubscribed", { code: "FORBIDDEN" });
socket.grant("subscribe", "conversation:1");
tell("snapshot", { data: "of the second" });
tell("unsubscribed", { code: "NOT_FOUND" });
partyline.close();
"""


async def test_what_is_on_its_way_of_one_subscription_is_not_the_next_ones(tmp_path: Path) -> None:
    assert await said_by(tmp_path, WATCHED_ANEW) == ["of the second", "second ended: NOT_FOUND"]


NEVER_OPENED = """
const { pass } = takeTime();
const never = (url, { signal }) => new Promise((resolve, reject) => {
  signal.addEventListener("abort", () => reject(signal.reason));
});
const { partyline, live, session } = await signedIn({ fetch: never });
live.subscribe("inbox", {});
await pass(14_999);
console.log(live.state, sockets.length);
await pass(1);
console.log(live.state, sockets[0].readyState);
await pass(16_000);
console.log(live.state, sockets.length);
sockets[1].open();
console.log(live.state);
await pass(20_000);
console.log(live.state);
partyline.close();
"""


async def test_a_handshake_or_a_request_that_is_never_answered_is_given_up(tmp_path: Path) -> None:
    """A balancer may take connections whose back end does not answer; a request then asks why, and hangs too."""
    assert await said_by(tmp_path, NEVER_OPENED) == [
        "connecting 1",
        "waiting 3",
        "connecting 2",
        "live",
        "live",
    ]


TOLD_TO_MOVE = """
const { pass } = takeTime();
const { partyline, live, session } = await signedIn();
live.subscribe("inbox", {});
const [first] = sockets;
first.open();
first.tell({ type: "reconnect", afterMs: 7_000, reason: "DRAINING" });
await pass(1_000);
if (CLOSES) first.die(4503);
await pass(5_999);
console.log(live.state, sockets.length);
await pass(1);
console.log(live.state, sockets.length);
partyline.close();
"""


@pytest.mark.parametrize(("closes", "state"), [("true", "waiting"), ("false", "live")])
async def test_it_comes_back_when_the_service_has_said(tmp_path: Path, closes: str, state: str) -> None:
    """The server closes a second after it has told each client another time; at once, all would come together."""
    after = "connecting" if closes == "true" else "live"
    program = TOLD_TO_MOVE.replace("CLOSES", closes)
    assert await said_by(tmp_path, program) == [f"{state} 1", f"{after} 2"]


FALLING = """
const { now, pass } = takeTime();
const { partyline, live, session } = await signedIn();
live.subscribe("inbox", {});
const pauses = [];
for (let n = 0; n < 7; n++) {
  const socket = sockets.at(-1);
  socket.open();
  await pass(n === 5 ? 10_000 : 10);
  socket.die(CODE);
  const made = sockets.length;
  const sinceMs = now();
  while (sockets.length === made) await pass(250);
  pauses.push((now() - sinceMs) / 1000);
}
console.log(pauses.join(" "));
partyline.close();
"""


@pytest.mark.parametrize(
    ("code", "pauses"), [("1006", "0.25 0.5 1 2 4 0.25 0.5"), ("1011", "10 20 20 20 20 10 20")]
)
async def test_pauses_grow_until_a_connection_has_stood(tmp_path: Path, code: str, pauses: str) -> None:
    """A service that greets and falls again, as one that cannot load what is watched."""
    assert await said_by(tmp_path, FALLING.replace("CODE", code)) == [pauses]


NOT_NOW = """
const { pass } = takeTime();
const { partyline, live, session } = await signedIn();
live.subscribe("inbox", {});
const [socket] = sockets;
socket.open();
const tries = () => socket.said.filter(({ op }) => op === "subscribe");
const refuse = () => socket.tell({
  type: "reply", id: tries().at(-1).id, ok: false, error: { code: "DATABASE_UNAVAILABLE" },
});
const times = [];
for (let n = 0; n < 6; n++) {
  refuse();
  const made = tries().length;
  let waitedMs = 0;
  while (tries().length === made) { await pass(250); waitedMs += 250; }
  times.push(waitedMs / 1000);
}
console.log(times.join(" "));
refuse();
live.close();
await pass(60_000);
console.log(tries().length);
partyline.close();
"""


async def test_a_channel_that_cannot_be_shown_now_is_asked_for_less_and_less(tmp_path: Path) -> None:
    assert await said_by(tmp_path, NOT_NOW) == ["0.25 0.5 1 2 4 7.5", "7"]


REFUSED_IN_EARNEST = """
import { Partyline } from "./client/partyline.js";
const [url, token, conversationId] = process.argv.slice(2);
let made = 0;
class OnceRefused extends WebSocket {
  constructor(address, protocols) {
    super(++made === 2 ? "ws://127.0.0.1:1" : address, protocols);
    if (made === 2) this.addEventListener("error", () => console.log("refused"));
  }
}
const partyline = new Partyline({ url, getToken: async () => ({ token }), WebSocket: OnceRefused });
const { live, session } = partyline;
await session.renew();
await new Promise((resolve) => live.subscribe("inbox", { onSnapshot: resolve }));
await session.renew();
const room = `conversation:${conversationId}`;
const heard = new Promise((resolve) => {
  live.subscribe(room, { mode: "delta", onEvent: (event, data) => resolve(data) });
});
const sent = await live.send(room, { content: "hello" });
console.log((await heard).content, (await live.read(room, sent.id)).ok ?? true, live.state);
partyline.close();
"""


async def test_a_second_connection_is_refused_at_a_real_service(world: World, tmp_path: Path) -> None:
    ada, ben = await world.players("Ada", "Ben")
    room = await ada.talk_to(ben)
    said = await run_beside_client(tmp_path, REFUSED_IN_EARNEST, world.url, ada.token or "", room.id)
    assert sorted(said.splitlines()) == ["hello true live", "refused"]


WHAT_CANNOT_BE_SAID = """
import { Partyline } from "./client/partyline.js";
const [url, token, room] = process.argv.slice(2);
const partyline = new Partyline({ url, token });
const { live } = partyline;
live.addEventListener("end", () => console.log("nothing is watched any more"));
const told = (error) => console.log(error.code ?? error.name);
const early = live.send(room, { content: 5n }).catch(told);
const shown = [];
const open = new Promise((resolve) => live.subscribe(room, {
  mode: "delta", onSnapshot: resolve, onEvent: (event, data) => event === "message_created" && shown.push(data.content),
}));
await Promise.all([early, open]);
await live.send(room, { content: "x".repeat(70_000) }).catch(told);
await live.send(room, { content: "cut \\ud83d" }).catch(told);
try { live.subscribe("conversation:\\ud83d", {}); } catch (error) { told(error); }
await live.send(room, { content: "whole \\ud83d\\ude00 \\\\ud83d" });
console.log(shown.join(), live.state);
partyline.close();
"""


async def test_what_cannot_be_said_is_told_and_ends_nothing(world: World, tmp_path: Path) -> None:
    ada, ben = await world.players("Ada", "Ben")
    room = await ada.talk_to(ben)
    said = await run_beside_client(tmp_path, WHAT_CANNOT_BE_SAID, world.url, ada.token or "", room.channel)
    assert said.splitlines() == [
        "TypeError",
        "PAYLOAD_TOO_LARGE",
        "MALFORMED_JSON",
        "MALFORMED_JSON",
        "whole \N{GRINNING FACE} \\ud83d live",
    ]
