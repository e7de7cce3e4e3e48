"""All of game servers that the service holds: the owner's kind, and the memory that follows it."""

from dataclasses import dataclass

from actors.connect.commands import AnyCommand
from actors.connect.credentials import Credentials
from actors.connect.events import AnyEvent
from actors.connect.playing import Playing
from actors.connect.server import server_kind
from actors.connect.state import State
from actors.kernel.kind import Kind
from actors.kernel.store import Store
from actors.presence import Presence


@dataclass(frozen=True, slots=True, eq=False)
class Connect:
    """What the kernel is to run, and what requests look at.

    Args:
        server: the kind.
        credentials: what servers prove themselves with.
        playing: who plays where.
    """

    server: Kind[State, AnyCommand]
    credentials: Credentials
    playing: Playing


async def open_connect(store: Store, presence: Presence) -> Connect:
    """The kind of game servers, with the memory that follows it; before any owner lives.

    Args:
        store: the database.
        presence: told who plays, those of before this process too.

    Raises:
        DatabaseUnavailable: the store cannot be asked.
    """
    credentials, playing = Credentials(store), Playing(presence)

    def happened(state: State, event: AnyEvent) -> None:
        credentials.happened(state, event)
        playing.happened(state, event)

    await playing.open(store)
    return Connect(server_kind(happened), credentials, playing)
