"""Which processes serve this database, and which of them owns which actors."""
