"""Every setting: its default, its forms, and one clear line for everything else."""

import os
import re
from ipaddress import ip_network
from pathlib import Path

import pytest

from compiled.finding import PURE
from routes.config.config import Config, ConfigError, listing, read_config
from routes.config.forms import NamedKey
from routes.config.settings import SETTINGS
from routes.disk import archive_of
from routes.edge.binds import Bind, Descriptor
from routes.process import cautions

CONTRACT = [
    "BIND",
    "BASE_URL",
    "DASHBOARD_URL",
    "DATA_DIR",
    "DATABASE_URL",
    "PG_BIN",
    "NATS_URL",
    "RATE_LIMITS",
    "TRUSTED_PROXIES",
    "CLIENT_IP_HEADER",
    "CORS_ORIGINS",
    "JWT_ISSUERS",
    "GEOIP_DB",
    "DNS_SERVER",
    "CLOUDFLARE_URL",
    "MODRINTH_URL",
    "CURSEFORGE_URL",
    "CURSEFORGE_KEY",
    "GATEWAY_TOKEN",
    "GATEWAY_DOMAIN",
    "GATEWAY_HOST",
    "SHOP_PROVIDER",
    "SHOP_WEBHOOK_SECRET",
    "STRIPE_KEY",
    "ALLOW_QUERY_TOKENS",
    "FRESHNESS_SECONDS",
    "ATTACHMENT_MAX_BYTES",
    "EDGE",
    "WS_DEFLATE",
    "MAX_CONNECTIONS",
    "TOTEM_GALLERY",
    "ARCHIVE_AFTER_DAYS",
    "LOG",
    "LOG_LEVEL",
]

KEY = "A" * 43 + "="

MORE = [
    "TLS_BIND",
    "TLS_CERT",
    "TLS_KEY",
    "ARTIFACT_MAX_BYTES",
    "CONSOLE_SOURCE",
    "RELEASE_KEYS",
    "DISCORD_URL",
    "DISK_FREE_MIN_BYTES",
    "MAX_UNCLAIMED_SERVERS",
    "LINKS_DIR",
    "METRICS_TOKEN",
    "NATS_PLAIN",
    "NODE_PORT",
    "OTEL",
    "PROCESSES",
    "PURE",
    "REQUEST_SECONDS",
    "SESSION_TOKEN_SECONDS",
    "SHARED_DIR",
    "STRIPE_URL",
    "WAL_DIR",
]  # not in the contract's list, or left to us


def test_names_are_those_of_the_contract() -> None:
    names = [setting.name.removeprefix("PARTYLINE_") for setting in SETTINGS]
    assert [name for name in names if name not in MORE] == CONTRACT
    assert set(MORE) <= set(names)
    assert [setting.field for setting in SETTINGS] == list(Config.__struct_fields__)


