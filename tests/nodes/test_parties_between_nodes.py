"""Parties of users who ask different nodes."""

from pathlib import Path

import pytest

from tests.party.play import end_in_one
from tests.support.cluster import open_cluster
from tests.support.nats import NatsServer

pytestmark = pytest.mark.slow


async def test_two_who_have_invited_each_other_on_different_nodes_end_in_one_party(
    database_url: str, tmp_path: Path, nats: NatsServer
) -> None:
    async with open_cluster(database_url, tmp_path, nats, "a", "b") as cluster:
        ann = await cluster.worlds["a"].player("Ann")
        ben = cluster.at(await cluster.worlds["a"].player("Ben"), "b")
        for _ in range(5):
            await end_in_one(ann, ben)
