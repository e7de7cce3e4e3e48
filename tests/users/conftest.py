"""Fixtures: the whole service, users in memory, and the routes of users alone with tokens for anybody."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from actors.ids import new_object_id
from actors.users.permissions import Role
from actors.users.units_rights import GrantChange, change_grant, enrol
from persistence.users.audit import Stamp
from routes.edge.declare.mounts import Mount, RouteTable
from routes.edge.identity.issuers import Issuers
from routes.edge.identity.keys import Keys
from routes.edge.pipeline.dispatch import Edge
from routes.edge.server.quart_app import EdgeApp
from routes.users import admin, audit, profile, setup, verify
from tests.edge.asgi import Answered, request
from tests.support.spec import Answer, spec
from tests.support.world import world
from tests.users.memory import clock, grant, numbers, stamp, store, told, users
from tests.users.parts import NOW_MS, Parts

__all__ = ["clock", "grant", "numbers", "stamp", "store", "told", "users", "world"]

TABLE = RouteTable.of([Mount("identity", (verify, admin, audit, profile, setup))])


@pytest.fixture
def keys() -> Keys:
    return Keys(Ed25519PrivateKey.from_private_bytes(bytes(range(32))), bytes(32))


@pytest.fixture
async def parts(database, keys) -> Parts:
    parts = Parts(database, keys, Issuers((), Parts.clock_type()))
    await parts.users.open()
    return parts


@pytest.fixture
async def app(parts) -> AsyncIterator[EdgeApp]:
    @asynccontextmanager
    async def opened():
        yield Edge(parts, TABLE)

    app = EdgeApp(TABLE, opened)
    async with app.test_app():
        yield app


class People:
    """Makes users with roles and grants, and calls the routes as them.

    Args:
        app: the application.
        parts: what it stands on.
    """

    def __init__(self, app, parts):
        self.app = app
        self.parts = parts

    def stamp(self) -> Stamp:
        return Stamp(new_object_id(NOW_MS, self.parts.random_bytes), NOW_MS, None, None)

    def token(self, user_id, name, *, ttl_seconds=3600):
        now_ms = self.parts.clock.now_ms()
        return self.parts.keys.mint_user_token(
            user_id, name, now_ms=now_ms, ttl_seconds=ttl_seconds, random_bytes=self.parts.random_bytes
        ).token

    async def make(self, user_id, name="", *, role=None, grants=()) -> str:
        """A user and their token."""
        name = name or f"user-{user_id[-4:]}"
        database = self.parts.database
        await database.transact(enrol, user_id, name, None if role is None else Role(role), self.stamp())
        for given in grants:
            node = given.removeprefix("-")
            node_id = new_object_id(NOW_MS, self.parts.random_bytes)
            change = GrantChange(user_id, node, given.startswith("-"), None, None, node_id)
            await database.transact(change_grant, change, self.stamp())
            self.parts.users.catalog_grew(node)
        self.parts.users.changed(user_id)
        return self.token(user_id, name)

    async def call(self, token, method, target, body=b"", **headers) -> Answered:
        """Ask, and hold the answer against the OpenAPI document."""
        answer = await request(self.app, method, target, body, token=token, **headers)
        path = target.partition("?")[0]
        spec().check(
            Answer(method=method, path=path, status=answer.status, headers=answer.headers, body=answer.body)
        )
        return answer


@pytest.fixture
def people(app, parts) -> People:
    return People(app, parts)
