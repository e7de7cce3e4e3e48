"""Connections of the client module that fail, hang or are sent away, and channels that cannot be shown, in Node."""

from pathlib import Path

import pytest

from tests.console.by_hand import said_by
from tests.console.node import run_beside_client
from tests.support.world import World

pytestmark = pytest.mark.slow


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
