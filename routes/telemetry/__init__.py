"""Traces and logs for OpenTelemetry, as an option.

seams.py     where requests, turns and units of work can be seen; nothing is there unless it is wanted
opening.py   the exporters, from their standard variables; imported where they are wanted
requests.py  a span for each request, in the trace of whoever asks
turns.py     a span for each turn of an actor, with its commit and its fan-out
units.py     a span for each unit of work on the database
records.py   lines of the log as records
"""
