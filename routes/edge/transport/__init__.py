"""Sockets of the operating system: readiness, writing, and refusals before there is a request."""
