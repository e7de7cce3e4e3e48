"""TLS settings of requests to other servers."""

import ssl
from functools import cache

import httpx2


@cache
def trusted_authorities() -> ssl.SSLContext:
    """The trusted certificate authorities, or those of `SSL_CERT_FILE`; loaded once, which takes 20 ms."""
    return httpx2.create_ssl_context()


def said_of(error: BaseException) -> BaseException:
    """The error that says what has happened: the first that has a text, of this one and its causes.

    Where a TLS handshake fails, the client's own error has none.

    Args:
        error: an error of a request.
    """
    said: BaseException | None = error
    while isinstance(said, Exception) and not str(said):
        said = said.__cause__ or said.__context__
    return said if isinstance(said, Exception) else error
