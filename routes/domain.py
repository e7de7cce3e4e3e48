"""What a domain is: one record that names all its parts, and what each part is for.

A domain has a folder of its name in each layer. Its record stands in `routes/<domain>/domain.py`, and in `DOMAINS`
(`routes/domains.py`), which is all that the rest of the service knows of it. It is a record of functions, as `Kind` is:
nothing is discovered, registered or inherited.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from actors.kernel.kind import Kind
from persistence.exporting import Exported
from routes.changes import Reaction, Reconciliation
from routes.edge.declare.mounts import Mount
from routes.edge.identity.credentials import Authenticator, ServerAuthenticator
from routes.jobs import BackgroundTask, Job
from routes.live.channel import LiveChannel
from routes.live.channels import Channels
from routes.live.command import LiveCommand
from routes.part import Part
from routes.service import OfUser, Service

T = TypeVar("T")


def _no_jobs(_service: Service) -> tuple[Job, ...]:
    return ()


def _follows_nothing(_service: Service) -> tuple[Job | BackgroundTask, ...]:
    return ()


def _shows_nothing(_service: Service) -> None:
    return


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Domain:
    """All parts of one domain.

    Args:
        name: the name of its folders, such as `friends`.
        mounts: its routes and streams, by the areas of the specification.
        parts: what it opens, in this order; a part that another one needs is opened first.
        kinds: its kinds of actors that need nothing but what the kernel gives them; the others come with a part.
        channels: its channels on `/v1/social/live`.
        commands: its commands there.
        jobs: makes its periodic jobs; has no other effect.
        follow: called once, when everything is open, to subscribe to events of other domains. Returns the jobs and
            background tasks that this needs.
        gauges: registers its metrics.
        reactions: what it does after an event was committed, by itself or another domain.
        reconciliations: how it reloads what memory holds of its rows, after an unknown outcome.
        let_go: called before a user is erased, to change what no foreign key reaches, such as actors in memory; called
            after that of the domains listed before it. Called again after a failure, so it must be idempotent. Raises
            what an actor or the database raises.
        forget_user: called after the user was erased, and again until it succeeds: removes their name from what the
            domain keeps, in rows and in memory; called after that of the domains listed behind it.
        exported: the rows that a user may take with them (`partyline export`).
        authenticator: verifies the tokens of users; of one domain.
        server_authenticator: verifies the credentials of game servers; of one domain.
    """

    name: str
    mounts: tuple[Mount, ...]
    parts: tuple[Part[Any], ...] = ()
    kinds: tuple[Kind[Any, Any], ...] = ()
    channels: tuple[LiveChannel, ...] = ()
    commands: tuple[LiveCommand, ...] = ()
    jobs: Callable[[Service], tuple[Job, ...]] = _no_jobs
    follow: Callable[[Service], tuple[Job | BackgroundTask, ...]] = _follows_nothing
    gauges: Callable[[Service], None] = _shows_nothing
    reactions: tuple[Reaction[Any], ...] = ()
    reconciliations: tuple[Reconciliation[Any], ...] = ()
    let_go: OfUser | None = None
    forget_user: OfUser | None = None
    exported: tuple[Exported, ...] = ()
    authenticator: Part[Authenticator] | None = None
    server_authenticator: Part[ServerAuthenticator] | None = None


Domains: TypeAlias = tuple[Domain, ...]
"""All domains of a service."""


def channels_of(domains: Domains) -> Channels:
    """The table of all channels of these domains.

    Raises:
        ValueError: two channels have the same name.
    """
    return Channels(channel for domain in domains for channel in domain.channels)


def only(parts: Iterable[Part[T] | None]) -> Part[T]:
    """The one part among these.

    Raises:
        ValueError: there is none, or more than one.
    """
    (part,) = (one for one in parts if one is not None)
    return part
