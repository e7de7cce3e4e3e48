"""Draw the quests of a user's day, at the first look and again: units of work, inside the caller's transaction."""

from collections.abc import Sequence

import msgspec

from actors.errors import Conflict, NotFound
from actors.ids import RandomBytes, new_object_id
from actors.quests.day import day_of
from actors.quests.drawing import draw_again, draw_first
from actors.quests.table import Quest
from actors.quests.units_progress import advance
from actors.users.locking import require_user
from actors.users.permissions import Access
from persistence.connection import Connection
from persistence.quests import quests as rows
from persistence.quests.quests import QuestDay, QuestRow

REROLLS_NODE = "quests:rerolls"
"""The permission node that grants a number of rerolls on one day."""

REROLLS_DEFAULT, REROLLS_BOUND = 1, 100
"""How many rerolls of a day a user has where no quota is granted, and the most that a quota can allow."""


class Reroll(msgspec.Struct, frozen=True):
    """A wish for other quests.

    Args:
        quest_id: the quest to replace; None for all that are not completed.
        rerolls: how many rerolls the user has on a day.
    """

    quest_id: str | None
    rerolls: int


def rerolls_of(access: Access) -> int:
    """How many rerolls of a day a user with these rights has."""
    quota = access.quota(REROLLS_NODE)
    return REROLLS_DEFAULT if quota is None else min(int(quota.value), REROLLS_BOUND)


async def look(conn: Connection, user_id: str, random_bytes: RandomBytes, now_ms: int) -> QuestDay:
    """The user's quests of this day; drawn now if they have not been.

    What the user has done on the day before the quests were drawn counts.

    Args:
        random_bytes: the source of ids; the quests themselves follow from user and day.
        now_ms: epoch milliseconds.

    Raises:
        NotFound: there is no such user.
    """
    await require_user(conn, user_id)
    return await _day(conn, user_id, random_bytes, now_ms)


async def reroll(
    conn: Connection, user_id: str, wanted: Reroll, random_bytes: RandomBytes, now_ms: int
) -> QuestDay:
    """Draw other quests in place of one, or of all that are not completed.

    Args:
        wanted: which quests to replace.
        random_bytes: the source of ids; the quests themselves follow from user and day.
        now_ms: epoch milliseconds.

    Raises:
        NotFound: there is no such user, or they have no such quest today.
        Conflict: the quest is completed, all are, or the user has no reroll left.
    """
    await require_user(conn, user_id)
    await rows.lock(conn, user_id, day_of(now_ms))  # what is completed meanwhile is not drawn again
    kept = await _day(conn, user_id, random_bytes, now_ms)
    replaced = _replaceable(kept, wanted.quest_id)
    if kept.rerolls >= wanted.rerolls:
        raise Conflict("no reroll is left today", rerollsLeft=0)
    staying = [one.kind for one in kept.quests if one not in replaced]
    day = day_of(now_ms)
    quests, draws = draw_again(user_id, day, kept.draws, staying, [one.kind for one in replaced])
    slots = [one.slot for one in replaced]
    fresh = _rows(user_id, day, dict(zip(slots, quests, strict=True)), random_bytes, now_ms)
    await rows.replace(conn, user_id, day, draws, fresh)
    await advance(conn, [(user_id, day)], now_ms)
    return await _stored(conn, user_id, day)


def _replaceable(kept: QuestDay, quest_id: str | None) -> Sequence[QuestRow]:
    wanted = [one for one in kept.quests if quest_id is None or one.id == quest_id]
    if not wanted:
        raise NotFound("no such quest today")
    unfinished = [one for one in wanted if one.completed_at_ms is None]
    if not unfinished:
        raise Conflict("it is completed", completed=len(wanted))
    return unfinished


async def _day(conn: Connection, user_id: str, random_bytes: RandomBytes, now_ms: int) -> QuestDay:
    day = day_of(now_ms)
    kept = await rows.read(conn, user_id, day)
    if kept is None:
        quests, draws = draw_first(user_id, day)
        fresh = _rows(user_id, day, dict(enumerate(quests)), random_bytes, now_ms)
        await rows.begin(conn, user_id, day, draws, fresh)
        await advance(conn, [(user_id, day)], now_ms)
        kept = await _stored(conn, user_id, day)
    return kept


async def _stored(conn: Connection, user_id: str, day: int) -> QuestDay:
    kept = await rows.read(conn, user_id, day)
    if kept is None:
        raise RuntimeError("the quests of the day are gone, although their user is locked")
    return kept


def _rows(
    user_id: str, day: int, quests: dict[int, Quest], random_bytes: RandomBytes, now_ms: int
) -> list[QuestRow]:
    return [
        QuestRow(new_object_id(now_ms, random_bytes), user_id, day, slot, one.kind, one.goal, one.xp, 0, None)
        for slot, one in quests.items()
    ]
