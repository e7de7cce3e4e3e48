"""Accepts connections over TLS, each with the certificate that is in use when it comes."""

import trio

from routes.edge.tls.certificate import ServerCertificate


class SecureListener(trio.abc.Listener[trio.SSLStream[trio.SocketStream]]):
    """A listening socket for TLS; trio's own keeps one certificate for good.

    Args:
        listener: accepts the TCP connections below.
        certificate: the certificate whose context each new connection gets.
    """

    def __init__(self, listener: trio.SocketListener, certificate: ServerCertificate) -> None:
        self._listener = listener
        self._certificate = certificate

    async def accept(self) -> trio.SSLStream[trio.SocketStream]:
        """The next connection, before its handshake; cancellation loses none."""
        stream = await self._listener.accept()
        return trio.SSLStream(stream, self._certificate.context, server_side=True, https_compatible=True)

    async def aclose(self) -> None:
        """Close the listening socket; connections stay open. Cancellation changes nothing of that."""
        await self._listener.aclose()
