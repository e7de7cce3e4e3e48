"""Draws the quests of a user and day: always the same ones for the same two. Pure."""

from collections.abc import Collection, Sequence
from hashlib import sha256

from actors.quests.table import QUESTS, Quest

QUESTS_A_DAY = 3


def draw(user_id: str, day: int, number: int) -> Quest:
    """The quest of one draw.

    Args:
        day: the day, counted from 1970.
        number: the number of the draw, from 0.
    """
    digest = sha256(f"{day}:{user_id}:{number}".encode()).digest()
    return QUESTS[int.from_bytes(digest[:8]) % len(QUESTS)]


def draw_other(user_id: str, day: int, number: int, without: Collection[str]) -> tuple[Quest, int]:
    """The first quest of another kind, and the number of the draw after it.

    Args:
        day: the day, counted from 1970.
        number: the number of the first draw.
        without: the kinds that are passed over; at least one kind must be left.
    """
    while True:
        quest = draw(user_id, day, number)
        number += 1
        if quest.kind not in without:
            return quest, number


def draw_first(user_id: str, day: int) -> tuple[list[Quest], int]:
    """The quests that a day begins with, each of another kind, and the number of the draw after them."""
    quests: list[Quest] = []
    number = 0
    for _ in range(QUESTS_A_DAY):
        quest, number = draw_other(user_id, day, number, {one.kind for one in quests})
        quests.append(quest)
    return quests, number


def draw_again(
    user_id: str, day: int, number: int, kept: Collection[str], replaced: Sequence[str]
) -> tuple[list[Quest], int]:
    """Quests in place of others, and the number of the draw after them.

    Args:
        number: the number of the first draw.
        kept: the kinds of the day's other quests.
        replaced: the kinds of the quests to replace; each is replaced by a quest of another kind.
    """
    quests: list[Quest] = []
    for kind in replaced:
        quest, number = draw_other(user_id, day, number, {kind, *kept, *(one.kind for one in quests)})
        quests.append(quest)
    return quests, number
