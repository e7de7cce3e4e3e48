"""Client of Cloudflare's API: verifies a token for a zone, and writes DNS records (contract §7).

Redirects are not followed, and no error repeats what was sent or received, so that tokens do not leak.
"""

import re
from collections.abc import Collection
from http import HTTPStatus
from typing import Literal, TypeAlias, TypeVar

import msgspec

from actors.hostnames import normal_host
from routes.edge.outgoing_http import OutgoingFault, Upstream
from routes.edge.outgoing_json import NotUnderstood, decoded

SECONDS = 5.0
"""Deadline of one request."""

MAX_BYTES = 2 * 1024 * 1024
"""Largest response that is accepted."""

RECORD_TTL_SECONDS = 300

TokenStatus: TypeAlias = Literal["active", "invalid", "insufficient_scope", "zone_not_found", "unreachable"]
"""The state of a token (contract §7)."""

T = TypeVar("T")

EDIT_RIGHT = "#dns_records:edit"

_RECORD_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


class CloudflareFault(Exception):
    """A request to Cloudflare failed.

    Args:
        status: the state of the token that this shows; None if only this record cannot be written.
    """

    def __init__(self, status: TokenStatus | None) -> None:
        self.status = status
        super().__init__(status or "the record cannot be written")


class Record(msgspec.Struct, frozen=True):
    """A DNS record as Cloudflare returns it."""

    id: str
    type: str
    name: str
    content: str
    comment: str | None = None


class _Envelope(msgspec.Struct, frozen=True):
    success: bool
    result: msgspec.Raw = msgspec.Raw(b"null")


class _Token(msgspec.Struct, frozen=True):
    status: str


class _Zone(msgspec.Struct, frozen=True):
    id: str
    name: str
    permissions: list[str] | None = None


class Cloudflare:
    """Client of Cloudflare's API.

    Args:
        upstream: Cloudflare; its base address ends in `/client/v4`.
    """

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream

    async def zone_name(self, token: str, zone_id: str) -> str:
        """Verify that the token may edit the zone, and return the zone's name in A-labels.

        Args:
            token: visible ASCII characters.
            zone_id: 32 hexadecimal digits.

        Raises:
            CloudflareFault: the token is not valid, may not edit this zone, or Cloudflare cannot be reached.
        """
        verified = _decoded(
            await self._ask(token, "GET", ("user", "tokens", "verify"), refused="invalid"), _Token
        )
        if verified.status != "active":
            raise CloudflareFault("invalid")
        zone = _decoded(await self._ask(token, "GET", ("zones", zone_id), refused="zone_not_found"), _Zone)
        name = normal_host(zone.name)
        if zone.id != zone_id or name is None:
            raise CloudflareFault("zone_not_found")
        if zone.permissions is not None and EDIT_RIGHT not in zone.permissions:
            raise CloudflareFault("insufficient_scope")
        return name

    async def keep(
        self, token: str, zone_id: str, type: str, name: str, contents: Collection[str], *, mark: str
    ) -> None:
        """Make our records of a type at a name have exactly these contents; empty `contents` removes them.

        Only records with our mark are changed or removed. If another's CNAME or A record is at the name, nothing is
        written; another's TXT record does not conflict. Cancellation may leave some of the records written.

        Args:
            token: visible ASCII characters.
            type: `TXT`, `CNAME` or `A`.
            name: the record's full name, inside the zone.
            mark: the comment that identifies our records.

        Raises:
            CloudflareFault: some records may not be written; trying again later may help.
        """
        records = ("zones", zone_id, "dns_records")
        query = (("type", type), ("name", name), ("per_page", "100"))
        raw = await self._ask(token, "GET", records, query=query)
        found = [
            record
            for record in _decoded(raw, list[Record])
            if record.type == type and _same(record.name, name)
        ]
        present = {_content(record) for record in found}
        ours = [record for record in found if record.comment == mark]
        missing = [content for content in contents if content not in present]
        if missing and type != "TXT" and len(ours) < len(found):
            raise CloudflareFault(None)
        stale = [record for record in ours if _content(record) not in contents]
        for content in missing:
            body = {
                "type": type,
                "name": name,
                "content": content,
                "ttl": RECORD_TTL_SECONDS,
                "comment": mark,
            }
            if stale:
                await self._ask(token, "PUT", (*records, _id(stale.pop())), body=body)
            else:
                await self._ask(token, "POST", records, body=body)
        for record in stale:
            await self._ask(token, "DELETE", (*records, _id(record)))

    async def _ask(
        self,
        token: str,
        method: str,
        path: tuple[str, ...],
        *,
        query: tuple[tuple[str, str], ...] = (),
        body: dict[str, object] | None = None,
        refused: TokenStatus | None = None,
    ) -> msgspec.Raw:
        """The result of one request.

        Args:
            refused: the status of the fault if Cloudflare refuses for another reason than the token's rights.
        """
        headers = {"authorization": f"Bearer {token}", "accept": "application/json"}
        content = None
        if body is not None:
            headers["content-type"] = "application/json"
            content = msgspec.json.encode(body)
        try:
            answer = await self._upstream.ask(method, path, query=query, headers=headers, body=content)
        except OutgoingFault:
            raise CloudflareFault("unreachable") from None
        status = answer.status
        if status == HTTPStatus.UNAUTHORIZED:
            raise CloudflareFault("invalid")
        if status == HTTPStatus.FORBIDDEN:
            raise CloudflareFault("invalid" if refused == "invalid" else "insufficient_scope")
        if status == HTTPStatus.TOO_MANY_REQUESTS or status >= 500:
            raise CloudflareFault("unreachable")
        try:
            envelope = decoded(answer.body, _Envelope)
        except NotUnderstood:
            raise CloudflareFault("unreachable") from None
        if not envelope.success or status >= 400:
            raise CloudflareFault(refused)
        return envelope.result


def _decoded(raw: msgspec.Raw, type: type[T]) -> T:
    try:
        return decoded(raw, type)
    except NotUnderstood:
        raise CloudflareFault("unreachable") from None


def _same(name: str, wanted: str) -> bool:
    return name.lower().removesuffix(".") == wanted


def _content(record: Record) -> str:
    if record.type == "TXT":
        return record.content.removeprefix('"').removesuffix('"')
    return record.content.lower().removesuffix(".")


def _id(record: Record) -> str:
    """The record's id, checked because it becomes part of a path."""
    if _RECORD_ID.fullmatch(record.id) is None:
        raise CloudflareFault("unreachable")
    return record.id
