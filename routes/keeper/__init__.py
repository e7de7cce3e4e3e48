"""The keeper: one process that runs several nodes on this machine, with their database, NATS and sockets."""
