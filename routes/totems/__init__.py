"""Totems over HTTP.

All routes of a user have a second address below `/v1/api`, from before: it is the same declaration, so that no check
can be missing there.
"""

PATH, ALIAS = "/v1/profile/personal-totem", "/v1/api/profile/personal-totem"

READ, WRITE = "totem:read", "totem:write"
