"""When game servers called last: on this node, which writes it, and on others."""

from actors.connect.credentials import TOLD_AGAIN_MS, Credentials
from actors.connect.events import ServerRemoved
from persistence.bridge.database import Database

NOW_MS = 1_000_000
ONE, OTHER = "10.0.0.1", "10.0.0.2"


async def test_others_are_told_of_what_they_do_not_know(database: Database) -> None:
    credentials, told = Credentials(database), []
    credentials.on_called(lambda *call: told.append(call))
    later_ms = NOW_MS + TOLD_AGAIN_MS
    for at_ms, address in ((NOW_MS, ONE), (NOW_MS + 1, ONE), (NOW_MS + 2, OTHER), (later_ms, OTHER)):
        credentials.saw("a", at_ms, address)
    assert told == [("a", NOW_MS, ONE), ("a", NOW_MS + 2, OTHER)]
    credentials.saw("a", later_ms + 2, OTHER)
    assert told[2:] == [("a", later_ms + 2, OTHER)]
    await credentials.flush()
    credentials.saw("a", later_ms + 3, OTHER)
    assert told[3:] == [("a", later_ms + 3, OTHER)]


async def test_a_server_that_has_called_another_node_is_not_silent(database: Database) -> None:
    credentials = Credentials(database)
    credentials.saw("here", NOW_MS, ONE)
    credentials.saw("there", NOW_MS, ONE)
    credentials.saw_elsewhere("there", NOW_MS + 1, OTHER)
    assert credentials.last_seen("there") == (NOW_MS + 1, OTHER)
    credentials.saw_elsewhere("elsewhere", NOW_MS, ONE)
    assert _silent(credentials) == ["nowhere"]
    # They are in rows by the time of the second writing after them, since the other node writes as often.
    await credentials.flush()
    assert _silent(credentials) == ["nowhere"]
    assert credentials.last_seen("there") == (NOW_MS + 1, OTHER)
    await credentials.flush()
    assert _silent(credentials) == ["here", "there", "elsewhere", "nowhere"]


async def test_a_call_that_was_just_written_is_known_for_rows_that_were_read_before(
    database: Database,
) -> None:
    credentials = Credentials(database)
    credentials.saw("here", NOW_MS, ONE)
    await credentials.flush()
    assert credentials.last_seen("here") == (NOW_MS, ONE)
    credentials.saw("here", NOW_MS + 1, OTHER)
    assert credentials.last_seen("here") == (NOW_MS + 1, OTHER)
    credentials.hear("here", ServerRemoved(NOW_MS + 2))
    assert credentials.last_seen("here") is None


def _silent(credentials: Credentials) -> list[str]:
    return [one for one in ("here", "there", "elsewhere", "nowhere") if credentials.is_silent(one)]
