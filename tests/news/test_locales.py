"""A language tag is the same in whatever case it is written."""

import pytest

from actors.news.locales import is_locale, spelled
from persistence.connection import Connection
from persistence.schema.migrate import shipped
from tests.news.play import FEED, GLOBAL, NEWS, PUBLIC, editor, titles, write
from tests.support.world import World

# {as somebody writes it: as it is by convention (RFC 5646 section 2.1.1)}
SPELLED = {
    "EN": "en",
    "de-at": "de-AT",
    "DE-AT": "de-AT",
    "ZH-HANT-hk": "zh-Hant-HK",
    "sl-ROZAJ-1994": "sl-rozaj-1994",
    "de-1A2B": "de-1a2b",
    "es-419": "es-419",
    "en-CA-X-CA": "en-CA-x-ca",
    "AZ-latn-X-LATN": "az-Latn-x-latn",
    "de-DE-U-CO-PHONEBK": "de-DE-u-co-phonebk",
    "sgn-be-fr": "sgn-BE-FR",
}


@pytest.mark.parametrize("tag", [*SPELLED, *SPELLED.values()])
def test_a_locale_is_spelled_in_one_way(tag: str) -> None:
    assert is_locale(tag)
    assert spelled(tag) == SPELLED.get(tag, tag)
    assert spelled(spelled(tag)) == spelled(tag)


@pytest.mark.parametrize(
    "text", ["", "e", "en_US", "en-", "-en", "en--us", "ünd", "a" * 9, "en-" + "a" * 9, "en" + "-a" * 17]
)
def test_what_is_none(text: str) -> None:
    assert not is_locale(text)


async def test_articles_are_found_in_any_case(world: World) -> None:
    ed = await editor(world)
    made = await write(ed, "one", scope=GLOBAL, locale="DE-at")
    assert made["locale"] == "de-AT"
    for locale in ("de-AT", "de-at", "DE-AT"):
        for path in (NEWS, PUBLIC, FEED):
            assert await titles(ed, path, locale=locale) == ["one"], (path, locale)
    assert await titles(ed, NEWS, locale="de") == []
    rss = await world.nobody().ask("GET", f"{PUBLIC}/rss?locale=de-at")
    assert b"<language>de-AT</language>" in rss.content


async def test_those_of_before_are_found_as_well(world: World) -> None:
    """The migration writes their tags as this version does."""
    ed = await editor(world)
    made = {tag: (await write(ed, f"of {tag}", scope=GLOBAL))["id"] for tag in SPELLED}

    async def as_before(conn: Connection) -> list[tuple[str, str]]:
        for tag, id in made.items():
            await conn.execute("UPDATE news_articles SET locale = $2 WHERE id = $1", id, tag)
        (migration,) = (one for one in shipped() if one.name.endswith("_locales_in_one_case.sql"))
        await conn.execute(migration.sql)
        return [tuple(row) for row in await conn.fetch("SELECT id, locale FROM news_articles")]

    found = dict(await world.service.database.transact(as_before))
    assert found == {id: SPELLED[tag] for tag, id in made.items()}
    assert await titles(ed, NEWS, locale="en-ca-x-ca") == ["of en-CA-X-CA"]
