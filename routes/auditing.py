"""The stamp of an audit entry: its id, who acts, when, and in which request."""

from persistence.users.audit import Stamp
from routes.call import Call


def stamp_of(call: Call) -> Stamp:
    """Make the stamp for one audit entry of the caller. Each call makes a new entry id, so use it once."""
    return Stamp(call.new_id(), call.now_ms, call.user_id, call.request_id)
