"""The command line (contract §11): what it prints where, and that a token works beside a running server."""

import json
import os
import signal
import subprocess
import sys
from functools import partial

import httpx2
import jwt
import pytest
import structlog
import trio

from routes import TABLE
from routes.cli.main import main
from routes.config.config import read_config
from routes.config.settings import SETTINGS
from routes.edge.identity.keys import open_keys
from routes.logs import configure_logging
from tests.cli.running import partyline
from tests.support.process import reachable_directory, server_process
from tests.support.waiting import PATIENCE_SECONDS, patience
from tests.users.parts import ANN, BEN


def test_routes_prints_every_route_with_its_rule_and_rate(environ, capsys):
    assert main(["routes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    table = TABLE
    aliases = sum(len(one.aliases) for one in table.endpoints)
    assert len(lines) == len(table.endpoints) + len(table.streams) + aliases
    said = {" ".join(line.split()) for line in lines}
    assert "GET /auth/verify authenticated user-read=300/60s routes.users.verify.verify_token" in said
    messages = "/v1/social/chat/conversations/{conversationId}/messages"
    assert f"POST {messages} social:chat.write chat-send=30/10s routes.chat.messages.post_message" in said


def test_openapi_prints_the_document(environ, capsys):
    assert main(["openapi"]) == 0
    assert json.loads(capsys.readouterr().out)["openapi"].startswith("3.1")


def test_config_lists_every_setting_and_shows_no_secret(environ, capsys):
    environ.setenv("PARTYLINE_GATEWAY_TOKEN", "canary-secret")
    environ.setenv("PARTYLINE_LOG", "json")
    assert main(["config"]) == 0
    out = capsys.readouterr().out
    assert all(f"{setting.name}=" in out for setting in SETTINGS)
    assert "now: json" in out
    assert "canary" not in out


def test_the_log_is_one_line_an_entry_whatever_it_holds(environ, capsys):
    for form in ("console", "json"):
        configure_logging(read_config({"PARTYLINE_LOG": form}))
        structlog.get_logger().warning("a name", name="x\n[error] fake \x1b[31m\u202e", debug=1)
        structlog.get_logger().debug("too quiet")
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 2
    assert "\x1b[31m" not in err
    assert "\u202e" not in err


def test_tracebacks_hold_no_values(environ, capsys):
    secret = "canary-" + "value"
    for form in ("console", "json"):
        configure_logging(read_config({"PARTYLINE_LOG": form}))
        try:
            len(partial(lambda text: 1 / 0, secret)())
        except ZeroDivisionError:
            structlog.get_logger().exception("failed")
    err = capsys.readouterr().err
    assert err.count("ZeroDivisionError") >= 2
    assert "canary-value" not in err


@pytest.mark.slow
def test_a_token_without_a_server():
    with reachable_directory() as folder:
        made = partyline(folder / "data", "token", "--name", "Ann", "--id", ANN.upper(), "--ttl", "60")
        assert (made.returncode, made.stderr) == (0, "")
        (token,) = made.stdout.splitlines()
        key = open_keys(folder / "data").public_key
        claims = jwt.decode(token, key, algorithms=["EdDSA"], audience="partyline:user", issuer="partyline")
        assert (claims["sub"], claims["name"], claims["exp"] - claims["iat"]) == (ANN, "Ann", 60)
        again = partyline(folder / "data", "token", "--name", "Ann").stdout.strip()
        assert jwt.decode(again, options={"verify_signature": False})["sub"] != ANN


@pytest.mark.slow
def test_importing_old_messages_and_catalogs(database_url):
    """On a database that runs already: each of ten commands would start one of its own."""
    with reachable_directory() as folder:
        run = partial(partyline, folder / "data", PARTYLINE_DATABASE_URL=database_url)
        for name, user_id in (("Ann", ANN), ("Ben", BEN)):
            run("token", "--name", name, "--id", user_id)
        line = {"senderId": ANN, "senderName": "Ann", "participantIds": [ANN, BEN]}
        lines = [json.dumps({**line, "content": text, "createdAtMs": 1_000}) for text in ("one", "two")]
        (folder / "old.jsonl").write_text("\n".join([*lines, "nonsense"]))
        for counts in ("2 imported, 0 there already, 1 refused", "0 imported, 2 there already, 1 refused"):
            imported = run("archive", "import", str(folder / "old.jsonl"))
            refused, said = imported.stdout.splitlines()
            assert (imported.returncode, said) == (1, counts)
            assert refused.startswith("line 3: ")
        missing = run("archive", "import", "nowhere.jsonl")
        assert (missing.returncode, missing.stdout) == (1, "")
        assert "nowhere.jsonl" in missing.stderr
        catalogs = [
            {"catalog": {"slug": "flags", "name": "Flags", "kind": "banner"}},
            {"item": {"catalogSlug": "flags", "name": "Plain", "patterns": []}},
            {"catalog": {"slug": "heads", "name": "Heads", "kind": "head"}},
            {"item": {"catalogSlug": "heads", "name": "Cow", "texture": "moo"}},
        ]
        (folder / "catalogs.jsonl").write_text("\n".join(map(json.dumps, catalogs)))
        imported = run("catalog", "import", str(folder / "catalogs.jsonl"))
        stored, refused, left = imported.stdout.splitlines()
        assert (imported.returncode, stored, left) == (1, "flags: 1 items", "heads: not imported")
        assert refused.startswith("line 4: texture: ")
        for what, said in ((("flags",), "flags: removed\n"), (("--game", "bedwars"), "bedwars: removed\n")):
            removed = run("catalog", "remove", *what)
            assert (removed.returncode, removed.stdout) == (0, said)
        again = run("catalog", "remove", "flags")
        assert (again.returncode, again.stdout, again.stderr) == (
            1, "", "partyline: there is no catalog flags\n",
        )  # fmt: skip


@pytest.mark.slow
async def test_a_token_beside_a_running_server():
    async with (
        server_process() as server,
        httpx2.AsyncClient(base_url=server.url, timeout=PATIENCE_SECONDS) as client,
    ):

        async def token(*arguments):
            made = await trio.to_thread.run_sync(partyline, server.data_dir, "token", *arguments)
            assert (made.returncode, made.stderr) == (0, "")
            return made.stdout.strip()

        async def status(bearer, path):
            return (await client.get(path, headers={"authorization": f"Bearer {bearer}"})).status_code

        first = await token("--name", "Ann", "--id", ANN)
        assert await status(first, "/v1/auth/verify") == 200
        assert await status(first, "/v1/admin/permissions") == 403
        # The role is given by another process; the token that the server remembers has it at once.
        second = await token("--name", "Ann", "--id", ANN, "--role", "super-admin")
        with patience():
            while await status(first, "/v1/admin/permissions") != 200:
                await trio.lowlevel.checkpoint()
        assert await status(second, "/v1/admin/permissions") == 200
        found = await trio.to_thread.run_sync(
            partial(partyline, server.data_dir, "doctor", PARTYLINE_BIND=f"127.0.0.1:{server.port}")
        )
        address = f"address 127.0.0.1:{server.port}: in use, as a server of this data folder runs"
        assert (found.returncode, f"ok      {address}" in found.stdout) == (0, True), found.stdout
        assert first not in server.log
        assert second not in server.log
        ask = partial(partyline, server.data_dir, "health", PARTYLINE_BIND=f"0.0.0.0:{server.port}")
        asked = await trio.to_thread.run_sync(ask)
        assert (asked.returncode, asked.stdout, asked.stderr) == (0, "ready\n", "")


SERVING = {"routes.domains", "routes.startup", "quart", "hypercorn", "prometheus_client", "httpx2"}
"""What takes long to import, and only a server needs."""


@pytest.mark.parametrize(
    ("modules", "also_spared"),
    [
        ("routes.cli.main, routes.cli.listing", {"trio", "structlog", "jwt", "cryptography", "asyncpg"}),
        (
            "routes.cli.main, routes.cli.token, routes.cli.database, routes.logs, routes.edge.identity.keys",
            set(),
        ),
        ("routes.cli.main, routes.cli.doctor, routes.logs", set()),
        ("routes.cli.main, routes.cli.backup, routes.cli.passphrase, routes.cli.upgrade", set()),
        ("routes.cli.main, routes.cli.health", {"trio", "jwt", "cryptography", "asyncpg"}),
        ("routes.cli.main, routes.cli.archive, routes.cli.database, routes.logs", {"jwt", "cryptography"}),
        ("routes.cli.main, routes.cli.catalog, routes.cli.database, routes.logs", {"jwt", "cryptography"}),
    ],
)
def test_a_command_imports_nothing_that_only_a_server_needs(modules, also_spared):
    script = f"import sys, {modules}\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not set(loaded.stdout.split()) & (SERVING | also_spared)


@pytest.mark.parametrize("command", ["routes", "config", "openapi"])
def test_whoever_has_read_enough_ends_a_command_without_a_traceback(command, tmp_path):
    script = "from routes.cli.main import main; import sys; sys.exit(main(sys.argv[1:]))"
    reading, writing = os.pipe()
    os.close(reading)  # as `| head` does, but sooner
    try:
        done = subprocess.run(
            [sys.executable, "-c", script, command],
            stdout=writing,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")
