"""Live sockets: frames, compression, send queues, and the registry of open sockets."""
