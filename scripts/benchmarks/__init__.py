"""The project's own benchmarks: a server of their own, an empty database, fixed loads, one table.

They are for comparing one version with the next on one machine; numbers of two machines do not compare.
"""
