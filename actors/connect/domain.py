"""All of game servers that the service holds: the owner's kind, and the memory that follows it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from actors.connect.commands import AnyCommand
from actors.connect.credentials import Credentials
from actors.connect.events import AnyEvent
from actors.connect.kind import server_kind
from actors.connect.playing import Playing
from actors.connect.state import State
from actors.kernel.kind import Kind
from actors.kernel.store import Store
from actors.users.presence import Presence
from actors.vault import Vault


@dataclass(frozen=True, slots=True, eq=False)
class Connect:
    """What the kernel is to run, and what requests look at.

    Args:
        server: the kind.
        credentials: what servers prove themselves with.
        playing: who plays where.
        vault: opens the secret values of settings.
        listeners: told of every event of every server once it is committed; they neither wait nor raise.
        on_outcome_unknown: told of a server of which nobody knows whether its last change was committed; likewise.
    """

    server: Kind[State, AnyCommand]
    credentials: Credentials
    playing: Playing
    vault: Vault
    listeners: list[Callable[[State, AnyEvent], None]] = field(default_factory=list)
    on_outcome_unknown: list[Callable[[str], None]] = field(default_factory=list)


async def open_connect(store: Store, presence: Presence, settings_key: bytes) -> Connect:
    """The kind of game servers, with the memory that follows it; before any owner lives.

    Args:
        store: the database.
        presence: told who plays, those of before this process too.
        settings_key: 32 secret bytes under which secret values of settings are sealed, the same at every start.

    Raises:
        DatabaseUnavailable: the store cannot be asked.
    """
    credentials, playing, vault = Credentials(store), Playing(presence), Vault(settings_key)
    listeners: list[Callable[[State, AnyEvent], None]] = []

    def happened(state: State, event: AnyEvent) -> None:
        credentials.happened(state, event)
        playing.happened(state, event)
        for listener in listeners:
            listener(state, event)

    on_outcome_unknown: list[Callable[[str], None]] = [credentials.distrust]

    def unsure(server_id: str) -> None:
        for listener in on_outcome_unknown:
            listener(server_id)

    await playing.open(store)
    kind = server_kind(vault, happened, unsure)
    return Connect(kind, credentials, playing, vault, listeners, on_outcome_unknown)
