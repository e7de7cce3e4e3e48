"""Requests, well-formed and not, and what becomes of each: the table behind `test_differential.py`.

A row is `case(name, outcome, bytes…)`. The outcome is that of our server: the status of each response, then whether the
connection `stays` or `ends`. Stock Hypercorn (h11) does the same, with the same body, unless `differences.py` says what
it does and why we do not. Where a row has several pieces, each is sent after the response to the one before.
"""
