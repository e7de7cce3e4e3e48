"""Statistics of a running system: one row for each actor."""

import msgspec


class ActorStatistics(msgspec.Struct, frozen=True, rename="camel"):
    """One owner or view, as `GET /v1/admin/actors` lists it (contract §11).

    Args:
        kind, id: the kind and id of the owner, or the name and id of the view.
        mailbox: how many commands are queued; of a view, how many changed sources it has yet to take in.
        subscribers: open subscriptions.
        restarts: activations that ended by a fault or a failure of the database; 0 for views.
        last_error: class name of the error that ended the last of these activations; None when none did.
        offset: the offset of its channel: the journal position of an owner, a count since activation of a view.
        idle_ms: milliseconds since its last turn or frame.
    """

    kind: str
    id: str
    mailbox: int
    subscribers: int
    restarts: int
    last_error: str | None
    offset: int
    idle_ms: int
