"""The live side of game servers: the kind of their actors, and the memory that follows their events."""

from collections.abc import Callable
from dataclasses import dataclass, field

from actors.connect.commands import AnyCommand
from actors.connect.credentials import Credentials
from actors.connect.events import AnyEvent, ServerNews
from actors.connect.kind import server_kind
from actors.connect.playing import Playing
from actors.connect.state import State
from actors.kernel.kind import Kind
from actors.kernel.store import Store
from actors.users.presence import Presence
from actors.vault import Vault


@dataclass(frozen=True, slots=True, eq=False)
class Connect:
    """The kind of game servers and the memory beside it.

    Args:
        server: the kind of a game server.
        credentials: the cached rows that requests of servers are authenticated with.
        playing: the sessions on all servers.
        vault: opens the secret values of settings.
        news: functions that are called with the id of a server and each committed event of it that is a `ServerNews`,
            wherever the server lives.
        listeners: functions that are called for every committed event of every server that lives here.
        copied: functions that are called for events of servers on other nodes that are watched here, and with None
            where some were missed.
        on_outcome_unknown: functions that are called with the id of a server whose last turn may or may not have been
            committed.

    None of these functions waits or raises.
    """

    server: Kind[State, AnyCommand]
    credentials: Credentials
    playing: Playing
    vault: Vault
    news: list[Callable[[str, ServerNews], None]] = field(default_factory=list)
    listeners: list[Callable[[State, AnyEvent], None]] = field(default_factory=list)
    copied: list[Callable[[State, AnyEvent | None], None]] = field(default_factory=list)
    on_outcome_unknown: list[Callable[[str], None]] = field(default_factory=list)


async def open_connect(
    store: Store, presence: Presence, settings_key: bytes, gateway_domain: str | None
) -> Connect:
    """Make the kind of game servers and load the memory that follows it; to be called before any actor is activated.

    Args:
        store: the database.
        presence: told of all players, including those whose sessions are older than this process.
        settings_key: 32 secret bytes that seal the secret values of settings, the same at every start.
        gateway_domain: the domain below which gateway routes stand that belong to no network; None without one.

    Raises:
        DatabaseUnavailable: the database cannot be asked.
    """
    credentials, playing, vault = Credentials(store), Playing(presence), Vault(settings_key)
    listeners: list[Callable[[State, AnyEvent], None]] = []

    news: list[Callable[[str, ServerNews], None]] = []

    def hear(server_id: str, event: ServerNews) -> None:
        credentials.hear(server_id, event)
        playing.hear(event)
        for listener in news:
            listener(server_id, event)

    def happened(state: State, event: AnyEvent) -> None:
        for listener in listeners:
            listener(state, event)

    copied: list[Callable[[State, AnyEvent | None], None]] = []

    def shown(state: State, event: AnyEvent | None) -> None:
        for listener in copied:
            listener(state, event)

    on_outcome_unknown: list[Callable[[str], None]] = [credentials.distrust]

    def unsure(server_id: str) -> None:
        for listener in on_outcome_unknown:
            listener(server_id)

    await playing.open(store)
    kind = server_kind(vault, hear, happened, shown, unsure, gateway_domain=gateway_domain)
    return Connect(kind, credentials, playing, vault, news, listeners, copied, on_outcome_unknown)
