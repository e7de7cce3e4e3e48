"""Conversations that are in no memory."""

from routes.chat.parts import CHAT_KINDS
from tests.support.waiting import wait_until
from tests.support.world import Room, World


async def sleep(world: World, room: Room) -> None:
    """Let the conversation's actor retire, so that what is shown of it comes from rows."""
    service = world.home("conversation", room.id)
    world.clock.advance(120_000)

    async def is_asleep() -> bool:
        return service.system.peek(service.of(CHAT_KINDS).conversation, room.id) is None

    await wait_until(is_asleep)
