"""Two clients of a running service, who talk."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from partyline.client import Event
from partyline.client.blocking import Partyline

MESSAGES = 10
"""How many messages each of the two sends, which is within a client's rate limits."""


def talk(url: str, tokens: tuple[str, str]) -> int:
    """Have two users say something to each other in turns, each message heard by the other over its live socket.

    Args:
        url: the address of the service.
        tokens: the access tokens of the two users.

    Returns:
        How many messages their conversation has now, 120 at most.

    Raises:
        partyline.client.Problem, partyline.client.Unreachable: the service refuses, or is not there.
    """
    with ExitStack() as opened:
        ann, ben = (opened.enter_context(Partyline(url, token=token)) for token in tokens)
        ben_id = ben.rest.get("/v1/auth/verify")["userId"]
        wanted = {"kind": "direct", "participantIds": [ben_id]}
        chat = ann.rest.post("/v1/social/chat/conversations", wanted)["id"]
        channel = f"conversation:{chat}"
        shown = [opened.enter_context(one.live.subscribe(channel, mode="delta")) for one in (ann, ben)]
        for number in range(MESSAGES):
            for one, heard in ((ann, shown[1]), (ben, shown[0])):
                said = one.live.send(channel, {"content": f"{number}"})
                _until(heard, said["id"])
        return len(ann.rest.get(f"/v1/social/chat/conversations/{chat}/messages", {"limit": 120})["items"])


def _until(shown: Iterator[Any], message_id: str) -> None:
    for item in shown:
        if isinstance(item, Event) and item.event == "message_created" and item.data["id"] == message_id:
            return
