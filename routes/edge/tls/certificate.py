"""The server's certificate, which may be replaced while the server runs.

A connection keeps the certificate with which it began; the next one gets the newest. Files that do not fit together,
as between the two writes of a renewal, change nothing.
"""

import ssl
from pathlib import Path
from typing import NamedTuple

import structlog
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from routes.edge.faults import OperatorFault

log = structlog.get_logger()


class CertificateFault(OperatorFault):
    """The files are not a certificate and its key; the message is one line for the operator."""


class _Stamp(NamedTuple):
    """Changes when a file is replaced or written to."""

    inode: int
    mtime_ns: int
    size: int


class ServerCertificate:
    """A certificate chain and its key, in two PEM files. Everything but the attributes blocks for milliseconds.

    Args:
        certfile: the certificate, followed by the intermediate certificates up to its root.
        keyfile: its private key, not encrypted.

    Attributes:
        context: the TLS context for the next connection.
        expires_at_ms: when the certificate in use expires, epoch milliseconds.

    Raises:
        CertificateFault: the files cannot be used.
    """

    def __init__(self, certfile: Path, keyfile: Path) -> None:
        self.certfile = certfile
        self.keyfile = keyfile
        self._stamps = self._read_stamps()
        self.context, self.expires_at_ms = self._read()

    def renew(self) -> bool:
        """Load the files again if they have changed; returns whether a new certificate is in use.

        Files that cannot be used are logged once, and the former certificate stays in use.
        """
        stamps = self._read_stamps()
        if stamps == self._stamps:
            return False
        self._stamps = stamps
        try:
            self.context, self.expires_at_ms = self._read()
        except CertificateFault as fault:
            log.warning("the new certificate cannot be used; the one before stays in use", reason=str(fault))
            return False
        log.info("a new certificate is in use", path=str(self.certfile))
        return True

    def _read(self) -> tuple[ssl.SSLContext, int]:
        try:
            certificate = x509.load_pem_x509_certificate(self.certfile.read_bytes())
            # Before OpenSSL reads it, which would ask the terminal for a password.
            load_pem_private_key(self.keyfile.read_bytes(), password=None)
            context = _context(self.certfile, self.keyfile)
        except OSError as error:
            # ssl.SSLError is an OSError too; its text says which part does not fit.
            raise CertificateFault(f"{self._files}: {error.strerror or error}") from error
        except (ValueError, TypeError) as error:
            raise CertificateFault(f"{self._files} are not a PEM certificate and its open key") from error
        return context, int(certificate.not_valid_after_utc.timestamp() * 1000)

    @property
    def _files(self) -> str:
        return f"{self.certfile} and {self.keyfile}"

    def _read_stamps(self) -> tuple[_Stamp | None, ...]:
        return tuple(_stamp(path) for path in (self.certfile, self.keyfile))


def _context(certfile: Path, keyfile: Path) -> ssl.SSLContext:
    """TLS 1.2 and newer, with forward secrecy, for HTTP/2 and HTTP/1.1 (RFC 9113 §9.2)."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ECDHE+AESGCM:ECDHE+CHACHA20")
    context.options |= ssl.OP_NO_COMPRESSION
    context.set_alpn_protocols(["h2", "http/1.1"])
    context.load_cert_chain(certfile, keyfile)
    return context


def _stamp(path: Path) -> _Stamp | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return _Stamp(state.st_ino, state.st_mtime_ns, state.st_size)
