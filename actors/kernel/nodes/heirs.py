"""An owner that is loaded where its copy was shown: its former node may have committed what it could tell nobody."""

from actors.kernel.activation import Activation
from actors.kernel.fanout import Channel
from actors.kernel.recovery import read_missed
from actors.kernel.runtime import Runtime


async def tell_missed(runtime: Runtime, channel: Channel, activation: Activation) -> bool:
    """Tell those who were shown a copy what they have missed, event by event.

    Args:
        runtime: what all actors of this node share.
        channel: the channel that was taken over from the copy.
        activation: the owner's activation, loaded and not live yet.

    Returns:
        Whether they were told. False where they have missed nothing, or the events are not known: then they are to get
        a snapshot, if the state has moved.

    Raises:
        PersistenceError: the rows cannot be read. Cancellation ends it before anything is told.
    """
    after = channel.offset
    if not len(channel) or channel.epoch != activation.epoch or after >= activation.seq:
        return False
    missed = await runtime.store.read(read_missed, runtime.journal, activation.kind, activation.id, after)
    if missed is None or len(missed) != activation.seq - after:
        return False
    channel.attach(channel.epoch, after, channel.state)
    channel.publish(
        activation.state,
        [*missed],
        moves=True,  # turns without an offset may be among them, so anybody may see something else now
        reframing=sum(event.reframes for _, event in missed),
        rewrites=any(event.rewrites for _, event in missed),
    )
    return True
