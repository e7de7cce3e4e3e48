"""Finding users by the beginning of their name, at the edges of what a text may hold."""

import pytest

from persistence.users.users import arrive, find_by_prefix

NAMES = [
    "al",
    "al%",
    "al_",
    "al\\",
    "am",
    "az",
    "a\ud7ff",
    "a\ue000",
    "a\U0010ffff",
    "a\U0010ffffb",
    "b",
    "\u00e9a",
    "ΣΟΡ",
    "ΣΟΣ",
    "ΣΟΣΑ",
    "ΣΟΤ",
]


@pytest.fixture
async def named(database):
    async def fill(conn):
        for number, name in enumerate(NAMES):
            await arrive(conn, f"00000000-0000-4000-8000-{number:012x}", name, issued_at_s=1, now_ms=1000)

    await database.transact(fill)


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "a",
        "al",
        "AL",
        "al%",
        "al_",
        "al\\",
        "az",
        "a\ud7ff",
        "a\U0010ffff",
        "b",
        "\u00c9",
        "zz",
        "ΣΟ",
        "ΣΟΣ",
        "σος",
        "σοσ",
        "Σ",
    ],
)
async def test_as_python_has_it(database, named, prefix):
    found = [user.name for user in await database.read(find_by_prefix, prefix, 50)]
    assert found == sorted((name for name in NAMES if _plain(name).startswith(_plain(prefix))), key=str.lower)


def _plain(text: str) -> str:
    return text.lower().replace("ς", "σ")
