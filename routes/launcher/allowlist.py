"""The hosts that a launcher's network guard lets it talk to: read by all, written by publishers (contract §10)."""

from functools import partial
from typing import Annotated

import msgspec
import trio

from actors.bounds import ruled
from actors.errors import Invalid, RevisionConflict
from actors.launcher import hosts
from actors.launcher.units_allowlist import put
from actors.time import iso
from persistence.launcher import allowlist
from persistence.launcher.allowlist import Allowlist
from routes.auditing import stamp_of
from routes.call import Call
from routes.changes import change
from routes.config.config import Config
from routes.edge.declare.endpoint import endpoint
from routes.edge.pipeline.conditions import condition_of, etag_of
from routes.edge.principal import PUBLIC
from routes.edge.reply import Tagged
from routes.edge.wire import Wire

PUBLISH = "versions:publish"

HOST_MAX = 256
"""Most characters of a host that is put; the longest name has 253."""

KEPT = "public, max-age=300"
"""Cache-Control of the list."""

MOD_CDNS = ("cdn.modrinth.com", "edge.forgecdn.net", "mediafilez.forgecdn.net")
"""The hosts from which the catalogues of mods serve files."""


class AllowlistBody(Wire, frozen=True):
    """The hosts to allow.

    Args:
        hosts: at most 500 names; `*.` in front stands for all names below.
    """

    hosts: Annotated[
        tuple[Annotated[str, msgspec.Meta(max_length=HOST_MAX)], ...],
        msgspec.Meta(max_length=2 * hosts.HOSTS_MAX),
        ruled(maxItems=hosts.HOSTS_MAX),
    ]


class AllowlistOut(Wire, frozen=True):
    """The hosts that launchers may talk to.

    Args:
        version: 1 at first; rises with each change of what was put.
        hosts: sorted; among them always the service, its dashboard and the catalogues of mods with their files.
        updated_at: when it was changed last.
    """

    version: int
    hosts: list[str]
    updated_at: str


@endpoint("GET", "/v1/public/launcher/network-guard-allowlist", needs=PUBLIC, cacheable=KEPT)
async def read_network_guard_allowlist(call: Call) -> AllowlistOut:
    """The hosts that launchers may talk to."""
    return _shown(call.service.config, await call.service.database.read(allowlist.read))


@endpoint(
    "PUT",
    "/v1/admin/launcher/network-guard-allowlist",
    needs=PUBLISH,
    refusals=(Invalid, RevisionConflict),
)
async def put_network_guard_allowlist(call: Call, body: AllowlistBody) -> Tagged[AllowlistOut]:
    """Replaces the hosts that launchers may talk to.

    Needs `versions:publish`. `If-Match` names the `ETag` of the list that the caller has changed; if that is not the
    current one, the answer is a 409 `REVISION_CONFLICT`. Addresses, ports and public suffixes are refused. The audit
    trail records each change.
    """
    config = call.service.config
    is_current = condition_of(call, partial(_shown, config))
    # 500 long names of other scripts take 200 ms.
    wanted = await trio.to_thread.run_sync(hosts.checked, body.hosts, "/hosts")
    return await change(
        call, put, wanted, is_current, stamp_of(call), about=None, shape=partial(_reply, config)
    )


def _shown(config: Config, kept: Allowlist) -> AllowlistOut:
    addresses = (config.base_url, config.dashboard_url, config.modrinth_url, config.curseforge_url)
    return AllowlistOut(kept.version, hosts.told(kept.hosts, addresses, MOD_CDNS), iso(kept.updated_at_ms))


def _reply(config: Config, kept: Allowlist) -> Tagged[AllowlistOut]:
    shown = _shown(config, kept)
    return Tagged(shown, etag_of(shown))
