"""How long what we issue lives; apart from the keys, whose libraries take long to import."""

TOKEN_TTL_SECONDS = 30 * 86_400
"""Of a user token, when nobody says otherwise."""
