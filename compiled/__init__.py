"""Compiled modules: shared objects made of some of our sources, and the finder that imports them.

`scripts/compile` and a wheel that is built with `PARTYLINE_COMPILE=1` put them into `compiled/objects`. The packages of
the three layers call `compiled.finding.use()` before anything of ours is imported; without shared objects that does
nothing, and every module runs from its source.
"""