def test_an_empty_environment_gives_the_defaults() -> None:
    config = read_config({"PATH": "/bin", "PARTYLINE_LOG": ""})
    assert config.bind == (Bind("127.0.0.1", 8080),)
    assert config.base_url == config.dashboard_url == "http://127.0.0.1:8080"
    assert config.data_dir == config.shared_dir == Path(".partyline")
    assert (config.database_url, config.nats_url, config.client_ip_header) == (None, None, None)
    assert (config.rate_limits, config.allow_query_tokens, config.edge) == (True, False, "lean")
    assert (config.max_connections, config.attachment_max_bytes) == (20_000, 8 * 1024 * 1024)
    assert config.log == "console"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("BIND", "0.0.0.0:80,[::1]:0", (Bind("0.0.0.0", 80), Bind("::1", 0))),
        ("BIND", "127.0.0.1:80, fd://7", (Bind("127.0.0.1", 80), Descriptor(7))),
        ("PROCESSES", "64", 64),
        ("NODE_PORT", "9301", 9301),
        ("BASE_URL", "https://play.example/", "https://play.example"),
        ("RATE_LIMITS", "off", False),
        ("ALLOW_QUERY_TOKENS", "1", True),
        ("TRUSTED_PROXIES", "10.0.0.0/8, ::1", (ip_network("10.0.0.0/8"), ip_network("::1"))),
        ("CLIENT_IP_HEADER", "CF-Connecting-IP", b"cf-connecting-ip"),
        (
            "CORS_ORIGINS",
            "https://A.example,http://localhost:5173",
            ("https://a.example", "http://localhost:5173"),
        ),
        ("CORS_ORIGINS", "*", ("*",)),
        ("DNS_SERVER", "127.0.0.1:5353", Bind("127.0.0.1", 5353)),
        ("DATABASE_URL", "postgresql://u:p@h/d", "postgresql://u:p@h/d"),
        (
            "DATABASE_URL",
            "postgresql://u:p%40:x@a:1,[::1]:2,c/d?host=/run/%FF",
            "postgresql://u:p%40:x@a:1,[::1]:2,c/d?host=/run/%FF",
        ),
        ("DATABASE_URL", "postgresql:///d?host=/tmp", "postgresql:///d?host=/tmp"),
        ("DATA_DIR", "\udcff", Path("\udcff")),
        ("RELEASE_KEYS", f'[{{"keyId":"a","publicKey":"{KEY}"}}]', (NamedKey("a", KEY),)),
        ("EDGE", "stock", "stock"),
        ("LOG", "JSON", "json"),
        ("MAX_CONNECTIONS", "100", 100),
        ("STRIPE_KEY", " sk_test_1\n", "sk_test_1"),
    ],
)
def test_each_form_of_a_setting_is_parsed(name: str, text: str, value: object) -> None:
    assert getattr(read_config({f"PARTYLINE_{name}": text}), name.lower()) == value


def test_base_address_follows_the_bind_address() -> None:
    assert read_config({"PARTYLINE_BIND": "[::]:90"}).base_url == "http://[::1]:90"
    assert read_config({"PARTYLINE_BIND": "0.0.0.0:90"}).base_url == "http://127.0.0.1:90"


def test_tls_is_the_address_of_the_service_and_needs_its_files() -> None:
    files = {"PARTYLINE_TLS_CERT": "cert.pem", "PARTYLINE_TLS_KEY": "key.pem"}
    config = read_config({"PARTYLINE_TLS_BIND": "0.0.0.0:8443", **files})
    assert (config.base_url, config.bind) == ("https://127.0.0.1:8443", (Bind("127.0.0.1", 8080),))
    with pytest.raises(ConfigError, match="PARTYLINE_TLS_BIND needs"):
        read_config({"PARTYLINE_TLS_BIND": "0.0.0.0:8443", "PARTYLINE_TLS_CERT": "cert.pem"})
    for name, value in files.items():  # by themselves they do nothing, and the service speaks in clear text
        with pytest.raises(ConfigError, match="need PARTYLINE_TLS_BIND"):
            read_config({name: value})


