"""Wire: a catalogue that goes wrong in every way that it can; what was known is shown while it does."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from routes.logs import configure_logging
from tests.mods.play import AWAY, CANARY, CURSEFORGE, MODRINTH, SEARCH, Catalogues, open_catalogues
from tests.support.canaries import Overheard, dump, found, kept_in_files
from tests.support.plain_log import log_plainly

PROJECT = f"{MODRINTH}/project/lanterns"
MOD = f"{CURSEFORGE}/projects/300001"
STATUSES = ("401", "403", "410", "429", "500", "503")
FAULTS = ("dropped", "cut", "endless", "encoded", "redirect", "html")


@pytest.mark.parametrize("fault", [*STATUSES, *FAULTS])
@pytest.mark.one_node(because="each node keeps the answers of catalogues itself")
async def test_nothing_is_known_yet(catalogues: Catalogues, fault: str) -> None:
    """A 503 that says what has come, and when to come again; until then nothing is asked."""
    for site, path in ((catalogues.modrinth, PROJECT), (catalogues.curseforge, MOD)):
        site.retry_after = "7"
        site.faults.add(fault)
        seconds = "7" if fault in STATUSES else "10"
        for _ in range(2):
            refused = await catalogues.ask(path)
            assert (refused.status_code, refused.json()["code"]) == AWAY
            status = int(fault) if fault in STATUSES else 200 if fault == "html" else None
            assert refused.json()["meta"] == {"upstreamStatus": status}
            assert refused.headers["retry-after"] == seconds
            assert refused.headers["cache-control"] == "no-store"
        assert len(site.asked) == 1
        catalogues.seconds(int(seconds) - 1)
        assert (await catalogues.ask(path)).headers["retry-after"] == "1"
        catalogues.seconds(1)
        assert (await catalogues.ask(path)).status_code == 200
        assert len(site.asked) == 2


@pytest.mark.parametrize("fault", [*STATUSES, *FAULTS])
@pytest.mark.one_node(because="each node keeps the answers of catalogues itself")
async def test_what_was_known_is_shown_and_says_that_it_is_old(catalogues: Catalogues, fault: str) -> None:
    known = await catalogues.ask(PROJECT)
    catalogues.seconds(300)
    catalogues.modrinth.faults.add(fault)
    for _ in range(2):
        old = await catalogues.ask(PROJECT)
        assert (old.status_code, old.content) == (200, known.content)
        assert (old.headers["age"], old.headers["cache-status"]) == ("300", "Partyline; hit; ttl=0")
    assert len(catalogues.modrinth.asked) == 2
    catalogues.seconds(10)
    again = await catalogues.ask(PROJECT)
    assert again.headers["age"] == "0"
    assert len(catalogues.modrinth.asked) == 3


@pytest.mark.one_node(because="each node keeps the answers of catalogues itself")
async def test_what_is_older_than_a_day_is_not_shown(catalogues: Catalogues) -> None:
    await catalogues.get(PROJECT)
    catalogues.seconds(300 + 86_400 - 1)
    catalogues.modrinth.faults.add("503", times=2)
    old = await catalogues.ask(PROJECT)
    assert (old.headers["age"], old.headers["cache-status"]) == ("86699", "Partyline; hit; ttl=-86399")
    catalogues.seconds(10)
    assert await catalogues.refused(PROJECT) == AWAY


async def test_what_is_gone_is_not_shown_any_more(catalogues: Catalogues) -> None:
    await catalogues.get(PROJECT)
    catalogues.seconds(300)
    catalogues.modrinth.faults.add("404")
    assert await catalogues.refused(PROJECT) == (404, "NOT_FOUND")
    catalogues.seconds(60)
    catalogues.modrinth.faults.add("500")
    assert await catalogues.refused(PROJECT) == AWAY


@pytest.mark.one_node(because="each node keeps the answers of catalogues itself")
async def test_a_limit_that_others_have_used_up(catalogues: Catalogues) -> None:
    catalogues.modrinth.remaining, catalogues.modrinth.reset = 0, 30
    await catalogues.get(PROJECT)
    refused = await catalogues.ask(f"{MODRINTH}/project/quilted")
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")
    assert refused.json()["meta"] == {"upstreamStatus": None}
    assert len(catalogues.modrinth.asked) == 1
    catalogues.seconds(30)
    assert (await catalogues.ask(f"{MODRINTH}/project/quilted")).status_code == 200


async def test_without_a_key(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_catalogues(database_url, tmp_path, monkeypatch, curseforge_key="") as catalogues:
        for path in ("search", "projects/1", "projects/1/files", "projects/1/files/2"):
            assert await catalogues.refused(f"{CURSEFORGE}/{path}") == AWAY
        assert (await catalogues.refused(f"{CURSEFORGE}/projects/x"))[0] == 404
        both = await catalogues.get(SEARCH, query="lanterns")
        assert both["sources"] == [{"source": "modrinth", "ok": True}, {"source": "curseforge", "ok": False}]
        assert [hit["source"] for hit in both["items"]] == ["modrinth"]
        assert await catalogues.refused(f"{SEARCH}?source=curseforge") == AWAY
        assert catalogues.curseforge.asked == []


async def test_a_wrong_key(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_catalogues(database_url, tmp_path, monkeypatch, curseforge_key="wrong") as catalogues:
        refused = await catalogues.ask(MOD)
        assert refused.json()["meta"] == {"upstreamStatus": 403}


@pytest.fixture
def as_operated(catalogues: Catalogues, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """The log is that of the program, as its operator sees it."""
    configure_logging(catalogues.world.service.config)
    yield
    log_plainly()


@pytest.mark.usefixtures("as_operated")
async def test_the_key_is_told_to_nobody(
    catalogues: Catalogues, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Not in the log, in answers, in rows or in files, whatever goes wrong."""
    heard = Overheard(catalogues.world)
    for number, fault in enumerate([*STATUSES, *FAULTS, "404", "400"]):
        catalogues.curseforge.faults.add(fault)
        assert (await catalogues.ask(f"{CURSEFORGE}/projects/{300_000 + number}")).status_code >= 400
    for path in (f"{CURSEFORGE}/search", SEARCH, "/metrics", "/openapi.json", "/health"):
        assert (await catalogues.ask(path)).status_code == 200
    assert heard.saying(CANARY) == []
    kept = await catalogues.world.service.database.read(dump)
    assert found([CANARY], kept + "".join(kept_in_files(tmp_path))) == []
    logged = "".join(capfd.readouterr())
    assert "a catalogue of mods is away" in logged
    assert found([CANARY], logged) == []
    assert {request.headers["x-api-key"] for request in catalogues.curseforge.asked} == {CANARY}
    assert not any("x-api-key" in request.headers for request in catalogues.modrinth.asked)
