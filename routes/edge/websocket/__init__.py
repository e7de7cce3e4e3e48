"""Live sockets: frames, compression, what waits, who is connected."""
