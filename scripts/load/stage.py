"""What must be there before a run: the users, and their conversations."""

from collections.abc import Callable

import msgspec
import trio

from scripts.load.http import Requests
from scripts.load.hub import Hub
from scripts.load.plan import Plan, memberships, user_id

CONNECTIONS = 16


class _Made(msgspec.Struct):
    id: str


async def prepare(plan: Plan, tokens: dict[int, str], progress: Callable[[str, int, int], None]) -> list[str]:
    """Make the users known to the server, then their conversations; returns the conversations' ids.

    Both are found again when an earlier run has made them.

    Args:
        progress: told what is being made, how many are, and how many there will be.

    Raises:
        RequestFailed: the server refused. Cancellation leaves what was made.
    """
    members = memberships(plan)
    ids = [""] * len(members)
    done = {"users": 0, "conversations": 0}
    hub = Hub()

    async with trio.open_nursery() as serving:
        serving.start_soon(hub.run)
        requests = Requests(hub, plan.address, plan.host, CONNECTIONS)

        async def know(user: int) -> None:
            await requests.send("GET", "/v1/profile/self", tokens[user])
            done["users"] += 1
            progress("users", done["users"], plan.users)

        async def make(number: int) -> None:
            creator, *others = members[number]
            body = {
                "kind": "direct" if len(others) == 1 else "group",
                "participantIds": [user_id(plan, other) for other in others],
            }
            answer = await requests.send("POST", "/v1/social/chat/conversations", tokens[creator], body)
            ids[number] = msgspec.json.decode(answer, type=_Made).id
            done["conversations"] += 1
            progress("conversations", done["conversations"], len(members))

        async with trio.open_nursery() as nursery:
            for user in range(plan.users):
                nursery.start_soon(know, user)
        async with trio.open_nursery() as nursery:
            for number in range(len(members)):
                nursery.start_soon(make, number)
        requests.close()
        serving.cancel_scope.cancel()
    return ids
