"""TLS settings of requests to other servers."""

import ssl
from functools import cache

import httpx2


@cache
def trusted_authorities() -> ssl.SSLContext:
    """The trusted certificate authorities, or those of `SSL_CERT_FILE`; loaded once, which takes 20 ms."""
    return httpx2.create_ssl_context()
