"""The clients of the load test: sockets, requests, and the event loop that carries them."""
