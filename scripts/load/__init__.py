"""The load test: many users on a running server, by worker processes that are cheaper than the server is.

`scripts/loadtest` runs it by hand, `scripts/bench` uses the same workers for the project's own benchmarks.
"""
