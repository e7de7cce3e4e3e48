"""The load test: many users on a running server, played by worker processes that take less CPU time than the server
does.

`scripts/loadtest` runs it by hand, `scripts/bench` uses the same workers for the project's own benchmarks.
"""
