"""Who does what an entry of the audit trail says, and when."""

from persistence.users.audit import Stamp
from routes.call import Call


def stamp_of(call: Call) -> Stamp:
    """The stamp of the caller, for one entry: each has an id of its own."""
    return Stamp(call.new_id(), call.now_ms, call.user_id, call.request_id)
