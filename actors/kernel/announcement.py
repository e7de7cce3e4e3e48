"""The announcement of a turn: nodes that show the owner, its subscribers and what follows it hear of it, in this order.

Invariant: one synchronous step, taken once for each turn that has taken effect, after its callers have been answered.
So nobody hears of what is yet to be committed, and turns are heard of in their order.
"""

from typing import Any

from actors.kernel.fanout import Channel
from actors.kernel.kind import Kind, moved_by
from actors.kernel.runtime import Runtime
from actors.kernel.turn import TurnDraft


def announce(runtime: Runtime, draft: TurnDraft, channel: Channel | None, epoch: str, version: int) -> None:
    """Tell all but the callers of a turn that has taken effect, and tell the callers that its frames are out.

    Args:
        runtime: what all actors of the system share.
        draft: the turn.
        channel: the owner's channel; None while nobody has watched it.
        epoch, version: the name of the owner's history, and how many turns it has with this one.
    """
    kind, id, state, events = draft.kind, draft.id, draft.state, draft.events
    followed = runtime.followed
    if followed is not None and (events or draft.is_durable):
        followed.turned(kind.name, id, (epoch, version), is_durable=draft.is_durable, events=events)
    if channel is not None and events:
        moves, rewrites, reframing = False, False, 0
        for _, event in events:
            moves = moves or event.moves_audience
            rewrites = rewrites or event.rewrites
            reframing += event.reframes
        sizes = map(len, draft.journal)
        moved = moved_by([event for _, event in events]) if moves else False
        channel.publish(state, events, moves=moved, reframing=reframing, sizes=sizes, rewrites=rewrites)
    elif channel is not None:
        channel.state = state
    draft.end()
    followers = kind.followers
    if followers is None:
        return
    on_committed, touches, news = followers.on_committed, followers.touches, followers.news
    for _, event in events:
        if news is not None and type(event) in news.of:
            news.hear(id, event)
            if runtime.broadcast is not None:
                runtime.broadcast(kind.name, id, event)
        if on_committed is not None:
            on_committed(state, event)
        if touches is not None:
            for view_name, ids in touches(state, event):
                runtime.touched(view_name, ids, id)


def announce_unknown(runtime: Runtime, kind: Kind[Any, Any], id: str) -> None:
    """Have memory that follows an owner ask for its state: nobody here knows whether its last turn was committed.

    Args:
        runtime: what all actors of the system share.
        kind, id: the owner's kind and id.
    """
    followers = kind.followers
    if followers is not None and followers.on_outcome_unknown is not None:
        followers.on_outcome_unknown(id)
        if runtime.broadcast is not None:
            runtime.broadcast(kind.name, id, None)
