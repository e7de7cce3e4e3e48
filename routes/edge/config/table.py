"""The service's configuration: read from the environment alone, once, at start (contract §11).

One table holds name, meaning, default and form of every setting; parsing, `partyline config` and the documentation
are made from it. A name that is not in it, or a value that does not fit, stops the start with a message of one line:
otherwise a misspelled limit would be noticed only when it is missing. An empty value counts as unset.
"""

import difflib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from routes.edge.address import Network
from routes.edge.config import forms
from routes.edge.config.forms import Bind, NamedKey
from routes.edge.faults import OperatorFault
from routes.edge.identity.issuer_settings import IssuerSettings

PREFIX = "PARTYLINE_"


class ConfigError(OperatorFault):
    """The configuration is not usable; the message is one line for the operator."""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting, parsed; `SETTINGS` explains each under the same name."""

    bind: tuple[Bind, ...]
    tls_bind: tuple[Bind, ...] | None
    tls_cert: Path | None
    tls_key: Path | None
    base_url: str
    dashboard_url: str
    data_dir: Path
    shared_dir: Path
    database_url: str | None
    pg_bin: Path | None
    wal_dir: Path | None
    nats_url: tuple[str, ...] | None
    nats_plain: bool
    rate_limits: bool
    trusted_proxies: tuple[Network, ...]
    client_ip_header: bytes | None
    cors_origins: tuple[str, ...]
    jwt_issuers: tuple[IssuerSettings, ...]
    session_token_seconds: int
    geoip_db: Path | None
    dns_server: Bind | None
    cloudflare_url: str
    discord_url: str
    modrinth_url: str
    curseforge_url: str
    curseforge_key: str | None
    metrics_token: str | None
    gateway_token: str | None
    gateway_domain: str | None
    gateway_host: str | None
    shop_provider: str
    shop_webhook_secret: str | None
    stripe_key: str | None
    stripe_url: str
    allow_query_tokens: bool
    freshness_seconds: int
    attachment_max_bytes: int
    artifact_max_bytes: int
    release_keys: tuple[NamedKey, ...]
    disk_free_min_bytes: int
    edge: str
    ws_deflate: bool
    max_connections: int
    max_unclaimed_servers: int
    request_seconds: int
    totem_gallery: bool
    console_source: Path | None
    pure: bool
    archive_after_days: int
    log: str
    log_level: str
    otel: str


class Setting(NamedTuple):
    """One row of the table.

    Args:
        field: of `Config`; the variable is `PARTYLINE_` and this in capitals.
        default: as it would be written; None for unset.
        parse: turns the text into the value; raises ValueError with the rest of a sentence.
        says: what it means, one line.
        secret: its value is never shown.
        also: words that other software calls it by. An unknown setting whose name contains one is answered with a
            hint at this one.
    """

    field: str
    default: str | None
    parse: Callable[[str], object]
    says: str
    secret: bool = False
    also: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the environment variable."""
        return PREFIX + self.field.upper()


