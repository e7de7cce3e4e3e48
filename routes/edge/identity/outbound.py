"""What all requests to servers of others share."""

import ssl
from functools import cache

import httpx2


@cache
def trusted_authorities() -> ssl.SSLContext:
    """The certificate authorities that are believed, or those of `SSL_CERT_FILE`; read once, which takes 20 ms."""
    return httpx2.create_ssl_context()
