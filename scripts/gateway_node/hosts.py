"""The host that a client names, in the form that routes have."""

from actors.hostnames import normal_host


def clean_host(text: str) -> str | None:
    """The host that a client means, in the form that routes have; None where that is no name of a host.

    Clients, mod loaders and shields write more into a handshake than a name: parts behind a NUL (`\\0FML3\\0`), a
    player's address behind `///`, the service's name of an SRV record in front, a dot at the end.
    """
    bare = text.partition("\0")[0].partition("///")[0].lower()
    return normal_host(bare.removeprefix("_minecraft._tcp."))
