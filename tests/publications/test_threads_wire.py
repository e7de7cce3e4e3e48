"""Statuses are looked up in the thread that changes them, and not in that of the database, in which answers are made:
a walk through the reports of a network ends with an error where another thread changes them."""

import threading
from typing import Any

import pytest

from persistence.publications.rows import StatusRow
from routes.publications.parts import STATUSES
from tests.support.world import World


class Reports(dict[str, StatusRow]):
    """Reports of a network, which say from which threads they were read."""

    def __init__(self, reports: dict[str, StatusRow]) -> None:
        super().__init__(reports)
        self.threads: set[str] = set()

    def values(self) -> Any:
        self.threads.add(threading.current_thread().name)
        return super().values()


@pytest.mark.one_node(because="it is looked at which thread of the node reads its memory")
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_answers_to_changes_look_up_statuses_in_their_own_thread(world: World, method: str) -> None:
    admin, ann = await world.ranked("Adam", "admin"), await world.player("Ann")
    made = await ann.do("POST", "/v1/connect/networks", {"name": "Net"}, status=201)
    id = made["network"]["networkId"]
    path, body = f"/v1/connect/publications/network/{id}", {"address": "a.example.org", "displayName": "Sky"}
    published = (await ann.do("PUT", path, body, status=200))["publication"]
    statuses = world.service.of(STATUSES)
    now_ms = world.clock.now_ms()
    statuses.hear(StatusRow("one", id, True, "", 3, 20, now_ms), now_ms)
    reports = statuses._networks[id].reports = Reports(statuses._networks[id].reports)
    answer: Any
    if method == "PUT":
        answer = (await ann.do("PUT", path, body, status=200))["publication"]
    else:
        path = f"/v1/admin/connect/publications/{published['id']}"
        answer = await admin.do("PATCH", path, {"featured": True}, status=200)
    assert answer["playerCount"] == 3
    assert reports.threads == {threading.current_thread().name}
