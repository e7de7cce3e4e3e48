"""When game servers called last: on this node, which writes it, and on others."""

from actors.connect.credentials import TOLD_AGAIN_MS, Credentials
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
    assert credentials.silent(["here", "there", "elsewhere", "nowhere"]) == ["nowhere"]
    # It is in rows by the time of the second writing after it, since the other node writes as often.
    await credentials.flush()
    assert credentials.silent(["here", "elsewhere", "nowhere"]) == ["here", "nowhere"]
    await credentials.flush()
    assert credentials.silent(["elsewhere", "nowhere"]) == ["elsewhere", "nowhere"]
    assert credentials.last_seen("there") is None
