"""The service's configuration: read from the environment alone, once, at start (contract §11).

A name that is not in the table of settings, or a value that does not fit, stops the start with a message of one line:
otherwise a misspelled limit would be noticed only when it is missing. An empty value counts as unset.
"""

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from routes.config import forms
from routes.config.forms import NamedKey
from routes.config.settings import PREFIX, SETTINGS, Setting
from routes.edge.address import Network
from routes.edge.binds import Bind, Descriptor, address_of
from routes.edge.faults import OperatorFault
from routes.edge.identity.issuer_settings import IssuerSettings


class ConfigError(OperatorFault):
    """The configuration is not usable; the message is one line for the operator."""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting, parsed; `SETTINGS` explains each under the same name."""

    bind: tuple[Bind | Descriptor, ...]
    tls_bind: tuple[Bind | Descriptor, ...] | None
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
    links_dir: Path | None
    processes: int
    node_port: int | None
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

    @property
    def is_kept(self) -> bool:
        """Whether this process is a node of a keeper (`routes/keeper`), which owns the nodes' database and sockets."""
        return self.processes > 1 and any(isinstance(one, Descriptor) for one in self.bind)

    @property
    def own_origins(self) -> tuple[str, ...]:
        """The origins of the service's own pages, of `base_url` and `dashboard_url`, as browsers write them."""
        return tuple(map(_origin, (self.base_url, self.dashboard_url)))


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
            values[setting.field] = None if text is None else _parsed(setting, text)
        except ValueError as error:
            # A value may go on over several lines, and what is said about it is one.
            shown = "" if setting.secret else f"={' '.join(str(text).split())}"
            raise ConfigError(f"{setting.name}{shown}: {error}") from None
    _check_tls(values)
    _check_nats(values)
    _check_processes(values)
    values["base_url"] = values["base_url"] or _own_address(values)
    values["dashboard_url"] = values["dashboard_url"] or values["base_url"]
    values["shared_dir"] = values["shared_dir"] or values["data_dir"]
    return Config(**values)  # type: ignore[arg-type]  # tests/edge check each parser against its field


def _parsed(setting: Setting, text: str) -> object:
    # A path may have any bytes that the disk allows; every other setting is encoded as text somewhere.
    if setting.parse is not Path and any(0xD800 <= ord(one) <= 0xDFFF for one in text):
        raise ValueError("is not text in UTF-8")
    return setting.parse(text)


def _check_tls(values: Mapping[str, object]) -> None:
    files = (values["tls_cert"], values["tls_key"])
    if values["tls_bind"] is not None and None in files:
        raise ConfigError("PARTYLINE_TLS_BIND needs PARTYLINE_TLS_CERT and PARTYLINE_TLS_KEY")
    if values["tls_bind"] is None and files != (None, None):
        # Whoever gives a certificate would believe that it is used.
        raise ConfigError("PARTYLINE_TLS_CERT and PARTYLINE_TLS_KEY need PARTYLINE_TLS_BIND")


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


def _check_processes(values: Mapping[str, object]) -> None:
    count, first, bound = values["processes"], values["node_port"], values["bind"]
    if not isinstance(count, int) or count == 1 or not isinstance(bound, tuple):
        return
    if any(isinstance(one, Descriptor) for one in bound) and None in (
        values["nats_url"],
        values["database_url"],
    ):
        raise ConfigError("PARTYLINE_PROCESSES: several processes need PARTYLINE_BIND as host:port")
    if isinstance(first, int) and first + count - 1 > 65_535:
        raise ConfigError(f"PARTYLINE_NODE_PORT={first}: leaves no ports for {count} processes")


_STANDARD_PORTS = {"http": ":80", "https": ":443"}


def _origin(url: str) -> str:
    """The origin of a web address in lower case, without a port that belongs to the scheme (RFC 6454 §6.2)."""
    scheme, authority, *_ = urlsplit(url.lower())
    return f"{scheme}://{authority.removesuffix(_STANDARD_PORTS[scheme])}"


def _own_address(values: Mapping[str, object]) -> str:
    for field, scheme in (("tls_bind", "https"), ("bind", "http")):
        bound = values[field]
        for one in bound if isinstance(bound, tuple) else ():
            if isinstance(one, Bind):
                return address_of(one, scheme)
    raise ConfigError("PARTYLINE_BIND: names no address, so PARTYLINE_BASE_URL is needed")


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
