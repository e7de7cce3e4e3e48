"""Moves of the client module from one connection to the next, as with each renewal of the token, in Node."""

from pathlib import Path

import pytest

from tests.console.by_hand import said_by
from tests.console.node import run_beside_client
from tests.support.world import World

pytestmark = pytest.mark.slow

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
