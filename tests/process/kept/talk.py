"""What people do together: conversations, parties, voice."""

from typing import Any

from tests.chat.play import a_file, poll_body
from tests.party.play import ARENA, INVITES, PARTY, READY, SELECTION, SELECTORS
from tests.process.kept.people import MOST
from tests.process.kept.stage import Stage
from tests.process.kept.writer import Deed, Writer
from tests.support.world import CONVERSATIONS, Player, Room
from tests.voice.play import NODES, VOICE, node, node_server


async def chat(stage: Stage) -> Writer:
    """Messages, edits, polls, files, members, names and read marks of a group."""
    ann, ben, cid = await stage.players("Cher", "Cole", "Cody")
    room = await ann.talk_to(ben, cid)
    writer = Writer("chat", stage)
    for reader in (ann, ben):
        writer.page(reader, f"{room.messages}?limit=100")
        writer.page(reader, room.path)
        writer.page(reader, CONVERSATIONS)
    writer.page(ann, f"{room.path}/participants")
    sent: list[str] = []

    @writer.deed
    def say() -> Deed | None:
        word = stage.word()
        body = {"content": word, "clientMessageId": word}
        then = lambda made: sent.append(made["id"])  # noqa: E731
        return Deed(
            ann, "POST", room.messages, body, shows=(word,), then=then, keyed=stage.rng.random() < 0.5
        )

    @writer.deed
    def edit() -> Deed | None:
        if not sent:
            return None
        word = stage.word()
        return Deed(ann, "PATCH", room.message(stage.rng.choice(sent)), {"content": word}, shows=(word,))

    @writer.deed
    def delete() -> Deed | None:
        if len(sent) < MOST:
            return None
        return Deed(ann, "DELETE", room.message(sent.pop(0)))

    @writer.deed
    def upload() -> Deed:
        word = stage.word()
        data = f"data of {word}".encode() * 50

        def then(made: Any) -> None:
            writer.page(ann, f"{room.path}/attachments/{made['id']}")

        return Deed(
            ann, "POST", f"{room.path}/attachments", a_file(data, f"{word}.txt", "text/plain"), then=then
        )

    @writer.deed
    def read() -> Deed | None:
        return Deed(ben, "PUT", f"{room.path}/read", {"messageId": sent[-1]}, idle=True) if sent else None

    _add_polls(writer, room, ann, ben)
    _add_group(writer, room, (ann, ben, cid))
    return writer


def _add_polls(writer: Writer, room: Room, ann: Player, ben: Player) -> None:
    stage = writer.stage
    polls: list[str] = []

    @writer.deed
    def ask() -> Deed | None:
        if len(polls) >= MOST:
            return None
        word = stage.word()
        body = {"poll": poll_body() | {"question": word}, "clientMessageId": word}
        then = lambda made: polls.append(made["id"])  # noqa: E731
        return Deed(ann, "POST", room.messages, body, shows=(word,), then=then)

    @writer.deed
    def vote() -> Deed | None:
        if not polls:
            return None
        path = f"{room.message(stage.rng.choice(polls))}/poll/vote"
        return Deed(ben, "POST", path, {"optionIds": [stage.rng.choice("12")]}, idle=True)

    @writer.deed
    def close() -> Deed | None:
        if len(polls) < 2:
            return None
        return Deed(ann, "POST", f"{room.message(polls.pop(0))}/poll/close")


def _add_group(writer: Writer, room: Room, people: tuple[Player, Player, Player]) -> None:
    """What the members of a group call it, who hears of it, and who they are."""
    ann, ben, cid = people
    stage = writer.stage
    inside = {cid.id}

    @writer.deed
    def call_it() -> Deed:
        word = stage.word()
        return Deed(ann, "PATCH", room.path, {"title": word}, shows=(word,))

    @writer.deed
    def mute() -> Deed:
        return Deed(ben, "PATCH", room.path, {"muted": writer.flip("muted")})

    @writer.deed
    def come_and_go() -> Deed:
        members = f"{room.path}/participants"
        if cid.id in inside:
            inside.clear()
            return Deed(ann, "DELETE", f"{members}/{cid.id}")
        inside.add(cid.id)
        return Deed(ann, "POST", members, {"userIds": [cid.id]}, shows=(cid.id,))


