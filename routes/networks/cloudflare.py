"""Cloudflare's API: is a token good for a zone, and let a record say this (contract §7).

The address is configuration and nothing in it comes from users but ids of a known form. Redirects are not followed,
answers are bounded in size and time, and no error repeats what was sent or received: tokens stay here.
"""

import re
from collections.abc import Collection
from typing import Literal, TypeAlias, TypeVar

import httpx2
import msgspec
import trio

from actors.networks.hostnames import normal_host

SECONDS = 5.0
"""The longest that one request takes."""

MAX_BYTES = 2 * 1024 * 1024
"""The largest answer that is read."""

RECORD_TTL_SECONDS = 300

TokenStatus: TypeAlias = Literal["active", "invalid", "insufficient_scope", "zone_not_found", "unreachable"]
"""What is known of a token (contract §7)."""

T = TypeVar("T")

EDIT_RIGHT = "#dns_records:edit"

_RECORD_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


class CloudflareFault(Exception):
    """Cloudflare did not do as it was asked.

    Args:
        status: what that says of the token; None: nothing, this one record cannot be written.
    """

    def __init__(self, status: TokenStatus | None) -> None:
        self.status = status
        super().__init__(status or "the record cannot be written")


class Record(msgspec.Struct, frozen=True):
    """A DNS record as Cloudflare has it."""

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
    """The API at one address.

    Args:
        client: does not follow redirects, and takes nothing from the environment.
        url: with `/client/v4`, without a slash at its end.
    """

    def __init__(self, client: httpx2.AsyncClient, url: str) -> None:
        self._client = client
        self._url = url

    async def zone_name(self, token: str, zone_id: str) -> str:
        """The name of a zone that the token may edit, in A-labels.

        Args:
            token: visible ASCII characters.
            zone_id: 32 hexadecimal digits.

        Raises:
            CloudflareFault: the token does not verify, or not for this zone.
        """
        verified = _decoded(await self._ask(token, "GET", "/user/tokens/verify", refused="invalid"), _Token)
        if verified.status != "active":
            raise CloudflareFault("invalid")
        zone = _decoded(await self._ask(token, "GET", f"/zones/{zone_id}", refused="zone_not_found"), _Zone)
        name = normal_host(zone.name)
        if zone.id != zone_id or name is None:
            raise CloudflareFault("zone_not_found")
        if zone.permissions is not None and EDIT_RIGHT not in zone.permissions:
            raise CloudflareFault("insufficient_scope")
        return name

    async def keep(
        self, token: str, zone_id: str, type: str, name: str, contents: Collection[str], *, mark: str
    ) -> None:
        """Let the records at a name say this and nothing else; none of it when `contents` is empty.

        Only records with our mark are changed or removed. Where somebody else's stand in the way (of a CNAME, or
        beside ours of type A) nothing is written; TXT records of others do not stand in the way.

        Args:
            type: `TXT`, `CNAME` or `A`.
            name: inside the zone.
            mark: the comment by which our records are known.

        Raises:
            CloudflareFault: it is not so, and trying later may help.
        """
        records = f"/zones/{zone_id}/dns_records"
        query = {"type": type, "name": name, "per_page": "100"}
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
                await self._ask(token, "PUT", f"{records}/{_id(stale.pop())}", body=body)
            else:
                await self._ask(token, "POST", records, body=body)
        for record in stale:
            await self._ask(token, "DELETE", f"{records}/{_id(record)}")

    async def _ask(
        self,
        token: str,
        method: str,
        path: str,
        *,
        query: dict[str, str] | None = None,
        body: dict[str, object] | None = None,
        refused: TokenStatus | None = None,
    ) -> msgspec.Raw:
        """The result of one request.

        Args:
            refused: what a refusal says of the token, where it is not about its rights.
        """
        try:
            with trio.fail_after(SECONDS):
                status, data = await self._exchange(token, method, path, query, body)
        except (httpx2.HTTPError, httpx2.InvalidURL, trio.TooSlowError):
            raise CloudflareFault("unreachable") from None
        if status == httpx2.codes.UNAUTHORIZED:
            raise CloudflareFault("invalid")
        if status == httpx2.codes.FORBIDDEN:
            raise CloudflareFault("invalid" if refused == "invalid" else "insufficient_scope")
        if status == httpx2.codes.TOO_MANY_REQUESTS or status >= 500 or 300 <= status < 400:
            raise CloudflareFault("unreachable")
        try:
            envelope = msgspec.json.decode(data, type=_Envelope)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise CloudflareFault("unreachable") from None
        if not envelope.success or status >= 400:
            raise CloudflareFault(refused)
        return envelope.result

    async def _exchange(
        self,
        token: str,
        method: str,
        path: str,
        query: dict[str, str] | None,
        body: dict[str, object] | None,
    ) -> tuple[int, bytes]:
        headers = {
            "authorization": f"Bearer {token}",
            "accept": "application/json",
            "accept-encoding": "identity",
        }
        request = self._client.stream(method, self._url + path, params=query, json=body, headers=headers)
        async with request as response:
            data = bytearray()
            # Read to its end even where it is too long: leaving the stream half-way leaves its generators open.
            # Memory is bounded here, time by `SECONDS`.
            async for part in response.aiter_raw():
                if len(data) <= MAX_BYTES:
                    data += part
        if len(data) > MAX_BYTES:
            raise CloudflareFault("unreachable")
        return response.status_code, bytes(data)


def _decoded(raw: msgspec.Raw, type: type[T]) -> T:
    try:
        return msgspec.json.decode(raw, type=type)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise CloudflareFault("unreachable") from None


def _same(name: str, wanted: str) -> bool:
    return name.lower().removesuffix(".") == wanted


def _content(record: Record) -> str:
    if record.type == "TXT":
        return record.content.removeprefix('"').removesuffix('"')
    return record.content.lower().removesuffix(".")


def _id(record: Record) -> str:
    """The record's id, which becomes a part of an address."""
    if _RECORD_ID.fullmatch(record.id) is None:
        raise CloudflareFault("unreachable")
    return record.id