SETTINGS = (
    Setting(
        "bind",
        "127.0.0.1:8080",
        forms.binds,
        "addresses to listen on, comma-separated host:port",
        also=("port", "host", "listen"),
    ),
    Setting(
        "tls_bind",
        None,
        forms.binds,
        "addresses to listen on with TLS, beside those",
        also=("https", "ssl", "tlsport"),
    ),
    Setting("tls_cert", None, Path, "certificate chain for TLS, PEM", also=("cert", "certfile", "sslcert")),
    Setting("tls_key", None, Path, "its private key, PEM", also=("keyfile", "sslkey")),
    Setting(
        "base_url",
        None,
        forms.web_address,
        "how clients reach the service; default: from the bind address",
        also=("publicurl", "externalurl", "siteurl", "baseurl", "domain"),
    ),
    Setting(
        "dashboard_url", None, forms.web_address, "how users reach the console; default: the base address"
    ),
    Setting(
        "data_dir",
        "./.partyline",
        Path,
        "embedded database, and what is shared unless that has a folder of its own",
        also=("datafolder", "datapath", "storage", "datadir"),
    ),
    Setting("shared_dir", None, Path, "keys, attachments and files of releases; default: the data folder"),
    Setting(
        "database_url",
        None,
        forms.database_url,
        "PostgreSQL 15 or newer; unset: the embedded one",
        True,
        also=("database", "postgres", "dsn", "db", "sql"),
    ),
    Setting("pg_bin", None, Path, "folder of the embedded database's programs", also=("pgbin", "pgpath")),
    Setting(
        "wal_dir",
        None,
        Path,
        "archive of the embedded database, on another disk: its log, base backups and files",
        also=("waldir", "archivedir", "pitr"),
    ),
    Setting(
        "nats_url",
        None,
        forms.nats_urls,
        "NATS servers that join several nodes, comma-separated; unset: one node",
        True,
        also=("nats",),
    ),
    Setting(
        "nats_plain", "off", forms.switch, "take nats:// without TLS from other machines, in a closed network"
    ),
    Setting(
        "rate_limits",
        "on",
        forms.switch,
        "off lifts all rates, for load tests",
        also=("ratelimit", "limits", "throttl"),
    ),
    Setting(
        "trusted_proxies",
        "",
        forms.networks,
        "proxies whose forwarded headers are believed, CIDR",
        also=("proxy", "proxies", "forwarded"),
    ),
    Setting(
        "client_ip_header",
        None,
        forms.header_name,
        "their header with the client; without: X-Forwarded-For",
    ),
    Setting(
        "cors_origins",
        "",
        forms.origins,
        "origins of pages that may call the service, comma-separated, or *",
        also=("origin", "cors"),
    ),
    Setting(
        "jwt_issuers",
        "",
        forms.issuers,
        "who else may sign user tokens, as a JSON array",
        True,
        also=("jwt", "issuer", "secret", "tokenkey"),
    ),
    Setting("session_token_seconds", "600", forms.whole(5, 600), "how long a browser's token lives"),
    Setting("geoip_db", None, Path, "MaxMind database for GeoIP lookups", also=("geoip", "maxmind", "mmdb")),
    Setting(
        "dns_server",
        None,
        forms.host_port,
        "resolver for domain claims, host:port; unset: the system's",
        also=("dns", "resolver", "nameserver"),
    ),
    Setting("cloudflare_url", "https://api.cloudflare.com/client/v4", forms.web_address, "Cloudflare's API"),
    Setting("discord_url", "https://discord.com/api/v10", forms.web_address, "Discord's API"),
    Setting("modrinth_url", "https://api.modrinth.com/v2", forms.web_address, "Modrinth's API"),
    Setting("curseforge_url", "https://api.curseforge.com/v1", forms.web_address, "CurseForge's API"),
    Setting("curseforge_key", None, forms.api_key, "key for CurseForge's API; unset: 503", True),
    Setting(
        "metrics_token", None, forms.text, "bearer token that other machines need to scrape /metrics", True
    ),
    Setting("gateway_token", None, forms.text, "deployment token with which gateways register", True),
    Setting("gateway_domain", None, forms.host_name, "domain below which gateways give out names"),
    Setting("gateway_host", None, forms.host_name, "host that names point to; unset: the gateways"),
    Setting(
        "shop_provider", "manual", forms.one_of("manual", "stripe"), "who takes payments: manual or stripe"
    ),
    Setting(
        "shop_webhook_secret",
        None,
        forms.text,
        "secrets that sign the payment provider's webhooks, comma-separated",
        True,
    ),
    Setting("stripe_key", None, forms.api_key, "Stripe's secret key", True),
    Setting("stripe_url", "https://api.stripe.com", forms.web_address, "Stripe's API"),
    Setting(
        "allow_query_tokens",
        "off",
        forms.switch,
        "take bearer tokens from the address of sockets and files",
    ),
    Setting("freshness_seconds", "90", forms.whole(1, 86_400), "how long a server's reported status counts"),
    Setting(
        "attachment_max_bytes",
        "8388608",
        forms.whole(1, 268_435_456),
        "largest attachment, decoded",
        also=("attachment", "upload", "maxbody"),
    ),
    Setting("artifact_max_bytes", "67108864", forms.whole(1, 2**30), "largest file of a release put here"),
    Setting("release_keys", "", forms.public_keys, "who signs files of releases put here, as a JSON array"),
    Setting(
        "disk_free_min_bytes",
        "1073741824",
        forms.whole(0, 2**50),
        "free disk space that uploads leave alone: below it they are refused",
    ),
    Setting("edge", "lean", forms.one_of("lean", "stock"), "connections: lean, or stock Hypercorn"),
    Setting(
        "ws_deflate",
        "off",
        forms.switch,
        "offer permessage-deflate on WebSockets",
        also=("deflate", "compress"),
    ),
    Setting(
        "max_connections",
        "20000",
        forms.whole(1, 1_000_000),
        "connections at once, in all",
        also=("connections", "maxclients"),
    ),
    Setting(
        "max_unclaimed_servers",
        "10000",
        forms.whole(1, 1_000_000),
        "unclaimed game servers, of all strangers together",
    ),
    Setting(
        "request_seconds",
        "5",
        forms.whole(1, 300),
        "how long a request may take, the arrival of its body not counted",
        also=("timeout", "deadline"),
    ),
    Setting("totem_gallery", "on", forms.switch, "the public gallery of totems"),
    Setting(
        "console_source", None, Path, "serve the console from this folder, to work on it; unset: as installed"
    ),
    Setting("pure", "off", forms.switch, "on runs sources, never what was compiled; in the environment only"),
    Setting(
        "archive_after_days",
        "0",
        forms.whole(0, 36_500),
        "messages this old go to the archive; 0: never",
        also=("archive", "retention"),
    ),
    Setting(
        "log",
        "console",
        forms.one_of("console", "json"),
        "form of the log: console or json",
        also=("logformat", "logformatter", "logjson"),
    ),
    Setting(
        "log_level",
        "info",
        forms.one_of("debug", "info", "warning", "error"),
        "least level that is logged",
        also=("loglevel", "verbos", "debug"),
    ),
    Setting(
        "otel",
        "off",
        forms.one_of("off", "traces", "logs", "all"),
        "what goes to the collector of OpenTelemetry that the standard OTEL_ variables name: off, traces, logs or all",
        also=("otlp", "tracing", "telemetry"),
    ),
)