async def parties(stage: Stage) -> Writer:
    """A party: made, joined, what it will play, who leads it, left."""
    ann, ben, cid = await stage.players("Pam", "Pit", "Pia")
    writer = Writer("parties", stage)
    for player in (ann, ben, cid):
        writer.page(player, PARTY)
    state: dict[str, Any] = {"party": None, "leader": ann, "members": [], "invited": []}

    @writer.deed
    def make() -> Deed | None:
        if state["party"] is not None:
            return None

        def then(made: Any) -> None:
            state.update(party=made["party"]["id"], leader=ann, members=[ann], invited=[])

        return Deed(ann, "POST", PARTY, then=then, shows=(ann.id,))

    @writer.deed
    def invite() -> Deed | None:
        free = [one for one in (ann, ben, cid) if one not in state["members"] and one not in state["invited"]]
        if state["party"] is None or not free:
            return None
        then = lambda _made: state["invited"].append(free[0])  # noqa: E731
        return Deed(state["leader"], "POST", INVITES, {"targetId": free[0].id}, then=then)

    @writer.deed
    def answer() -> Deed | None:
        if not state["invited"]:
            return None
        guest = state["invited"].pop(0)
        comes = stage.rng.random() < 0.7

        def then(_made: Any) -> None:
            if comes:
                state["members"].append(guest)

        path = f"{INVITES}/{state['party']}/{'accept' if comes else 'decline'}"
        return Deed(guest, "POST", path, then=then)

    @writer.deed
    def take_back() -> Deed | None:
        if not state["invited"]:
            return None
        return Deed(state["leader"], "DELETE", f"{INVITES}/{state['party']}/{state['invited'].pop().id}")

    _add_playing(writer, state)
    return writer


def _add_playing(writer: Writer, state: dict[str, Any]) -> None:
    """What is to be played, who leads there, and who leaves."""
    stage = writer.stage

    def others() -> list[Player]:
        return [one for one in state["members"] if one is not state["leader"]]

    @writer.deed
    def select() -> Deed | None:
        if state["party"] is None:
            return None
        word = stage.word()
        return Deed(state["leader"], "PUT", SELECTION, {**ARENA, "displayName": word}, shows=(word,))

    @writer.deed
    def let_select() -> Deed | None:
        if not others():
            return None
        return Deed(
            state["leader"], "PUT", SELECTORS, {"selectorIds": [stage.rng.choice(others()).id]}, idle=True
        )

    @writer.deed
    def lead() -> Deed | None:
        if not others():
            return None
        heir = stage.rng.choice(others())
        then = lambda _made: state.update(leader=heir)  # noqa: E731
        return Deed(state["leader"], "PUT", f"{PARTY}/leader", {"playerId": heir.id}, then=then)

    @writer.deed
    def ready() -> Deed | None:
        if not others():
            return None
        body = {"ready": stage.rng.random() < 0.5, "profilePrepared": True}
        return Deed(stage.rng.choice(others()), "PUT", READY, body, idle=True)

    @writer.deed
    def leave() -> Deed | None:
        if not others():
            return None
        who = stage.rng.choice(others())
        state["members"].remove(who)
        return Deed(who, "POST", f"{PARTY}/leave")

    @writer.deed
    def disband() -> Deed | None:
        if state["party"] is None or stage.rng.random() < 0.8:
            return None
        state.update(party=None, members=[], invited=[])
        return Deed(state["leader"], "DELETE", PARTY)


async def voice(stage: Stage) -> Writer:
    """Voice nodes of a game server, and channels."""
    server = await node_server(stage)  # type: ignore[arg-type]
    mod, (ann, ben) = await stage.ranked("Vic", "moderator"), await stage.players("Val", "Van")
    await node(stage, server)  # type: ignore[arg-type]
    soft = frozenset({"load", "participants", "channels", "lastHeartbeatAt", "lastHeartbeatAtMs", "status"})
    writer = Writer("voice", stage, soft)
    writer.page(mod, NODES)
    nodes: list[str] = []

    @writer.deed
    def register() -> Deed | None:
        if len(nodes) >= MOST:
            return None
        word = stage.word("v")
        body = {"region": "eu-west", "publicUrl": f"wss://{word}.example.net/rtc", "capacity": 9}
        body["protocol"] = "partyline"
        then = lambda made: nodes.append(made["nodeId"])  # noqa: E731
        return Deed(
            server, "POST", f"{NODES}/register", body, shows=(f"{word}.example",), then=then, keyed=False
        )

    @writer.deed
    def remove() -> Deed | None:
        if not nodes:
            return None
        id = nodes.pop(0)
        return Deed(server, "DELETE", f"{NODES}/{id}", hides=(id,))

    channel: list[str] = []
    session: list[str] = []

    @writer.deed
    def talk() -> Deed:
        then = lambda made: channel.append(made["id"])  # noqa: E731
        return Deed(ann, "POST", f"{VOICE}/channels/private", {"targetId": ben.id}, then=then, idle=True)

    @writer.deed
    def join() -> Deed | None:
        if not channel:
            return None
        then = lambda made: session.append(made["session"]["id"])  # noqa: E731
        return Deed(ann, "POST", f"{VOICE}/session/join", {"channelId": channel[-1]}, then=then, idle=True)

    @writer.deed
    def sync() -> Deed | None:
        """Refused unless the session that was acknowledged is still there."""
        if not session:
            return None
        body = {"sessionId": session[-1], "selfMute": stage.rng.random() < 0.5}
        return Deed(ann, "POST", f"{VOICE}/session/sync", body, idle=True, keyed=False)

    @writer.deed
    def control() -> Deed | None:
        if not channel:
            return None
        body = {"mutedIds": [ben.id] if writer.flip("muted") else []}
        return Deed(mod, "PUT", f"{VOICE}/channels/{channel[-1]}/control", body, idle=True)

    return writer


TALK = (chat, parties, voice)