NO_HOST = "is not a postgresql:// address: a host has a port that is none, or half of its brackets"


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("BND", "x", "PARTYLINE_BND: there is no such setting; did you mean PARTYLINE_BIND?"),
        ("BIND", "8080", "PARTYLINE_BIND=8080: is not host:port"),
        ("BIND", "fd://x", "PARTYLINE_BIND=fd://x: is not host:port"),
        ("BIND", "fd://3", "PARTYLINE_BIND: names no address, so PARTYLINE_BASE_URL is needed"),
        ("PROCESSES", "0", "PARTYLINE_PROCESSES=0: is not a whole number from 1 to 64"),
        ("BIND", "host:70000", "PARTYLINE_BIND=host:70000: is not host:port"),
        ("RATE_LIMITS", "maybe", "PARTYLINE_RATE_LIMITS=maybe: is neither on nor off"),
        ("EDGE", "fast", "PARTYLINE_EDGE=fast: is none of lean, stock"),
        ("BASE_URL", "play.example", "PARTYLINE_BASE_URL=play.example: is not an http or https address"),
        ("FRESHNESS_SECONDS", "0", "PARTYLINE_FRESHNESS_SECONDS=0: is not a whole number from 1 to 86400"),
        ("CLIENT_IP_HEADER", "a b", "PARTYLINE_CLIENT_IP_HEADER=a b: is not the name of a header"),
        ("DATABASE_URL", "mysql://secret@x", "PARTYLINE_DATABASE_URL: is not a postgresql:// address"),
        ("DATABASE_URL", "postgresql://u:p@[h/x", f"PARTYLINE_DATABASE_URL: {NO_HOST}"),
        ("DATABASE_URL", "postgresql://u:p@a:1,b:abc/x", f"PARTYLINE_DATABASE_URL: {NO_HOST}"),
        ("DATABASE_URL", "postgres://u:p@a:99999", f"PARTYLINE_DATABASE_URL: {NO_HOST}"),
        ("NATS_URL", "tls://u:p@a:99999", "PARTYLINE_NATS_URL: is not a list of nats:// or tls:// addresses"),
        ("BASE_URL", "http://a:99999", "PARTYLINE_BASE_URL=http://a:99999: is not an http or https address"),
        ("BASE_URL", "http://a b", "PARTYLINE_BASE_URL=http://a b: is not an http or https address"),
        ("BASE_URL", "http://a/#", "PARTYLINE_BASE_URL=http://a/#: is not an http or https address"),
        (
            "BASE_URL",
            "http://ü.example",
            "PARTYLINE_BASE_URL=http://ü.example: is not an http or https address",
        ),
        ("BIND", "\udcff:80", "PARTYLINE_BIND=\udcff:80: is not text in UTF-8"),
        ("METRICS_TOKEN", "\udcff", "PARTYLINE_METRICS_TOKEN: is not text in UTF-8"),
        ("STRIPE_KEY", "sk_tëst", "PARTYLINE_STRIPE_KEY: is not a key of visible ASCII characters"),
        ("STRIPE_KEY", "sk_test\r\nx", "PARTYLINE_STRIPE_KEY: is not a key of visible ASCII characters"),
    ],
)
def test_a_wrong_value_stops_the_start_with_one_line(name: str, text: str, line: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(line)}$"):
        read_config({f"PARTYLINE_{name}": text})


def test_a_wrong_value_of_several_lines_is_told_in_one() -> None:
    with pytest.raises(ConfigError) as raised:
        read_config({"PARTYLINE_RELEASE_KEYS": '[{"keyId": "a",\n  "publicKey": "b"}]'})
    assert str(raised.value) == (
        'PARTYLINE_RELEASE_KEYS=[{"keyId": "a", "publicKey": "b"}]: key a: publicKey is not 32 bytes in base64'
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("TRUSTED_PROXIES", "10.0.0.0/33"),
        ("CORS_ORIGINS", "https://a.example/path"),
        ("JWT_ISSUERS", "[{}]"),
        ("RELEASE_KEYS", "[{}]"),
        ("RELEASE_KEYS", '[{"keyId":"a","publicKey":"AAAA"}]'),
        ("RELEASE_KEYS", '[{"keyId":"a","publicKey":"?"}]'),
        ("RELEASE_KEYS", f'[{{"keyId":"","publicKey":"{KEY}"}}]'),
        ("RELEASE_KEYS", "[" + ",".join([f'{{"keyId":"a","publicKey":"{KEY}"}}'] * 2) + "]"),
    ],
)
def test_lists_name_what_is_wrong_in_one_line(name: str, text: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_config({f"PARTYLINE_{name}": text})
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(f"PARTYLINE_{name}")


HANDED = {"BIND": "fd://3,fd://4", "BASE_URL": "http://a", "PROCESSES": "2"}
JOINED = {"NATS_URL": "nats://127.0.0.1", "DATABASE_URL": "postgresql://a"}


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ({}, False),
        ({"PROCESSES": "2"}, False),
        ({**HANDED, "PROCESSES": "1"}, False),
        ({**HANDED, **JOINED}, True),
    ],
)
def test_who_is_given_its_sockets_beside_others_has_a_keeper(settings: dict[str, str], kept: bool) -> None:
    config = read_config({f"PARTYLINE_{name}": text for name, text in settings.items()})
    assert config.is_kept is kept
    with_archive = read_config({f"PARTYLINE_{k}": v for k, v in {**settings, "WAL_DIR": "/a"}.items()})
    assert (archive_of(with_archive) is not None) is (kept or "DATABASE_URL" not in settings)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (HANDED, "PARTYLINE_PROCESSES: several processes need PARTYLINE_BIND as host:port"),
        (
            {"PROCESSES": "3", "NODE_PORT": "65534"},
            "PARTYLINE_NODE_PORT=65534: leaves no ports for 3 processes",
        ),
    ],
)
def test_processes_that_cannot_be(settings: dict[str, str], line: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(line)}$"):
        read_config({f"PARTYLINE_{name}": text for name, text in settings.items()})


