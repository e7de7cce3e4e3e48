"""The caller's quests of the day (contract §10)."""

from actors.bounds import ObjectIdText
from actors.errors import Conflict, Invalid, NotFound
from actors.id_fields import object_id_in
from actors.quests import units_quests
from actors.quests.day import day_of, ends_at_ms
from actors.quests.units_quests import Reroll
from actors.time import iso, iso_or_none
from persistence.quests import quests
from persistence.quests.quests import QuestDay, QuestRow
from routes.call import Call
from routes.changes import change, change_by_itself
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED
from routes.edge.wire import Wire
from routes.users.parts import USER_DIRECTORY

_QUESTS = "/v1/quests/daily-games"


class RewardOut(Wire, frozen=True):
    """What a quest earns.

    Args:
        xp: experience; see `/v1/profile/level`.
    """

    xp: int


class QuestOut(Wire, frozen=True):
    """Something to do on this day.

    Args:
        kind: `play_minutes`, `play_servers` (different ones), `party_launch` (launch signals), `party_size` or
            `friends_played` (a friend on the same server). More kinds may come.
        goal: the progress that completes it.
        progress: from 0 to `goal`. What was done on the day before its quests were first read counts.
        reward: what is gained by it.
        expires_at: the end of the day (UTC).
        completed_at: when the reward was given, or null.
    """

    id: str
    kind: str
    goal: int
    progress: int
    reward: RewardOut
    expires_at: str
    completed_at: str | None


class QuestsOut(Wire, frozen=True):
    """The caller's quests of this day.

    Args:
        quests: today's quests of the user.
        rerolls_left: how often the caller may still have other quests drawn today.
    """

    quests: list[QuestOut]
    rerolls_left: int


class RerollBody(Wire, frozen=True):
    """What to draw again.

    Args:
        quest_id: the id of a quest that is not completed; left out or null = all that are not.
    """

    quest_id: ObjectIdText | None = None


@endpoint("GET", _QUESTS, needs=AUTHENTICATED, refusals=(NotFound,))
async def read_daily_quests(call: Call) -> QuestsOut:
    """The caller's three quests of this day (UTC), drawn at the first look.

    The service counts by itself, once a minute: time on game servers (on servers of the caller's own none, on one where
    nobody else plays that day half, on several at once only once; 240 minutes a day, 12 hours a session), launch
    signals, the party's size, friends on the same server. A completed quest gives its reward once.
    """
    now_ms = call.now_ms
    rerolls = await _rerolls(call)
    kept = await call.service.database.read(quests.read, call.user_id, day_of(now_ms))
    if kept is None:
        unit, random_bytes = units_quests.look, call.service.random_bytes
        kept = await change_by_itself(call.service, unit, call.user_id, random_bytes, now_ms, about=None)
    return _shown(kept, rerolls)


@endpoint("POST", _QUESTS + "/reroll", needs=AUTHENTICATED, refusals=(NotFound, Invalid, Conflict))
async def reroll_daily_quests(call: Call, body: RerollBody | None) -> QuestsOut:
    """Draws a quest of another kind in place of one, or of each not completed.

    A user has one reroll a day, or as many as `quests:rerolls` grants. A completed quest, or no reroll left, is a 409;
    an unknown `questId` a 404. The body may be left out. Progress is what the caller has done on the day.
    """
    named = None if body is None else body.quest_id
    quest_id = None if named is None else object_id_in(named, "/questId")
    rerolls = await _rerolls(call)
    return await change(
        call,
        units_quests.reroll,
        call.user_id,
        Reroll(quest_id, rerolls),
        call.service.random_bytes,
        call.now_ms,
        about=None,
        shape=lambda kept: _shown(kept, rerolls),
    )


async def _rerolls(call: Call) -> int:
    return units_quests.rerolls_of(await call.service.of(USER_DIRECTORY).access_of(call.user_id))


def _shown(kept: QuestDay, rerolls: int) -> QuestsOut:
    return QuestsOut([_quest(one) for one in kept.quests], max(0, rerolls - kept.rerolls))


def _quest(row: QuestRow) -> QuestOut:
    return QuestOut(
        row.id,
        row.kind,
        row.goal,
        row.progress,
        RewardOut(row.xp),
        iso(ends_at_ms(row.day)),
        iso_or_none(row.completed_at_ms),
    )
