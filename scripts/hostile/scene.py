"""What must be there before a siege: users with conversations of their own, and a game server of the offender's."""

from dataclasses import dataclass

from scripts.hostile.wire import Line, Lost
from scripts.load.tokens import Sign

BYSTANDERS = 8
ACQUAINTANCES = 12


@dataclass(frozen=True, slots=True)
class Scene:
    """The users, conversations and game server of a siege.

    Args:
        tokens, conversations: access tokens of the bystanders, and the id of each one's own conversation.
        offender_token, offender_conversation: the token and the conversation's id of the user who misbehaves.
        acquaintances: ids of users who exist and do nothing.
        server: the address of the offender's game server; "" when none was registered.
    """

    tokens: tuple[str, ...]
    conversations: tuple[str, ...]
    offender_token: str
    offender_conversation: str
    acquaintances: tuple[str, ...]
    server: str


async def prepare(address: tuple[str, int], host: str, sign: Sign, ids: list[str], now_seconds: int) -> Scene:
    """Make everybody known to the server.

    Args:
        address, host: the server's (IP address, port), and the Host field.
        sign: makes a user's token.
        ids: `2 * BYSTANDERS + 1 + ACQUAINTANCES` ids for new users.
        now_seconds: the present moment, epoch seconds.

    Raises:
        Lost: the server refused a request, or did not answer.
    """
    signed = {id: sign(id, f"siege-{id[:8]}", now_seconds) for id in ids}
    for token in signed.values():
        with Line(address, host, token) as line:
            await line.json("GET", "/v1/auth/verify")
    offender, *rest = ids
    neighbours, acquaintances = rest[: 2 * BYSTANDERS], rest[2 * BYSTANDERS :]
    conversations = []
    for one, other in zip(neighbours[::2], neighbours[1::2], strict=True):
        with Line(address, host, signed[one]) as line:
            conversations.append(await _talk(line, other))
    with Line(address, host, signed[offender]) as line:
        return Scene(
            tuple(signed[one] for one in neighbours[::2]),
            tuple(conversations),
            signed[offender],
            await _talk(line, acquaintances[0]),
            tuple(acquaintances),
            await _game_server(line),
        )


async def _talk(line: Line, other: str) -> str:
    made = await line.json(
        "POST", "/v1/social/chat/conversations", {"kind": "direct", "participantIds": [other]}
    )
    return str(made["id"])


async def _game_server(owner: Line) -> str:
    wanted = {"serverType": "siege", "serverName": "siege"}
    try:
        made = await owner.json("POST", "/v1/connect/servers/register", wanted)
        await owner.json("POST", "/v1/connect/servers/claim", {"claimKey": made["claimKey"]})
    except Lost:
        return ""
    return f"/v1/connect/servers/{made['serverId']}"