def test_listing_shows_no_secret() -> None:
    shown = dict(listing({"PARTYLINE_STRIPE_KEY": "sk_1", "PARTYLINE_LOG": "json"}))
    by_name = {setting.field: text for setting, text in shown.items()}
    assert (by_name["stripe_key"], by_name["log"], by_name["bind"]) == ("********", "json", "")


def test_a_server_without_our_bounds_is_said_to_be_one() -> None:
    ours = (
        {PURE: os.environ[PURE]} if PURE in os.environ else {}
    )  # whether compiled modules lie here is no matter
    assert not list(cautions(read_config(ours)))
    (line,) = cautions(read_config({**ours, "PARTYLINE_EDGE": "stock"}))
    beside = {**ours, "PARTYLINE_WAL_DIR": "/a", "PARTYLINE_DATABASE_URL": "postgresql://x"}
    assert ["no effect" in one for one in cautions(read_config(beside))] == [True]
    assert "PARTYLINE_EDGE=stock is for comparison only" in line


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("PORT", "BIND"),
        ("HOST", "BIND"),
        ("LISTEN_ADDRESS", "BIND"),
        ("DB", "DATABASE_URL"),
        ("DATABASE", "DATABASE_URL"),
        ("DSN", "DATABASE_URL"),
        ("POSTGRES_URL", "DATABASE_URL"),
        ("POSTGRESQL_DSN", "DATABASE_URL"),
        ("LOGLEVEL", "LOG_LEVEL"),
        ("VERBOSITY", "LOG_LEVEL"),
        ("LOG_FORMAT", "LOG"),
        ("ORIGINS", "CORS_ORIGINS"),
        ("ALLOWED_ORIGINS", "CORS_ORIGINS"),
        ("SECRET", "JWT_ISSUERS"),
        ("JWT_SECRET", "JWT_ISSUERS"),
        ("DATA_FOLDER", "DATA_DIR"),
        ("PUBLIC_URL", "BASE_URL"),
        ("TIMEOUT", "REQUEST_SECONDS"),
        ("PROXY", "TRUSTED_PROXIES"),
        ("MAX_UPLOAD_BYTES", "ATTACHMENT_MAX_BYTES"),
        ("RATELIMIT", "RATE_LIMITS"),
    ],
)
def test_a_wrong_name_suggests_the_setting_that_is_meant(wrong: str, meant: str):
    with pytest.raises(ConfigError, match=f"did you mean PARTYLINE_{meant}\\?"):
        read_config({f"PARTYLINE_{wrong}": "1"})


def test_no_setting_is_another_word_for_another():
    """A right name is never taken for a wrong one, and each word means one setting."""
    words = [word for setting in SETTINGS for word in setting.also]
    assert len(words) == len(set(words))
    assert all(re.fullmatch(r"[a-z]+", word) for word in words)
