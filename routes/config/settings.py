"""The table of settings: name, meaning, default and form of each. Parsing, `partyline config` and the documentation are
made from it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from routes.config import forms
from routes.edge.binds import binds, host_port

PREFIX = "PARTYLINE_"


class Setting(NamedTuple):
    """One row of the table.

    Args:
        field: the name of the field of `Config`; the variable is `PARTYLINE_` and this name in capitals.
        default: the default as it would be written; None for unset.
        parse: turns the text into the value; raises ValueError with the rest of a sentence.
        says: what the setting means, one line.
        secret: whether its value is never shown.
        also: names that other software uses for it. The refusal of an unknown setting whose name contains one of them
            mentions this setting.
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
        binds,
        "addresses to listen on, comma-separated host:port; fd://n is a socket that was handed down",
        also=("port", "host", "listen"),
    ),
    Setting(
        "tls_bind",
        None,
        binds,
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
        "links_dir",
        None,
        Path,
        "folder in which nodes of one machine find each other, to talk without NATS; several processes have one",
    ),
    Setting(
        "processes",
        "1",
        forms.whole(1, 64),
        "how many nodes to run on this machine, as serve --processes",
        also=("workers", "procs", "cores"),
    ),
    Setting(
        "node_port",
        None,
        forms.whole(1, 65_535),
        "port on loopback at which the first of several processes answers alone, the next ones above; unset: any",
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
        host_port,
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
