"""Totems over HTTP.

All routes of the caller's totem have an older second path below `/v1/api`. It is part of the same declaration, so that
the two cannot differ in their checks.
"""

PATH, ALIAS = "/v1/profile/personal-totem", "/v1/api/profile/personal-totem"

READ, WRITE = "totem:read", "totem:write"
