"""`partyline health`, by whose exit status container engines end a server."""

import pytest
import trio

from routes.cli.main import main
from scripts.upstreams.http import HttpServer, Reply, Request, as_json


def test_nobody_who_answers_is_not_healthy(environ, capsys):
    environ.setenv("PARTYLINE_BIND", "127.0.0.1:1")
    assert main(["health"]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), "http://127.0.0.1:1/ready does not answer" in err) == ("", 1, True)


@pytest.mark.parametrize(
    ("status", "outcome", "said"), [(429, 0, "asks it too often\n"), (503, 1, "answered 503\n")]
)
async def test_who_asks_too_often_has_no_server_ended(environ, capsys, status, outcome, said):
    async def answer(_: Request) -> Reply:
        return as_json(status, {})

    async with trio.open_nursery() as nursery:
        server = HttpServer(answer)
        await nursery.start(server.serve)
        environ.setenv("PARTYLINE_BIND", f"127.0.0.1:{server.port}")
        assert await trio.to_thread.run_sync(main, ["health"]) == outcome
        nursery.cancel_scope.cancel()
    assert "".join(capsys.readouterr()).endswith(said)
