"""Take a post from a network's queue, and note what has become of it: units of work, each in its own transaction.

A post is marked before the first byte leaves. Whoever finds a marked post that nobody is sending knows that Discord may
have received it, and drops it: posts are at least once until then, and at most once afterwards, because webhooks have
no idempotency key.
"""

from dataclasses import dataclass, field

from actors.discord.moves import KEPT_MS, USABLE, Verdict, after, attempts_after
from persistence.connection import Connection
from persistence.discord import outbox, webhooks
from persistence.discord.rows import PostRow, WebhookRow


@dataclass(slots=True)
class Claim:
    """A request that is to be sent to Discord now.

    Args:
        webhook: the webhook that is asked.
        post: the post to send. None: the webhook is unreachable, and Discord is to be asked whether it exists; or it is
            active, and posts were only dropped.
        dropped: for each post in front that was dropped, why: `doubtful` or `old`.
    """

    webhook: WebhookRow
    post: PostRow | None = None
    dropped: list[str] = field(default_factory=list)


async def claim(
    conn: Connection, network_id: str, unsent: int | None, now_ms: int, marked: list[int]
) -> Claim | None:
    """Mark the next post of a network as being sent.

    Args:
        unsent: the number of a post that may be marked although it was not sent, because the outcome of marking it is
            unknown; None for none.
        now_ms: epoch milliseconds.
        marked: a list that has the number of the post that this call marks, and nothing else, even if the outcome of
            the commit stays unknown.

    Returns:
        None where nothing is to be sent now. A claim without a post, of an active webhook, has dropped posts only.
    """
    marked.clear()
    row = await webhooks.lock(conn, network_id)
    if row is None or row.webhook_status not in USABLE or row.due_at_ms > now_ms:
        return None
    found = Claim(row)
    found.dropped += ["old"] * await outbox.drop_before(conn, network_id, now_ms - KEPT_MS)
    if row.webhook_status == "unreachable":
        return found
    while (post := await outbox.head(conn, network_id)) is not None:
        doubtful = post.sending and post.seq != unsent
        if post.current and not doubtful:
            await outbox.note_sending(conn, post.seq)
            marked.append(post.seq)
            found.post = post
            return found
        if doubtful:
            found.dropped.append("doubtful")
        await outbox.remove(conn, [post.seq])
    return found if found.dropped else None


async def settle(
    conn: Connection, found: Claim, verdict: Verdict, pause_ms: int, now_ms: int
) -> WebhookRow | None:
    """Note what has become of a claim; it may be repeated after an unknown outcome.

    Args:
        found: the claim.
        verdict: the outcome of the request.
        pause_ms: for how many milliseconds Discord wants no more requests.
        now_ms: epoch milliseconds.

    Returns:
        The webhook after it; None where the webhook was replaced or removed meanwhile.
    """
    network_id, post = found.webhook.network_id, found.post
    moved = after(found.webhook, verdict, pause_ms, now_ms)
    usable = moved.webhook_status in USABLE
    row = await (webhooks.lock if usable else webhooks.close)(conn, network_id)
    if post is not None:
        attempts = attempts_after(post.attempts, verdict)
        if attempts is None:
            await outbox.remove(conn, [post.seq])
        else:
            await outbox.put_back(conn, post.seq, attempts)
    if row is None or row.sealed_token is None or row.sealed_token != found.webhook.sealed_token:
        return None
    await webhooks.note_health(conn, moved)
    if not usable:
        await outbox.drop_all(conn, network_id)
    return moved
