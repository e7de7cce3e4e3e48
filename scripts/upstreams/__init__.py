"""Servers of others that Partyline asks, as real HTTP servers on this machine: to try the service without internet, and
for tests. Each is a site below a path of its own, and can be told to go wrong in every way that the real one can.
"""
