"""Who may do what: every route of Connect × everybody who might ask, as `matrix.csv` says (reliability A1, A2).

A cell is the status of the response. A row is asked in one scene; what was given is made again before the next asks,
so that each cell stands for itself. What a caller may not know of looks as though it were not there.
"""

import csv
import re
import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.ids import new_object_id, new_uuid
from routes.edge.identity.base64url import to_base64url
from tests.connect.scene import Bearer, People, Scene
from tests.connect.targets import ONE, TARGETS
from tests.contract.sources import ROOT
from tests.gateways.play import TOKEN
from tests.networks.cloudflare import CloudflareStub
from tests.networks.dns_server import DnsServer
from tests.networks.play import Place
from tests.support.websocket import Refused, connect
from tests.support.world import Player, open_world

MATRIX = ROOT / "tests" / "connect" / "matrix.csv"
LEAST_PRINCIPALS = 18
"""As many as the checklist asks for on each route."""

SPENT = {f"DELETE {ONE}", f"POST {ONE}/secret/rotate"}
"""Rows that leave a scene in which nobody is who they were."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_OBJECT_ID = re.compile(r"(?<=/)[0-9a-f]{24}(?=/|$)")


def _rows() -> list[dict[str, str]]:
    with MATRIX.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _name(row: dict[str, str]) -> str:
    return f"{row['method']} {row['path']}"


def _cells(row: dict[str, str]) -> dict[str, int]:
    return {name: int(cell) for name, cell in row.items() if cell.isdecimal()}


def _declared() -> Iterator[dict[str, str]]:
    with (ROOT / "tests" / "contract" / "endpoints.csv").open(newline="", encoding="utf-8") as file:
        yield from (row for row in csv.DictReader(file) if row["area"].startswith("connect-"))


def test_every_route_has_its_row():
    """A route without a row fails the build, and so does a row without a route."""
    assert [_name(row) for row in _rows()] == [_name(row) for row in _declared()]
    assert TARGETS.keys() == {_name(row) for row in _rows()}


def test_every_cell_is_written_down():
    for row in _rows():
        assert len(_cells(row)) == len(row) - 3 >= LEAST_PRINCIPALS, _name(row)


@pytest.fixture
async def place(
    database_url: str, tmp_path: Path, dns_server: DnsServer, cloudflare: CloudflareStub
) -> AsyncIterator[Place]:
    """A service without limits of rate; on one server only, as who may do what is decided behind it."""
    settings = {
        "dns_server": f"127.0.0.1:{dns_server.port}",
        "cloudflare_url": cloudflare.url,
        "gateway_domain": "play.partyline.test",
        "gateway_host": "gw.partyline.test",
        "gateway_token": TOKEN,
        "rate_limits": "off",
    }
    async with open_world(database_url, tmp_path, **settings) as world:
        yield Place(world, dns_server, cloudflare)


@pytest.mark.slow
@pytest.mark.parametrize("area", sorted({row["area"] for row in _declared()}))
async def test_who_may_do_what(place: Place, area: str):
    people = await People.of(place.world)
    wrong = []
    for declared, row in zip(_declared(), _rows(), strict=True):
        if declared["area"] == area:
            wrong += await _differences(place, people, row, declared["kind"])
    assert not wrong, "\n".join(wrong)


async def _differences(place: Place, people: People, row: dict[str, str], kind: str) -> list[str]:
    """The cells of a row that are not as they are written."""
    name, scene = _name(row), await Scene.of(place, people)
    asked = await TARGETS[name](scene)
    wrong = []
    for column, wanted in _cells(row).items():
        principal = scene.principals.get(column) or scene.narrowed(row["scope"])
        path, body = asked
        if column == "unclaimed":
            path = path.replace(scene.server.id, scene.unclaimed.id)
        status, problem = await _ask(kind, principal, row["method"], path, body)
        if status != wanted:
            wrong.append(f"{name}: {column} got {status} in place of {wanted}: {problem}")
        elsewhere = _elsewhere(path, scene.unclaimed.id)
        if status == 404 and elsewhere != path:
            missing = await _ask(kind, principal, row["method"], elsewhere, body)
            if missing != (404, problem):
                wrong.append(f"{name}: {column} can tell {problem} from {missing}")
        if status in {401, 403, 404} and body is not None and column != "unclaimed":
            garbled = (await principal.ask(row["method"], path, content=b'{"x":')).status_code
            if garbled != status:
                wrong.append(
                    f"{name}: {column} got {garbled} for a garbled body: content is looked at too early"
                )
        if status < 400:
            scene = await Scene.of(place, people) if name in SPENT else scene
            asked = await TARGETS[name](scene)
    return wrong


async def _ask(kind: str, principal: Player, method: str, path: str, body: Any) -> tuple[int, Any]:
    """The status, and what a refusal says but for its number."""
    query = principal.query if isinstance(principal, Bearer) else ""
    protocol = principal.protocol if isinstance(principal, Bearer) else ""
    offered = f"svc.v1, svc-bearer.{to_base64url(protocol.encode())}"
    path += f"{'&' if '?' in path else '?'}{query}" if query else ""
    if kind == "ws":
        headers = [*principal.headers.items()]
        try:
            async with connect(
                principal.world.url + path,
                headers=headers,
                subprotocols=offered.split(", ") if protocol else (),
            ):
                return 101, None
        except Refused as refused:
            return refused.status, _said(refused.problem)
    headers = {"sec-websocket-protocol": offered} if protocol else None
    response = await principal.ask(method, path, body, headers=headers)
    return response.status_code, _said(response.json()) if response.status_code >= 400 else None


def _said(problem: Any) -> Any:
    return {name: value for name, value in problem.items() if name not in {"requestId", "instance"}}


def _elsewhere(path: str, known: str) -> str:
    """The same path to things that there are not.

    Args:
        known: the id of what its caller may know of.
    """
    path = _UUID.sub(lambda id: id[0] if id[0] == known else new_uuid(secrets.token_bytes), path)
    return _OBJECT_ID.sub(lambda _: new_object_id(0, secrets.token_bytes), path)
