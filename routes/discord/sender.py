"""Sends queued posts to the webhooks of networks (contract §7).

For each webhook one post is on its way at most, so their order is kept. It is marked in its row before it is sent, and
unmarked or deleted afterwards; `actors/discord/units_sending.py` says why.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import structlog
import trio

from actors.discord.messages import message_of
from actors.discord.moves import USABLE, Verdict, attempts_after
from actors.discord.units_sending import Claim, claim, settle
from actors.kernel.clock import Clock
from persistence.discord import webhooks
from persistence.discord.webhooks import DueWebhook
from persistence.errors import PASSING, OutcomeUnknown, PersistenceError
from persistence.failing import Failing
from routes.discord.discord_api import DiscordApi, Outcome
from routes.discord.sealed_tokens import SealedTokens
from routes.jobs import OneOfMany

if TYPE_CHECKING:
    from persistence.bridge.database import Database

log = structlog.get_logger()

CONCURRENT = 20
"""How many webhooks are sent to at the same time."""

ROUND_SECONDS = 1.0
"""How often the queues are looked at without a call of `wake`."""


@dataclass(frozen=True, slots=True)
class _Settlement:
    """The outcome of a claimed post, until it is stored in rows."""

    claim: Claim
    verdict: Verdict
    pause_ms: int


class Sender:
    """Works off the queues of all networks.

    Args:
        database: the database, which has the queues.
        clock: tells which posts are due.
        discord: sends the posts.
        tokens: opens the webhooks' tokens.
    """

    def __init__(self, database: "Database", clock: Clock, discord: DiscordApi, tokens: SealedTokens) -> None:
        self._database = database
        self._clock = clock
        self._discord = discord
        self._tokens = tokens
        self._woken = trio.Event()
        # The last one in the walk through those that are due; None to begin anew.
        self._last: DueWebhook | None = None
        self._failing = Failing()
        self._busy: dict[str, str] = {}  # {network: webhook that is being sent to}
        self._unsettled: dict[str, _Settlement] = {}  # {network: what the database has not noted yet}
        self._unsent: dict[str, int] = {}  # {network: a post that may be marked, and was not sent}

    def wake(self) -> None:
        """Have the queues looked at now, because there may be something to send."""
        self._woken.set()

    async def run(self) -> None:
        """Send until cancelled; a post that is on its way then is waited for, at most as long as one request takes."""
        async with trio.open_nursery() as nursery:
            while True:
                # Before the queues are looked at, so that what is added meanwhile is not slept through.
                self._woken = trio.Event()
                try:
                    await self._round(nursery)
                except PersistenceError as fault:
                    log.warning("queues for Discord cannot be read", reason=type(fault).__name__)
                with trio.move_on_after(ROUND_SECONDS):
                    await self._woken.wait()

    async def _round(self, nursery: trio.Nursery) -> None:
        """Begin with each webhook that is due and not being sent to, as far as there is room. The next round goes on
        behind those that were begun or passed over, so that none whose posts fail holds up the others."""
        now_ms = self._clock.now_ms()
        if self._discord.halted_ms or len(self._busy) >= CONCURRENT:
            return
        limit = CONCURRENT + len(self._busy)
        due = await self._database.read(webhooks.due, self._last, now_ms, limit)
        for one in due:
            if len(self._busy) >= CONCURRENT:
                return  # the next round goes on here
            self._last = one
            # Networks may share a webhook; one that changed its webhook may still have a post on its way to the old.
            if one.network_id not in self._busy and one.webhook_id not in self._busy.values():
                self._busy[one.network_id] = one.webhook_id
                nursery.start_soon(self._work_off, one.network_id)
        if len(due) < limit:
            self._last = None

    async def _work_off(self, network_id: str) -> None:
        """Send a network's queued posts until no more are due."""
        crowded = len(self._busy) >= CONCURRENT
        try:
            with OneOfMany("sending posts to Discord", network_id, self._failing):
                going_on = True
                while going_on:
                    # A post that was begun is finished even under cancellation: otherwise its outcome would be unknown.
                    with trio.CancelScope(shield=True):
                        going_on = await self._step(network_id)
                    await trio.lowlevel.checkpoint()
        except PASSING as fault:
            log.warning("posts to Discord put off", network_id=network_id, reason=type(fault).__name__)
        finally:
            del self._busy[network_id]
            if crowded:
                self.wake()

    async def _step(self, network_id: str) -> bool:
        """Send one post; returns whether there may be another that is due.

        Raises:
            PersistenceError: the database failed; the next step continues where this one stopped.
        """
        if network_id in self._unsettled:
            await self._settle(network_id)
        if self._discord.halted_ms:
            return False
        found = await self._claim(network_id)
        if found is None:
            return False
        for why in found.dropped:
            log.warning("a post to Discord was dropped", network_id=network_id, why=why)
        if found.post is None and found.webhook.webhook_status == "active":
            return False
        outcome = await self._ask(found)
        taken = outcome.verdict is Verdict.TAKEN
        if (
            found.post is not None
            and not taken
            and attempts_after(found.post.attempts, outcome.verdict) is None
        ):
            log.warning("a post to Discord was dropped", network_id=network_id, why=outcome.verdict.value)
        self._unsettled[network_id] = _Settlement(found, outcome.verdict, outcome.pause_ms)
        await self._settle(network_id)
        return True

    async def _claim(self, network_id: str) -> Claim | None:
        marked: list[int] = []
        unsent = self._unsent.get(network_id)
        try:
            found = await self._database.transact(claim, network_id, unsent, self._clock.now_ms(), marked)
        except OutcomeUnknown:
            if marked:
                self._unsent[network_id] = marked[-1]
            raise
        if found is not None and found.post is not None:
            self._unsent.pop(network_id, None)
        return found

    async def _ask(self, found: Claim) -> Outcome:
        webhook = self._tokens.open(found.webhook)
        if webhook is None:  # sealed with another key, for example before a restore
            return Outcome(Verdict.DENIED)
        if found.post is not None:
            return await self._discord.post(webhook, message_of(found.post))
        outcome = await self._discord.look(webhook)
        if outcome.verdict is Verdict.TAKEN and outcome.guild_id != found.webhook.guild_id:
            return Outcome(Verdict.DENIED)
        return outcome

    async def _settle(self, network_id: str) -> None:
        done = self._unsettled[network_id]
        note = partial(settle, verdict=done.verdict, pause_ms=done.pause_ms, now_ms=self._clock.now_ms())
        moved = await self._database.transact(note, done.claim)
        del self._unsettled[network_id]
        before = done.claim.webhook.webhook_status
        if moved is None or moved.webhook_status == before:
            return
        tell = log.info if moved.webhook_status in USABLE else log.warning
        after = moved.webhook_status
        tell("a webhook of Discord is in another state", network_id=network_id, before=before, after=after)
