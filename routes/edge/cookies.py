"""Cookies: how they are read from a request and set by an answer (RFC 6265, and its draft successor for prefixes)."""

import re
from dataclasses import dataclass
from typing import Literal

from routes.edge.outgoing import Headers

_VALUE = re.compile(rb"[A-Za-z0-9_-]{1,4096}")


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie of the service: for its whole host and no other, and out of reach of scripts.

    Args:
        name: the cookie's name, without prefix.
        same_site: `Strict` for a cookie that is sent with requests of the service's own pages alone; `Lax` for one that
            is also sent when a link on another site leads here.
        secure: whether it is sent over TLS alone, with the name prefix `__Host-`, so that no other host and no plain
            connection can have set it; True only where the service is reached by https.
    """

    name: str
    same_site: Literal["Strict", "Lax"]
    secure: bool

    @property
    def full_name(self) -> str:
        """The cookie's name with its prefix, as it stands in headers."""
        return f"__Host-{self.name}" if self.secure else self.name

    def setting(self, value: str, *, seconds: int) -> str:
        """The value of Set-Cookie that makes a browser keep the cookie.

        Args:
            value: the cookie's value, of letters, digits, `-` and `_`.
            seconds: how long the browser keeps it; 0 removes it.
        """
        secure = "; Secure" if self.secure else ""
        return f"{self.full_name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite={self.same_site}{secure}"

    def removal(self) -> str:
        """The value of Set-Cookie that makes a browser forget the cookie."""
        return self.setting("", seconds=0)

    def of(self, headers: Headers) -> str | None:
        """The cookie's value in a request; None if the cookie is absent, malformed, or there more than once.

        Args:
            headers: all headers of the request; Cookie may be split into several (RFC 9113 §8.2.3).
        """
        wanted = self.full_name.encode("ascii")
        pairs = (pair for name, text in headers if name == b"cookie" for pair in text.split(b";"))
        found = [
            value for name, _, value in (pair.strip().partition(b"=") for pair in pairs) if name == wanted
        ]
        if len(found) != 1 or _VALUE.fullmatch(found[0]) is None:
            return None
        return found[0].decode("ascii")
