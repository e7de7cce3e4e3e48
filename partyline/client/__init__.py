"""A client of Partyline: requests with problem documents as exceptions, and the one live socket, which resumes.

`Partyline` is for trio and asyncio, `partyline.client.blocking.Partyline` for code without either, and
`partyline.client.types` has structs that answers can be decoded into. Nothing of the server is imported.
"""

from partyline.client.credentials import Grant
from partyline.client.frames import Event, Resumed, Snapshot
from partyline.client.partyline import Partyline
from partyline.client.problem import ClientError, Problem, Unreachable
from partyline.client.subscription import Subscription

__all__ = [
    "ClientError",
    "Event",
    "Grant",
    "Partyline",
    "Problem",
    "Resumed",
    "Snapshot",
    "Subscription",
    "Unreachable",
]
