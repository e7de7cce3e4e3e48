"""Sockets of the operating system: readiness, writing, refusals before there is a request."""
