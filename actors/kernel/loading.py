"""Loading: what is committed of an owner becomes an activation.

Invariants: no more reads are under way than `Runtime.loads` admits, of one owner or of several (`owner_loads.py`);
where the last turn may still be committed, the head is sealed first, so that what is read stays true. Whether another
node has had the owner since the load began is for the actor to ask (`Activation.check_fence`), once it waits for
nothing more.
"""

from typing import Any

from actors.kernel.activation import Activation, Owner
from actors.kernel.kind import Kind
from actors.kernel.mailbox import Mailbox
from actors.kernel.observed import ObservedActivation
from actors.kernel.recovery import seal
from actors.kernel.restarts import Restarts
from actors.kernel.runtime import Runtime


async def load(
    kind: Kind[Any, Any],
    id: str,
    runtime: Runtime,
    *,
    mailbox: Mailbox,
    owner: Owner,
    restarts: Restarts | None,
) -> Activation:
    """Make an activation of an owner's committed state. Cancellation: there is none.

    Args:
        kind, id: the owner's kind and id.
        runtime: what all actors of the system share.
        mailbox, owner: passed to the activation.
        restarts: the actor's restarts; None before the first of them.

    Raises: NotFound for no such owner, Fenced when another node has its shard, other PersistenceErrors when rows
    cannot be read.
    """
    shard = runtime.placement.shard_of(kind.name, id)
    fence = runtime.placement.fence(shard)
    if restarts is not None and restarts.is_unsure:
        async with runtime.loads:
            await runtime.store.transact(seal, runtime.journal, kind, id, (shard, fence))
            restarts.is_unsure = False
    recovered = await runtime.owner_loads.read(kind, id)
    if recovered is None:
        raise kind.unknown
    opened = Activation if runtime.observer is None else ObservedActivation
    return opened(kind, id, runtime, mailbox=mailbox, recovered=recovered, fence=fence, owner=owner)