def read_config(environ: Mapping[str, str]) -> Config:
    """Parse the configuration from environment variables.

    Args:
        environ: all environment variables; those without the prefix `PARTYLINE_` are ignored.

    Raises:
        ConfigError: a variable with the prefix is unknown, or a value does not fit.
    """
    _refuse_unknown(environ)
    values: dict[str, object] = {}
    for setting in SETTINGS:
        text = environ.get(setting.name) or setting.default
        try:
            values[setting.field] = None if text is None else setting.parse(text)
        except ValueError as error:
            shown = "" if setting.secret else f"={text}"
            raise ConfigError(f"{setting.name}{shown}: {error}") from None
    if values["tls_bind"] is not None and None in (values["tls_cert"], values["tls_key"]):
        raise ConfigError("PARTYLINE_TLS_BIND needs PARTYLINE_TLS_CERT and PARTYLINE_TLS_KEY")
    _check_nats(values)
    values["base_url"] = values["base_url"] or _own_address(values)
    values["dashboard_url"] = values["dashboard_url"] or values["base_url"]
    values["shared_dir"] = values["shared_dir"] or values["data_dir"]
    return Config(**values)  # type: ignore[arg-type]  # tests/edge check each parser against its field


def _check_nats(values: Mapping[str, object]) -> None:
    urls = values["nats_url"]
    if not isinstance(urls, tuple):
        return
    if values["database_url"] is None:
        raise ConfigError("PARTYLINE_NATS_URL needs PARTYLINE_DATABASE_URL: several nodes share one database")
    if not values["nats_plain"] and not all(forms.is_covered(url) for url in urls):
        raise ConfigError(
            "PARTYLINE_NATS_URL: other machines need tls://, or a closed network and PARTYLINE_NATS_PLAIN=on"
        )


def _own_address(values: Mapping[str, object]) -> str:
    for field, scheme in (("tls_bind", "https"), ("bind", "http")):
        bound = values[field]
        if isinstance(bound, tuple):
            return forms.address_of(bound[0], scheme)
    raise ConfigError("PARTYLINE_BIND: no address")


def listing(environ: Mapping[str, str]) -> Iterator[tuple[Setting, str]]:
    """Every setting with the text that it is set to, secrets masked, empty if unset; for `partyline config`.

    Args:
        environ: all environment variables.
    """
    for setting in SETTINGS:
        text = environ.get(setting.name) or ""
        yield setting, "********" if text and setting.secret else text


def _refuse_unknown(environ: Mapping[str, str]) -> None:
    known = [setting.name for setting in SETTINGS]
    for name in environ:
        if name.startswith(PREFIX) and name not in known:
            near = _meant(name.removeprefix(PREFIX).lower()) or difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ConfigError(f"{name}: there is no such setting{hint}")


def _meant(wrong: str) -> list[str]:
    """The setting that has the longest alternative word contained in an unknown name, underscores ignored; or none."""
    bare = wrong.replace("_", "")
    meant = [(len(word), row.name) for row in SETTINGS for word in row.also if word in bare]
    return [max(meant, key=lambda one: one[0])[1]] if meant else []
