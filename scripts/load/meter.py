"""The counters of a worker between two marks."""

from collections import Counter

from scripts.load.clients.exchange import Tally
from scripts.load.histogram import Histogram


class Meter:
    """Counts and latencies since `take` was called last; the names are those of `Tally`."""

    def __init__(self) -> None:
        self.acknowledged = self.delivered = self.received_bytes = 0
        self.acknowledgement, self.delivery = Histogram(), Histogram()
        self.errors: Counter[str] = Counter()

    def take(self, *, in_flight: int, open_sockets: int, unsent: int = 0) -> Tally:
        """Return the counts, and begin anew.

        Args:
            in_flight, open_sockets, unsent: the fields of the same names in `Tally`.
        """
        tally = Tally(
            acknowledged=self.acknowledged,
            delivered=self.delivered,
            received_bytes=self.received_bytes,
            unsent=unsent,
            in_flight=in_flight,
            open_sockets=open_sockets,
            errors=dict(self.errors),
            acknowledgement=self.acknowledgement.take(),
            delivery=self.delivery.take(),
        )
        self.acknowledged = self.delivered = self.received_bytes = 0
        self.errors = Counter()
        return tally
