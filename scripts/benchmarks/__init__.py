"""The project's own benchmarks: fixed loads on fresh servers with empty databases, and tables of the results.

They compare one version with the next on one machine; numbers of two machines cannot be compared.
"""
