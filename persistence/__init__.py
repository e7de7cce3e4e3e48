"""What is kept: plain functions over a connection, the SQL beside the function that runs it; no rules, no refusals.

An absent row is `None`. Nothing here imports from `actors` or `routes`.
"""
