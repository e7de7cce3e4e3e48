"""What a domain is: one record that names all its parts, and what each part is for.

A domain has a folder of its name in each layer. Its record stands in `routes/<domain>/domain.py`, and in `DOMAINS`
(`routes/domains.py`), which is all that the rest of the service knows of it. It is a record of functions, as `Kind` is:
nothing is discovered, registered or inherited.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from actors.ids import UserId
from actors.kernel.kind import Kind
from routes.edge.declare.endpoint import Mount
from routes.housekeeping import Job, Standing
from routes.live.channel import LiveChannel
from routes.live.channels import Channels

if TYPE_CHECKING:
    from routes.service import Service


OfUser: TypeAlias = "Callable[[Service, UserId], Awaitable[None]]"


def _no_jobs(_service: "Service") -> tuple[Job, ...]:
    return ()


def _follows_nothing(_service: "Service") -> tuple[Job | Standing, ...]:
    return ()


def _shows_nothing(_service: "Service") -> None:
    return


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Domain:
    """All parts of one domain.

    Args:
        name: its folders', `friends`.
        mounts: its routes and streams, by the areas of the specification.
        kinds: those of its actors that need nothing but what the kernel gives them.
        channels: what can be watched on `/v1/social/live`.
        jobs: makes what is done now and then; has no effect by itself.
        follow: called once, when everything is open: from then on the domain hears of what happens elsewhere. Returns
            what has to run for that.
        gauges: registers what `/metrics` shows of it.
        let_go: called before a user is erased, for whatever no foreign key reaches: owners in memory. Called again
            after a failure, so it must bear to find everything done. Raises what an owner or the database raises.
        forget_user: called once the user is gone, and again until it succeeds: takes their name out of what the domain
            keeps of them, in rows and in memory; after the domains that are listed behind it.
    """

    name: str
    mounts: tuple[Mount, ...]
    kinds: tuple[Kind[Any, Any], ...] = ()
    channels: tuple[LiveChannel, ...] = ()
    jobs: "Callable[[Service], tuple[Job, ...]]" = _no_jobs
    follow: "Callable[[Service], tuple[Job | Standing, ...]]" = _follows_nothing
    gauges: "Callable[[Service], None]" = _shows_nothing
    let_go: "OfUser | None" = None
    forget_user: "OfUser | None" = None


Domains: TypeAlias = tuple[Domain, ...]
"""Those that a service has."""


def kinds_of(domains: Domains) -> tuple[Kind[Any, Any], ...]:
    """All kinds of these that need nothing of a service."""
    return tuple(kind for domain in domains for kind in domain.kinds)


def channels_of(domains: Domains) -> Channels:
    """All channels of these.

    Raises:
        ValueError: two have one name.
    """
    return Channels(channel for domain in domains for channel in domain.channels)
